import { randomInt } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { abortReason } from "../kernel/abort.ts";
import { aText, listOf, takes } from "../kernel/argument.ts";
import { type Clock, systemClock } from "../kernel/clock.ts";
import { UsageError } from "../kernel/errors.ts";
import { parsedJson } from "../kernel/json.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { ifThere } from "../kernel/system-error.ts";
import { isRecord } from "../kernel/value-kind.ts";
import { AcpSession, isAcp } from "./acp.ts";
import { LINE_PROTOCOLS, lineReader, type Said } from "./agent-lines.ts";
import { visibleLines } from "./path-rules.ts";
import { MAX_TIMEOUT, type ProcessResult, runProcess } from "./process.ts";
import { findProgram, plainEnvironment } from "./program-path.ts";
import { driverFolder } from "./sandbox-mounts.ts";

/** A question of a coding agent to its user. */
export interface CodingQuestion {
  readonly text: string;
  /** The possible answers: their values are given back. */
  readonly choices: readonly { readonly value: string; readonly label: string }[];
}

/** One piece of work for a coding agent. */
export interface CodingTask {
  readonly folder: string;
  readonly prompt: string;
  /** Identifies the work, also after this process was killed: the same key continues it. */
  readonly key: string;
  readonly signal: AbortSignal;
  /** Resolves to the value of a choice. */
  readonly ask: (question: CodingQuestion) => Promise<string>;
}

/** How the work of a coding agent ended. Plain JSON. */
export interface CodingReport {
  /** `missing`: its program was not started, which costs nothing. `failed`: it ended without a result. */
  readonly outcome: "ended" | "failed" | "missing";
  /** Its last words. */
  readonly text: string;
  /** Why it failed. */
  readonly reason?: string;
  /** Micro-dollars that it reported; undefined: unknown. */
  readonly cost?: number;
}

/** A coding agent of anybody: a program that changes the files of a folder. `codingAgent` makes one of a command. */
export interface CodingAgent {
  /** Such as `claude`. */
  readonly name: string;
  /** Rejects when the signal aborts, or when its question cannot be asked. */
  work(task: CodingTask): Promise<CodingReport>;
}

/** Options of {@link codingAgent}. */
export interface CodingAgentOptions {
  /** The program and its arguments. No shell reads them. */
  readonly command: readonly string[];
  /** The whole environment of the program. Default: PATH, the places of the user's settings such as HOME, and the variables of its provider. */
  readonly env?: Readonly<Record<string, string>>;
  /** Milliseconds without output after which it counts as hanging. Default 30 minutes. */
  readonly silence?: number;
  /** Milliseconds for one piece of work. Default 2 hours. */
  readonly timeout?: number;
  readonly clock?: Clock;
}

const codingAgentOptions: Known<CodingAgentOptions> = {
  command: kinds.texts,
  env: kinds.record(kinds.secret),
  silence: kinds.milliseconds,
  timeout: kinds.milliseconds,
  clock: kinds.clock,
};

const SILENCE = 30 * 60_000;
const TIMEOUT = 2 * 3_600_000;
/** Milliseconds that a program has to exit after its result. */
const EXIT = 5_000;
const SHOWN = 2_000;
/** Kilobytes: marks are so high that they limit nothing, and are exact as bytes. */
const MARKS = 2 ** 42;
/** Gemini refuses a folder that it does not know; its user has allowed the work here. */
const ALWAYS = { GEMINI_CLI_TRUST_WORKSPACE: "true" };
/** Variables with the places of the user's settings. */
const PLACES =
  /^(?:HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|TZ|TMPDIR|XDG_\w+|NODE_EXTRA_CA_CERTS|SSL_CERT_(?:FILE|DIR)|(?:HTTPS?|NO|ALL)_PROXY|(?:https?|no|all)_proxy|APPDATA|LOCALAPPDATA|USERPROFILE)$/;
/** The form of an id that may become an argument. It cannot begin with a dash. */
const SESSION = /^\w[\w.:-]{0,199}$/;

/** The variables that a coding agent gets: PATH, the places of settings, and those of its own provider. @param names further variables */
export function codingVariables(
  command: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  names: readonly string[] = [],
): Record<string, string> {
  const program = programName(command);
  const isOf = (one: string): boolean => program === one || program.startsWith(`${one}-`);
  const own = LINE_PROTOCOLS.find(({ programs }) => programs.some(isOf))?.variables;
  const isGiven = (name: string): boolean => PLACES.test(name) || own?.test(name) === true || names.includes(name);
  const given = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && isGiven(entry[0]));
  return { ...plainEnvironment(), ...Object.fromEntries(given) };
}

