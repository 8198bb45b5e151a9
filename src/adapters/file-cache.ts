import { systemCode } from "../kernel/system-error.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { createHash, randomBytes } from "node:crypto";
import { mkdir, readdir, link, readFile, rename, stat, unlink, utimes, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Clock, systemClock } from "../kernel/clock.ts";
import { CacheError, UsageError } from "../kernel/errors.ts";
import { contentHash } from "../kernel/json.ts";
import { type Cache, type CacheEntry, checkedTtl, isSameEntry, refuseClosed, type ReplaceOptions } from "../memory/cache.ts";
import { FileLock, LOCK_ENDS } from "./file-lock.ts";

export { CacheError } from "../kernel/errors.ts";

/*
 * A cache in a folder, one file for each key.
 *
 * FileCache.F1 (`#write`) a file is whole or not there: it is written beside its place and renamed, so that a process that dies leaves the old
 * entry. FileCache.F2 (`nameOf`) its name is a hash of the key: no key leads out of the folder, is too long, or differs from another in case
 * alone. FileCache.F3 (`readEntry`) an entry that is read must have its checksum and its key; else it is damaged, not missing. FileCache.F4
 * (`#sweep`) a file's time of change is its expiry: old ones are found without being read, and removed. FileCache.F5 files are private to their
 * owner from birth. FileCache.F6 (`replace`) compares and writes under a lock of the key (`file-lock.ts`), so that of several processes one
 * writes; `set` does not take the lock.
 *
 * Entries outlive the process, `kill -9` included. They are not forced onto the disk one by one: after a loss of power the last seconds may be gone
 * or, F3, damaged.
 */

/** Where the cache is. */
export interface FileCacheOptions {
  /** The folder; made with the first write when it is not there. */
  readonly dir: string;
  readonly clock?: Clock;
}

const fileCacheOptions: Known<FileCacheOptions> = { dir: true, clock: true };

const VERSION = 1;
/** What is over is looked for once in so many writes. */
const WRITES_PER_SWEEP = 1000;
/** A beginning that nobody finished within this time, in milliseconds, is nobody's. */
const ABANDONED = 60 * 60 * 1000;
const ENTRY = /^[0-9a-f]{64}\.json$/;
const BEGINNING = new RegExp(`^[0-9a-f]{64}(\\.[0-9a-f]{12}\\.tmp|${LOCK_ENDS})$`);

/**
 * A cache in files.
 *
 * @throws UsageError `OPTION_INVALID` without a folder. What is wrong with the folder is told by the first write, as a CacheError
 * `CACHE_UNWRITABLE`, or by a read, as `CACHE_UNREADABLE`.
 * @example
 * import { BrainMemory } from "troupe";
 * import { fileCache } from "troupe/files";
 * import { scriptedModel } from "troupe/testing";
 *
 * export const brain = new BrainMemory({ model: scriptedModel([]), cache: fileCache({ dir: ".troupe/cache" }), key: "ada" });
 */
export function fileCache(options: FileCacheOptions): Cache {
  checkGivenOptions("fileCache", options, fileCacheOptions);
  const { dir, clock = systemClock } = options;
  if (typeof dir !== "string" || dir === "" || dir.includes("\0")) {
    throw new UsageError("OPTION_INVALID", `Expected the folder of a cache, got ${JSON.stringify(dir)}.`);
  }
  return new FolderCache(resolve(dir), clock);
}

class FolderCache implements Cache {
  readonly #dir: string;
  readonly #clock: Clock;
  /** The last work on each name. It has no bound but its callers, each of whom waits for its own. */
  readonly #turns = new Map<string, Promise<unknown>>();
  #writes = 0;
  #isClosed = false;

  constructor(dir: string, clock: Clock) {
    this.#dir = dir;
    this.#clock = clock;
  }

