import { isAlive, systemCode } from "../kernel/system-error.ts";
import { randomBytes } from "node:crypto";
import { link, readFile, rename, stat, unlink, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { sleep, systemClock } from "../kernel/clock.ts";
import { CacheError } from "../kernel/errors.ts";

/** Milliseconds between two tries, at most; chance keeps those who wait apart. */
const PAUSE = 8;
/** Milliseconds until a wait is given up. */
const PATIENCE = 30_000;
/** Milliseconds after which a lock whose owner cannot be asked about is taken for abandoned. What is done under one takes a few. */
const ABANDONED = 10_000;

/** How the names of a lock's files end, as a pattern. */
export const LOCK_ENDS = "\\.lock|\\.[0-9a-f]{16}\\.lock-(mine|over)";

/**
 * A lock between processes of one machine, as a file beside what it guards. Its text names its owner.
 *
 * FileLock.L1 of several that `take` it at once, one has it: a hard link has one winner. FileLock.L2 the lock of a process that has died is taken over,
 * and any that is older than ten seconds: its owner may be of another machine, or its number another process's. FileLock.L3 whoever `confirm`s without an error had the lock
 * at that moment: an owner that was stopped for long finds that it is another's. It waits for real time, whatever clock the cache has.
 */
export class FileLock {
  readonly #path: string;
  readonly #owner: string;

  private constructor(path: string, owner: string) {
    this.#path = path;
    this.#owner = owner;
  }

  /** @throws CacheError `CACHE_BUSY` when others have it all the time; what the file system says. */
  static async take(beside: string): Promise<FileLock> {
    const path = `${beside}.lock`;
    const token = randomBytes(8).toString("hex");
    const owner = `${process.pid} ${hostname()} ${token}`;
    const mine = `${beside}.${token}.lock-mine`;
    const until = systemClock.now() + PATIENCE;
    await writeFile(mine, owner, { mode: 0o600, flag: "wx" });
    try {
      for (;;) {
        // Its age is counted from now on, not from when the wait began.
        const now = systemClock.now() / 1000;
        await utimes(mine, now, now);
        if (await linked(mine, path)) return new FileLock(path, owner);
        await buryAbandoned(path, `${beside}.${token}.lock-over`);
        if (systemClock.now() >= until) throw busy(path);
        await sleep(systemClock, 1 + Math.random() * PAUSE);
      }
    } finally {
      await unlink(mine).catch(() => undefined);
    }
  }

  /** @throws CacheError `CACHE_BUSY` when somebody else has taken it over */
  async confirm(): Promise<void> {
    if ((await ownerOf(this.#path)) !== this.#owner) throw busy(this.#path);
  }

  async release(): Promise<void> {
    if ((await ownerOf(this.#path)) === this.#owner) await unlink(this.#path).catch(() => undefined);
  }
}

async function linked(mine: string, path: string): Promise<boolean> {
  try {
    await link(mine, path);
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw error;
  }
}

/** Taken away first and looked at then: it may be another's by now, who gets it back. */
async function buryAbandoned(path: string, grave: string): Promise<void> {
  if (!(await isAbandoned(path))) return;
  try {
    await rename(path, grave);
    if (!(await isAbandoned(grave))) await link(grave, path);
  } catch (error) {
    if (systemCode(error) !== "ENOENT" && systemCode(error) !== "EEXIST") throw error;
  }
  await unlink(grave).catch(() => undefined);
}

async function isAbandoned(path: string): Promise<boolean> {
  const [owner, found] = await Promise.all([ownerOf(path), stat(path).catch(() => undefined)]);
  if (owner === undefined || found === undefined) return false;
  const [pid, host] = owner.split(" ");
  if (host === hostname() && !isAlive(Number(pid))) return true;
  return systemClock.now() - found.mtimeMs > ABANDONED;
}

async function ownerOf(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch(() => undefined);
}

function busy(path: string): CacheError {
  return new CacheError(
    "CACHE_BUSY",
    `Expected to get the lock ${JSON.stringify(path)}, but others had it all the time. Try again, or look at who writes this key.`,
    { data: { path } },
  );
}
