import { isAbsolute, normalize } from "node:path";
import { aText, takes } from "../kernel/argument.ts";
import { abortReason } from "../kernel/abort.ts";
import { AbortedError, UsageError } from "../kernel/errors.ts";
import { MAX_TIMEOUT, type ProcessOutput, type ProcessResult } from "./process.ts";
import { findProgram } from "./program-path.ts";

/**
 * Runs the code of a project. A model wrote its tests, and they may do anything.
 *
 * Sandbox.S1 the command works on a copy; the project on disk is the same afterwards, whatever the command does.
 * Sandbox.S2 nothing of this process's environment reaches the command, keys least of all.
 * Sandbox.S3 when `run` resolves, the command and all processes of its group have ended.
 * `bubblewrap` adds: Sandbox.S4 no network, Sandbox.S5 no file of the machine but the system's programs and libraries, read only, Sandbox.S6 nothing it started
 * survives, in whatever group, Sandbox.S7 bounds of {@link SandboxLimits} for all its processes together: {@link Sandbox.describe} names those that
 * this machine cannot keep, or only watches.
 */
export interface Sandbox {
  readonly kind: "bubblewrap" | "none" | "refused";
  readonly describe: string;
  /** Runs one command in a copy of the project. @throws WorkspaceError when it cannot be copied; UsageError `OPTION_INVALID` for a wrong limit */
  run(request: SandboxRequest): Promise<SandboxResult>;
  /** Starts a program that stays, with the limits, mounts and network of `run`. Without it a sandbox can keep no program. */
  start?(request: SandboxStart): SandboxProcess;
}

/** A program to start in a copy of a project. */
export interface SandboxStart extends Omit<SandboxRequest, "input" | "outputLimit" | "keep" | "timeout"> {
  /** Ends the program and all it started. */
  readonly signal: AbortSignal;
  /** Receives its standard output, of which nothing is kept. */
  readonly onOutput: (chunk: Uint8Array) => void;
}

/** A program that was started in a sandbox. */
export interface SandboxProcess {
  /** Writes to its standard input. Does nothing after its end. */
  write(text: string): void;
  /** Resolves at its end, with what it wrote to stderr. Rejects as {@link Sandbox.run}. */
  readonly ended: Promise<SandboxResult>;
}

/** A command to run in a copy of a project. */
export interface SandboxRequest {
  readonly root: string;
  /** A program and its arguments. `node` is the Node.js this process runs on. */
  readonly command: readonly [string, ...string[]];
  /** Milliseconds. Default 60,000. */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Bytes kept of stdout, and of stderr. Default 1,000,000. */
  readonly outputLimit?: number | undefined;
  /** Limits of the command and all processes it starts, together. Default: those of {@link SandboxLimits}. */
  readonly limits?: Partial<SandboxLimits> | undefined;
  /** Text on standard input, at most 16 MiB. Default: standard input is empty. */
  readonly input?: string | undefined;
  /** Files and folders of this machine that the command may read. Sandbox `none` refuses a mount whose two paths differ. Default: none. */
  readonly mounts?: readonly SandboxMount[] | undefined;
  /** Hosts with ports that the command may reach, through a proxy alone: `registry.npmjs.org:443`. Sandbox `none` refuses. Default: none. */
  readonly network?: readonly string[] | undefined;
  /** A folder of the copy to keep when the command ends with code 0, such as installed packages. Default: nothing of the copy is kept. */
  readonly keep?: SandboxKeep | undefined;
}

/** A folder of the copy that outlives the command. */
export interface SandboxKeep {
  /** Its name in the project's folder, such as `node_modules`. Where the command made none, nothing is kept. */
  readonly folder: string;
  /** Absolute path to which the folder is copied; it must not exist yet. Links are not copied, except those of programs in `node_modules/.bin`. */
  readonly to: string;
}

/** A file or folder of this machine that a command may read. */
export interface SandboxMount {
  /** Absolute path on this machine. */
  readonly from: string;
  /** Absolute path inside the sandbox, such as `/mounted/name`: not in a folder that the sandbox makes itself. */
  readonly to: string;
}