/**
 * Makes a coding agent of a command: `claude -p`, `codex exec`, `gemini`, `opencode run`, an agent that speaks the Agent Client Protocol, or any
 * program that reads its order from standard input and ends with its answer. It runs with the rights of its user, in a process group that
 * ends with this process.
 *
 * @throws UsageError `OPTION_INVALID`, `OPTION_UNKNOWN`, `ARGUMENT_INVALID`
 * @example
 * import { usd } from "troupe";
 * import { softwareCompany } from "troupe/roles";
 * import { chooseSandbox, codingAgent, fileWorkspace } from "troupe/workspace";
 *
 * export async function companyWithClaude(root: string) {
 *   const agent = codingAgent({ command: ["claude", "-p", "--permission-mode", "acceptEdits"] });
 *   return softwareCompany({ workspace: fileWorkspace({ root }), sandbox: await chooseSandbox("auto"), worker: { agent, budget: usd(1) } });
 * }
 */
export function codingAgent(options: CodingAgentOptions): CodingAgent {
  checkGivenOptions("codingAgent", options, codingAgentOptions);
  takes("codingAgent", "command", options.command, listOf(aText, "a list of strings"));
  if (options.command.length === 0)
    throw new UsageError("ARGUMENT_INVALID", "Expected command with a program, got an empty list. Name one.");
  return new ProgramAgent(options);
}

function programName([program = ""]: readonly string[]): string {
  return basename(program).replace(/\.(?:exe|cmd|[cm]?js)$/, "");
}

function protocolOf(command: readonly string[]): (typeof LINE_PROTOCOLS)[number] | undefined {
  const [name, args] = [programName(command), command.slice(1)];
  return LINE_PROTOCOLS.find(({ programs, word }) => programs.includes(name) && (word === undefined || args.includes(word)));
}

/**
 * Owns the note of the present conversation beside the folder. `ProgramAgent.C1` a piece of work that was cut off continues in its conversation:
 * the note is written as soon as its id is known (`#note`). `ProgramAgent.C2` nothing of the note reaches the arguments but an id
 * (`SESSION`): the agent could have changed it.
 */
class ProgramAgent implements CodingAgent {
  readonly name: string;
  readonly #options: CodingAgentOptions;

  constructor(options: CodingAgentOptions) {
    this.#options = options;
    this.name = programName(options.command);
  }

  async work(task: CodingTask): Promise<CodingReport> {
    const [program = "", ...args] = this.#options.command;
    const file = program.includes("/") ? program : findProgram(program);
    if (file === undefined)
      return { outcome: "missing", text: "", reason: `The program ${program} is not on the PATH. Install it, then resume the run.` };
    const before = await noteOf(task);
    const prompt = before === undefined ? task.prompt : `${task.prompt}\n\n${CUT_OFF}`;
    const { report, isBegun } = await this.#ran(file, args, { ...task, prompt }, before);
    const isGone = !isBegun || /no (?:saved )?(?:conversation|session) found|session not found/i.test(report.reason ?? "");
    if (report.outcome !== "failed" || before === undefined || !isGone) return report;
    const again = await this.#ran(file, args, { ...task, prompt }, undefined);
    const cost = report.cost === undefined || again.report.cost === undefined ? {} : { cost: report.cost + again.report.cost };
    return isBegun ? { ...again.report, ...cost } : again.report;
  }

