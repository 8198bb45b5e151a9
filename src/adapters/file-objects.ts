import { createHash, randomBytes } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, stat, unlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { throwIfAborted } from "../kernel/abort.ts";
import { systemClock } from "../kernel/clock.ts";
import { CacheError, TroupeError, UsageError } from "../kernel/errors.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import {
  checkKeyCount,
  checkObjectKey,
  checkObjectSize,
  checkPut,
  OBJECT_BYTES,
  type ObjectCall,
  objectConflict,
  type ObjectStore,
  ObjectStoreError,
  type PutOptions,
  type StoredObject,
} from "../kernel/object-store.ts";
import { ifThere, systemCode } from "../kernel/system-error.ts";
import { isCount } from "../kernel/value-kind.ts";
import { valueText } from "../kernel/value-text.ts";
import { FileLock } from "./file-lock.ts";

/** Options of {@link fileObjects}. */
export interface FileObjectsOptions {
  /** The folder; the first write makes it. Machines that share it need one whose hard links and renames are atomic, such as NFS. */
  readonly dir: string;
  /** Bytes of one object. Default 256 MiB. */
  readonly mostBytes?: number;
}

const fileObjectsOptions: Known<FileObjectsOptions> = { dir: kinds.text, mostBytes: kinds.count };

/** The end of the name of an object's file: no part of a key has it, so a folder never has the name of an object. */
const END = "~";
const LEFT = /~\.[0-9a-f]{12}\.tmp$/;
const ABANDONED = 86_400_000;
/** Hexadecimal digits of a sha256, which precede the bytes. */
const TAG_BYTES = 64;

/**
 * A store of objects in a folder: one file for each.
 *
 * @throws UsageError `OPTION_INVALID`, `OPTION_UNKNOWN`
 * @example
 * import { fileObjects } from "troupe/objects";
 *
 * const objects = fileObjects({ dir: ".troupe/objects" });
 * const tag = await objects.put("notes/one", new TextEncoder().encode("rain"));
 * await objects.put("notes/one", new TextEncoder().encode("snow"), { ifMatch: tag });
 * console.log(await objects.list("notes")); // [ 'notes/one' ]
 */
export function fileObjects(options: FileObjectsOptions): ObjectStore {
  checkGivenOptions("fileObjects", options, fileObjectsOptions);
  const { dir, mostBytes = OBJECT_BYTES } = options;
  assertFolder("objects", dir);
  if (!isCount(mostBytes)) throw new UsageError("OPTION_INVALID", `Expected mostBytes as a whole number, got ${valueText(mostBytes)}.`);
  return new FileObjects(dir, mostBytes);
}

export function assertFolder(what: string, dir: unknown): void {
  if (typeof dir === "string" && dir !== "" && !dir.includes("\0")) return;
  throw new UsageError("OPTION_INVALID", `Expected the folder of ${what}, got ${valueText(dir)}.`);
}

/**
 * Owns the files of a folder. FileObjects.O1 (`put`) a file is whole or absent: it is renamed into place. FileObjects.O2 (`#locked`) conditions hold
 * among processes: every change holds a lock of the key. FileObjects.O3 (`get`) a damaged file is the error `OBJECT_DAMAGED`. FileObjects.O4 (`list`)
 * what a killed writer has left is removed a day later.
 */
export class FileObjects implements ObjectStore {
  readonly #dir: string;
  readonly #most: number;

  constructor(dir: string, most: number) {
    this.#dir = resolve(dir);
    this.#most = most;
  }

