import { statfsSync, statSync, readdirSync, readlinkSync } from "node:fs";
import { hasEnded, processFields, procText } from "../adapters/process-identity.ts";
import { systemClock } from "../kernel/clock.ts";
import { systemCode } from "../kernel/system-error.ts";
import type { LimitHit, SandboxLimits } from "./sandbox.ts";

/** Polling interval in milliseconds. */
export const WATCH_INTERVAL = 250;
const TMPFS = 0x01021994;

export interface LimitWatchOptions {
  readonly limits: SandboxLimits;
  /** Folders of the command whose files count, as the command names them; several on one file system count once. */
  readonly folders?: readonly string[];
  /** Files and folders that were there before. */
  readonly entries?: number;
  /** Processes of the sandbox itself: they are measured with the command's, and may come on top of its limit. Default 0. */
  readonly wrappers?: number;
}

export type Breach = Pick<LimitHit, "bound" | "limit" | "used">;

/**
 * Measures a process that leads a group, and its descendants, every {@link WATCH_INTERVAL} ms, and kills all of them when they exceed a limit.
 * A use that ends between two measurements is not seen.
 *
 * It owns one timer and the first breach. `LimitWatch.W1` after a breach every measurement kills the group again until it is empty, because
 * a process that was starting may have been missed (`#look`).
 */
export class LimitWatch {
  readonly #options: LimitWatchOptions;
  #breach: Breach | undefined;
  #cancel: (() => void) | undefined;

  constructor(options: LimitWatchOptions) {
    this.#options = options;
  }

  get breach(): Breach | undefined {
    return this.#breach;
  }

  /** Does nothing on a system that does not describe its processes. */
  start(pid: number): void {
    if (canMeasureTrees) this.#cancel = systemClock.timer(WATCH_INTERVAL, () => this.#look(pid));
  }

  stop(): void {
    this.#cancel?.();
  }

  #look(pid: number): void {
    const usage = treeUsage(pid);
    this.#breach ??= breachIn(usage, this.#options);
    if (this.#breach !== undefined) for (const target of [-pid, ...usage.pids]) kill(target);
    this.start(pid);
  }
}

function breachIn({ memory, threads, pids }: TreeUsage, options: LimitWatchOptions): Breach | undefined {
  const { limits, folders = [], entries = 0, wrappers = 0 } = options;
  if (memory > limits.memory) return { bound: "memory", limit: limits.memory, used: memory };
  if (threads > limits.processes + wrappers) return { bound: "processes", limit: limits.processes, used: threads };
  const files = folders.length === 0 ? 0 : filesIn(folders, pids) - entries;
  return files >= limits.files ? { bound: "files", limit: limits.files, used: files } : undefined;
}

function filesIn(folders: readonly string[], pids: readonly number[]): number {
  for (const pid of [...pids].reverse()) {
    const counted = folders.map((folder) => countIn(`/proc/${pid}/root${folder}`));
    if (counted.some((one) => one === undefined)) continue;
    const byDevice = new Map(counted.map((one) => [one?.device, one?.used ?? 0]));
    return [...byDevice.values()].reduce((sum, used) => sum + used, 0);
  }
  return 0;
}

function countIn(folder: string): { readonly device: number; readonly used: number } | undefined {
  try {
    const { type, files, ffree } = statfsSync(folder);
    return type === TMPFS ? { device: statSync(folder).dev, used: files - ffree } : undefined;
  } catch {
    return undefined;
  }
}

function kill(target: number): void {
  try {
    process.kill(target, "SIGKILL");
  } catch (error) {
    // ESRCH: it ended meanwhile. EPERM: another user took the id.
    if (systemCode(error) !== "ESRCH" && systemCode(error) !== "EPERM") throw error;
  }
}

interface TreeUsage {
  readonly pids: readonly number[];
  readonly threads: number;
  /** Bytes of memory without a file, shared memory once for each mapping. System V memory that no process has attached is not counted. */
  readonly memory: number;
}

/** True when this system has what {@link treeUsage} reads. */
export const canMeasureTrees: boolean = process.platform === "linux";

/** Measures a process and its descendants, as far as they are there at this moment: one that starts or ends meanwhile may be missed. */
function treeUsage(pid: number): TreeUsage {
  const children = new Map<number, number[]>();
  const threadsOf = new Map<number, number>();
  // A process that may open no more files cannot look: what throws in a timer would end it.
  for (const name of namesIn("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const [parent, threads] = parentAndThreads(processFields(name));
    if (parent === undefined) continue;
    threadsOf.set(Number(name), threads);
    const known = children.get(parent);
    if (known === undefined) children.set(parent, [Number(name)]);
    else known.push(Number(name));
  }
  const pids = threadsOf.has(pid) ? [pid] : [];
  for (const each of pids) pids.push(...(children.get(each) ?? []));
  return {
    pids,
    threads: pids.reduce((sum, each) => sum + (threadsOf.get(each) ?? 0), 0),
    memory: pids.reduce((sum, each) => sum + memoryIn(procText(`/proc/${each}/status`)), namelessBytes(pids)),
  };
}

/** Files of memfd_create: their unmapped contents are in no process's memory. */
function namelessBytes(pids: readonly number[]): number {
  const bytes = new Map<number, number>();
  for (const pid of pids) {
    for (const name of namesIn(`/proc/${pid}/fd`)) {
      const file = `/proc/${pid}/fd/${name}`;
      try {
        if (!readlinkSync(file).startsWith("/memfd:")) continue;
        const { ino, blocks } = statSync(file);
        bytes.set(ino, blocks * 512);
      } catch {
        // It was closed meanwhile.
      }
    }
  }
  return [...bytes.values()].reduce((sum, each) => sum + each, 0);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function parentAndThreads(fields: readonly string[]): readonly [parent: number | undefined, threads: number] {
  const isThere = fields.length > 17 && !hasEnded(fields);
  return [isThere ? Number(fields[1]) : undefined, Number(fields[17])];
}

function memoryIn(status: string): number {
  const kibibytes = [...status.matchAll(/^Rss(?:Anon|Shmem):\s*(\d+) kB$/gm)].reduce((sum, [, size]) => sum + Number(size), 0);
  return kibibytes * 1024;
}
