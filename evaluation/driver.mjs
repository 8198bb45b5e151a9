/**
 * Runs inside the sandbox. It reads `order.json`, runs each check in a copy of `project/`, and prints one line of JSON with the results.
 * No shell reads a command of a check; lines of a README are read by a shell, as their reader would type them.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { gzipSync } from "node:zlib";

const order = JSON.parse(readFileSync("order.json", "utf8"));
const SOURCE = join(process.cwd(), "project");
const ROOM = "/tmp/checks";
const SKIPPED = new Set(["node_modules", ".git", ".troupe", "__pycache__"]);
const STEP_TIME = 60_000;
const TESTS_TIME = 180_000;
/** Functions that are broken to see whether the tests notice. */
const MOST_BROKEN = 6;
const LINE_TIME = 60_000;

let copies = 0;

/** A fresh copy of the project. */
function copy() {
  const folder = join(ROOM, String(copies++));
  cpSync(SOURCE, folder, { recursive: true });
  return folder;
}

/** Paths of all files below a folder, the nearest first. */
function filesIn(folder) {
  const found = [];
  const look = (place) => {
    for (const entry of readdirSync(place, { withFileTypes: true })) {
      if (SKIPPED.has(entry.name)) continue;
      const path = join(place, entry.name);
      if (entry.isDirectory()) look(path);
      else if (entry.isFile()) found.push(relative(folder, path));
    }
  };
  look(folder);
  return found.sort((one, other) => one.split("/").length - other.split("/").length || (one < other ? -1 : 1));
}

function manifestIn(folder) {
  const file = filesIn(folder).find((path) => basename(path) === "package.json");
  if (file === undefined) return undefined;
  try {
    return { at: dirname(join(folder, file)), ...JSON.parse(readFileSync(join(folder, file), "utf8")) };
  } catch {
    return undefined;
  }
}

/** The commands of package.json by name. */
function binsOf(manifest) {
  const { bin, name = "" } = manifest ?? {};
  const all = typeof bin === "string" ? { [name.split("/").at(-1)]: bin } : (bin ?? {});
  return Object.entries(all).map(([command, path]) => [command, join(manifest.at, path)]);
}

/** The words that start the product, or undefined. */
function startWords(folder) {
  const { bin, script, module } = order.start;
  if (module !== undefined) return ["python3", "-m", module];
  if (script !== undefined) {
    const file = filesIn(folder).find((path) => basename(path) === script);
    return file === undefined ? undefined : ["python3", file];
  }
  const found = binsOf(manifestIn(folder)).find(([name]) => name === bin);
  if (found === undefined || !existsSync(found[1])) return undefined;
  return /\.[cm]?js$/.test(found[1]) || /^#!.*node/.test(readFileSync(found[1], "utf8")) ? [process.execPath, found[1]] : [found[1]];
}

function environment(folder) {
  const shims = join(ROOM, `bin-${basename(folder)}`);
  mkdirSync(shims, { recursive: true });
  for (const [name, path] of binsOf(manifestIn(folder))) {
    writeFileSync(join(shims, name), `#!/bin/sh\nexec "${process.execPath}" "${path}" "$@"\n`, { mode: 0o755 });
  }
  return {
    ...process.env,
    PATH: `${shims}:${dirname(process.execPath)}:${process.env.PATH}`,
    HOME: "/tmp",
    NO_COLOR: "1",
    PYTHONDONTWRITEBYTECODE: "1",
  };
}

function run(folder, [program, ...words], { stdin = "", time = STEP_TIME } = {}) {
  const began = Date.now();
  const name = program === "node" ? process.execPath : program;
  const ended = spawnSync(name, words, {
    cwd: folder,
    input: stdin,
    timeout: time,
    killSignal: "SIGKILL",
    encoding: "utf8",
    maxBuffer: 20_000_000,
    env: environment(folder),
  });
  return {
    code: ended.status,
    error: ended.error?.code,
    stdout: ended.stdout ?? "",
    stderr: ended.stderr ?? "",
    seconds: (Date.now() - began) / 1000,
  };
}

const plain = (text) => text.replaceAll("\r\n", "\n");
const shown = (text) => JSON.stringify(text.length > 300 ? `${text.slice(0, 300)}...` : text);

