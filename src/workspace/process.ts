import { onAbort } from "../kernel/abort.ts";
import { systemCode } from "../kernel/system-error.ts";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { type Clock, systemClock } from "../kernel/clock.ts";
import { plainEnvironment } from "./program-path.ts";
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";

/** A program to run. There is no shell anywhere: arguments reach the program as they are. */
export interface ProcessRequest {
  readonly file: string;
  readonly args?: readonly string[];
  readonly cwd: string;
  /** The whole environment of the program; nothing of this process's own is added. Default {@link plainEnvironment}. */
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until the program and all it started in its process group are stopped. Default 60,000. */
  readonly timeout?: number | undefined;
  /** Milliseconds between asking to end (SIGTERM) and ending (SIGKILL). Default 2,000. */
  readonly grace?: number;
  /** Bytes kept of stdout, and of stderr. Default 1 MiB; more is read and dropped. */
  readonly outputLimit?: number;
  /** Written to the program's stdin, which is then closed. Default: stdin is empty. */
  readonly stdin?: string | Readable;
  /** Receives stdout; then the result has none. */
  readonly onOutput?: ((chunk: Uint8Array) => void) | undefined;
  readonly clock?: Clock;
  /** True: the program gets a pipe as descriptor 3, which closes when this process ends, even by SIGKILL. Default false. */
  readonly hasLifeline?: boolean;
  readonly onStart?: (pid: number) => void;
}

export interface ProcessOutput {
  readonly stdout: string;
  readonly stderr: string;
  /** True when a limit cut either; then a line at its end says so. */
  readonly isCut: boolean;
}

/** The end of a program. `missing`: it does not exist. `unstarted`: the system refused it. */
export type ProcessResult =
  | (ProcessOutput & { readonly kind: "exited"; readonly code: number })
  | (ProcessOutput & { readonly kind: "signalled"; readonly signal: string })
  | (ProcessOutput & { readonly kind: "timeout"; readonly ms: number })
  | (ProcessOutput & { readonly kind: "aborted" })
  | { readonly kind: "missing"; readonly file: string }
  | { readonly kind: "unstarted"; readonly reason: string };

/** The longest time a timer of Node.js can wait, in ms; it takes a longer one for none at all. */
export const MAX_TIMEOUT: number = 2 ** 31 - 1;

const OUTPUT_LIMIT = 1024 * 1024;
/** Milliseconds to read pipes after the program has ended: a process that left its group may still hold them. */
const DRAIN = 1_000;
const HAS_GROUPS = process.platform !== "win32";

/** Runs a program in a process group of its own, which is killed with it. Rejects only for arguments that no program can take. */
export async function runProcess(request: ProcessRequest): Promise<ProcessResult> {
  if (request.signal?.aborted === true) return { kind: "aborted", stdout: "", stderr: "", isCut: false };
  let child: ChildProcess;
  try {
    child = spawn(request.file, [...(request.args ?? [])], {
      cwd: request.cwd,
      env: { ...(request.env ?? plainEnvironment()) },
      stdio: [request.stdin === undefined ? "ignore" : "pipe", "pipe", "pipe", ...(request.hasLifeline === true ? ["pipe" as const] : [])],
      detached: HAS_GROUPS,
      shell: false,
      windowsHide: true,
    });
  } catch (error) {
    if (systemCode(error).startsWith("ERR_")) throw error;
    return { kind: "unstarted", reason: systemCode(error) };
  }
  return new Promise((resolve) => watch(child, request, resolve));
}

type ProcessEnd =
  | { readonly kind: "exited"; readonly code: number }
  | { readonly kind: "signalled"; readonly signal: string }
  | { readonly kind: "timeout"; readonly ms: number }
  | { readonly kind: "aborted" };

