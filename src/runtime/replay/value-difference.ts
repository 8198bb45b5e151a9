import { isList, isRecord } from "../../kernel/value-kind.ts";
import type { Json } from "../../kernel/json.ts";

/** Where two values first differ. */
export interface ValueDifference {
  /** `request.messages[1].content`; empty for the whole. */
  readonly path: string;
  /** Undefined: it is not there. */
  readonly left: Json | undefined;
  readonly right: Json | undefined;
  /** Of two texts. */
  readonly passage?: Passage;
}

/** Where two texts first differ, with the lines around. */
export interface Passage {
  /** The first line that differs, from 1. */
  readonly line: number;
  /** Its first character that differs, from 0. */
  readonly column: number;
  /** The first line that is shown, from 1. */
  readonly from: number;
  readonly left: readonly string[];
  readonly right: readonly string[];
}

/** Lines before and after the one that differs. */
const AROUND = 2;

/** What says most comes first; what follows from it, such as the key of a step, last. */
const FIRST: readonly string[] = "type act kind name request messages role content ok error value".split(" ");
const LAST: readonly string[] = ["in", "key"];

/** The first place at which two values differ; undefined when they are equal. Members are compared in an order in which causes come before effects. */
export function valueDifference(left: Json | undefined, right: Json | undefined): ValueDifference | undefined {
  const found = locate(left, right);
  if (found === undefined) return undefined;
  const { left: a, right: b } = found;
  const sides = { path: pathText(found.path), left: a, right: b };
  return typeof a === "string" && typeof b === "string" ? { ...sides, passage: passageOf(a, b) } : sides;
}

/** Where two texts that are not equal part. */
function passageOf(left: string, right: string): Passage {
  const [a, b] = [left.split("\n"), right.split("\n")];
  const place = firstDifference(a, b);
  const from = Math.max(0, place - AROUND);
  const shown = (lines: readonly string[]): readonly string[] => lines.slice(from, place + AROUND + 1);
  const column = firstDifference(a[place] ?? "", b[place] ?? "");
  return { line: place + 1, column, from: from + 1, left: shown(a), right: shown(b) };
}

/** The first place at which two lists, or two texts, differ; the end of the shorter one when it begins the other. */
export function firstDifference(a: ArrayLike<string>, b: ArrayLike<string>): number {
  const end = Math.min(a.length, b.length);
  for (let place = 0; place < end; place += 1) if (a[place] !== b[place]) return place;
  return end;
}

interface Found {
  /** The innermost key first. */
  readonly path: (string | number)[];
  readonly left: Json | undefined;
  readonly right: Json | undefined;
}

function locate(left: Json | undefined, right: Json | undefined): Found | undefined {
  for (const key of keysOf(left, right) ?? []) {
    const found = locate(memberOf(left, key), memberOf(right, key));
    if (found !== undefined) return { ...found, path: pushed(found.path, key) };
  }
  return left === right || keysOf(left, right) !== undefined ? undefined : { path: [], left, right };
}

function pushed(path: (string | number)[], key: string | number): (string | number)[] {
  path.push(key);
  return path;
}

/** What two values have in common to be looked into: both are lists, or both are objects. */
function keysOf(left: Json | undefined, right: Json | undefined): Iterable<string | number> | undefined {
  if (isList(left) && isList(right)) return (left.length > right.length ? left : right).keys();
  if (!isRecord(left) || !isRecord(right)) return undefined;
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

function rank(key: string): number {
  const place = FIRST.indexOf(key);
  if (place !== -1) return place;
  return FIRST.length + 1 + LAST.indexOf(key);
}

function memberOf(value: Json | undefined, key: string | number): Json | undefined {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as { readonly [key: string | number]: Json })[key];
}

function pathText(innermostFirst: readonly (string | number)[]): string {
  const path = innermostFirst.toReversed();
  return path.map((key, nth) => (typeof key === "number" ? `[${key}]` : nth === 0 ? key : `.${key}`)).join("");
}
