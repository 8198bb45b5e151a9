import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";

/** What a process and its descendants use now. */
export interface TreeUsage {
  /** The process, then its descendants by depth. */
  readonly pids: readonly number[];
  readonly threads: number;
  /**
   * Bytes of memory that is no file's: what is private, what is shared between processes, each time it is mapped, and files in memory that
   * have no name. Shared memory of System V that no process has attached is not seen.
   */
  readonly memory: number;
}

/** Whether this system tells what {@link treeUsage} asks. */
export const canMeasureTrees: boolean = process.platform === "linux";

/**
 * Measures a process and its descendants, as far as they are there at this moment: one that starts or ends meanwhile may be missed.
 *
 * @param proc Where the system tells of processes.
 */
export function treeUsage(pid: number, proc = "/proc"): TreeUsage {
  const children = new Map<number, number[]>();
  const threadsOf = new Map<number, number>();
  // A process that may open no more files cannot look: what throws in a timer would end it.
  for (const name of namesIn(proc)) {
    if (!/^\d+$/.test(name)) continue;
    const [parent, threads] = parentAndThreads(textOf(`${proc}/${name}/stat`));
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
    memory: pids.reduce((sum, each) => sum + memoryIn(textOf(`${proc}/${each}/status`)), namelessBytes(pids, proc)),
  };
}

/** Files made by memfd_create: what is written to them and not mapped is in no process's memory. */
function namelessBytes(pids: readonly number[], proc: string): number {
  const bytes = new Map<number, number>();
  for (const pid of pids) {
    for (const name of namesIn(`${proc}/${pid}/fd`)) {
      const file = `${proc}/${pid}/fd/${name}`;
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

/** Undefined for a process that is gone, or that ended and only waits to be heard of. */
function parentAndThreads(stat: string): readonly [parent: number | undefined, threads: number] {
  // The name of the program may hold spaces and brackets: the fields begin behind the last one.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const isThere = fields.length > 17 && fields[0] !== "Z" && fields[0] !== "X";
  return [isThere ? Number(fields[1]) : undefined, Number(fields[17])];
}

function memoryIn(status: string): number {
  const kibibytes = [...status.matchAll(/^Rss(?:Anon|Shmem):\s*(\d+) kB$/gm)].reduce((sum, [, size]) => sum + Number(size), 0);
  return kibibytes * 1024;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
