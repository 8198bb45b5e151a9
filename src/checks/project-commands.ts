import { parsedJson } from "../kernel/json.ts";
import { isRecord } from "../kernel/value-kind.ts";
import { visible, visibleLines } from "../workspace/path-rules.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import { commandText } from "./commands.ts";
import { type JobReport, runJobs, type StepReport } from "./jobs.ts";
import { textIn } from "./project-text.ts";
import { emptyReport, type SuiteReport } from "./verification.ts";

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
/** The packages by which Debian and Ubuntu install a program. */
const PACKAGES: Readonly<Record<string, string>> = {
  ...{ cargo: "cargo", go: "golang-go", just: "just", make: "make", npm: "npm", pytest: "python3-pytest" },
};
/** Tables of `pyproject.toml` with commands, and what runs them. */
export const PYTHON_TASKS: readonly (readonly [table: string, run: Command])[] = [
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
  for (const [program, ...names] of [
    ["make", "Makefile", "makefile", "GNUmakefile"],
    ["just", "justfile", "Justfile", ".justfile"],
  ] as const) {
    const texts = await Promise.all(names.map(async (file) => ({ file, text: (await textIn(root, file)) ?? "" })));
    const { file, text } = texts.find((one) => one.text !== "") ?? { file: "", text: "" };
    const named = (target: string): boolean => new RegExp(`^@?${target}\\b[^:=\\n]*:(?!=)`, "m").test(text);
    const test = ["test", "check"].find(named);
    if (test !== undefined) add(file, named("build") ? [program, "build"] : undefined, [program, test]);
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
  const language = commandText({ run: steps.at(-1) ?? [""] });
  const report = (kind: SuiteReport["kind"], more: Partial<SuiteReport>): SuiteReport => ({
    ...emptyReport(language, [file], kind),
    ...more,
  });
  const ran = job?.kind === "ran" ? job.steps : [];
  const [last, step] = [ran.at(-1), steps[ran.length - 1]];
  if (last === undefined || step === undefined) {
    const reason = job === undefined || !("reason" in job) ? "It has no report." : visible(job.reason, 500);
    return job?.kind === "broken"
      ? report("failed", { ...countsIn("", false), failures: [{ name: language, file, message: `It ${reason}.` }] })
      : report("not run", { reason });
  }
  const missing = missingIn(last, step[0]);
  if (missing !== undefined) return report("not run", { reason: missingWords(missing, file) });
  const output = `${last.stdout}\n${last.stderr}`;
  const isGreen = ran.length === steps.length && last.problems.length === 0;
  const counts = countsIn(output, isGreen);
  if (isGreen) return report("passed", counts);
  const names = namesIn(output, commandText({ run: step }), counts.failed);
  const failures = names.map((name, nth) => ({ name: visible(name, 300), file, message: nth === 0 ? tail(last) : "" }));
  return last.timedOut
    ? report("timeout", { ...counts, failures, reason: `They did not end within ${timeout} ms.` })
    : report("failed", { ...counts, failures });
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

/** The words of a summary, such as `3 passed` or `# pass 3`, and a line of one test, for output without a summary. */
const COUNTED = {
  passed: ["pass(?:ed|ing)?", /^\s*--- PASS: |^ok \d+\b(?!.*# (?:skip|todo))/gim],
  failed: ["fail(?:ed|ing|ures?)?|errors?", /^\s*--- FAIL: |^not ok \d+\b(?!.*# (?:skip|todo))/gim],
  skipped: ["skipped|ignored|pending|todo", /^\s*--- SKIP: |^(?:not )?ok \d+\b.*# (?:skip|todo)/gim],
} as const;

/** The counts of TAP, JUnit or usual summaries. A command that prints none is one test. @internal */
export function countsIn(output: string, isGreen: boolean): Counts {
  const text = output.replace(/<testsuite\b[^>]*>/g, junitSummary).replace(/^\s*Test (?:Files|Suites)\b.*$/gm, "");
  const count = ([words, line]: (typeof COUNTED)[keyof typeof COUNTED]): number => {
    const summaries = [...text.matchAll(new RegExp(`(?<![\\d.])(\\d+) (?:tests? )?(?:${words})\\b|^[#ℹ] (?:${words}) (\\d+)$`, "gim"))];
    return summaries.length === 0
      ? (text.match(line)?.length ?? 0)
      : summaries.reduce((sum, [, one, other]) => sum + Number(one ?? other), 0);
  };
  const [passed, failed, skipped] = [count(COUNTED.passed), count(COUNTED.failed), count(COUNTED.skipped)];
  if (passed + failed + skipped === 0) return { total: 1, passed: isGreen ? 1 : 0, failed: isGreen ? 0 : 1, skipped };
  const broken = isGreen ? failed : Math.max(1, failed);
  return { total: passed + broken + skipped, passed, failed: broken, skipped };
}

function junitSummary(tag: string): string {
  const count = (name: string): number => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(tag)?.[1] ?? 0);
  const [failed, skipped] = [count("failures") + count("errors"), count("skipped")];
  return `${Math.max(0, count("tests") - failed - skipped)} passed, ${failed} failed, ${skipped} skipped\n`;
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
