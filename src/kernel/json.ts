import { isObject } from "./value-kind.ts";
import { hash } from "node:crypto";
import { NotJsonError } from "./errors.ts";

/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A JSON object. */
export type JsonObject = { readonly [key: string]: Json };

/** Deeper values would overflow a stack. */
const MAX_DEPTH = 500;

/**
 * Returns JSON text with object keys sorted by code unit, without `undefined` members.
 *
 * @param above levels of nesting around the value
 * @throws NotJsonError for a value without a JSON form
 */
export function canonicalJson(value: unknown, { above = 0 }: { readonly above?: number } = {}): string {
  return textOf(value, above === 0 ? undefined : { within: undefined, object: NOWHERE, level: above, at: undefined });
}

/** The sha256 of {@link canonicalJson} in hexadecimal digits. */
export function contentHash(value: unknown): string {
  return textHash(canonicalJson(value));
}

export function textHash(text: string): string {
  return hash("sha256", text, "hex");
}

export function utf8Length(text: string): number {
  return Buffer.byteLength(text);
}

/** Undefined for a string that is not JSON. */
export function parsedJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

export function jsonCopy(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(jsonCopy);
  const copy: Record<string, Json> = {};
  for (const [key, member] of Object.entries(value)) copy[key] = jsonCopy(member);
  return copy;
}

/** Returns a value as JSON gives it back, so that live results equal the later ones of a journal. @throws NotJsonError */
export function jsonRoundTrip<T>(value: T, above = 0): T {
  return JSON.parse(canonicalJson(value === undefined ? null : value, { above })) as T;
}

const NOWHERE: object = Object.freeze({});

const FEW_OBJECTS = 1_000;

/** Freezes a plain value and everything in it, also below values that were frozen before. */
export function deepFreeze<T>(value: T): T {
  // Every event passes here, so a small value is walked as a tree; a large one, or a cycle, is walked again with a set.
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

const unchangingValues = new WeakSet<object>();

/** Freezes a value and marks it, so that results computed from it may be cached. */
export function unchanging<T>(value: T): T {
  if (!isObject(value)) return value;
  unchangingValues.add(deepFreeze(value));
  return value;
}

export function isUnchanging(value: unknown): value is object {
  return unchangingValues.has(value as object);
}

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
  // Iterating a set also visits values added meanwhile, so depth uses no stack.
  for (const object of found) {
    Object.freeze(object);
    for (const member of Object.values(object)) if (isObject(member)) found.add(member);
  }
  return value;
}

/** The position of a value. The path is written out for an error only. */
interface JsonPlace {
  readonly within: JsonPlace | undefined;
  readonly object: object;
  readonly level: number;
  /** Undefined for the result of `toJSON`, which replaces the object. */
  at: string | number | undefined;
}

function pathOf(place: JsonPlace | undefined): string {
  if (place === undefined) return "$";
  const { within, at } = place;
  return `${pathOf(within)}${at === undefined ? "" : typeof at === "number" ? `[${at}]` : `.${at}`}`;
}

function textOf(value: unknown, within: JsonPlace | undefined): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "boolean":
      return String(value);
    case "number":
      if (!Number.isFinite(value)) throw new NotJsonError(pathOf(within), String(value));
      return JSON.stringify(value);
    case "object":
      return value === null ? "null" : textOfObject(value, within);
    default:
      throw new NotJsonError(pathOf(within), typeof value);
  }
}

function textOfObject(value: object, within: JsonPlace | undefined): string {
  for (let place = within; place !== undefined; place = place.within) {
    if (place.object === value) throw new NotJsonError(pathOf(within), "a cycle");
  }
  const level = within === undefined ? 1 : within.level + 1;
  if (level > MAX_DEPTH) throw new NotJsonError(`${pathOf(within).slice(0, 40)}...`, `more than ${MAX_DEPTH} levels of nesting`);
  const place: JsonPlace = { within, object: value, level, at: undefined };
  const { toJSON } = value as { readonly toJSON?: unknown };
  const form: unknown = typeof toJSON === "function" ? toJSON.call(value) : value;
  if (form !== value) return textOf(form, place);
  return Array.isArray(value) ? textOfArray(value, place) : textOfRecord(value as JsonMembers, place);
}

function textOfArray(list: readonly unknown[], place: JsonPlace): string {
  let text = "";
  for (let index = 0; index < list.length; index += 1) {
    const item = list[index];
    place.at = index;
    text += `${index > 0 ? "," : ""}${item === undefined ? "null" : textOf(item, place)}`;
  }
  return `[${text}]`;
}

type JsonMembers = Readonly<Record<string, unknown>>;

const PLAIN = "[object Object]";

function textOfRecord(record: JsonMembers, place: JsonPlace): string {
  // Promises, maps, errors have no members in JSON: an empty object would be a silent loss.
  const kind: string = Object.prototype.toString.call(record);
  if (kind !== PLAIN) throw new NotJsonError(pathOf(place), kind.slice("[object ".length, -1));
  let text = "";
  for (const key of Object.keys(record).sort()) {
    place.at = key;
    const member = record[key];
    // A copy made member by member would change its prototype; stores refuse it too.
    const reaches = key === "__proto__" || (key === "constructor" && isObject(member) && Object.hasOwn(member, "prototype"));
    if (reaches) throw new NotJsonError(pathOf(place), "a key that names the prototype");
    if (member !== undefined) text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${textOf(member, place)}`;
  }
  return `{${text}}`;
}