  async put(key: string, bytes: Uint8Array, options: PutOptions = {}): Promise<string> {
    checkObjectKey(key);
    checkPut(options);
    checkObjectSize(key, bytes.length, this.#most);
    throwIfAborted(options.signal);
    const tag = tagOf(bytes);
    const path = this.#path(key);
    return typed("write", async () => {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const written = `${path}.${randomBytes(6).toString("hex")}.tmp`;
      try {
        await writeWhole(written, Buffer.concat([Buffer.from(tag), bytes]));
        await this.#locked(path, async (lock) => {
          if (!holds(options, await tagAt(path))) throw objectConflict(key);
          throwIfAborted(options.signal);
          await lock.confirm();
          await rename(written, path);
        });
      } catch (error) {
        await unlink(written).catch(() => undefined);
        throw error;
      }
      return tag;
    });
  }

  async get(key: string, { signal }: ObjectCall = {}): Promise<StoredObject | undefined> {
    checkObjectKey(key);
    throwIfAborted(signal);
    return typed("read", async () => {
      const handle = await ifThere(open(this.#path(key)));
      if (handle === undefined) return undefined;
      try {
        checkObjectSize(key, (await handle.stat()).size - TAG_BYTES, this.#most);
        const all = await handle.readFile();
        const [tag, bytes] = [all.subarray(0, TAG_BYTES).toString("latin1"), new Uint8Array(all.subarray(TAG_BYTES))];
        if (tagOf(bytes) === tag) return { bytes, tag };
        throw new ObjectStoreError("OBJECT_DAMAGED", `Expected the object ${key} as it was written, but its bytes differ. Remove it.`, {
          data: { key, tag },
        });
      } finally {
        await handle.close();
      }
    });
  }

  async list(folder: string, { signal }: ObjectCall = {}): Promise<readonly string[]> {
    checkObjectKey(folder);
    throwIfAborted(signal);
    const keys: string[] = [];
    const visit = async (at: string): Promise<void> => {
      throwIfAborted(signal);
      for (const entry of (await ifThere(readdir(join(this.#dir, at), { withFileTypes: true }))) ?? []) {
        if (entry.isDirectory()) await visit(`${at}/${entry.name}`);
        else if (entry.isFile() && entry.name.endsWith(END)) keys.push(`${at}/${entry.name.slice(0, -END.length)}`);
        else if (LEFT.test(entry.name)) await removeOld(join(this.#dir, at, entry.name));
        checkKeyCount(folder, keys.length);
      }
    };
    await typed("list", () => visit(folder));
    return keys.sort();
  }

  async remove(key: string, { signal, ifMatch }: ObjectCall & { readonly ifMatch?: string | undefined } = {}): Promise<void> {
    checkObjectKey(key);
    throwIfAborted(signal);
    const path = this.#path(key);
    await typed("remove", async () => {
      if ((await tagAt(path)) === undefined) return;
      await this.#locked(path, async () => {
        if (ifMatch === undefined || ifMatch === (await tagAt(path))) await ifThere(unlink(path));
      });
    });
  }

  /** Returns the file of an object as text, also of a damaged one; its tag comes first. */
  remains(key: string): Promise<string> {
    return typed("read", async () => (await ifThere(readFile(this.#path(key), "utf8"))) ?? "");
  }

  #path(key: string): string {
    return join(this.#dir, ...key.split("/")) + END;
  }

  async #locked(path: string, work: (lock: FileLock) => Promise<void>): Promise<void> {
    const lock = await FileLock.take(path);
    try {
      await work(lock);
    } finally {
      await lock.release();
    }
  }
}

function holds({ ifNone, ifMatch }: PutOptions, tag: string | undefined): boolean {
  if (ifNone === true) return tag === undefined;
  return ifMatch === undefined || ifMatch === tag;
}

function tagOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

async function tagAt(path: string): Promise<string | undefined> {
  const handle = await ifThere(open(path));
  if (handle === undefined) return undefined;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(TAG_BYTES), 0, TAG_BYTES, 0);
    return buffer.subarray(0, bytesRead).toString("latin1");
  } finally {
    await handle.close();
  }
}

/** Only the owner may read it: a project may hold secrets. */
async function writeWhole(path: string, bytes: Buffer): Promise<void> {
  const handle = await open(path, "wx", 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function removeOld(path: string): Promise<void> {
  const found = await ifThere(stat(path));
  if (found !== undefined && systemClock.now() - found.mtimeMs > ABANDONED) await ifThere(unlink(path));
}

async function typed<T>(doing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof CacheError) {
      throw new ObjectStoreError("OBJECTS_BUSY", `Expected to ${doing} an object, but others had its lock all the time. Try again.`, {
        cause,
      });
    }
    if (cause instanceof TroupeError) throw cause;
    throw new ObjectStoreError(
      "OBJECTS_REFUSED",
      `Expected to ${doing} objects in their folder, but the system says ${systemCode(cause)}. Look at its rights and its space.`,
      { cause },
    );
  }
}