/** Watches a program while it runs: its timers, its output, and why it ends. Settles once; nothing of its group is left then. */
function watch(child: ChildProcess, request: ProcessRequest, resolve: (result: ProcessResult) => void): void {
  const { clock = systemClock, outputLimit = OUTPUT_LIMIT, timeout = 60_000, grace = 2_000, signal } = request;
  const [stdout, stderr] = [new CappedText(outputLimit), new CappedText(outputLimit)];
  const cancels: (() => void)[] = [];
  let ending: ProcessEnd | undefined;
  let hasExited = false;
  const kill = (how: NodeJS.Signals): void => {
    if (HAS_GROUPS || !hasExited) killGroup(child.pid, how);
  };
  const settle = (result: ProcessResult): void => {
    for (const cancel of cancels.splice(0)) cancel();
    resolve(result);
  };
  const stop = (why: ProcessEnd): void => {
    if (ending !== undefined) return;
    ending = why;
    kill("SIGTERM");
    cancels.push(clock.timer(grace, () => kill("SIGKILL")));
  };
  // Nothing that this process started may outlive it, also if it ends at once.
  cancels.push(atExit(() => kill("SIGKILL")));
  child.on("error", (error) => {
    if (child.pid === undefined) settle(failedStart(error, request));
  });
  child.on("exit", (code, by) => {
    hasExited = true;
    ending ??= by === null ? { kind: "exited", code: code ?? 0 } : { kind: "signalled", signal: by };
    kill("SIGKILL");
    const drain = (): void => child.stdio.forEach((stream) => stream?.destroy());
    cancels.push(clock.timer(DRAIN, drain));
  });
  child.on("close", () => {
    if (ending !== undefined) settle({ ...ending, stdout: stdout.text, stderr: stderr.text, isCut: stdout.isCut || stderr.isCut });
  });
  (child.stdio[3] as Readable | undefined)?.on("error", () => {}).resume();
  child.stdout?.on("data", request.onOutput ?? ((chunk: Buffer) => stdout.add(chunk)));
  child.stderr?.on("data", (chunk: Buffer) => stderr.add(chunk));
  // A program may end without reading its input; that shows in its result, not here.
  child.stdin?.on("error", () => {});
  if (typeof request.stdin === "object" && child.stdin !== null) request.stdin.pipe(child.stdin);
  else child.stdin?.end(request.stdin);
  const ms = Math.min(timeout, MAX_TIMEOUT);
  cancels.push(clock.timer(ms, () => stop({ kind: "timeout", ms })));
  if (signal !== undefined) cancels.push(onAbort(signal, () => stop({ kind: "aborted" })));
  if (child.pid !== undefined) request.onStart?.(child.pid);
}

function killGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(HAS_GROUPS ? -pid : pid, signal);
  } catch (error) {
    // ESRCH: the group is empty, as it should be. EPERM: macOS says so of a group whose processes all are dead.
    if (systemCode(error) !== "ESRCH" && systemCode(error) !== "EPERM") throw error;
  }
}

function failedStart(error: Error, { cwd, file }: ProcessRequest): ProcessResult {
  const code = systemCode(error);
  if (code !== "ENOENT") return { kind: "unstarted", reason: code === "" ? error.message : code };
  return existsSync(cwd) ? { kind: "missing", file } : { kind: "unstarted", reason: "its working folder does not exist" };
}

const duties = new Set<() => void>();

/** Runs a function when this process ends, the newest first. The returned function cancels it. */
export function atExit(duty: () => void): () => void {
  if (duties.size === 0) process.on("exit", doAll);
  duties.add(duty);
  return () => {
    duties.delete(duty);
    if (duties.size === 0) process.removeListener("exit", doAll);
  };
}

function doAll(): void {
  for (const duty of [...duties].reverse()) duty();
}

/** Collects the text of a stream up to a number of bytes; what comes later is dropped and a mark says so. */
class CappedText {
  readonly #limit: number;
  readonly #decoder = new StringDecoder("utf8");
  readonly #pieces: string[] = [];
  #bytes = 0;
  #cut = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** True when something was dropped. */
  get isCut(): boolean {
    return this.#cut;
  }

  get text(): string {
    return this.#pieces.join("");
  }

  /** Takes the next bytes of the stream. */
  add(chunk: Buffer): void {
    if (this.#cut) return;
    const room = this.#limit - this.#bytes;
    this.#bytes += Math.min(chunk.length, room);
    this.#pieces.push(this.#decoder.write(chunk.subarray(0, room)));
    if (chunk.length <= room) return;
    this.#cut = true;
    this.#pieces.push(`\n[output cut after ${this.#limit} bytes]\n`);
  }
}
