import { onAbort, throwIfAborted } from "../kernel/abort.ts";
import { systemClock } from "../kernel/clock.ts";
import type { Sandbox, SandboxProcess } from "../workspace/sandbox.ts";
import { CopiedFiles, type OutsideChanges } from "./copied-files.ts";
import {
  type CommandOutcome,
  DRIVER_TIME,
  driverRequest,
  orderFor,
  reasonFor,
  REPORT_BYTES,
  type SandboxedCommand,
} from "./sandboxed-command.ts";

export function canStay(sandbox: Sandbox): sandbox is Required<Sandbox> {
  return sandbox.start !== undefined;
}

/**
 * A shell that stays in a sandbox from one command to the next, in a copy of the project that is kept equal to it.
 *
 * `ShellProcess.P1` what hangs, prints without end or is aborted is ended with all it started (`run`). `ShellProcess.P2` after `close` nothing of
 * it runs.
 */
export class ShellProcess {
  readonly #stop = new AbortController();
  readonly #program: SandboxProcess;
  readonly #files: CopiedFiles;
  #isOver = false;
  #receive = (_output: string): void => {};

  private constructor(sandbox: Required<Sandbox>, root: string, files: CopiedFiles) {
    const decoder = new TextDecoder();
    this.#files = files;
    this.#program = sandbox.start({
      ...driverRequest(sandbox, root),
      signal: this.#stop.signal,
      onOutput: (chunk) => this.#receive(decoder.decode(chunk, { stream: true })),
    });
    const end = (): void => void (this.#isOver = true);
    this.#program.ended.then(end, end);
  }

  static async begin(sandbox: Required<Sandbox>, root: string, signal: AbortSignal): Promise<ShellProcess> {
    const files = await CopiedFiles.of(root, signal);
    throwIfAborted(signal);
    return new ShellProcess(sandbox, root, files);
  }

  /** The files that changed outside since the last command; undefined where that takes a new copy and a new shell. */
  async changes(signal: AbortSignal): Promise<OutsideChanges | undefined> {
    return this.#isOver ? undefined : this.#files.changes(signal);
  }

  /** @param files those that changed outside; undefined for the first command */
  async run(command: SandboxedCommand, files: OutsideChanges | undefined, signal: AbortSignal): Promise<CommandOutcome> {
    const { line, reportIn } = orderFor(command, { stays: true, files });
    let fault: string | undefined;
    const end = (why?: string): void => {
      fault ??= why;
      this.#stop.abort();
    };
    const answer = new Promise<string>((resolve) => {
      let output = "";
      this.#receive = (text) => {
        output += text;
        if (text.endsWith("\n")) resolve(output);
        else if (output.length > REPORT_BYTES) end("it printed more than a report may have");
      };
    });
    const { ended } = this.#program;
    const late = systemClock.timer(command.timeout + DRIVER_TIME, () => end(`it did not end within ${command.timeout} ms`));
    const cancels = [late, onAbort(signal, () => end())];
    if (signal.aborted) end();
    this.#program.write(line);
    const nothing = (): string => "";
    const output = await Promise.race([answer, ended.then(nothing, nothing)]);
    for (const cancel of cancels) cancel();
    const report = reportIn(output);
    if (report?.hasEnded !== false) await this.close();
    if (report === undefined) return { kind: "not run", reason: reasonFor(await ended, signal, fault) };
    this.#files.changed(report.changes);
    return { kind: "ran", report: { ...report, isNew: files === undefined } };
  }

  /** Ends the shell with all it started. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#program.ended.catch(() => undefined);
  }
}
