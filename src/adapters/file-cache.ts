import { ifThere, systemCode } from "../kernel/system-error.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { createHash, randomBytes } from "node:crypto";
import { mkdir, readdir, link, readFile, rename, stat, unlink, utimes, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Clock, systemClock } from "../kernel/clock.ts";
import { CacheError, UsageError } from "../kernel/errors.ts";
import { contentHash, parsedJson } from "../kernel/json.ts";
import { type Cache, type CacheEntry, checkedTtl, isSameEntry, refuseClosed, type ReplaceOptions } from "../memory/cache.ts";
import { FileLock, LOCK_ENDS } from "./file-lock.ts";

export { CacheError } from "../kernel/errors.ts";

/*
 * A cache in a folder, one file for each key.
 *
 * FileCache.F1 (`#write`) a file is whole or absent: it is written under another name and renamed, so that a process that dies leaves the
 * old entry. FileCache.F2 (`nameOf`) its name is a hash of the key: no key leads out of the folder, is too long, or differs from another
 * in case alone. FileCache.F3 (`readEntry`) an entry without its checksum and its key is damaged, not missing. FileCache.F4 (`#sweep`) the
 * modification time of a file is its expiry: expired files are found without reading them, and removed. FileCache.F5 (`#write`) every file
 * is created with permissions for its owner alone. FileCache.F6 (`replace`) it compares and writes under a lock of the key
 * (`file-lock.ts`), so that one of several processes writes; `set` does not take the lock.
 *
 * Entries outlive the process, also after `kill -9`. They are not forced onto the disk one by one: a loss of power may remove or damage
 * those of the last seconds.
 */

/** Options of {@link fileCache}. */
export interface FileCacheOptions {
  /** The folder. The first write creates it. */
  readonly dir: string;
  readonly clock?: Clock;
}

const fileCacheOptions: Known<FileCacheOptions> = { dir: kinds.text, clock: kinds.clock };

const VERSION = 1;
/** Writes between two searches for expired files. */
const WRITES_PER_SWEEP = 1000;
/** Milliseconds after which an unfinished file counts as abandoned. */
const ABANDONED = 60 * 60 * 1000;
const ENTRY = /^[0-9a-f]{64}\.json$/;
const UNFINISHED = new RegExp(`^[0-9a-f]{64}(\\.[0-9a-f]{12}\\.tmp|${LOCK_ENDS})$`);

/**
 * A cache in files.
 *
 * @throws UsageError `OPTION_INVALID` without a folder. A folder that cannot be used is reported by the first write as a CacheError
 * `CACHE_UNWRITABLE`, or by a read as `CACHE_UNREADABLE`.
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
  /** The last operation on each name. Its callers bound it: each waits for its own. */
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

  async keys(prefix: string): Promise<readonly string[]> {
    refuseClosed(this.#isClosed);
    const keys: string[] = [];
    try {
      for (const file of (await ifThere(readdir(this.#dir))) ?? []) {
        const key = ENTRY.test(file) ? keyIn((await ifThere(readFile(join(this.#dir, file), "utf8"))) ?? "") : undefined;
        if (key?.startsWith(prefix) === true) keys.push(key);
      }
    } catch (error) {
      throw fileError("CACHE_UNREADABLE", "read", this.#dir, error);
    }
    return keys;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#turns.values());
  }

  #place(name: string): string {
    return join(this.#dir, `${name}.json`);
  }

  #temporaryPath(name: string): string {
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

  /** @param confirm throws if the entry may no longer take its place; called right before that */
  async #write(name: string, text: string, expires: number, confirm?: () => Promise<void>): Promise<void> {
    const temporary = this.#temporaryPath(name);
    try {
      await writeFile(temporary, text, { mode: 0o600, flag: "wx" });
      await utimes(temporary, expires / 1000, expires / 1000);
      await confirm?.();
      await rename(temporary, this.#place(name));
    } catch (error) {
      // The first failure is the one to report.
      await unlink(temporary).catch(() => undefined);
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
      if (ENTRY.test(file)) await this.#inTurn(file.slice(0, 64), () => this.#removeExpired(path));
      else if (UNFINISHED.test(file) && (await this.#isExpired(path, ABANDONED))) await this.#remove(path);
    }
  }

  /** Another process may write the file at any moment: it is renamed, checked, and linked back if it has not expired. */
  async #removeExpired(path: string): Promise<void> {
    if (!(await this.#isExpired(path, 0))) return;
    const aside = this.#temporaryPath(path.slice(-69, -5));
    try {
      await rename(path, aside);
      if (!(await this.#isExpired(aside, 0))) await link(aside, path);
    } catch (error) {
      // It is removed already, or written again.
      if (systemCode(error) !== "ENOENT" && systemCode(error) !== "EEXIST") throw fileError("CACHE_UNWRITABLE", "clean", this.#dir, error);
    }
    await this.#remove(aside);
  }

  async #isExpired(path: string, grace: number): Promise<boolean> {
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

interface FileEntry {
  readonly v: number;
  readonly key: string;
  readonly expires: number;
  readonly value: string;
  readonly sum: string;
}

function nameOf(key: string): string {
  // As JSON: keys that differ in a lone surrogate have the same UTF-8.
  return createHash("sha256").update(JSON.stringify(key)).digest("hex");
}

function entryText(key: string, value: string, expires: number): string {
  const entry: FileEntry = { v: VERSION, key, expires, value, sum: contentHash([key, expires, value]) };
  return JSON.stringify(entry);
}

/** Returns the key in the text of an entry, also of one that was cut behind its key; undefined where no key is left. */
function keyIn(text: string): string | undefined {
  const [, key] = /^\{"v":\d+,"key":("(?:[^"\\]|\\.)*")/.exec(text) ?? [];
  return key === undefined ? undefined : (parsedJson(key) as string | undefined);
}

/** Reads an entry, or returns why it is damaged. */
function readEntry(text: string, key: string): FileEntry | string {
  let entry: Partial<FileEntry> | null;
  try {
    entry = JSON.parse(text) as Partial<FileEntry> | null;
  } catch {
    return "its file is cut or was changed: it is no JSON";
  }
  const { v, expires, value } = entry ?? {};
  if (typeof v === "number" && v > VERSION) return `its file is of version ${v}, newer than ${VERSION}`;
  if (typeof expires !== "number" || typeof value !== "string") return "its file has not the form of an entry";
  if (entry?.key !== key) return "its file is another key's";
  if (entry.sum !== contentHash([key, expires, value])) return "its file was changed: its checksum is wrong";
  return entry as FileEntry;
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
