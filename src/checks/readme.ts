import { parsedJson } from "../kernel/json.ts";
import { isRecord } from "../kernel/value-kind.ts";
import { visible, visibleLines } from "../workspace/path-rules.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import type { Criterion } from "./acceptance.ts";
import { commandText } from "./commands.ts";
import { textIn } from "./project-text.ts";
import { type JobReport, type JobStep, runJobs } from "./jobs.ts";
import { tableIn } from "./project-commands.ts";
import type { Fault } from "./verification.ts";

export interface ReadmeRequest {
  readonly root: string;
  readonly sandbox: Sandbox;
  /** Milliseconds for the commands of one block. Default 10,000. A server is stopped after it. */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Exit codes other than 0 that they expect of a program are no fault of its README. */
  readonly criteria?: readonly Criterion[] | undefined;
}

export interface ReadmeBlock {
  readonly steps: readonly JobStep[];
}

const README = "README.md";
const BLOCK_TIMEOUT = 10_000;
const MAX_BLOCKS = 8;
const MAX_COMMANDS = 12;

/** Characters of a line that is a command. */
const LINE_LENGTH = 1_000;

const USE = /\b(us(e|age|ing)|quick ?start|get(ting)? started|run(ning)?|examples?|try)\b/i;
const SHELL = /^(sh|bash|shell|zsh|console|terminal|shellsession|text)?$/i;
const PLACEHOLDER = /<[^>]*>|\[[^\]]*\]|\.\.\.|…|\byour[-_ ]|path\/to\/|\{[^}]*\}|^[A-Z][A-Z_]{2,}$/;
const FAILURE = /\b(error|errors|fails?|failed|failure|exit(s|ed)? (code|with|status)|invalid|wrong|refuse[sd]?|reject(s|ed)?)\b/i;
const LEFT_OUT =
  /^(npm|pnpm|yarn) (?!start\b|test\b|run\b)|^python3? -m (pip|venv|http\.server|pytest|unittest)\b|^(npm|pnpm|yarn) (run )?test\b|^node --test\b|^(npm|pnpm|yarn|npx)$/;

/**
 * Runs the commands that the README shows in its sections about use, each fenced block in a fresh copy of the project. Only `node`,
 * `python3`, scripts and own commands of the project are run, without a shell. A command that prints and does not end is no fault: it may
 * be a server.
 */
export async function checkReadme(request: ReadmeRequest): Promise<Fault[]> {
  const { root, sandbox, timeout = BLOCK_TIMEOUT, signal, criteria = [] } = request;
  const text = await textIn(root, README);
  if (text === undefined) return [];
  const blocks = await readmeBlocks(text, await programsOf(root));
  if (blocks.length === 0) return [];
  const jobs = blocks.map(({ steps }) => ({ given: [], steps }));
  const reports = await runJobs({ root, sandbox, jobs, timeout, signal });
  const wanted = criteria.flatMap(({ check }) => (check.kind === "command" ? check.steps : []));
  const isWanted = ({ run }: JobStep, code: number | null): boolean =>
    wanted.some((step) => step.exit === code && programOf(step.run) === programOf(run));
  return reports.flatMap((report, at) => faultOf(report, blocks[at]?.steps ?? [], isWanted) ?? []);
}

/** Such as `python3 -m dups`, or `node dups.mjs`. */
function programOf(run: readonly string[]): string {
  return run.slice(0, run[1] === "-m" ? 3 : 2).join(" ");
}

function faultOf(
  report: JobReport,
  steps: readonly JobStep[],
  isWanted: (step: JobStep, code: number | null) => boolean,
): Fault | undefined {
  const fault = (step: JobStep | undefined, message: string): Fault => ({
    kind: "readme",
    file: README,
    ...(step === undefined ? {} : { command: commandText(step) }),
    message,
  });
  if (report.kind === "broken") return fault(steps[0], `The README shows it, and it ${visible(report.reason, 300)}.`);
  if (report.kind !== "ran") return undefined;
  const last = report.steps.at(-1);
  if (last === undefined || last.problems.length === 0) return undefined;
  const said = [last.stderr, last.stdout].map((text) => text.trim());
  if (last.timedOut && said.join("") !== "") return undefined;
  const step = steps[report.steps.length - 1];
  if (step !== undefined && said[0] === "" && said[1] !== "" && isWanted(step, last.code)) return undefined;
  const shown = visibleLines(said.find((text) => text !== "") ?? "", 600);
  const problems = last.problems.map((problem) => visible(problem, 300)).join("; ");
  const lines = [
    `The README shows it as a command that works: ${problems}.`,
    ...(shown === "" ? [] : [shown]),
    placeOf(steps.slice(0, report.steps.length - 1)),
  ];
  return fault(step, lines.join("\n"));
}

/** The place of a command among those of its block, so that no one takes a fault of the product for one of the check. */
function placeOf(before: readonly JobStep[]): string {
  if (before.length === 0) return "It ran first, in a fresh copy of the project.";
  return `Before it, in the same copy of the project: ${before.map(commandText).join("; ")}.`;
}

