import { aNumber, iterable, object, takes } from "../../kernel/argument.ts";
import type { Json, JsonObject } from "../../kernel/json.ts";
import { isList, isRecord } from "../../kernel/value-kind.ts";
import { shownText } from "../../kernel/value-text.ts";
import { canonicalLines } from "../record/canonical.ts";
import type { RunEvent } from "../record/event.ts";

/** An entry of a canonical log. `type` is `step`, or the type of the event; `kind` and `name` are those of a step. */
export interface EntryName {
  readonly type: string;
  /** `role#n~attempt` */
  readonly act?: string;
  readonly role?: string;
  readonly kind?: string;
  readonly name?: string;
}

/** The first difference of two runs. */
export interface RunDifference {
  /** The line of the canonical logs, from 1. */
  readonly line: number;
  /** The entry of the left run, or of the right one if the left run has ended. */
  readonly entry: EntryName;
  /** The entries. Undefined if the record of a run ends before. */
  readonly left: Json | undefined;
  readonly right: Json | undefined;
  /** The position inside the entries, when both have the same name. */
  readonly at?: ValueDifference;
  /** The difference of their requests, when both are model steps with different requests. */
  readonly request?: RequestDifference;
}

/** The first difference of two values. */
export interface ValueDifference {
  /** A path such as `request.messages[1].content`; empty for the whole value. */
  readonly path: string;
  /** Undefined if the value has no such member. */
  readonly left: Json | undefined;
  readonly right: Json | undefined;
  /** The difference of two strings. */
  readonly passage?: Passage;
}

/** The first difference of two strings, with the lines around it. */
export interface Passage {
  /** The first line that differs, from 1. */
  readonly line: number;
  /** Its first character that differs, from 0. */
  readonly column: number;
  /** The first line of `left` and `right`, from 1. */
  readonly from: number;
  readonly left: readonly string[];
  readonly right: readonly string[];
}

/** The first difference of two requests to a model; paths are those of the request. */
export interface RequestDifference extends ValueDifference {
  /** The first message that differs, from 0, with its role on each side. Undefined when all messages are equal. */
  readonly message?: { readonly index: number; readonly left: string | undefined; readonly right: string | undefined };
}

const MAX_TEXT = 8_000;
/** Characters of one value or line. */
const MAX_SHOWN = 300;

/**
 * Returns the first entry in which two runs differ, by their canonical logs. Undefined for equal runs.
 * @throws UsageError `ARGUMENT_INVALID` for events that cannot be iterated
 * @example
 * import { difference, differenceText, type RunEvent } from "troupe";
 *
 * export function compare(one: readonly RunEvent[], other: readonly RunEvent[]): string {
 *   const found = difference(one, other);
 *   return found === undefined ? "equal" : differenceText(found);
 * }
 */
export function difference(a: Iterable<RunEvent>, b: Iterable<RunEvent>): RunDifference | undefined {
  takes("difference", "the first run", a, iterable("events of a run"));
  takes("difference", "the second run", b, iterable("events of a run"));
  const [lefts, rights] = [canonicalLines(a), canonicalLines(b)];
  const index = firstDifference(lefts, rights);
  if (index === lefts.length && index === rights.length) return undefined;
  const [left, right] = [entryAt(lefts, index), entryAt(rights, index)];
  const entry = nameOf(left ?? right);
  const sides = { line: index + 1, entry, left, right };
  if (left === undefined || right === undefined) return sides;
  const request = isModelStep(left) && isModelStep(right) ? requestDifference(left["request"], right["request"]) : undefined;
  const at = titleOf(entry) === titleOf(nameOf(right)) ? valueDifference(left, right) : undefined;
  return { ...sides, ...(at === undefined ? {} : { at }), ...(request === undefined ? {} : { request }) };
}

/** Returns the first difference of two requests to a model: by their messages, then by the rest. Undefined for equal ones. */
export function requestDifference(left: Json | undefined, right: Json | undefined): RequestDifference | undefined {
  const found = valueDifference(left, right);
  const index = found === undefined ? undefined : /^messages\[(\d+)\]/.exec(found.path)?.[1];
  if (found === undefined || index === undefined) return found;
  const saidBy = (request: Json | undefined): string | undefined => textAt(valueAt(valueAt(request, "messages"), index), "role");
  return { ...found, message: { index: Number(index), left: saidBy(left), right: saidBy(right) } };
}

/**
 * Returns a difference of two runs as plain text of at most 8,000 characters, without control characters of a terminal.
 *
 * @throws UsageError `ARGUMENT_INVALID` for a value that {@link difference} did not return
 * @example
 * import { difference, differenceText, type RunEvent } from "troupe";
 *
 * export function report(before: readonly RunEvent[], after: readonly RunEvent[]): void {
 *   const found = difference(before, after);
 *   if (found !== undefined) console.log(differenceText(found));
 * }
 */
export function differenceText(d: RunDifference): string {
  takes("differenceText", "a difference", d, object("what difference found", { line: aNumber, entry: object("an entry") }));
  const title = `The runs differ at line ${d.line} of their canonical logs: ${titleOf(d.entry)}.`;
  const inside = d.request ?? d.at;
  const where = inside === undefined ? entriesText(d) : sidesText(inside, ["left", "right"]);
  return `${title}\n${where}`.slice(0, MAX_TEXT);
}

export function requestDifferenceText(d: RequestDifference, sides: readonly [string, string]): string {
  return sidesText(d, sides).slice(0, MAX_TEXT);
}

