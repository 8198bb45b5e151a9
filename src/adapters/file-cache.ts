import { createHash } from "node:crypto";
import { type Clock, systemClock } from "../kernel/clock.ts";
import { CacheError } from "../kernel/errors.ts";
import { parsedJson } from "../kernel/json.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { ObjectStoreError, type PutOptions } from "../kernel/object-store.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { systemCode } from "../kernel/system-error.ts";
import { isRecord } from "../kernel/value-kind.ts";
import { valueText } from "../kernel/value-text.ts";
import { type Cache, type CacheEntry, checkedTtl, isSameEntry, KeyTurns, refuseClosed, type ReplaceOptions } from "../memory/cache.ts";
import { assertFolder, FileObjects } from "./file-objects.ts";

export { CacheError } from "../kernel/errors.ts";

/** Options of {@link fileCache}. */
export interface FileCacheOptions {
  /** The folder. The first write creates it. */
  readonly dir: string;
  readonly clock?: Clock;
}

const fileCacheOptions: Known<FileCacheOptions> = { dir: kinds.text, clock: kinds.clock };

const VERSION = 1;
const FOLDER = "entries";
const MAX_BYTES = 256 * 1024 * 1024;
const WRITES_PER_SWEEP = 1000;

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
  assertFolder("a cache", dir);
  return new FolderCache(dir, clock);
}

interface FoundEntry {
  readonly entry: CacheEntry;
  readonly tag: string | undefined;
  readonly isExpired?: boolean;
}

/**
 * A cache in a folder, one object of `FileObjects` for each key. FileCache.F2 (`pathOf`) the name of a file is a hash of the key: no key leads out of
 * the folder, or is too long. FileCache.F3 (`entryIn`) a file that is not the entry of its key is damaged, not missing. FileCache.F4 (`#sweep`) later
 * writes remove expired entries. FileCache.F6 (`replace`) of several processes that expect the same entry, one writes.
 */
class FolderCache implements Cache {
  readonly #dir: string;
  readonly #clock: Clock;
  readonly #objects: FileObjects;
  readonly #turns = new KeyTurns();
  #writes = 0;
  #isClosed = false;

  constructor(dir: string, clock: Clock) {
    this.#dir = dir;
    this.#clock = clock;
    this.#objects = new FileObjects(dir, MAX_BYTES);
  }

  async get(key: string): Promise<CacheEntry> {
    refuseClosed(this.#isClosed);
    return (await this.#find(key)).entry;
  }

  async set(key: string, value: string, ttl: number): Promise<void> {
    refuseClosed(this.#isClosed);
    checkedTtl(ttl);
    await this.#turns.take(key, () => this.#put(key, value, ttl));
    if (this.#writes++ % WRITES_PER_SWEEP === 0) await this.#sweep();
  }

  async replace(key: string, value: string, { expected, ttl }: ReplaceOptions): Promise<CacheEntry | undefined> {
    refuseClosed(this.#isClosed);
    checkedTtl(ttl);
    return this.#turns.take(key, async () => {
      for (;;) {
        const { entry, tag } = await this.#find(key);
        if (!isSameEntry(entry, expected)) return entry;
        if (await this.#put(key, value, ttl, tag === undefined ? { ifNone: true } : { ifMatch: tag })) return undefined;
      }
    });
  }

  async delete(key: string): Promise<void> {
    refuseClosed(this.#isClosed);
    await this.#turns.take(key, () => this.#typed("CACHE_UNWRITABLE", "delete", () => this.#objects.remove(pathOf(key))));
  }

  async keys(prefix: string): Promise<readonly string[]> {
    refuseClosed(this.#isClosed);
    return this.#typed("CACHE_UNREADABLE", "list", async () => {
      const keys: string[] = [];
      for (const path of await this.#objects.list(FOLDER)) {
        const key = keyIn(await this.#objects.remains(path));
        if (key?.startsWith(prefix) === true) keys.push(key);
      }
      return keys;
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#turns.settled();
  }

  #find(key: string): Promise<FoundEntry> {
    return this.#typed("CACHE_UNREADABLE", "read", () => this.#read(pathOf(key), key));
  }

  async #read(path: string, key?: string): Promise<FoundEntry> {
    try {
      const found = await this.#objects.get(path);
      return { ...entryIn(found?.bytes, key, this.#clock.now()), tag: found?.tag };
    } catch (error) {
      if (!(error instanceof ObjectStoreError && error.code === "OBJECT_DAMAGED")) throw error;
      const { tag } = error.data as { readonly tag: string };
      return { entry: damaged("its checksum is wrong"), tag };
    }
  }

  #put(key: string, value: string, ttl: number, condition: PutOptions = {}): Promise<boolean> {
    const text = JSON.stringify({ v: VERSION, key, expires: this.#clock.now() + ttl, value });
    return this.#typed("CACHE_UNWRITABLE", "write", () =>
      this.#objects.put(pathOf(key), Buffer.from(text), condition).then(
        () => true,
        (error: unknown) => {
          if (error instanceof ObjectStoreError && error.code === "OBJECT_CONFLICT") return false;
          throw error;
        },
      ),
    );
  }

  async #sweep(): Promise<void> {
    for (const path of await this.#objects.list(FOLDER).catch(() => [])) {
      const { isExpired, tag } = await this.#read(path).catch((): Partial<FoundEntry> => ({}));
      if (isExpired === true) await this.#objects.remove(path, { ifMatch: tag }).catch(() => undefined);
    }
  }

  async #typed<T>(code: string, doing: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ObjectStoreError)) throw error;
      if (error.code === "OBJECTS_BUSY") throw error.cause;
      const system = systemCode(error.cause) || error.code;
      throw new CacheError(
        code,
        `Expected to ${doing} an entry of the cache in ${JSON.stringify(this.#dir)}, got ${system}. Check the folder and the disk.`,
        { cause: error.cause ?? error, data: { dir: this.#dir, system } },
      );
    }
  }
}

function pathOf(key: string): string {
  // As JSON: keys that differ in a lone surrogate have the same UTF-8.
  return `${FOLDER}/${createHash("sha256").update(JSON.stringify(key)).digest("hex")}`;
}

function damaged(reason: string): CacheEntry {
  return { kind: "damaged", reason };
}

function entryIn(bytes: Uint8Array | undefined, key: string | undefined, now: number): Omit<FoundEntry, "tag"> {
  if (bytes === undefined) return { entry: { kind: "miss" } };
  const file = parsedJson(new TextDecoder().decode(bytes));
  if (!isRecord(file) || typeof file["expires"] !== "number" || typeof file["value"] !== "string") {
    return { entry: damaged("its file has not the form of an entry") };
  }
  if (file["v"] !== VERSION) return { entry: damaged(`its file is of version ${valueText(file["v"])}, not ${VERSION}`) };
  if (key !== undefined && file["key"] !== key) return { entry: damaged("its file is another key's") };
  if (file["expires"] > now) return { entry: { kind: "hit", value: file["value"] } };
  return { entry: { kind: "miss" }, isExpired: true };
}

/** Returns the key in a file, also in one that was cut behind its key. */
function keyIn(text: string): string | undefined {
  const [, key] = /^.{64}\{"v":\d+,"key":("(?:[^"\\]|\\.)*")/s.exec(text) ?? [];
  return key === undefined ? undefined : (parsedJson(key) as string | undefined);
}