/** The end of a command: its own, a kill at a limit, or a refusal with advice. */
export type SandboxResult = ProcessResult | LimitHit | Refusal;

/** The reason why a command was not run. */
export interface Refusal {
  readonly kind: "refused";
  readonly reason: string;
  readonly hint: string;
}

/** The user's choice of a sandbox: the first one that works, only bubblewrap, or none. */
export type SandboxMode = "auto" | "bubblewrap" | "none";

export const SANDBOX_TIMEOUT = 60_000;
/** Bytes. */
export const SANDBOX_OUTPUT = 1_000_000;
/** Bytes of standard input. */
const SANDBOX_INPUT = 16 * 1024 ** 2;

const RESERVED = "/project /source /troupe/node /troupe/network /proc /dev /tmp /usr /bin /sbin /lib /lib32 /lib64".split(" ");

/** A sandbox that runs nothing and says why. */
export function refusedSandbox(reason: string, hint: string): Sandbox {
  takes("refusedSandbox", "reason", reason, aText);
  takes("refusedSandbox", "hint", hint, aText);
  const refusal: Refusal = { kind: "refused", reason, hint };
  const ended = Promise.resolve(refusal);
  return { kind: "refused", describe: `nothing is run: ${reason}`, run: () => ended, start: () => ({ write: () => {}, ended }) };
}

/** Limits of a sandboxed command and all processes it starts, together. */
export interface SandboxLimits {
  /** Bytes of memory of all processes together, without what their programs and libraries share. Default 2 GiB. */
  readonly memory: number;
  /** Processes and threads. Default 128: a test runner with two test files at a time, each of which starts two programs. */
  readonly processes: number;
  /** Files and folders the command may make. Default 50,000. */
  readonly files: number;
  /** Bytes the command may write, in the project and in temporary folders together. Default 256 MiB. */
  readonly bytes: number;
  /** Bytes of address space of each process, used or not. Default 4 GiB. A browser reserves terabytes: {@link anyAddressSpace}. */
  readonly addressSpace: number;
}

export const anyAddressSpace: number = 2 ** 52;

/** The defaults of {@link SandboxLimits}. */
export const defaultSandboxLimits: SandboxLimits = {
  memory: 2 * 1024 ** 3,
  processes: 128,
  files: 50_000,
  bytes: 256 * 1024 ** 2,
  // Enough for Node.js, which then reserves less than its usual 10 GiB for WebAssembly.
  addressSpace: 4 * 1024 ** 3,
};

/** A command was killed, with all it had started, because together they used more than they may. */
export interface LimitHit extends ProcessOutput {
  readonly kind: "limit";
  readonly bound: Exclude<keyof SandboxLimits, "addressSpace">;
  /** The bound, in the unit of {@link SandboxLimits}. */
  readonly limit: number;
  readonly used: number;
}

export function sandboxLimits(given: Partial<SandboxLimits> = {}): SandboxLimits {
  const asked = Object.entries(given).filter(([, value]) => value !== undefined);
  for (const [name, value] of asked) {
    const known = Object.keys(defaultSandboxLimits).join(", ");
    if (!(name in defaultSandboxLimits)) throw invalid(`Expected a limit of a sandbox (${known}), got "${name}". Use one of these names.`);
    if (!Number.isSafeInteger(value) || value < 1)
      throw invalid(`Expected the limit ${name} as a whole number of at least 1, got ${String(value)}.`);
  }
  return { ...defaultSandboxLimits, ...Object.fromEntries(asked) };
}

