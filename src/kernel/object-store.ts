import { having, type Shape } from "./argument.ts";
import { TroupeError, UsageError } from "./errors.ts";
import { valueText } from "./value-text.ts";

/** The bytes of an object, and the tag of this version of it. */
export interface StoredObject {
  readonly bytes: Uint8Array;
  /** Equal for equal versions of one key. */
  readonly tag: string;
}

/** Options of a call to an {@link ObjectStore}. */
export interface ObjectCall {
  readonly signal?: AbortSignal | undefined;
}

/** At most one condition. Without one the object is replaced. */
export interface PutOptions extends ObjectCall {
  /** Only if there is no object of this key. */
  readonly ifNone?: boolean;
  /** Only if the object has this tag. */
  readonly ifMatch?: string;
}

/**
 * Bytes under keys, such as a shared folder or a bucket.
 *
 * A key is parts joined by `/`: each begins with a small letter, a digit, `_` or `-`, continues with these and `.`, and has at most 100
 * characters; a key has at most 400. Bad keys throw UsageError `OBJECT_KEY_INVALID`. All calls throw an {@link ObjectStoreError}, or a
 * ControlError when the signal aborts.
 */
export interface ObjectStore {
  /** Stores the bytes, whole or not at all. Returns the tag of this version. @throws ObjectStoreError `OBJECT_CONFLICT`, `OBJECT_TOO_LARGE` */
  put(key: string, bytes: Uint8Array, options?: PutOptions): Promise<string>;
  /** @throws ObjectStoreError `OBJECT_TOO_LARGE`, `OBJECT_DAMAGED` */
  get(key: string, options?: ObjectCall): Promise<StoredObject | undefined>;
  /** Returns the keys below a folder (`a` lists `a/b` and `a/b/c`), sorted. @throws ObjectStoreError `OBJECTS_TOO_MANY` above 100,000 */
  list(folder: string, options?: ObjectCall): Promise<readonly string[]>;
  remove(key: string, options?: ObjectCall): Promise<void>;
}

/**
 * A store of objects failed. Codes: `OBJECT_CONFLICT`, `OBJECT_TOO_LARGE`, `OBJECT_DAMAGED`, `OBJECTS_TOO_MANY`, `OBJECTS_UNREACHABLE` (no
 * answer, so the stored value is unknown), `OBJECTS_REFUSED`, `OBJECTS_BUSY`.
 */
export class ObjectStoreError extends TroupeError {}

const MAX_KEYS = 100_000;

/** Default limit on one object: 256 MiB. */
export const OBJECT_BYTES: number = 256 * 1024 * 1024;

export const anObjectStore: Shape = having("a store of objects", "put", "get", "list", "remove");

const PART = /^[a-z0-9_-][a-z0-9._-]{0,99}$/;
const MAX_KEY = 400;

export function checkObjectKey(key: unknown): void {
  if (typeof key === "string" && key.length <= MAX_KEY && key.split("/").every((part) => PART.test(part))) return;
  throw new UsageError(
    "OBJECT_KEY_INVALID",
    `Expected the key of an object as parts of small letters, digits, "_", "-" and "." joined by "/", got ${valueText(key)}. Replace other characters.`,
  );
}

export function checkPut({ ifNone, ifMatch }: PutOptions): void {
  if (ifNone !== true || ifMatch === undefined) return;
  throw new UsageError("OPTION_INVALID", "Expected one condition of put, got ifNone and ifMatch. An object that is not there has no tag.");
}

export function objectConflict(key: string): ObjectStoreError {
  return new ObjectStoreError(
    "OBJECT_CONFLICT",
    `Expected the object ${key} to meet the condition of put, but another writer changed it. Read it again, then retry.`,
    { data: { key } },
  );
}

export function checkObjectSize(key: string, bytes: number, most: number): void {
  if (bytes <= most) return;
  throw new ObjectStoreError(
    "OBJECT_TOO_LARGE",
    `Expected at most ${most} bytes in the object ${key}, got ${bytes}. Store less, or raise mostBytes.`,
    { data: { key, most, bytes } },
  );
}

export function checkKeyCount(folder: string, count: number): void {
  if (count <= MAX_KEYS) return;
  throw new ObjectStoreError("OBJECTS_TOO_MANY", `Expected at most ${MAX_KEYS} objects below ${folder}, got more. Remove old ones.`);
}
