import { randomBytes } from "node:crypto";
import { accessSync, constants, existsSync, mkdirSync, readdirSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { stateOfProcess, procText } from "../adapters/process-identity.ts";
import { type Breach, LimitWatch, type LimitWatchOptions } from "./limit-watch.ts";
import { MAX_TIMEOUT, type ProcessRequest, runProcess } from "./process.ts";
import {
  type Refusal,
  type Sandbox,
  SANDBOX_OUTPUT,
  SANDBOX_TIMEOUT,
  type SandboxLimits,
  type SandboxRequest,
  type SandboxResult,
} from "./sandbox.ts";
import { ownerOfFolder, temporaryPrefix } from "./temporary-owner.ts";

export interface CgroupPlace {
  /** Default `/sys/fs/cgroup`. */
  readonly root?: string;
  /** The file that names the group of this process. Default `/proc/self/cgroup`. */
  readonly self?: string;
  /** Default: makes the folder; the kernel puts the files in it. */
  readonly make?: (folder: string) => void;
}

/** The program that enters a group and becomes the command: a process can move itself, and nothing it starts is outside then. */
const ENTER = 'echo 0 > "$1/cgroup.procs" && shift && exec "$@"';

/** Finds a folder of cgroup v2 in which this user may limit memory and processes: beside the own group, or in the root. */
export function findCgroups(place: CgroupPlace = {}): { readonly parent: string } | { readonly reason: string } {
  const root = place.root ?? "/sys/fs/cgroup";
  if (!existsSync(join(root, "cgroup.controllers"))) return { reason: "there is no cgroup v2" };
  const own = /^0::(\/.*)$/m.exec(procText(place.self ?? "/proc/self/cgroup"))?.[1];
  if (own === undefined) return { reason: "the group of this process is unknown" };
  const mine = join(root, own);
  for (const parent of new Set([own === "/" ? root : dirname(mine), root])) {
    if (!isWritable(parent)) continue;
    sweep(parent);
    const group = tryMake(parent, place.make);
    if (group === undefined) continue;
    const hasBounds = ["memory.max", "pids.max", "cgroup.procs"].every((file) => isWritable(join(group, file)));
    remove(group);
    if (hasBounds) return { parent };
  }
  return { reason: "no group of processes may be made here" };
}

/**
 * Cgroup: one group of processes for one command, with bounds the kernel keeps for all of them together.
 *
 * It owns a folder of the system's tree. `Cgroup.C1` the command is in the group before its first instruction: {@link Cgroup.enterWords}.
 * `Cgroup.C2` after {@link Cgroup.end} nothing of it runs and the folder is gone, or a later process removes it.
 */
export class Cgroup {
  readonly #folder: string;
  readonly #memory: number;

  private constructor(folder: string, memory: number) {
    this.#folder = folder;
    this.#memory = memory;
  }

  /** Undefined when the system refuses after all. */
  static make(parent: string, limits: SandboxLimits, place: CgroupPlace = {}): Cgroup | undefined {
    const folder = tryMake(parent, place.make);
    if (folder === undefined) return undefined;
    // The output of a command is kept in memory and counts here.
    const memory = limits.memory + limits.bytes;
    try {
      writeFileSync(join(folder, "memory.max"), String(memory));
      writeFileSync(join(folder, "pids.max"), String(limits.processes));
      // Without these memory could keep growing on a disk, and one process of many would be ended, which a command may not notice.
      for (const [file, value] of [["memory.swap.max", "0"] as const, ["memory.oom.group", "1"] as const]) {
        if (existsSync(join(folder, file))) writeFileSync(join(folder, file), value);
      }
      return new Cgroup(folder, memory);
    } catch {
      remove(folder);
      return undefined;
    }
  }

  get enterWords(): readonly string[] {
    return ["/bin/sh", "-c", ENTER, "enter", this.#folder];
  }

  /** The bound at which the kernel ended the command; undefined when it did not. */
  get breach(): Breach | undefined {
    const isKilled = Number(/^oom_kill (\d+)$/m.exec(procText(join(this.#folder, "memory.events")))?.[1] ?? 0) > 0;
    if (!isKilled) return undefined;
    const peak = Number(procText(join(this.#folder, "memory.peak")).trim());
    return { bound: "memory", limit: this.#memory, used: Number.isSafeInteger(peak) && peak > 0 ? peak : this.#memory };
  }

  end(): void {
    try {
      writeFileSync(join(this.#folder, "cgroup.kill"), "1");
    } catch {
      // Linux 5.14 and later have it; elsewhere the process group has been killed.
    }
    remove(this.#folder);
  }
}

function tryMake(parent: string, make: (folder: string) => void = (folder) => mkdirSync(folder)): string | undefined {
  const folder = join(parent, `${temporaryPrefix("troupe-cgroup-")}${randomBytes(3).toString("hex")}`);
  try {
    make(folder);
    return folder;
  } catch {
    return undefined;
  }
}

/** Groups of processes that were killed before they could remove them. */
function sweep(parent: string): void {
  for (const name of readdirSync(parent)) {
    const owner = name.startsWith("troupe-cgroup-") ? ownerOfFolder(name) : undefined;
    if (owner !== undefined && stateOfProcess(owner) === "gone") remove(join(parent, name));
  }
}

/** A group can be removed when it is empty, and the kernel needs a moment for that: what stays is swept later. */
function remove(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // See above.
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

export interface LimitedOptions extends LimitWatchOptions {
  /** Folder of the system's tree in which a group for the command can be made; undefined where there is none. */
  readonly cgroups: string | undefined;
}

/** A request of `run`, or of `start`: then with standard input and output as streams. */
export interface StreamedRequest extends SandboxRequest {
  readonly streams?: Pick<ProcessRequest, "stdin" | "onOutput">;
}

/** Makes the `start` of a sandbox from its `run`. */
export function startBy(run: (request: StreamedRequest) => Promise<SandboxResult>): NonNullable<Sandbox["start"]> {
  return ({ onOutput, ...request }) => {
    const stdin = new PassThrough();
    const ended = run({ ...request, timeout: MAX_TIMEOUT, streams: { stdin, onOutput } }).finally(() => stdin.destroy());
    // A caller may wait for the end later.
    ended.catch(() => {});
    return { write: (text) => void (stdin.destroyed || stdin.write(text)), ended };
  };
}

/** Runs a program with bounds for all it starts: in a cgroup where one can be made, and watched, for a cgroup counts no files. */
export async function runLimited(
  { timeout = SANDBOX_TIMEOUT, outputLimit = SANDBOX_OUTPUT, signal, input, streams }: StreamedRequest,
  words: readonly string[],
  place: Pick<ProcessRequest, "cwd" | "env">,
  options: LimitedOptions,
): Promise<Exclude<SandboxResult, Refusal>> {
  const group = options.cgroups === undefined ? undefined : Cgroup.make(options.cgroups, options.limits);
  const watch = new LimitWatch(options);
  const [file = "", ...args] = [...(group?.enterWords ?? []), ...words];
  try {
    const result = await runProcess({
      ...place,
      ...(input === undefined ? streams : { stdin: input }),
      ...{ file, args, timeout, outputLimit, signal },
      onStart: (pid) => watch.start(pid),
    });
    const breach = watch.breach ?? group?.breach;
    if (breach === undefined || !("stdout" in result)) return result;
    const { stdout, stderr, isCut } = result;
    return { kind: "limit", ...breach, stdout, stderr, isCut };
  } finally {
    watch.stop();
    group?.end();
  }
}