  async get(key: string): Promise<CacheEntry> {
    refuseClosed(this.#isClosed);
    return this.#read(key);
  }

  async #read(key: string): Promise<CacheEntry> {
    let text: string;
    try {
      text = await readFile(this.#place(nameOf(key)), "utf8");
    } catch (error) {
      if (systemCode(error) === "ENOENT") return { kind: "miss" };
      throw fileError("CACHE_UNREADABLE", "read", this.#dir, error);
    }
    const entry = readEntry(text, key);
    if (typeof entry === "string") return { kind: "damaged", reason: entry };
    return entry.expires > this.#clock.now() ? { kind: "hit", value: entry.value } : { kind: "miss" };
  }

  async set(key: string, value: string, ttl: number): Promise<void> {
    refuseClosed(this.#isClosed);
    const expires = this.#clock.now() + checkedTtl(ttl);
    await this.#inTurn(nameOf(key), async () => {
      await this.#prepare();
      await this.#write(nameOf(key), entryText(key, value, expires), expires);
    });
    if (this.#writes++ % WRITES_PER_SWEEP === 0) await this.#sweep();
  }

  async replace(key: string, value: string, { expected, ttl }: ReplaceOptions): Promise<CacheEntry | undefined> {
    refuseClosed(this.#isClosed);
    checkedTtl(ttl);
    const name = nameOf(key);
    return this.#inTurn(name, async () => {
      await this.#prepare();
      const lock = await this.#locked(name);
      try {
        const entry = await this.#read(key);
        if (!isSameEntry(entry, expected)) return entry;
        const expires = this.#clock.now() + ttl;
        await this.#write(name, entryText(key, value, expires), expires, () => lock.confirm());
        return undefined;
      } finally {
        await lock.release();
      }
    });
  }

  async delete(key: string): Promise<void> {
    refuseClosed(this.#isClosed);
    await this.#inTurn(nameOf(key), () => this.#remove(this.#place(nameOf(key))));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#turns.values());
  }

  #place(name: string): string {
    return join(this.#dir, `${name}.json`);
  }

  #beginning(name: string): string {
    return join(this.#dir, `${name}.${randomBytes(6).toString("hex")}.tmp`);
  }

  async #prepare(): Promise<void> {
    try {
      await mkdir(this.#dir, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw fileError("CACHE_UNWRITABLE", "write", this.#dir, error);
    }
  }

  async #locked(name: string): Promise<FileLock> {
    try {
      return await FileLock.take(join(this.#dir, name));
    } catch (error) {
      if (error instanceof CacheError) throw error;
      throw fileError("CACHE_UNWRITABLE", "lock", this.#dir, error);
    }
  }

  /** @param confirm looks, right before the entry takes its place, whether that is still allowed */
  async #write(name: string, text: string, expires: number, confirm?: () => Promise<void>): Promise<void> {
    const beginning = this.#beginning(name);
    try {
      await writeFile(beginning, text, { mode: 0o600, flag: "wx" });
      await utimes(beginning, expires / 1000, expires / 1000);
      await confirm?.();
      await rename(beginning, this.#place(name));
    } catch (error) {
      // The failure that is told is the one that came first.
      await unlink(beginning).catch(() => undefined);
      if (error instanceof CacheError) throw error;
      throw fileError("CACHE_UNWRITABLE", "write", this.#dir, error);
    }
  }

  async #remove(path: string): Promise<void> {
    try {
      await unlink(path);
    } catch (error) {
      if (systemCode(error) !== "ENOENT") throw fileError("CACHE_UNWRITABLE", "delete", this.#dir, error);
    }
  }

  async #sweep(): Promise<void> {
    for (const file of await readdir(this.#dir).catch(() => [])) {
      const path = join(this.#dir, file);
      if (ENTRY.test(file)) await this.#inTurn(file.slice(0, 64), () => this.#bury(path));
      else if (BEGINNING.test(file) && (await this.#isOver(path, ABANDONED))) await this.#remove(path);
    }
  }

  /** Another process may write it anew at any moment: it is taken away first and looked at then, and put back if it is not over. */
  async #bury(path: string): Promise<void> {
    if (!(await this.#isOver(path, 0))) return;
    const grave = this.#beginning(path.slice(-69, -5));
    try {
      await rename(path, grave);
      if (!(await this.#isOver(grave, 0))) await link(grave, path);
    } catch (error) {
      // It is gone, or written once more: both are as good.
      if (systemCode(error) !== "ENOENT" && systemCode(error) !== "EEXIST") throw fileError("CACHE_UNWRITABLE", "clean", this.#dir, error);
    }
    await this.#remove(grave);
  }

  async #isOver(path: string, grace: number): Promise<boolean> {
    const found = await stat(path).catch(() => undefined);
    return found !== undefined && found.isFile() && found.mtimeMs + grace <= this.#clock.now();
  }

  #inTurn<T>(name: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.#turns.get(name) ?? Promise.resolve()).then(work, work);
    this.#turns.set(name, turn);
    const leave = (): void => {
      if (this.#turns.get(name) === turn) this.#turns.delete(name);
    };
    turn.then(leave, leave);
    return turn;
  }
}

interface Entry {
  readonly v: number;
  readonly key: string;
  readonly expires: number;
  readonly value: string;
  readonly sum: string;
}

function nameOf(key: string): string {
  // As JSON: texts that differ in half a character only have one UTF-8 between them.
  return createHash("sha256").update(JSON.stringify(key)).digest("hex");
}

function entryText(key: string, value: string, expires: number): string {
  const entry: Entry = { v: VERSION, key, expires, value, sum: contentHash([key, expires, value]) };
  return JSON.stringify(entry);
}

/** The entry, or what is wrong with it. */
function readEntry(text: string, key: string): Entry | string {
  let entry: Partial<Entry> | null;
  try {
    entry = JSON.parse(text) as Partial<Entry> | null;
  } catch {
    return "its file is cut or was changed: it is no JSON";
  }
  const { v, expires, value } = entry ?? {};
  if (typeof v === "number" && v > VERSION) return `its file is of version ${v}, newer than ${VERSION}`;
  if (typeof expires !== "number" || typeof value !== "string") return "its file has not the form of an entry";
  if (entry?.key !== key) return "its file is another key's";
  if (entry.sum !== contentHash([key, expires, value])) return "its file was changed: its checksum is wrong";
  return entry as Entry;
}

function fileError(code: string, doing: string, dir: string, cause: unknown): CacheError {
  const system = systemCode(cause);
  const came = system === "" ? "an unknown failure" : system;
  return new CacheError(
    code,
    `Expected to ${doing} an entry of the cache in ${JSON.stringify(dir)}, got ${came}. Check the folder and the disk.`,
    {
      cause,
      data: { dir, system: came },
    },
  );
}
