import { onAbort } from "../kernel/abort.ts";
import { systemCode } from "../kernel/system-error.ts";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { type Clock, systemClock } from "../kernel/clock.ts";
import { plainEnvironment } from "./program-path.ts";
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
  readonly stdin?: string;
  readonly clock?: Clock;
  readonly onStart?: (pid: number) => void;
}

/** The output of a program. */
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
export const LONGEST_TIMEOUT: number = 2 ** 31 - 1;

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
      stdio: [request.stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
      detached: HAS_GROUPS,
      shell: false,
      windowsHide: true,
    });
  } catch (error) {
    if (systemCode(error).startsWith("ERR_")) throw error;
    return { kind: "unstarted", reason: systemCode(error) };
  }
  return new Promise((resolve) => {
    new RunningProcess(child, request, resolve).watch();
  });
}

type ProcessEnd =
  | { readonly kind: "exited"; readonly code: number }
  | { readonly kind: "signalled"; readonly signal: string }
  | { readonly kind: "timeout"; readonly ms: number }
  | { readonly kind: "aborted" };

/** One program while it runs: its timers, its output, and why it is being ended. Owns the process group; settles once. */
class RunningProcess {
  readonly #child: ChildProcess;
  readonly #request: ProcessRequest;
  readonly #resolve: (result: ProcessResult) => void;
  readonly #clock: Clock;
  readonly #stdout: CappedText;
  readonly #stderr: CappedText;
  readonly #cancels: (() => void)[] = [];
  #ending: ProcessEnd | undefined;
  #hasExited = false;

  constructor(child: ChildProcess, request: ProcessRequest, resolve: (result: ProcessResult) => void) {
    const limit = request.outputLimit ?? OUTPUT_LIMIT;
    this.#child = child;
    this.#request = request;
    this.#resolve = resolve;
    this.#clock = request.clock ?? systemClock;
    this.#stdout = new CappedText(limit);
    this.#stderr = new CappedText(limit);
  }

  watch(): void {
    // When this process ends at once, nothing it started may outlive it.
    this.#cancels.push(atExit(() => this.#killGroup("SIGKILL")));
    const { stdin, stdout, stderr } = this.#child;
    this.#child.on("error", (error) => this.#failToStart(error));
    this.#child.on("exit", (code, signal) => this.#exit(code, signal));
    this.#child.on("close", () => this.#settle());
    stdout?.on("data", (chunk: Buffer) => this.#stdout.add(chunk));
    stderr?.on("data", (chunk: Buffer) => this.#stderr.add(chunk));
    // A program may end without reading its input; that shows in its result, not here.
    stdin?.on("error", () => {});
    stdin?.end(this.#request.stdin);
    this.#limitTime();
    this.#heedSignal();
    if (this.#child.pid !== undefined) this.#request.onStart?.(this.#child.pid);
  }

  #limitTime(): void {
    const ms = Math.min(this.#request.timeout ?? 60_000, LONGEST_TIMEOUT);
    this.#cancels.push(this.#clock.timer(ms, () => this.#stop({ kind: "timeout", ms })));
  }

  #heedSignal(): void {
    const signal = this.#request.signal;
    if (signal !== undefined) this.#cancels.push(onAbort(signal, () => this.#stop({ kind: "aborted" })));
  }

  #stop(ending: ProcessEnd): void {
    if (this.#ending !== undefined) return;
    this.#ending = ending;
    this.#killGroup("SIGTERM");
    this.#cancels.push(this.#clock.timer(this.#request.grace ?? 2_000, () => this.#killGroup("SIGKILL")));
  }

  #exit(code: number | null, signal: NodeJS.Signals | null): void {
    this.#hasExited = true;
    this.#ending ??= signal === null ? { kind: "exited", code: code ?? 0 } : { kind: "signalled", signal };
    this.#killGroup("SIGKILL");
    this.#cancels.push(
      this.#clock.timer(DRAIN, () => {
        this.#child.stdout?.destroy();
        this.#child.stderr?.destroy();
      }),
    );
  }

  #killGroup(signal: NodeJS.Signals): void {
    const pid = this.#child.pid;
    if (pid === undefined || (this.#hasExited && !HAS_GROUPS)) return;
    try {
      process.kill(HAS_GROUPS ? -pid : pid, signal);
    } catch (error) {
      // ESRCH: the group is empty, as it should be. EPERM: macOS says so of a group whose processes all are dead.
      if (systemCode(error) !== "ESRCH" && systemCode(error) !== "EPERM") throw error;
    }
  }

  #failToStart(error: Error): void {
    if (this.#child.pid !== undefined) return;
    const { cwd, file } = this.#request;
    const code = systemCode(error);
    this.#finish();
    if (code !== "ENOENT") this.#resolve({ kind: "unstarted", reason: code === "" ? error.message : code });
    else if (existsSync(cwd)) this.#resolve({ kind: "missing", file });
    else this.#resolve({ kind: "unstarted", reason: "its working folder does not exist" });
  }

  #settle(): void {
    if (this.#ending === undefined) return;
    this.#finish();
    const isCut = this.#stdout.isCut || this.#stderr.isCut;
    this.#resolve({ ...this.#ending, stdout: this.#stdout.text, stderr: this.#stderr.text, isCut });
  }

  #finish(): void {
    for (const cancel of this.#cancels.splice(0)) cancel();
  }
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
export class CappedText {
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