/** The fault of a text by a rule, or undefined. */
function faultOf(what, given, rule = {}) {
  const text = plain(given);
  const told = `${what} is ${shown(text)}`;
  if (rule.equals !== undefined && text.trim() !== plain(rule.equals).trim()) return `${told}, expected ${shown(rule.equals)}`;
  const missing = rule.contains?.find((part) => !text.includes(part));
  if (missing !== undefined) return `${told}, expected ${shown(missing)} in it`;
  const found = rule.lacks?.find((part) => text.includes(part));
  if (found !== undefined) return `${told}, expected no ${shown(found)} in it`;
  if (rule.matches !== undefined && !new RegExp(rule.matches).test(text)) return `${told}, expected a match of ${rule.matches}`;
  return undefined;
}

function faultOfStep(folder, step, start) {
  if (step.run[0] === "$" && start === undefined) return "the product cannot be started: its command is not there";
  const words = step.run[0] === "$" ? [...start, ...step.run.slice(1)] : step.run;
  const ended = run(folder, words, { stdin: step.stdin });
  const { exit = 0, within = Infinity } = step;
  const command = step.run.join(" ").slice(0, 200);
  if (ended.code === null) return `${command}: it did not end (${ended.error ?? "killed"})`;
  const isWrong = exit === "any" ? false : exit === "failure" ? ended.code === 0 : ended.code !== exit;
  if (isWrong) return `${command}: exit code ${ended.code}, expected ${exit}; stderr ${shown(ended.stderr)}`;
  if (ended.seconds > within) return `${command}: it took ${ended.seconds} s, expected ${within} at most`;
  const fault =
    faultOf("stdout", ended.stdout, step.stdout) ??
    faultOf("stderr", ended.stderr, step.stderr) ??
    (step.files ?? []).map((file) => faultOfFile(folder, file)).find((one) => one !== undefined) ??
    (step.gone ?? []).filter((path) => existsSync(join(folder, path))).map((path) => `${path} is there`)[0];
  return fault === undefined ? undefined : `${command}: ${fault}`;
}

function faultOfFile(folder, { path, base64, ...rule }) {
  const file = join(folder, path);
  if (!existsSync(file)) return `${path} is not there`;
  const bytes = readFileSync(file);
  if (base64 !== undefined) return bytes.toString("base64") === base64 ? undefined : `${path} has other bytes`;
  return faultOf(path, bytes.toString(), rule);
}

function faultOfCheck({ given = [], steps }) {
  const folder = copy();
  for (const { path, content, base64, gzip } of given) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, gzip !== undefined ? gzipSync(gzip) : base64 !== undefined ? Buffer.from(base64, "base64") : content);
  }
  const start = startWords(folder);
  for (const step of steps) {
    const fault = faultOfStep(folder, step, start);
    if (fault !== undefined) return fault;
  }
  rmSync(folder, { recursive: true, force: true });
  return undefined;
}

const isTest = (path) =>
  /(^|\/)(tests?|__tests__|spec)\//.test(path) || /(\.|-|_)(test|spec)\.[cm]?[jt]s$|(^|\/)test_[^/]*\.py$|_test\.py$/.test(path);

