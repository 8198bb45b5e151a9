import { isObject } from "./value-kind.ts";
import { hash } from "node:crypto";
import { NotJsonError } from "./errors.ts";

/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A JSON object. */
export type JsonObject = { readonly [key: string]: Json };

/** Deeper values are refused, because reading and writing them would overflow a stack. Real data is far less deep. */
const MAX_DEPTH = 500;

/**
 * Returns JSON text with object keys sorted by code unit, so that equal values give equal text. `undefined` members are left out, as
 * `JSON.stringify` does.
 *
 * @throws NotJsonError for a value without a JSON form (function, symbol, bigint, NaN, a promise, map, set or error, a cycle, more than 500
 * levels).
 */
export function canonicalJson(value: unknown): string {
  return walk(value, undefined, asText);
}

/** Returns the sha256 of {@link canonicalJson}, as 64 hexadecimal digits. */
export function contentHash(value: unknown): string {
  return textHash(canonicalJson(value));
}

/** Returns the sha256 of a text that is canonical JSON already: the {@link contentHash} of its value. */
export function textHash(text: string): string {
  return hash("sha256", text, "hex");
}

/** Returns the number of bytes of a text in UTF-8. */
export function utf8Length(text: string): number {
  return Buffer.byteLength(text);
}

/** Returns a private copy of a value. */
export function jsonCopy(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(jsonCopy);
  const copy: Record<string, Json> = {};
  for (const [key, member] of Object.entries(value)) copy[key] = jsonCopy(member);
  return copy;
}

/**
 * Returns a value as JSON gives it back after writing and reading: dates are strings, `undefined` members are removed. Live results are
 * converted by this, so that they equal the later results of a journal.
 *
 * @param above levels of nesting around the value
 * @throws NotJsonError for a value without a JSON form (function, symbol, bigint, NaN, a promise, map, set or error, a cycle, more than 500
 * levels).
 */
export function jsonRoundTrip<T>(value: T, above = 0): T {
  const within = above === 0 ? undefined : { within: undefined, object: NOWHERE, level: above, at: undefined };
  return value === undefined ? (null as T) : (walk(value, within, asCopy) as T);
}

/** Stands for the unknown object around a value. */
const NOWHERE: object = Object.freeze({});

/** Limit on the objects that are walked without a set of the visited ones. */
const FEW_OBJECTS = 1_000;

/** Freezes a plain value and everything in it, also below values that were frozen before. Returns the same object. */
export function deepFreeze<T>(value: T): T {
  // A small value is walked as a tree, because every event that is read passes here; a large one, or one with a cycle, is walked again.
  const left: unknown[] = [value];
  for (let walked = 0; left.length > 0; walked += 1) {
    if (walked > FEW_OBJECTS) return freezeGraph(value);
    const object = left.pop();
    if (!isObject(object)) continue;
    Object.freeze(object);
    for (const member of membersOf(object)) if (isObject(member)) left.push(member);
  }
  return value;
}

/** Values that were frozen by `unchanging`. */
const unchangingValues = new WeakSet<object>();

/** Freezes a plain value and everything in it, and marks it, so that results computed from it may be cached. */
export function unchanging<T extends Json>(value: T): T {
  if (!isObject(value)) return value;
  unchangingValues.add(deepFreeze(value));
  return value;
}

/** True for a value that {@link unchanging} returned. */
export function isUnchanging(value: unknown): value is object {
  return isObject(value) && unchangingValues.has(value);
}

/** Returns the members of an object that are objects: a shorter list than all its values. */
function membersOf(object: object): readonly unknown[] {
  if (Array.isArray(object)) return object;
  const members: unknown[] = [];
  for (const key in object) {
    const member: unknown = object[key as keyof typeof object];
    if (isObject(member)) members.push(member);
  }
  return members;
}

function freezeGraph<T>(value: T): T {
  const found = new Set<object>();
  if (isObject(value)) found.add(value);
  // The walk over a set also visits values that are added during it, so depth uses no stack.
  for (const object of found) {
    Object.freeze(object);
    for (const member of Object.values(object)) if (isObject(member)) found.add(member);
  }
  return value;
}

/** The place of a value: its object, and the place of that. The path is written out for an error only. */
interface Place {
  readonly within: Place | undefined;
  readonly object: object;
  /** The number of objects from the top to this one. */
  readonly level: number;
  /** The member or item that is being written; undefined for the result of `toJSON`, which replaces the object. */
  at: string | number | undefined;
}

function pathOf(place: Place | undefined): string {
  if (place === undefined) return "$";
  const { within, at } = place;
  return `${pathOf(within)}${at === undefined ? "" : typeof at === "number" ? `[${at}]` : `.${at}`}`;
}

/** The constructors of the result of a walk through a value: its text, or a copy. */
interface Making<T> {
  readonly nothing: T;
  readonly string: (value: string) => T;
  readonly boolean: (value: boolean) => T;
  /** @param value finite */
  readonly number: (value: number) => T;
  readonly list: (value: readonly unknown[], place: Place) => T;
  readonly record: (value: object, place: Place) => T;
}

/** Walks a value, and refuses parts without a JSON form. */
function walk<T>(value: unknown, within: Place | undefined, making: Making<T>): T {
  switch (typeof value) {
    case "string":
      return making.string(value);
    case "boolean":
      return making.boolean(value);
    case "number":
      if (!Number.isFinite(value)) throw new NotJsonError(pathOf(within), String(value));
      return making.number(value);
    case "object":
      return value === null ? making.nothing : walkObject(value, within, making);
    default:
      throw new NotJsonError(pathOf(within), typeof value);
  }
}

