import { aNumber, iterable, object, takes } from "../../kernel/argument.ts";
import type { Json, JsonObject } from "../../kernel/json.ts";
import { canonicalLines } from "../record/canonical.ts";
import type { RunEvent } from "../record/event.ts";
import { firstDifference, type Passage, type ValueDifference, valueDifference } from "./value-difference.ts";
import { shownText } from "../record/shown-text.ts";

/** What an entry of a run's canonical log is about. */
export interface EntryName {
  /** `step`, or the type of the event. */
  readonly type: string;
  /** `role#n~attempt` */
  readonly act?: string;
  readonly role?: string;
  /** Of a step: `model`, `human`, `file` ... */
  readonly kind?: string;
  /** Of a step. */
  readonly name?: string;
}

/** Where two runs first differ. */
export interface RunDifference {
  /** Of the canonical logs, from 1. */
  readonly line: number;
  /** Where the left run has ended, this is the right one's. */
  readonly entry: EntryName;
  /** The entries; undefined where the record of a run ends before. */
  readonly left: Json | undefined;
  readonly right: Json | undefined;
  /** Where inside them, when both are about the same thing. */
  readonly at?: ValueDifference;
  /** When both are model steps that asked for different things. */
  readonly request?: RequestDifference;
}

/** Where two requests to a model first differ; paths are those of the request. */
export interface RequestDifference extends ValueDifference {
  /** The message in which they differ, from 0, and who says it there; undefined when all messages are equal. */
  readonly message?: { readonly index: number; readonly left: string | undefined; readonly right: string | undefined };
}

/** Most characters of a text that tells a difference. */
const MOST_TEXT = 8_000;
/** Most characters of one value or line that it shows. */
const MOST_SHOWN = 300;

/**
 * Returns the first entry in which two runs differ, by their canonical logs: steps, ends of activations, messages. Undefined when both did
 * the same.
 *
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
  const place = firstDifference(lefts, rights);
  if (place === lefts.length && place === rights.length) return undefined;
  const [left, right] = [entryAt(lefts, place), entryAt(rights, place)];
  const entry = nameOf(left ?? right);
  const sides = { line: place + 1, entry, left, right };
  if (left === undefined || right === undefined) return sides;
  const request = isModelStep(left) && isModelStep(right) ? requestDifference(left["request"], right["request"]) : undefined;
  const isSame = titleOf(entry) === titleOf(nameOf(right));
  const at = isSame ? valueDifference(left, right) : undefined;
  return { ...sides, ...(at === undefined ? {} : { at }), ...(request === undefined ? {} : { request }) };
}

/** Where two requests to a model first differ: by their messages, then by the rest. Undefined when they are equal. */
export function requestDifference(left: Json | undefined, right: Json | undefined): RequestDifference | undefined {
  const found = valueDifference(left, right);
  const index = found === undefined ? undefined : /^messages\[(\d+)\]/.exec(found.path)?.[1];
  if (found === undefined || index === undefined) return found;
  const saidBy = (request: Json | undefined): string | undefined => textAt(valueAt(valueAt(request, "messages"), index), "role");
  return { ...found, message: { index: Number(index), left: saidBy(left), right: saidBy(right) } };
}

/**
 * Returns a difference of two runs as plain text for a terminal or a log: at most 8,000 characters, without characters that a terminal
 * obeys.
 *
 * @throws UsageError `ARGUMENT_INVALID` for a value that {@link difference} did not return
 * @example
 * import { differenceText, type RunDifference } from "troupe";
 *
 * export function report(found: RunDifference | undefined): void {
 *   if (found !== undefined) console.log(differenceText(found));
 * }
 */
export function differenceText(d: RunDifference): string {
  takes("differenceText", "what it tells", d, object("what difference found", { line: aNumber, entry: object("an entry") }));
  const title = `The runs differ at line ${d.line} of their canonical logs: ${titleOf(d.entry)}.`;
  const told = d.request ?? d.at;
  const where = told === undefined ? entriesText(d) : sidesText(told, ["left", "right"]);
  return `${title}\n${where}`.slice(0, MOST_TEXT);
}

/** A difference of two requests as plain text, side by side, with a word for each side. */
export function requestDifferenceText(d: RequestDifference, sides: readonly [string, string]): string {
  return sidesText(d, sides).slice(0, MOST_TEXT);
}

function sidesText(d: RequestDifference, [left, right]: readonly [string, string]): string {
  const who = d.message === undefined ? [] : [...new Set([d.message.left, d.message.right])].filter((role) => role !== undefined);
  const message = d.message === undefined ? "" : `, message ${d.message.index + 1} (${who.join(" / ")})`;
  const at = `at ${shownText(d.path === "" ? "the whole" : d.path)}${shownText(message)}`;
  const { passage } = d;
  if (passage === undefined || (isShort(d.left) && isShort(d.right)))
    return `${at}\n${left}: ${valueText(d.left)}\n${right}: ${valueText(d.right)}`;
  const texts = [`${left}:`, ...linesText(passage.left, passage), `${right}:`, ...linesText(passage.right, passage)];
  return [`${at}, line ${passage.line}`, ...texts].join("\n");
}

/** Fits whole where it stands. */
function isShort(value: Json | undefined): boolean {
  return typeof value === "string" && value.length <= MOST_SHOWN && !value.includes("\n");
}

/** Of a long line the part is shown in which it differs. */
function linesText(lines: readonly string[], { line, from, column }: Passage): readonly string[] {
  const last = String(from + lines.length - 1).length;
  return lines.map((content, nth) => {
    const isDifferent = from + nth === line;
    const start = isDifferent ? Math.max(0, column - MOST_SHOWN / 3) : 0;
    const shown = `${start > 0 ? "..." : ""}${shownText(content.slice(start), MOST_SHOWN)}`;
    return `${isDifferent ? ">" : " "} ${String(from + nth).padStart(last)} | ${shown}`;
  });
}

function entriesText({ left, right }: RunDifference): string {
  const text = (entry: Json | undefined): string => (entry === undefined ? "nothing: its record ends before" : titleOf(nameOf(entry)));
  return `left: ${text(left)}\nright: ${text(right)}`;
}

function valueText(value: Json | undefined): string {
  return value === undefined ? "nothing" : shownText(JSON.stringify(value), MOST_SHOWN);
}

/** A record that is still open has nothing at the place of its end. */
function entryAt(lines: readonly string[], place: number): Json | undefined {
  const line = lines[place];
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

function valueAt(value: Json | undefined, key: string): Json | undefined {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as { readonly [key: string]: Json })[key];
}