/** Runs all tests of a folder: how many passed, and whether all did. */
function test(folder) {
  const files = filesIn(folder).filter(isTest);
  const suites = [];
  if (files.some((path) => /\.[cm]?js$/.test(path))) {
    const { scripts, at = folder } = manifestIn(folder) ?? {};
    const own = scripts?.test;
    const isOwn = typeof own === "string" && !own.includes("no test specified");
    const ended = run(at, isOwn ? ["sh", "-c", own] : ["node", "--test"], { time: TESTS_TIME });
    suites.push({ ...ended, passed: Number(/^(?:#|ℹ) pass (\d+)/m.exec(ended.stdout)?.[1] ?? 0) });
  }
  if (files.some((path) => path.endsWith(".py"))) {
    const pytest = run(folder, ["python3", "-m", "pytest", "-q", "-p", "no:cacheprovider"], { time: TESTS_TIME });
    const isThere = !pytest.stderr.includes("No module named pytest");
    const ended = isThere ? pytest : run(folder, ["python3", "-m", "unittest", "discover", "-s", "tests", "-t", "."], { time: TESTS_TIME });
    suites.push({ ...ended, passed: Number(/(\d+) passed/.exec(ended.stdout)?.[1] ?? /Ran (\d+) tests?/.exec(ended.stderr)?.[1] ?? 0) });
  }
  const passed = suites.reduce((sum, suite) => sum + suite.passed, 0);
  const bad = suites.find(({ code }) => code !== 0);
  return {
    passed,
    isGreen: suites.length > 0 && bad === undefined && passed > 0,
    said: bad === undefined ? "" : shown(bad.stdout + bad.stderr),
  };
}

const FUNCTIONS = [
  { ending: /\.[cm]?js$/, form: /(?:function\s*\w*\s*\([^()]*\)|=>)\s*\{/g, broken: ' throw new Error("broken on purpose");' },
  { ending: /\.py$/, form: /^( *)def \w+\([^()]*\)[^:\n]*:\n/gm, broken: 'raise RuntimeError("broken on purpose")\n' },
];

/**
 * The source files that tests lead to: those that they, or files that they lead to, name. Where tests name none, all of them. A page's script
 * that only a browser loads is nothing that tests without one can notice.
 */
function testedIn(folder) {
  const all = filesIn(folder).filter((path) => FUNCTIONS.some(({ ending }) => ending.test(path)));
  const sources = all.filter((path) => !isTest(path) && !path.startsWith("docs/"));
  const open = all.filter(isTest);
  const tested = new Set();
  for (const path of open) {
    const text = readFileSync(join(folder, path), "utf8");
    for (const source of sources) {
      const stem = basename(source).replace(/\.\w+$/, "");
      const name = stem === "__init__" || stem === "__main__" || stem === "index" ? basename(dirname(source)) : stem;
      const isNamed = source.endsWith(".py") ? new RegExp(`\\b${name}\\b`).test(text) : text.includes(basename(source));
      if (!isNamed || tested.has(source)) continue;
      tested.add(source);
      open.push(source);
    }
  }
  return tested.size === 0 ? sources : sources.filter((path) => tested.has(path));
}

/** Functions of the project that can be broken, spread over the files that its tests lead to. */
function breakable(folder) {
  const sources = testedIn(folder);
  const places = sources.flatMap((path) => {
    const kind = FUNCTIONS.find(({ ending }) => ending.test(path));
    if (kind === undefined) return [];
    const text = readFileSync(join(folder, path), "utf8");
    return [...text.matchAll(kind.form)].map((found) => {
      const indent = path.endsWith(".py") ? `${found[1]}    ` : "";
      const end = found.index + found[0].length;
      return { path, text: text.slice(0, end) + indent + kind.broken + text.slice(end) };
    });
  });
  // As many of each file, spread over it, and one of each file before a second of it.
  const files = [...new Set(places.map(({ path }) => path))];
  const share = Math.ceil(MOST_BROKEN / Math.max(1, files.length));
  const chosen = files.map((path) => {
    const own = places.filter((place) => place.path === path);
    const every = Math.max(1, Math.floor(own.length / share));
    return own.filter((_, n) => n % every === 0).slice(0, share);
  });
  return Array.from({ length: share }, (_, turn) => chosen.flatMap((own) => own[turn] ?? []))
    .flat()
    .slice(0, MOST_BROKEN);
}

function faultOfBreaking() {
  const places = breakable(SOURCE);
  if (places.length === 0) return "no function was found that could be broken";
  const unseen = places.filter(({ path, text }) => {
    const folder = copy();
    writeFileSync(join(folder, path), text);
    const { isGreen } = test(folder);
    rmSync(folder, { recursive: true, force: true });
    return isGreen;
  });
  const files = unseen.map(({ path }) => path).join(", ");
  return unseen.length * 3 <= places.length * 2
    ? undefined
    : `${unseen.length} of ${places.length} broken functions were not noticed: ${files}`;
}

const OTHER_WORK =
  /^(npm (install|i|ci|link|start|publish)|npx (?!\.)(serve|http)|git |cd |open |xdg-open|pip|python3? -m (http|pip|venv)|export |source |#|mkdir|echo|curl)/;

/** The commands of a README, as its reader would type them. */
function commandsIn(text) {
  const blocks = [...text.matchAll(/^```(?:sh|bash|shell|console|terminal)\s*\n([\s\S]*?)^```/gm)].map(([, inside]) => inside);
  const lines = blocks.flatMap((block) =>
    block
      .replaceAll("\\\n", " ")
      .split("\n")
      .map((line) => line.trim()),
  );
  const prompted = lines.some((line) => line.startsWith("$ "));
  const typed = prompted ? lines.filter((line) => line.startsWith("$ ")).map((line) => line.slice(2)) : lines;
  return typed.filter((line) => line !== "" && !OTHER_WORK.test(line) && !/[<>[]\w|\.\.\.|…/.test(line.replace(/"[^"]*"|'[^']*'/g, "")));
}

function faultOfReadme() {
  const file = filesIn(SOURCE).find((path) => /^readme(\.md|\.rst|\.txt)?$/i.test(basename(path)));
  if (file === undefined) return "there is no README";
  const text = readFileSync(join(SOURCE, file), "utf8");
  const commands = commandsIn(text);
  if (commands.length === 0) return order.start.page === true && /\.html/.test(text) ? undefined : "the README has no command to try";
  const folder = copy();
  for (const command of commands) {
    const ended = run(folder, ["sh", "-c", command], { time: LINE_TIME });
    if (ended.code !== 0) return `${command}: exit code ${ended.code}; stderr ${shown(ended.stderr)}`;
  }
  return undefined;
}

const STRAY =
  /(^|\/)(node_modules|__pycache__|\.pytest_cache|coverage|tmp|temp|\.DS_Store|npm-debug\.log)(\/|$)|\.(log|orig|rej|swp|pyc|tmp)$|~$/;

function faultOfStray() {
  const all = readdirSync(SOURCE, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(SOURCE, join(entry.parentPath ?? entry.path, entry.name)));
  const readme = all.includes("README.md") ? readFileSync(join(SOURCE, "README.md"), "utf8") : "";
  // A file that the README names is an example.
  const stray = all.filter((path) => !/^\.(git|troupe)\//.test(path) && STRAY.test(path) && !readme.includes(path));
  return stray.length === 0 ? undefined : `files that do not belong there: ${stray.slice(0, 5).join(", ")}`;
}

function faultOfPackages() {
  const { dependencies = {}, devDependencies = {} } = manifestIn(SOURCE) ?? {};
  const names = Object.keys({ ...dependencies, ...devDependencies });
  return names.length === 0 ? undefined : `packages are wanted: ${names.join(", ")}`;
}

function faultOfNetwork() {
  const sources = filesIn(SOURCE).filter((path) => /\.(html|css|[cm]?js)$/.test(path) && !isTest(path));
  const wants = /(src|href)\s*=\s*["'](https?:)?\/\/|@import\s+(url\()?["']?https?:|(fetch|import)\(\s*["'`]https?:|from\s+["']https?:/;
  const found = sources.find((path) => wants.test(readFileSync(join(SOURCE, path), "utf8")));
  return found === undefined ? undefined : `${found} wants something from the network`;
}

const green = () => {
  const { isGreen, passed, said } = test(copy());
  return isGreen ? undefined : passed === 0 ? `no test passed ${said}` : `the tests fail: ${said}`;
};

const QUALITY = {
  tests: green,
  "tests can fail": () => (green() === undefined ? faultOfBreaking() : "the tests do not pass as they are"),
  readme: faultOfReadme,
  "no stray files": faultOfStray,
  "no packages": faultOfPackages,
  "no network": faultOfNetwork,
};

mkdirSync(ROOM, { recursive: true });
const told = (id, fault) => ({ id, passed: fault === undefined, ...(fault === undefined ? {} : { why: fault }) });
const guarded = (work) => {
  try {
    return work();
  } catch (error) {
    return `the check failed: ${error.message}`;
  }
};
const isEmpty = filesIn(SOURCE).length === 0;
const results = [
  ...order.checks.map((check) =>
    told(
      check.id,
      guarded(() => faultOfCheck(check)),
    ),
  ),
  ...order.quality.map((name) => told(name, isEmpty ? "there is no product" : guarded(QUALITY[name]))),
];
process.stdout.write(`\n${JSON.stringify(results)}\n`);
