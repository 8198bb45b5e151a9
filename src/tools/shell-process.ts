import { onAbort, throwIfAborted } from "../kernel/abort.ts";
import { systemClock } from "../kernel/clock.ts";
import type { Sandbox, SandboxProcess } from "../workspace/sandbox.ts";
import { CopiedFiles } from "./copied-files.ts";
import {
  type CommandOutcome,
  DRIVER_TIME,
  driverRequest,
  faultOf,
  orderFor,
  readReport,
  reasonFor,
  REPORT_BYTES,
  reportIn,
  type SandboxedCommand,
} from "./sandboxed-command.ts";

type StayingSandbox = Sandbox & Required<Pick<Sandbox, "start">>;

export function canStay(sandbox: Sandbox): sandbox is StayingSandbox {
  return sandbox.start !== undefined;
}

/**
 * A shell that stays in a sandbox from one command to the next, in a copy of the project that is kept equal to it.
 *
 * It owns one process of the sandbox at a time, and begins one with the first command. `ShellProcess.P1` what hangs, prints without end or is
 * aborted is ended with all it started; the next command begins another (`run`). `ShellProcess.P2` after `close` nothing of it runs.
 */
export class ShellProcess {
  readonly #sandbox: StayingSandbox;
  readonly #root: string;
  #running: Running | undefined;

  constructor(sandbox: StayingSandbox, root: string) {
    this.#sandbox = sandbox;
    this.#root = root;
  }

  async run(command: SandboxedCommand, signal: AbortSignal): Promise<CommandOutcome> {
    const fault = faultOf(command.text);
    if (fault !== undefined) return { kind: "not run", reason: fault };
    // More may have changed outside than can be carried: a new copy has it.
    const before = this.#running?.isOver === true ? undefined : this.#running;
    const files = await before?.files.changes(signal);
    const running = before === undefined || files === undefined ? await this.#begin(signal) : before;
    const answer = await answerTo(running, command, { stays: true, files }, signal);
    const report = answer === undefined ? undefined : readReport(answer, command.state);
    if (report === undefined || report.hasEnded) await this.close();
    if (report === undefined) return { kind: "not run", reason: running.fault ?? reasonFor(await running.program.ended, signal) };
    running.files.changed(report.changes);
    return { kind: "ran", report: { ...report, isNew: running !== before } };
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
    const files = await CopiedFiles.of(this.#root, signal);
    throwIfAborted(signal);
    const stop = new AbortController();
    const decoder = new TextDecoder();
    const program = this.#sandbox.start({
      ...driverRequest(this.#sandbox, this.#root),
      signal: stop.signal,
      onOutput: (chunk) => running.hear(decoder.decode(chunk, { stream: true })),
    });
    const running: Running = { program, stop, files, isOver: false, fault: undefined, hear: () => {} };
    const isOver = (): void => void (running.isOver = true);
    program.ended.then(isOver, isOver);
    return (this.#running = running);
  }
}

interface Running {
  readonly program: SandboxProcess;
  readonly stop: AbortController;
  readonly files: CopiedFiles;
  isOver: boolean;
  /** Why it was ended from here; undefined when it ended by itself or was aborted. */
  fault: string | undefined;
  hear: (text: string) => void;
}

/** The report on an order; undefined when the process ends, or is ended, without one. */
async function answerTo(running: Running, command: SandboxedCommand, more: object, signal: AbortSignal): Promise<string | undefined> {
  const { program, stop } = running;
  const { mark, line } = orderFor(command, more);
  const end = (why?: string): void => {
    running.fault ??= why && `Expected the command to end and be reported, but it ${why}, and was killed with all it had started.`;
    stop.abort();
  };
  const answer = new Promise<string>((resolve) => {
    let heard = "";
    running.hear = (text) => {
      heard += text;
      const report = text.includes("\n") ? reportIn(heard, mark) : undefined;
      if (report !== undefined) resolve(report);
      else if (heard.length > REPORT_BYTES) end("printed more than a report may have");
    };
  });
  const { timeout } = command;
  const late = systemClock.timer(timeout + DRIVER_TIME, () => end(`did not end within ${timeout} ms`));
  const cancels = [late, onAbort(signal, () => end())];
  try {
    program.write(line);
    const ended = program.ended.then(
      () => undefined,
      () => undefined,
    );
    return await Promise.race([answer, ended]);
  } finally {
    running.hear = () => {};
    for (const cancel of cancels) cancel();
  }
}