  async #ran(file: string, args: readonly string[], task: CodingTask, session: string | undefined): Promise<Ran> {
    const { command, env = codingVariables(command, process.env), timeout = TIMEOUT, silence: quiet = SILENCE } = this.#options;
    const said: Said = { text: "" };
    const failure = new AbortController();
    const fail = (error: Error): void => failure.abort(error);
    const signal = AbortSignal.any([task.signal, failure.signal]);
    const limit = (ms: number, what: string): Limit => new Limit(this.#options.clock ?? systemClock, ms, () => fail(new Error(what)));
    const silence = limit(quiet, `It said nothing for ${minutes(quiet)}.`);
    const whole = limit(timeout, `It did not end within ${minutes(timeout)}.`);
    const exit = limit(EXIT, "It did not exit.");
    const protocol = protocolOf(command);
    const ask = paused(task.ask, [silence, whole]);
    const acp = isAcp(command) ? new AcpSession({ ...task, ask, session, said, fail, done: () => exit.begin() }) : undefined;
    const lines = acp ?? lineReader(protocol, said);
    let [noted, writing]: [string | undefined, Promise<void>] = [undefined, Promise.resolve()];
    const onOutput = (chunk: Uint8Array): void => {
      silence.begin();
      lines.take(chunk);
      if (said.session === noted || said.session === undefined || !SESSION.test(said.session)) return;
      noted = said.session;
      writing = note(task, noted);
    };
    const own = acp === undefined && protocol !== undefined ? protocol.args(args, session) : args;
    const attended = [join(driverFolder("workspace"), "attended.mjs"), String(MARKS + randomInt(MARKS))];
    const held = { file: process.execPath, timeout: MAX_TIMEOUT, hasLifeline: true };
    for (const one of [silence, whole]) one.begin();
    try {
      const result = await runProcess({
        ...held,
        args: [...attended, file, ...own],
        cwd: task.folder,
        env: { ...env, ...ALWAYS, PWD: task.folder },
        signal,
        stdin: acp?.input ?? task.prompt,
        onOutput,
      });
      // The agent may have killed its attendant, which then ended nothing.
      if (result.kind === "signalled" || result.kind === "aborted")
        await runProcess({ ...held, args: attended, cwd: dirname(task.folder) });
      if (task.signal.aborted) throw abortReason(task.signal);
      if (acp?.unasked !== undefined) throw acp.unasked;
      lines.end();
      if (acp === undefined && protocol === undefined) said.isEnded = result.kind === "exited" && result.code === 0;
      const report = reportOf(said, result, failure.signal.aborted ? (failure.signal.reason as Error).message : undefined);
      return { report, isBegun: said.session !== undefined };
    } finally {
      await writing;
      for (const one of [silence, whole, exit]) one.end();
    }
  }
}

interface Ran {
  readonly report: CodingReport;
  /** The program has named its conversation. */
  readonly isBegun: boolean;
}

/** A time limit that can begin anew. While it is held, it does not run. */
class Limit {
  #holds = 0;
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #fire: () => void;
  #cancel = (): void => {};

  constructor(clock: Clock, ms: number, fire: () => void) {
    [this.#clock, this.#ms, this.#fire] = [clock, ms, fire];
  }

  begin(): void {
    this.#cancel();
    if (this.#holds === 0) this.#cancel = this.#clock.timer(this.#ms, this.#fire);
  }

  end(): void {
    this.#cancel();
  }

  hold(by: 1 | -1): void {
    this.#holds += by;
    this.begin();
  }
}

/** A person takes any time to answer. */
function paused(ask: CodingTask["ask"], limits: readonly Limit[]): CodingTask["ask"] {
  return async (question) => {
    for (const one of limits) one.hold(1);
    const answer = await ask(question);
    for (const one of limits) one.hold(-1);
    return answer;
  };
}

const CUT_OFF =
  "You were cut off in the middle of this order. The folder has what you did until then: look at it first, and do not do again what is done.";

function minutes(ms: number): string {
  return ms >= 60_000 ? `${Math.round(ms / 60_000)} minutes` : `${ms} ms`;
}

function reportOf({ text, cost, error, isEnded }: Said, result: ProcessResult, stopped: string | undefined): CodingReport {
  const paid = cost === undefined ? {} : { cost };
  const reason = error ?? (isEnded === true ? undefined : (stopped ?? endOf(result)));
  if (reason === undefined) return { outcome: "ended", text, ...paid };
  return { outcome: "failed", text, reason: visibleLines(reason.slice(-SHOWN), SHOWN), ...paid };
}

function endOf(result: ProcessResult): string {
  switch (result.kind) {
    case "exited":
      return `It ended without a result, with exit code ${result.code}. ${result.stderr.trim().slice(-SHOWN)}`;
    case "signalled":
      return `It was ended by ${result.signal}.`;
    case "timeout":
      return `It did not end within ${minutes(result.ms)}.`;
    case "aborted":
      return "It was stopped.";
    case "missing":
      return `The program ${result.file} is missing.`;
    case "unstarted":
      return `It could not be started: ${result.reason}.`;
  }
}

function notePath({ folder }: CodingTask): string {
  return `${folder}.json`;
}

async function note(task: CodingTask, session: string): Promise<void> {
  // Without it a piece of work that is cut off begins a new conversation.
  await writeFile(notePath(task), JSON.stringify({ key: task.key, session })).catch(() => undefined);
}

/** The conversation of the same piece of work, which was cut off. */
async function noteOf(task: CodingTask): Promise<string | undefined> {
  const read = parsedJson((await ifThere(readFile(notePath(task), "utf8"))) ?? "");
  if (!isRecord(read) || read["key"] !== task.key) return undefined;
  const { session } = read;
  return typeof session === "string" && SESSION.test(session) ? session : undefined;
}
