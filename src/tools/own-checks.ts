import type { Clock } from "../kernel/clock.ts";
import { kinds } from "../kernel/option-kinds.ts";
import type { Known } from "../kernel/known-options.ts";
import type { StepPort } from "../kernel/step.ts";
import { seenText, upTo } from "../tool/shown-text.ts";
import { type ForkedProject, openFork, settleFork, updateFork } from "../workspace/fork-steps.ts";
import { endText } from "../workspace/sandbox.ts";
import type { ToolContext } from "../tool/tool.ts";
import type { MachineOptions } from "./command.ts";

export type Command = readonly [string, ...string[]];

/** The fork of a project in which one role works. Its files reach the project when all checks are green. */
export interface OwnFork {
  readonly project: ForkedProject;
  readonly name: string;
  readonly author: string;
}

export interface CheckedPlace extends MachineOptions {
  /** Milliseconds for each check. Default 120,000. */
  readonly timeout?: number | undefined;
  /** The workspace is that of the fork. Default: the work is in the project itself. */
  readonly fork?: OwnFork | undefined;
}

export const placeOptions: Known<CheckedPlace> = {
  workspace: kinds.workspace,
  sandbox: kinds.sandbox,
  timeout: kinds.milliseconds,
  fork: kinds.object,
};

const TIMEOUT = 120_000;
/** Milliseconds for copying the project into the sandbox. */
const COPY_TIME = 180_000;
/** Characters of one command's output that the agent sees. */
const SHOWN = 4_000;
/** Work is checked again while colleagues merge. */
const MOST_ROUNDS = 5;
/** Characters of the first line of a commit. */
const SUBJECT = 72;

/** What is checked, by whom, and how its commit is named. */
export interface CheckedWork {
  readonly commands: readonly Command[];
  readonly steps: StepPort;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly message: string;
}

export function timeForChecks(count: number, { timeout = TIMEOUT, fork }: Pick<CheckedPlace, "timeout" | "fork">): number {
  return Math.max(1, count) * (timeout + COPY_TIME) * (fork === undefined ? 1 : MOST_ROUNDS);
}

/** Runs the checks of some work, and merges it where it is in a fork and they are green. Returns what is against it. */
export async function settledWork(place: CheckedPlace, work: CheckedWork): Promise<string | undefined> {
  const { fork } = place;
  const check = (): Promise<string | undefined> => redChecks(place, work);
  if (fork === undefined) return check();
  const [subject = ""] = seenText(work.message).trim().split("\n");
  const request = { message: upTo(subject, SUBJECT) || "Merge the work of a role", author: fork.author, date: work.clock.now() };
  const end = await settleFork(work.steps, fork.project, fork.name, { request, check, rounds: MOST_ROUNDS });
  if (end.kind === "merged") return undefined;
  return end.kind === "red" ? end.why : end.note;
}

async function redChecks(place: CheckedPlace, { commands, steps, signal }: CheckedWork): Promise<string | undefined> {
  const failed: string[] = [];
  for (const command of commands) {
    const { isGreen, said } = await runCheck(place, command, steps, signal);
    if (!isGreen) failed.push(`${commandText(command)}\n${said}`);
  }
  if (failed.length === 0) return undefined;
  return `${failed.length} of ${commands.length} failed.\n\n${failed.join("\n\n")}`;
}

type Ran = { readonly isGreen: boolean; readonly said: string };

/** Runs one command as a recorded step: a resumed run and a replay take its outcome from the record. */
function runCheck(
  { workspace, sandbox, timeout = TIMEOUT }: CheckedPlace,
  command: Command,
  steps: StepPort,
  signal: AbortSignal,
): Promise<Ran> {
  const request = { command: [...command], timeout };
  // It depends on the files: a fork runs it again.
  return steps.step({ kind: "tool", name: "run a check", request, fresh: true }, async () => {
    const ran = await sandbox.run({ root: workspace.root, command, timeout, signal });
    if (ran.kind === "exited" && ran.code === 0) return { isGreen: true, said: "" };
    const outputs = "stdout" in ran ? [lastOf(ran.stdout), lastOf(ran.stderr)].filter((part) => part !== "") : [];
    return { isGreen: false, said: [`It ${endText(ran, signal)}`, ...outputs].join("\n") };
  });
}

/** The end of an output: there a runner writes its summary. */
function lastOf(output: string): string {
  const text = seenText(output).trimEnd();
  return text.length <= SHOWN ? text : `...${text.slice(-SHOWN)}`;
}

export function commandText(command: readonly string[]): string {
  return command.map((word) => (/^[\w./:=@-]+$/.test(word) ? word : JSON.stringify(word))).join(" ");
}

export function isCommand(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === "string");
}

export function stepsOf(ctx: ToolContext): StepPort {
  return { step: (spec, effect) => ctx.step(spec, effect) };
}

/** Opens the fork of a role with the present files of its project, and returns what its prompt says about it. */
export async function begunFork(steps: StepPort, { project, name }: OwnFork): Promise<string> {
  await openFork(steps, project, name);
  const { conflicts } = await updateFork(steps, project, name);
  const text = "You work in a copy of the project of your own. Its files reach the project when all checks are green.";
  return conflicts.length === 0 ? text : `${text} Resolve the marks of conflicts in ${conflicts.join(", ")}.`;
}
