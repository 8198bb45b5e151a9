import { isAlive, systemCode } from "../kernel/system-error.ts";
import { randomBytes } from "node:crypto";
import { link, readFile, rename, stat, unlink, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { sleep, systemClock } from "../kernel/clock.ts";
import { CacheError } from "../kernel/errors.ts";
import { identityIn, identityText, stateOfProcess } from "./process-identity.ts";

/** Limit on the milliseconds between two tries. The pause is random, so that waiting processes do not try at the same time. */
const PAUSE = 8;
const PATIENCE = 30_000;
/** Milliseconds after which a lock counts as abandoned if its owner cannot be found. The work under a lock takes a few. */
const ABANDONED = 10_000;

export interface FileLockOptions {
  /** The time to wait while others keep it. Default 30 seconds. */
  readonly patience?: number;
  /** The age at which it counts as abandoned if its owner cannot be found. Default 10 seconds; Infinity for work of any length. */
  readonly abandoned?: number;
}

/**
 * A lock between processes of one machine: a file beside the guarded one, which names the owner. FileLock.L1 one caller of `take` gets it: only one
 * hard link can be created. FileLock.L2 (`removeAbandoned`) the lock of a dead process is taken over, and every lock older than `abandoned`: its
 * owner may run on another machine. FileLock.L3 `confirm` throws if the owner has lost the lock, for example while its process was stopped.
 */
export class FileLock {
  readonly #path: string;
  readonly #owner: string;

  private constructor(path: string, owner: string) {
    this.#path = path;
    this.#owner = owner;
  }

  static async take(beside: string, { patience = PATIENCE, abandoned = ABANDONED }: FileLockOptions = {}): Promise<FileLock> {
    const path = `${beside}.lock`;
    const token = randomBytes(8).toString("hex");
    const owner = `${process.pid} ${hostname()} ${token} ${identityText()}`;
    const mine = `${beside}.${token}.lock-mine`;
    const until = systemClock.now() + patience;
    await writeFile(mine, owner, { mode: 0o600, flag: "wx" });
    try {
      for (;;) {
        // The age of the lock begins now, not when the wait began.
        const now = systemClock.now() / 1000;
        await utimes(mine, now, now);
        if (await linked(mine, path)) return new FileLock(path, owner);
        await removeAbandoned(path, `${beside}.${token}.lock-over`, abandoned);
        if (systemClock.now() >= until) throw busy(path);
        await sleep(systemClock, 1 + Math.random() * PAUSE);
      }
    } finally {
      await unlink(mine).catch(() => undefined);
    }
  }

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

/** Renames the lock, checks it, and links it back if it belongs to a newer owner by now. */
async function removeAbandoned(path: string, aside: string, age: number): Promise<void> {
  if (!(await isAbandoned(path, age))) return;
  try {
    await rename(path, aside);
    if (!(await isAbandoned(aside, age))) await link(aside, path);
  } catch (error) {
    if (systemCode(error) !== "ENOENT" && systemCode(error) !== "EEXIST") throw error;
  }
  await unlink(aside).catch(() => undefined);
}

async function isAbandoned(path: string, age: number): Promise<boolean> {
  const [owner, found] = await Promise.all([ownerOf(path), stat(path).catch(() => undefined)]);
  if (owner === undefined || found === undefined) return false;
  const [pid, host, , identity = ""] = owner.split(" ");
  if (host === hostname() && !isAlive(Number(pid))) return true;
  const known = identityIn(identity);
  if (known !== undefined && stateOfProcess(known) === "gone") return true;
  return systemClock.now() - found.mtimeMs > age;
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
