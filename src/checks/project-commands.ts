import { parsedJson } from "../kernel/json.ts";
import { isRecord } from "../kernel/value-kind.ts";
import { visible, visibleLines } from "../workspace/path-rules.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import { commandText } from "./commands.ts";
import { type JobReport, runJobs, type StepReport } from "./jobs.ts";
import { textIn } from "./project-text.ts";
import type { SuiteReport } from "./verification.ts";

type Command = readonly [string, ...string[]];

/** Commands that a file of the project names: a build where there is one, then the tests. */
export interface ProjectCommands {
  readonly file: string;
  readonly steps: readonly Command[];
}

export interface CommandsRequest {
  readonly root: string;
  readonly sandbox: Sandbox;
  readonly commands: readonly ProjectCommands[];
  /** Milliseconds for the commands of one file. */
  readonly timeout: number;
  readonly signal?: AbortSignal | undefined;
}

const MAX_FAILURES = 50;
const OUTPUT_LENGTH = 16_000;
const MESSAGE_LENGTH = 2_000;
/** How Debian and Ubuntu install a program. */
const PACKAGES: Readonly<Record<string, string>> = {
  ...{ cargo: "cargo", go: "golang-go", just: "just", make: "make", npm: "npm", pytest: "python3-pytest" },
};
/** Tables of `pyproject.toml` with commands, and what runs them. */
const PYTHON_TASKS: readonly (readonly [table: string, run: Command])[] = [
  ["tool.poe.tasks", ["poe"]],
  ["tool.pdm.scripts", ["pdm", "run"]],
  ["tool.hatch.envs.default.scripts", ["hatch", "run"]],
  ["tool.taskipy.tasks", ["task"]],
];

/** Finds the commands by which a project says that it is tested, but for what the runners of {@link runSuites} run themselves. */
export async function projectCommands(root: string): Promise<ProjectCommands[]> {
  const found: ProjectCommands[] = [];
  const add = (file: string, ...steps: readonly (Command | undefined)[]): unknown =>
    found.push({ file, steps: steps.filter((step) => step !== undefined) });
  const scripts = await scriptsIn(root);
  if (isForeign(scripts["test"] ?? ""))
    add("package.json", scripts["build"] === undefined ? undefined : ["npm", "run", "build"], ["npm", "test"]);
  if ((await textIn(root, "go.mod")) !== undefined) add("go.mod", ["go", "build", "./..."], ["go", "test", "./..."]);
  if ((await textIn(root, "Cargo.toml")) !== undefined) add("Cargo.toml", ["cargo", "build"], ["cargo", "test"]);
  const python = (await textIn(root, "pyproject.toml")) ?? "";
  for (const [table, run] of PYTHON_TASKS) {
    const task = /^test\s*=\s*(.*)$/m.exec(tableIn(python, table))?.[1];
    if (task !== undefined && !/^\W*(cmd\W+)?(python3?\s+-m\s+)?(pytest|unittest)\b/.test(task)) add("pyproject.toml", [...run, "test"]);
  }
  for (const [program, names] of [
    ["make", ["Makefile", "makefile", "GNUmakefile"]],
    ["just", ["justfile", "Justfile", ".justfile"]],
  ] as const) {
    for (const file of names) {
      const text = (await textIn(root, file)) ?? "";
      const named = (target: string): boolean => new RegExp(`^@?${target}\\b[^:=\\n]*:(?!=)`, "m").test(text);
      const test = ["test", "check"].find(named);
      if (test === undefined) continue;
      add(file, named("build") ? [program, "build"] : undefined, [program, test]);
      break;
    }
  }
  return found;
}

export function tableIn(toml: string, table: string): string {
  return new RegExp(`^\\[${table.replaceAll(".", "\\.")}\\]\\s*$([^]*?)(?=^\\[|(?![^]))`, "m").exec(toml)?.[1] ?? "";
}