function sidesText({ path, passage, message, ...d }: RequestDifference, [left, right]: readonly [string, string]): string {
  const roles = message && [...new Set([message.left, message.right])].filter((role) => role !== undefined).join(" / ");
  const which = message === undefined ? "" : `, message ${message.index + 1} (${roles})`;
  const at = `at ${shownText(path === "" ? "the whole" : path)}${shownText(which)}`;
  if (passage === undefined || (isShort(d.left) && isShort(d.right)))
    return `${at}\n${left}: ${valueText(d.left)}\n${right}: ${valueText(d.right)}`;
  const texts = [`${left}:`, ...linesText(passage.left, passage), `${right}:`, ...linesText(passage.right, passage)];
  return [`${at}, line ${passage.line}`, ...texts].join("\n");
}

function isShort(value: Json | undefined): boolean {
  return typeof value === "string" && value.length <= MAX_SHOWN && !value.includes("\n");
}

/** A long line that differs is cut to the part that begins shortly before the difference. */
function linesText(lines: readonly string[], { line, from, column }: Passage): readonly string[] {
  const last = String(from + lines.length - 1).length;
  return lines.map((content, nth) => {
    const isDifferent = from + nth === line;
    const start = isDifferent ? Math.max(0, column - MAX_SHOWN / 3) : 0;
    const shown = `${start > 0 ? "..." : ""}${shownText(content.slice(start), MAX_SHOWN)}`;
    return `${isDifferent ? ">" : " "} ${String(from + nth).padStart(last)} | ${shown}`;
  });
}

function entriesText({ left, right }: RunDifference): string {
  const text = (entry: Json | undefined): string => (entry === undefined ? "nothing: its record ends before" : titleOf(nameOf(entry)));
  return `left: ${text(left)}\nright: ${text(right)}`;
}

function valueText(value: Json | undefined): string {
  return value === undefined ? "nothing" : shownText(JSON.stringify(value), MAX_SHOWN);
}

function entryAt(lines: readonly string[], index: number): Json | undefined {
  const line = lines[index];
  const entry = line === undefined ? undefined : (JSON.parse(line) as Json);
  return textAt(entry, "type") === "open" ? undefined : entry;
}

function nameOf(entry: Json | undefined): EntryName {
  const act = textAt(entry, "act");
  const [kind, name] = [textAt(entry, "kind"), textAt(entry, "name")];
  return {
    type: textAt(entry, "type") ?? "nothing",
    ...(act === undefined ? {} : { act, role: act.slice(0, Math.max(0, act.lastIndexOf("#"))) }),
    ...(kind === undefined ? {} : { kind }),
    ...(name === undefined ? {} : { name }),
  };
}

function titleOf({ type, act, kind, name }: EntryName): string {
  const kindOfStep = kind === undefined || kind === "step" ? "step" : `${kind} step`;
  const what = type === "step" ? `the ${kindOfStep} "${name ?? ""}"` : type;
  return shownText(act === undefined ? what : `${what} of ${act}`);
}

function isModelStep(entry: Json): entry is JsonObject {
  return textAt(entry, "type") === "step" && textAt(entry, "kind") === "model";
}

function textAt(value: Json | undefined, key: string): string | undefined {
  const member = valueAt(value, key);
  return typeof member === "string" ? member : undefined;
}

function valueAt(value: Json | undefined, key: string | number): Json | undefined {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as { readonly [key: string | number]: Json })[key];
}

/** Lines before and after the one that differs. */
const AROUND = 2;

/** Members that are compared first, because the others follow from them, and members that are compared last. */
const FIRST: readonly string[] = "type scheduler act kind name request messages role content ok error value".split(" ");
const LAST: readonly string[] = ["in", "key"];

function valueDifference(left: Json | undefined, right: Json | undefined): ValueDifference | undefined {
  const keys = keysOf(left, right);
  for (const key of keys ?? []) {
    const found = valueDifference(valueAt(left, key), valueAt(right, key));
    if (found === undefined) continue;
    const own = typeof key === "number" ? `[${key}]` : key;
    return { ...found, path: found.path === "" || found.path.startsWith("[") ? own + found.path : `${own}.${found.path}` };
  }
  if (left === right || keys !== undefined) return undefined;
  const isText = typeof left === "string" && typeof right === "string";
  return { path: "", left, right, ...(isText ? { passage: passageOf(left, right) } : {}) };
}

function passageOf(left: string, right: string): Passage {
  const [a, b] = [left.split("\n"), right.split("\n")];
  const line = firstDifference(a, b);
  const from = Math.max(0, line - AROUND);
  const shown = (lines: readonly string[]): readonly string[] => lines.slice(from, line + AROUND + 1);
  return { line: line + 1, column: firstDifference(a[line] ?? "", b[line] ?? ""), from: from + 1, left: shown(a), right: shown(b) };
}

function firstDifference(a: ArrayLike<string>, b: ArrayLike<string>): number {
  const end = Math.min(a.length, b.length);
  let index = 0;
  while (index < end && a[index] === b[index]) index += 1;
  return index;
}

function keysOf(left: Json | undefined, right: Json | undefined): Iterable<string | number> | undefined {
  if (isList(left) && isList(right)) return (left.length > right.length ? left : right).keys();
  if (!isRecord(left) || !isRecord(right)) return undefined;
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

function rank(key: string): number {
  const index = FIRST.indexOf(key);
  return index === -1 ? FIRST.length + 1 + LAST.indexOf(key) : index;
}