/** Finds the commands in a README. @param programs names of the project's own commands */
export async function readmeBlocks(text: string, programs: ReadonlySet<string>): Promise<ReadmeBlock[]> {
  const { parse } = await import("shell-quote");
  const found: ReadmeBlock[] = [];
  for (const { info, lines } of fencedBlocks(text)) {
    if (!SHELL.test(info)) continue;
    const steps: JobStep[] = [];
    const commands = commandLines(lines);
    for (const { line, isFailure } of commands) {
      const words = wordsOf(parse(line, (name) => ({ op: `$${name}` })));
      if (words === undefined || !isRun(words, programs)) continue;
      steps.push({ run: words, exit: isFailure ? "any" : 0 });
    }
    if (steps.length > 0) found.push({ steps: steps.slice(0, MAX_COMMANDS) });
  }
  return found.slice(0, MAX_BLOCKS);
}

function isRun(words: readonly [string, ...string[]], programs: ReadonlySet<string>): boolean {
  const [name, second] = words;
  if (words.some((word) => PLACEHOLDER.test(word)) || LEFT_OUT.test(words.join(" "))) return false;
  if (/^(npm|pnpm|yarn|node|python3?)$/.test(name) || programs.has(name)) return true;
  return name === "npx" ? second !== undefined && programs.has(second) : /^\.\/[\w./-]+$/.test(name);
}

/** The words of a line; undefined where it needs a shell. */
function wordsOf(parsed: readonly (string | object)[]): [string, ...string[]] | undefined {
  const words = parsed.filter((entry) => typeof entry === "string" || !("comment" in entry));
  if (!words.every((word) => typeof word === "string")) return undefined;
  const [first, ...rest] = words;
  return first === undefined || /^\w+=/.test(first) ? undefined : [first, ...rest];
}

interface CommandLine {
  readonly line: string;
  readonly isFailure: boolean;
}

function commandLines(lines: readonly string[]): CommandLine[] {
  const joined = lines
    .join("\n")
    .replace(/\\\n\s*/g, " ")
    .split("\n");
  if (joined.some((line) => line.includes("<<"))) return [];
  const hasPrompts = joined.some((line) => /^\s*[$%>]\s/.test(line));
  const isCommand = (line: string): boolean => line.trim() !== "" && !/^\s*#/.test(line) && (!hasPrompts || /^\s*[$%>]\s/.test(line));
  return joined.flatMap((line, at) => {
    if (!isCommand(line) || line.length > LINE_LENGTH || line.includes("`")) return [];
    const before = joined[at - 1] ?? "";
    const end = joined.findIndex((next, place) => place > at && isCommand(next));
    const after = hasPrompts ? joined.slice(at + 1, end === -1 ? undefined : end).join("\n") : "";
    const comment = /\s#\s.*$/.exec(line)?.[0] ?? "";
    const about = [comment, isCommand(before) ? "" : before, after].join("\n");
    return [{ line: line.replace(/^\s*[$%>]\s+/, ""), isFailure: FAILURE.test(about) }];
  });
}

interface FencedBlock {
  readonly info: string;
  readonly lines: readonly string[];
}

function fencedBlocks(text: string): FencedBlock[] {
  const found: FencedBlock[] = [];
  /** The level of the heading that began a section about use; 0 outside of one. */
  let level = 0;
  let open: { readonly fence: string; readonly info: string; readonly lines: string[] } | undefined;
  for (const line of text.split(/\r?\n/)) {
    if (open !== undefined) {
      if (line.trim().startsWith(open.fence) && line.trim().replaceAll(open.fence[0] ?? "", "") === "") {
        if (level > 0) found.push({ info: open.info, lines: open.lines });
        open = undefined;
      } else open.lines.push(line);
      continue;
    }
    const fence = /^\s*(`{3,}|~{3,})\s*([\w-]*)/.exec(line);
    if (fence !== null) open = { fence: fence[1] ?? "", info: fence[2] ?? "", lines: [] };
    const heading = /^(#{1,6})\s+(.*)$/.exec(line);
    if (heading === null) continue;
    const depth = heading[1]?.length ?? 0;
    if (level > 0 && depth > level) continue;
    level = USE.test(heading[2] ?? "") && depth > 1 ? depth : 0;
  }
  return found;
}

async function programsOf(root: string): Promise<ReadonlySet<string>> {
  const manifest = parsedJson((await textIn(root, "package.json")) ?? "");
  const bin = isRecord(manifest) ? manifest["bin"] : undefined;
  const name =
    isRecord(manifest) && typeof bin === "string" && typeof manifest["name"] === "string" ? [manifest["name"].split("/").at(-1) ?? ""] : [];
  const scripts = tableIn((await textIn(root, "pyproject.toml")) ?? "", "project.scripts");
  const python = [...scripts.matchAll(/^\s*"?([\w.-]+)"?\s*=/gm)].map(([, each]) => each ?? "");
  return new Set([...(isRecord(bin) ? Object.keys(bin) : name), ...python]);
}