async function scriptsIn(root: string): Promise<Readonly<Record<string, string>>> {
  const manifest = parsedJson((await textIn(root, "package.json")) ?? "");
  const scripts = isRecord(manifest) && isRecord(manifest["scripts"]) ? manifest["scripts"] : {};
  return Object.fromEntries(Object.entries(scripts).filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

/** False for `node --test` on files that are found without it. */
function isForeign(script: string): boolean {
  const [program, ...words] = script.trim().split(/\s+/);
  if (program === "" || /no test specified/.test(script)) return false;
  const isKnown = (word: string): boolean => /^--test|(^|\/)(tests?|__tests__)(\/|\W?$)|\.(test|spec)\./.test(word);
  return program !== "node" || !words.includes("--test") || !words.every(isKnown);
}

/** Runs commands in the sandbox, those of each file in a fresh copy. The exit code decides; a program that is missing is "not run". */
export async function runCommands({ root, sandbox, commands, timeout, signal }: CommandsRequest): Promise<SuiteReport[]> {
  const jobs = commands.map(({ steps }) => ({ given: [], steps: steps.map((run) => ({ run })) }));
  const reports = jobs.length === 0 ? [] : await runJobs({ root, sandbox, jobs, timeout, signal, shown: OUTPUT_LENGTH });
  return commands.map((command, at) => reportOf(command, reports[at], timeout));
}

function reportOf({ file, steps }: ProjectCommands, job: JobReport | undefined, timeout: number): SuiteReport {
  const ran = job?.kind === "ran" ? job.steps : [];
  const last = ran.at(-1);
  const name = commandText({ run: steps[Math.max(0, ran.length - 1)] ?? [""] });
  const report = (kind: SuiteReport["kind"], more: Partial<SuiteReport>): SuiteReport => ({
    ...{
      language: commandText({ run: steps.at(-1) ?? [""] }),
      kind,
      total: 0,
      passed: 0,
      failed: 0,
      skipped: 0,
      files: [file],
      failures: [],
    },
    ...more,
  });
  if (job?.kind === "broken")
    return report("failed", { total: 1, failed: 1, failures: [{ name, file, message: `It ${visible(job.reason, 500)}.` }] });
  if (last === undefined) return report("not run", { reason: job?.kind === "not run" ? job.reason : "It has no report." });
  const missing = missingIn(last, steps[ran.length - 1]?.[0] ?? "");
  if (missing !== undefined) return report("not run", { reason: missingWords(missing, file) });
  const output = `${last.stdout}\n${last.stderr}`;
  const isGreen = ran.length === steps.length && last.problems.length === 0;
  const counts = countsIn(output, isGreen);
  if (isGreen) return report("passed", counts);
  const failures = namesIn(output, name, counts.failed).map((failure, nth) => ({
    name: visible(failure, 300),
    file,
    message: nth === 0 ? tail(last) : "",
  }));
  if (last.timedOut) return report("timeout", { ...counts, failures, reason: `They did not end within ${timeout} ms.` });
  return report("failed", { ...counts, failures });
}

function tail({ stdout, stderr, problems }: StepReport): string {
  const said = [stdout, stderr].map((text) => text.trim()).filter((text) => text !== "");
  return visibleLines([...problems, ...said].join("\n").slice(-MESSAGE_LENGTH), MESSAGE_LENGTH);
}

/** The program that is not there: this command's, or one that it starts. */
function missingIn({ missing, code, stdout, stderr, problems }: StepReport, program: string): string | undefined {
  if (missing !== null) return /the program "(.+)" is not there/.exec(problems[0] ?? "")?.[1] ?? program;
  if (problems.length === 0) return undefined;
  const said = `${stdout}\n${stderr}`;
  const [, module] = /No module named '?(pytest|nox|tox)\b/.exec(said) ?? [];
  if (module !== undefined || (code !== 127 && !/\b(?:Error|code|status) 127\b/.test(said))) return module;
  return (
    /([\w.@/-]+): (?:command )?not found|make(?:\[\d+\])?: ([\w.@/-]+): No such file/
      .exec(said)
      ?.slice(1)
      .find((name) => name !== undefined) ?? "a program"
  );
}

function missingWords(program: string, file: string): string {
  const known = PACKAGES[program];
  if (known !== undefined) return `${program} is missing in the sandbox. Install it, on Debian and Ubuntu with: apt-get install ${known}`;
  const advice =
    file === "package.json"
      ? "Install the packages of the project: npm install"
      : "Install it where the sandbox finds it, such as /usr/bin";
  return `${visible(program, 100)} is missing in the sandbox. ${advice}`;
}

type Counts = Pick<SuiteReport, "total" | "passed" | "failed" | "skipped">;

const KINDS = {
  passed: { word: "pass(?:ed|ing)?", tap: "pass", line: /^\s*--- PASS: |^ok \d+\b(?!.*# (?:skip|todo))/gim },
  failed: { word: "fail(?:ed|ing|ures?)?|errors?", tap: "fail", line: /^\s*--- FAIL: |^not ok \d+\b(?!.*# (?:skip|todo))/gim },
  skipped: {
    word: "skipped|ignored|pending|xfailed",
    tap: "(?:skipped|todo|cancelled)",
    line: /^\s*--- SKIP: |^(?:not )?ok \d+\b.*# (?:skip|todo)/gim,
  },
} as const;
const ATTRIBUTES = { tests: /\btests="(\d+)"/, failed: /\b(?:failures|errors)="(\d+)"/g, skipped: /\bskipped="(\d+)"/g };

/** The counts of TAP, JUnit or usual lines such as `3 passed, 1 failed`. A command that says none is one test. @internal */
export function countsIn(output: string, isGreen: boolean): Counts {
  const found = junitCounts(output) ?? lineCounts(output);
  const failed = isGreen ? found.failed : Math.max(1, found.failed);
  const isSilent = found.passed + found.failed + found.skipped === 0;
  const passed = isSilent && isGreen ? 1 : found.passed;
  return { total: passed + failed + found.skipped, passed, failed, skipped: found.skipped };
}

function junitCounts(output: string): Omit<Counts, "total"> | undefined {
  const suites = [...output.matchAll(/<testsuite\b[^>]*>/g)].map(([tag]) => tag).filter((tag) => ATTRIBUTES.tests.test(tag));
  if (suites.length === 0) return undefined;
  const sum = (pattern: RegExp): number =>
    suites.flatMap((tag) => [...tag.matchAll(pattern)]).reduce((all, [, count]) => all + Number(count), 0);
  const [failed, skipped] = [sum(ATTRIBUTES.failed), sum(ATTRIBUTES.skipped)];
  return { failed, skipped, passed: Math.max(0, sum(new RegExp(ATTRIBUTES.tests, "g")) - failed - skipped) };
}

function lineCounts(output: string): Omit<Counts, "total"> {
  const lines = output.split("\n").filter((line) => !/^\s*Test (Files|Suites)\b/.test(line));
  const count = ({ word, tap, line }: (typeof KINDS)[keyof typeof KINDS]): number => {
    const summaries = lines.flatMap((text) => [
      ...text.matchAll(new RegExp(`(?<![\\d.])(\\d+) (?:tests? )?(?:${word})\\b|^[#ℹ] ${tap} (\\d+)$`, "gi")),
    ]);
    const sum = summaries.reduce((all, [, one, other]) => all + Number(one ?? other), 0);
    return summaries.length > 0 ? sum : (output.match(line)?.length ?? 0);
  };
  return { passed: count(KINDS.passed), failed: count(KINDS.failed), skipped: count(KINDS.skipped) };
}

const FAILED_NAMES = [
  /^\s*--- FAIL: (\S+)/,
  /^test (\S+) \.\.\. FAILED/,
  /^\s*not ok \d+(?: -)? (.+)/,
  /^FAILED (\S+)/,
  /^\s*● (.+)/,
  /^\s*✖ (.+)/,
  /^\s*FAIL\s+(.+)/,
];

/** Names of tests that failed, so that a failure from before the work is known again; without any, the command with the count. */
function namesIn(output: string, command: string, failed: number): readonly string[] {
  const names = output
    .split("\n")
    .flatMap((line) => FAILED_NAMES.map((pattern) => pattern.exec(line)?.[1]).find((name) => name !== undefined) ?? []);
  const plain = new Set(names.map((name) => name.replace(/ *\(?[\d.]+ ?m?s\)?$/, "").trim()));
  return plain.size === 0 ? [`${command}, ${failed} failed`] : [...plain].slice(0, MAX_FAILURES);
}