function walkObject<T>(value: object, within: Place | undefined, making: Making<T>): T {
  const place = entered(value, within);
  const form = jsonFormOf(value);
  if (form !== value) return walk(form, place, making);
  if (Array.isArray(value)) return making.list(value, place);
  assertRecord(value, place);
  return making.record(value, place);
}

function entered(value: object, within: Place | undefined): Place {
  for (let place = within; place !== undefined; place = place.within) {
    if (place.object === value) throw new NotJsonError(pathOf(within), "a cycle");
  }
  const level = within === undefined ? 1 : within.level + 1;
  if (level > MAX_DEPTH) throw new NotJsonError(`${pathOf(within).slice(0, 40)}...`, `more than ${MAX_DEPTH} levels of nesting`);
  return { within, object: value, level, at: undefined };
}

function jsonFormOf(value: object): unknown {
  const { toJSON } = value as { toJSON?: unknown };
  return typeof toJSON === "function" ? (toJSON as () => unknown).call(value) : value;
}

/** The string tag of a plain object. */
const PLAIN = "[object Object]";

/** Promises, maps, errors and the like have no members in JSON: an empty object in their place would be a silent loss. */
function assertRecord(value: object, place: Place): void {
  const kind: string = Object.prototype.toString.call(value);
  if (kind !== PLAIN) throw new NotJsonError(pathOf(place), kind.slice("[object ".length, -1));
}

const asText: Making<string> = {
  nothing: "null",
  string: JSON.stringify,
  boolean: String,
  number: JSON.stringify,
  list: writeArray,
  record: writeRecord,
};

/** Holes count as undefined. */
function writeArray(value: readonly unknown[], place: Place): string {
  let list = "[";
  for (let index = 0; index < value.length; index += 1) {
    const item = value[index];
    place.at = index;
    if (index > 0) list += ",";
    list += item === undefined ? "null" : walk(item, place, asText);
  }
  return `${list}]`;
}

function writeRecord(value: object, place: Place, keys: readonly string[] = sorted(Object.keys(value))): string {
  let record = "{";
  for (const key of keys) {
    place.at = key;
    const member = (value as Record<string, unknown>)[key];
    assertKey(key, member, place);
    if (member === undefined) continue;
    if (record !== "{") record += ",";
    record += `${JSON.stringify(key)}:${walk(member, place, asText)}`;
  }
  return `${record}}`;
}

/** Copying such a record member by member would change its prototype; stores and imports refuse it too. */
function assertKey(key: string, member: unknown, place: Place): void {
  const reaches = key === "__proto__" || (key === "constructor" && isObject(member) && Object.hasOwn(member, "prototype"));
  if (reaches) throw new NotJsonError(pathOf(place), "a key that names the prototype");
}

/** Returns the value that {@link asText} would give when read back: a copy costs less than the text. */
const asCopy: Making<Json> = {
  nothing: null,
  string: (value) => (value.length < SHARED_LENGTH ? value : ownText(value)),
  boolean: (value) => value,
  // JSON has no negative zero.
  number: (value) => (value === 0 ? 0 : value),
  list: copiedArray,
  record: copiedRecord,
};

/** From this length on a substring may keep its whole text in memory: V8's shortest sliced string. */
const SHARED_LENGTH = 13;

/** Returns a text with its own memory: a stored excerpt must not keep its page in memory. */
function ownText(text: string): string {
  return [text.slice(0, 1), text.slice(1)].join("");
}

function copiedArray(value: readonly unknown[], place: Place): Json {
  const list: Json[] = [];
  for (let index = 0; index < value.length; index += 1) {
    const item = value[index];
    place.at = index;
    list.push(item === undefined ? null : walk(item, place, asCopy));
  }
  // A grown list has unused capacity; its copy has none.
  return list.slice();
}

function copiedRecord(value: object, place: Place): Json {
  const keys = sorted(Object.keys(value));
  // The engine makes a hash table of so many members set one by one, which takes several times the memory of a parsed record.
  if (keys.length > FEW_KEYS) return JSON.parse(writeRecord(value, place, keys)) as Json;
  const record: Record<string, Json> = {};
  for (const key of keys) {
    place.at = key;
    const member = (value as Record<string, unknown>)[key];
    assertKey(key, member, place);
    if (member === undefined) continue;
    const own = walk(member, place, asCopy);
    // A member of `Object.prototype` may be frozen; then it cannot be assigned.
    if (key in record) Object.defineProperty(record, key, { value: own, configurable: true, enumerable: true, writable: true });
    else record[key] = own;
  }
  return record;
}

/** Limit on keys that are sorted in place: the built-in sort makes a copy of them. */
const FEW_KEYS = 16;

/** Returns the same list, sorted by code unit. */
function sorted(keys: string[]): readonly string[] {
  if (keys.length > FEW_KEYS) return keys.sort();
  for (let place = 1; place < keys.length; place += 1) {
    const key = keys[place] as string;
    let before = place - 1;
    for (; before >= 0 && (keys[before] as string) > key; before -= 1) keys[before + 1] = keys[before] as string;
    keys[before + 1] = key;
  }
  return keys;
}
