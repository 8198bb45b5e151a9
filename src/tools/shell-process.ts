import { randomBytes } from "node:crypto";
import { onAbort, throwIfAborted } from "../kernel/abort.ts";
import { systemClock } from "../kernel/clock.ts";
import type { Sandbox, SandboxProcess } from "../workspace/sandbox.ts";
import {
  type CommandOutcome,
  DRIVER_TIME,
  driverRequest,
  faultOf,
  type FileChanges,
  notRun,
  outcomeOf,
  readReport,
  REPORT_BYTES,
  type SandboxedCommand,
} from "./sandboxed-command.ts";
import { ToldFiles } from "./told-files.ts";

/** A sandbox that can keep a program. */
type StayingSandbox = Sandbox & Required<Pick<Sandbox, "start">>;

export function canStay(sandbox: Sandbox): sandbox is StayingSandbox {
  return sandbox.start !== undefined;
}

/**
 * A shell that stays in a sandbox from one command to the next, in a copy of the project that is kept equal to it.
 *
 * It owns one process of the sandbox at a time, and begins one with the first command. `ShellProcess.P1` what hangs, prints without end or is
 * aborted is ended with all it started; the next command begins another (`#answerTo`). `ShellProcess.P2` after `close` nothing of it runs.
 * `ShellProcess.P3` a report is one line that begins with the mark of its order, which nobody could know before.
 */
export class ShellProcess {
  readonly #sandbox: StayingSandbox;
  readonly #root: string;
  #running: Running | undefined;

  constructor(sandbox: StayingSandbox, root: string) {
    this.#sandbox = sandbox;
    this.#root = root;
  }

  /** */
  async run({ text, place, timeout }: Omit<SandboxedCommand, "program">, signal: AbortSignal): Promise<CommandOutcome> {
    const fault = faultOf(text);
    if (fault !== undefined) return { kind: "not run", reason: fault };
    throwIfAborted(signal);
    const known = await this.#running?.files.changes(signal);
    // More changed outside than can be carried over: a new copy has it.
    const running = known === undefined ? await this.#begin(signal) : this.#running;
    if (running === undefined) return notRun("the shell was closed");
    const order = { program: "sh", text, cwd: place.cwd, env: place.env, timeout, files: known ?? { written: [], removed: [] } };
    const answer = await answerTo(running, order, { timeout, signal });
    if (answer !== undefined) return readReport(answer, place) ?? notRun("its report cannot be read");
    this.#running = undefined;
    const ended = await running.program.ended;
    return running.why === undefined ? outcomeOf(ended, signal) : notRun(running.why);
  }

  /** Hears which changes of the last command reached the project: the others are undone in the copy. */
  keep(changes: FileChanges, kept: { readonly written: readonly string[]; readonly removed: readonly string[] }): void {
    this.#running?.files.keep(changes, kept);
  }

  /** Ends the shell with all it started. */
  async close(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    running?.stop.abort();
    await running?.program.ended.catch(() => undefined);
  }

  async #begin(signal: AbortSignal): Promise<Running> {
    await this.close();
    const files = await ToldFiles.of(this.#root, signal);
    const stop = new AbortController();
    const heard = new Heard();
    const program = this.#sandbox.start({
      root: this.#root,
      ...driverRequest(this.#sandbox),
      signal: stop.signal,
      onOutput: (chunk) => heard.add(Buffer.from(chunk)),
    });
    return (this.#running = { program, stop, heard, files, why: undefined });
  }
}

interface Running {
  readonly program: SandboxProcess;
  readonly stop: AbortController;
  readonly heard: Heard;
  readonly files: ToldFiles;
  /** Why it was ended from here; undefined when it ended by itself or was aborted. */
  why: string | undefined;
}

/** The report on an order; undefined when the process ends, or is ended, without one. */
async function answerTo(
  running: Running,
  order: object,
  { timeout, signal }: { readonly timeout: number; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const { program, stop, heard } = running;
  const mark = randomBytes(16).toString("hex");
  const end = (why?: string): void => {
    running.why ??= why;
    stop.abort();
  };
  const answer = heard.next(mark, () => end("it printed more than a report may have"));
  const cancels = [
    systemClock.timer(timeout + DRIVER_TIME, () => end(`it did not end within ${timeout} ms and was killed with all it had started`)),
    onAbort(signal, () => end()),
  ];
  try {
    program.write(`${JSON.stringify({ ...order, mark })}\n`);
    return await Promise.race([
      answer,
      program.ended.then(
        () => undefined,
        () => undefined,
      ),
    ]);
  } finally {
    for (const cancel of cancels) cancel();
  }
}

/** What a process says: it waits for one line at a time and drops everything else. */
class Heard {
  #pieces: Buffer[] = [];
  #bytes = 0;
  #waiting: { readonly mark: string; readonly hear: (line: string) => void; readonly tooMuch: () => void } | undefined;

  /** The rest of the next line that begins with the mark. */
  next(mark: string, tooMuch: () => void): Promise<string> {
    this.#pieces = [];
    this.#bytes = 0;
    return new Promise((hear) => {
      this.#waiting = { mark: `${mark} `, hear, tooMuch };
    });
  }

  add(chunk: Buffer): void {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    this.#pieces.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > REPORT_BYTES) return waiting.tooMuch();
    if (!chunk.includes("\n")) return;
    const lines = Buffer.concat(this.#pieces).toString().split("\n");
    const rest = lines.pop() ?? "";
    const line = lines.find((one) => one.startsWith(waiting.mark));
    this.#pieces = [Buffer.from(rest)];
    if (line === undefined) return;
    this.#waiting = undefined;
    waiting.hear(line.slice(waiting.mark.length));
  }
}
