/** Runs the tests of a feature on a folder, in the sandbox, without a network. The tests are applied to the copy alone. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { filesOf } from "./project.mjs";

const TIME = 180_000;
const LIMITS = { processes: 512, bytes: 1024 ** 3, files: 100_000, memory: 3 * 1024 ** 3, addressSpace: 2 ** 52 };
const GO_CACHE = "/mounted/go-cache";
const TESTS = "/mounted/tests.patch";
const UNAPPLIED = 97;
const UNAPPLIED_WORDS = "the tests do not apply";
/** A fixed text: nothing of a model or of the benchmark is in it. */
const APPLY = `git apply --ignore-whitespace ${TESTS} || { echo "${UNAPPLIED_WORDS}" >&2; exit ${UNAPPLIED}; }; exec "$@"`;
const SHOWN = 400;

/** The names of the tests that a patch adds to files which the benchmark's command runs: each has to run and to pass. */
export function testsAdded(patch, { kind, files }) {
  const form = kind === "go" ? /^\+func (Test\w+)\(/gm : /^\+(?:(?:async )?def (test_\w+)\(|    (?:async )?def (test_\w+)\(self\b)/gm;
  const parts = patch.split(/^diff --git /m).filter((part) => files === undefined || files.includes(/^\+\+\+ b\/(.*)$/m.exec(part)?.[1]));
  return [...new Set(parts.flatMap((part) => [...part.matchAll(form)].map(([, name, method]) => name ?? method)))];
}

function commandOf(patch, runner) {
  if (runner.kind === "pytest") {
    const settings = ["PYTHONPATH=/project/src:/project", "PYTHONDONTWRITEBYTECODE=1"];
    return ["env", ...settings, "python3", "-m", "pytest", "-v", "--tb=short", "-p", "no:cacheprovider", ...runner.files];
  }
  // The functions that the benchmark's own command runs: all that its patch names.
  const named = [...new Set([...patch.matchAll(/func (Test\w+)/g)].map(([, name]) => name))];
  return ["env", `GOCACHE=${GO_CACHE}`, "GOFLAGS=-mod=mod", "GOPROXY=off", "go", "test", "-v", "-run", named.join("|"), "./..."];
}

const RESULTS = {
  pytest: { line: /^(\S+::.+?) (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b/gm, name: (id) => id.split("[")[0].split("::").at(-1) },
  go: { line: /^--- (PASS|FAIL|SKIP): (\w+)/gm, name: (id) => id },
};

function resultsIn(text, { kind }) {
  const { line, name } = RESULTS[kind];
  return [...text.matchAll(line)].map(([, one, other]) => {
    const [id, said] = kind === "go" ? [other, one] : [one, other];
    return { id, name: name(id), isPassed: /^(PASS|XFAIL)/.test(said), isFailed: /^(FAIL|ERROR)/.test(said) };
  });
}

const REASONS = [/^E\s+[\w.]*(?:Error|Exception|Failed|Exit)\b/, /^(?:\.\/)?[\w/.-]+\.go:\d+:(?:\d+:)? \S/, /^E\s/];

/** The line that says why: of Python, of a compiler, or the last one. */
function reasonIn(text) {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const said = REASONS.map((form) => lines.find((line) => form.test(line))).find((line) => line !== undefined);
  return (said ?? lines.at(-1) ?? "nothing was printed").replace(/^E\s+/, "").slice(0, SHOWN);
}

const red = (why, more = {}) => ({ isGreen: false, passed: 0, why, ...more });
const some = (names) => `${names.slice(0, 3).join(", ")}${names.length > 3 ? ` and ${names.length - 3} more` : ""}`;

/** @returns `{ isGreen, passed, why, failures }`; `why` names the failing tests */
function verdictOf(result, { patch, runner }) {
  if (result.kind !== "exited") return red(`is not tested: the tests ended as "${result.kind}"`);
  const text = `${result.stdout}\n${result.stderr}`;
  if (result.code === UNAPPLIED)
    return red(`is not tested: its tests do not apply: ${reasonIn(result.stderr.replace(UNAPPLIED_WORDS, ""))}`);
  const results = resultsIn(result.stdout, runner);
  const passed = results.filter(({ isPassed }) => isPassed).length;
  const failed = results.filter(({ isFailed }) => isFailed).map(({ id }) => id);
  if (failed.length > 0) return red(`fails: ${some(failed)}: ${reasonIn(text)}`, { passed, failures: failed.length });
  if (result.code !== 0) return red(`cannot be tested: ${reasonIn(text)}`, { passed });
  const ran = new Set(results.filter(({ isPassed }) => isPassed).map(({ name }) => name));
  const missing = testsAdded(patch, runner).filter((name) => !ran.has(name));
  if (missing.length > 0) return red(`is not proven, because these tests did not run: ${some(missing)}`, { passed });
  return passed === 0 ? red("is not proven: no test ran") : { isGreen: true, passed, why: "" };
}

/** A test that depends on time can fail once on a busy machine: so few failures are looked at again. */
const FEW = 2;

/**
 * Judges folders by the tests of features. It owns a folder with the tests and what compilers keep, and the verdicts by the contents of all
 * files: the same bytes are not tested twice.
 */
export class Judge {
  #sandbox;
  #folder;
  #cache;
  #verdicts = new Map();

  constructor({ sandbox, folder }) {
    this.#sandbox = sandbox;
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  /** @returns `{ isGreen, passed, why, failures }`, plain JSON */
  async judge(root, { feature, task, signal }) {
    const key = `${task.id} ${feature.number} ${digestOf(filesOf(root).filter(({ path }) => !path.startsWith(".troupe/")))}`;
    const known = this.#verdicts.get(key);
    if (known !== undefined) return known;
    const first = await this.#tested(root, { feature, task, signal });
    const verdict = isPerhapsLate(first) ? await this.#tested(root, { feature, task, signal }) : first;
    this.#verdicts.set(key, verdict);
    return verdict;
  }

  async #tested(root, { feature, task: { id, runner }, signal }) {
    if (runner === undefined)
      throw new Error(`Expected ${id} to be tested by pytest or Go, but its command is another one. Leave its repository out.`);
    const patch = feature.tests();
    const file = join(this.#folder, `${id.replaceAll("/", "-")}-${feature.number}.patch`);
    if (!existsSync(file)) writeFileSync(file, patch.endsWith("\n") ? patch : `${patch}\n`);
    const mounts = [{ from: file, to: TESTS }, ...(runner.kind === "go" ? [{ from: await this.#goCache(root), to: GO_CACHE }] : [])];
    const command = ["sh", "-c", APPLY, "judge", ...commandOf(patch, runner)];
    const result = await this.#sandbox.run({ root, command, mounts, timeout: TIME, limits: LIMITS, signal, outputLimit: 4_000_000 });
    if (result.kind === "aborted" || result.kind === "refused")
      throw new Error(`Expected the sandbox to run the tests, but it was ${result.kind}: ${result.reason ?? ""}`);
    return verdictOf(result, { patch, runner });
  }

  /** Go's standard library, compiled once. */
  #goCache(root) {
    this.#cache ??= this.#compiled(root);
    return this.#cache;
  }

  async #compiled(root) {
    const to = join(this.#folder, "go-cache");
    if (existsSync(to)) return to;
    const words = ["GOCACHE=/project/.go-cache", "GOFLAGS=-mod=mod", "GOPROXY=off", "go", "test", "-exec", "true", "./..."];
    const result = await this.#sandbox.run({
      root,
      command: ["env", ...words],
      timeout: TIME,
      limits: LIMITS,
      keep: { folder: ".go-cache", to },
    });
    if (!existsSync(to))
      throw new Error(`Expected Go to compile its library, but it did not: ${JSON.stringify(result).slice(0, 500)}. Install Go in /usr.`);
    return to;
  }
}

const isPerhapsLate = ({ failures = 0 }) => failures > 0 && failures <= FEW;

/** Names the contents of files. */
export function digestOf(files) {
  const hash = createHash("sha256");
  for (const { path, bytes, content } of files) {
    const body = bytes ?? content;
    hash.update(JSON.stringify([path, body === null ? -1 : Buffer.byteLength(body)])).update(body ?? "");
  }
  return hash.digest("hex");
}