export function checkSandboxRequest({ input = "", mounts = [], keep, network = [] }: SandboxRequest): void {
  const bytes = Buffer.byteLength(input);
  if (bytes > SANDBOX_INPUT) throw invalid(`Expected at most ${SANDBOX_INPUT} bytes of input, got ${bytes}. Put the text into a file.`);
  const host = network.find((one) => !/^(?:\[[0-9a-f:]+\]|[^\s/:@?#\\]+):\d{1,5}$/i.test(one) || !URL.canParse(`http://${one}`));
  if (host !== undefined)
    throw invalid(`Expected a host of the network with its port, such as example.org:443, got ${JSON.stringify(host)}.`);
  if (keep !== undefined && (!/^[\w.-]+$/.test(keep.folder) || /^\.+$/.test(keep.folder) || !isPlain(keep.to)))
    throw invalid("Expected keep with the name of a folder, and an absolute path for it.");
  const path = mounts.flatMap(({ from, to }) => [from, to]).find((one) => !isPlain(one));
  if (path !== undefined) throw invalid(`Expected a mount with a plain absolute path, got ${JSON.stringify(path)}.`);
  for (const { to } of mounts) {
    const taken = ["/etc", "/troupe"].includes(to) ? to : RESERVED.find((folder) => `${to}/`.startsWith(`${folder}/`));
    if (taken === undefined) continue;
    throw invalid(`Expected a mount outside ${taken}, got ${JSON.stringify(to)}. Use a folder such as /mounted.`);
  }
}

function invalid(message: string): UsageError {
  return new UsageError("OPTION_INVALID", message);
}

function isPlain(path: string): boolean {
  return isAbsolute(path) && normalize(path) === path && !path.endsWith("/") && !path.includes("\0");
}

/** Names the limit that was exceeded, for a sentence such as "It used 5 processes and threads, where 4 are allowed". */
export function limitText({ bound, limit, used }: Pick<LimitHit, "bound" | "limit" | "used">): string {
  const mebibytes = (bytes: number): string => `${Math.ceil(bytes / 1024 ** 2)} MiB`;
  switch (bound) {
    case "memory":
      return `${mebibytes(used)} of memory in all its processes together, where ${mebibytes(limit)} are allowed`;
    case "processes":
      return `${used} processes and threads, where ${limit} are allowed`;
    case "files":
      return `${used} new files and folders, where ${limit} are allowed`;
    case "bytes":
      return `${mebibytes(used)} in files, where ${mebibytes(limit)} are allowed`;
  }
}

/** Describes the end of a command, as the rest of a sentence that begins with "it". @throws ControlError when it was aborted */
export function endText(result: SandboxResult, signal?: AbortSignal): string {
  switch (result.kind) {
    case "exited":
      return `ended with code ${result.code}`;
    case "signalled":
      return `was ended by ${result.signal}`;
    case "limit":
      return `used ${limitText(result)}, and was killed with all it had started`;
    case "timeout":
      return `did not end within ${result.ms} ms, and was killed with all it had started`;
    case "missing":
      return `needs ${result.file}, which is not there`;
    case "unstarted":
      return `could not be started: ${result.reason}`;
    case "refused":
      return `was not run: ${result.reason}. ${result.hint}`.trim();
    case "aborted":
      throw signal?.aborted === true ? abortReason(signal) : new AbortedError();
  }
}

/** Bytes of one file. */
const FILE_SIZE = 64 * 1024 ** 2;

/** Without it WebAssembly (and with it `fetch`) fails under a limited address space. Node.js 20.15 and later know it. */
export const NODE_OPTIONS = "--disable-wasm-trap-handler";

/** Returns the path of `prlimit` if it is in a system folder, where the sandbox can see it. */
export function findPrlimit(): string | undefined {
  const file = findProgram("prlimit");
  return file !== undefined && /^\/(usr\/)?s?bin\//.test(file) ? file : undefined;
}

/** Returns the words before a command that limit it and its children. The limit of CPU seconds follows from the time limit in ms. */
export function limitWords(
  prlimit: string,
  timeout: number,
  { addressSpace, processes }: { readonly addressSpace: number; readonly processes: number | undefined },
): string[] {
  const cpu = Math.ceil(Math.min(timeout, MAX_TIMEOUT) / 1000) + 1;
  const words = [prlimit, `--as=${addressSpace}`, `--fsize=${FILE_SIZE}`, `--cpu=${cpu}`, "--core=0"];
  return processes === undefined ? [...words, "--"] : [...words, `--nproc=${processes}`, "--"];
}
