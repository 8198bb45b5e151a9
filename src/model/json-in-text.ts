import { type Json, parsedJson } from "../kernel/json.ts";
import { answerStart } from "./thoughts.ts";
import { type ClosedJson, MAX_DEPTH, readValue, type UnreadableReason } from "./json-reader.ts";

const MAX_VALUES = 16;
/** A text with more brackets before its value is an attack, not an answer. */
const MAX_STARTS = 20_000;

export interface FoundJson {
  readonly value: Json;
  readonly start: number;
  readonly end: number;
}

export interface BrokenJson {
  readonly reason: UnreadableReason;
  readonly start: number;
  readonly end: number;
  readonly at: number;
  /** Set when only closing braces are missing. */
  readonly closed?: ClosedJson;
  /** A guess at what was meant, for a caller that checks it: quotes in a string, missing commas, joined strings. */
  readonly repaired?: Json | undefined;
}

/** The values of a text, longest first, and the longest part that looks like JSON but is not. */
export interface JsonInText {
  readonly values: readonly FoundJson[];
  readonly broken: BrokenJson | undefined;
}

/**
 * Finds JSON objects and arrays in a model's text: bare, fenced, or with prose around them. A text that ends inside a value is `truncated`,
 * whatever it would be with its missing braces.
 *
 * Every character is read at most three times and every bracket tried at most once: a broken part is skipped as a whole, so that nothing
 * inside it is taken for an answer.
 */
export function findJson(text: string): JsonInText {
  const whole = wholeJson(text);
  if (whole !== undefined) return { values: [whole], broken: undefined };
  const from = answerStart(text);
  const values: FoundJson[] = [];
  let broken: BrokenJson | undefined;
  let position = from;
  for (let starts = 1; ; starts++) {
    const start = nextOpening(text, position);
    if (start === -1) break;
    if (starts > MAX_STARTS) {
      broken = { reason: "malformed", start, end: text.length, at: start };
      break;
    }
    const read = readValue(text, start);
    if (read.ok) {
      keepLongest(values, { value: read.value, start, end: read.end });
      position = read.end;
    } else if (read.reason === "prose") {
      position = Math.max(read.at, start + 1);
    } else {
      const end = read.reason === "truncated" ? text.length : closingOf(text, start);
      if (broken === undefined || end - start > broken.end - broken.start) {
        broken = { reason: read.reason, start, end, at: read.at, ...(read.closed === undefined ? {} : { closed: read.closed }) };
      }
      position = end;
    }
  }
  if (values.length === 0 && broken === undefined) {
    readScalar(text, from, values);
    const bare = text.slice(from).trim();
    const value = values.length === 0 ? plainValue(bare) : undefined;
    const start = text.indexOf(bare, from);
    if (value !== undefined) values.push({ value, start, end: start + bare.length });
  }
  values.sort(byLength);
  return { values, broken: broken?.reason === "malformed" ? { ...broken, repaired: repaired(text, broken) } : broken };
}

const MAX_REPAIR = 200_000;

let repairer: ((text: string) => string) | undefined;

/** Loads the package that repairs broken JSON, which few programs need. Undefined if it is loaded, or if no string has any JSON. */
export function loadRepair(...texts: readonly string[]): Promise<void> | undefined {
  if (repairer !== undefined || !texts.some((text) => /[[{]/.test(text))) return undefined;
  return import("jsonrepair").then(({ jsonrepair }) => void (repairer = jsonrepair));
}

/** Of a part that is closed: what a part that ends too early would have had is not made up, and neither are strings of bare words. */
function repaired(text: string, { start, end }: BrokenJson): Json | undefined {
  if (repairer === undefined || end - start > MAX_REPAIR || !/[\]}]/.test(text[end - 1] ?? "")) return undefined;
  try {
    const value = JSON.parse(repairer(text.slice(start, end)), (key, member: unknown) =>
      key === "__proto__" ? undefined : member,
    ) as Json;
    const source = text.slice(start, end);
    return typeof value === "object" && isReadable(value, 0) && isWritten(value, source) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isWritten(value: Json, source: string): boolean {
  if (typeof value === "object" && value !== null) return Object.values(value).every((member: Json) => isWritten(member, source));
  if (typeof value !== "string" || value === "" || /["']\s*\+\s*["']/.test(source)) return true;
  const starts = [value.slice(0, 12), JSON.stringify(value).slice(1, 13)];
  return ['"', "'", "“", "`"].some((quote) => starts.some((begins) => source.includes(quote + begins)));
}

/** Reads the most frequent form: one object or array in strict JSON, and nothing else. */
function wholeJson(text: string): FoundJson | undefined {
  const ends = `${text[0]}${text.at(-1)}`;
  // A key that names the prototype may be written in escapes.
  if ((ends !== "{}" && ends !== "[]") || text.includes("__proto__") || text.includes("\\u")) return undefined;
  const value = parsedJson(text);
  return value !== undefined && isReadable(value, 0) ? { value, start: 0, end: text.length } : undefined;
}

function isReadable(value: Json, depth: number): boolean {
  if (depth > MAX_DEPTH) return false;
  if (typeof value !== "object" || value === null) return typeof value !== "number" || Number.isFinite(value);
  return Object.values(value).every((member: Json) => isReadable(member, depth + 1));
}

function plainValue(text: string): Json | undefined {
  const value = /^[{[]\s*\\"/.test(text) ? parsedJson(text.replaceAll('\\"', '"')) : undefined;
  return typeof value === "object" && isReadable(value, 0) ? value : undefined;
}

function readScalar(text: string, from: number, values: FoundJson[]): void {
  const start = text.slice(from).search(/[^\s\uFEFF]/);
  if (start === -1) return;
  const read = readValue(text, from + start);
  if (read.ok && /^[\s\uFEFF]*$/.test(text.slice(read.end, read.end + 100)) && text.slice(read.end).trim() === "") {
    values.push({ value: read.value, start: from + start, end: read.end });
  }
}

const OPENING = /[{[｛［]/g;

function nextOpening(text: string, from: number): number {
  OPENING.lastIndex = from;
  return OPENING.exec(text)?.index ?? -1;
}

/** Ignores brackets in strings; the end of the text when the bracket never closes. */
function closingOf(text: string, start: number): number {
  let depth = 0;
  for (let i = start; i < text.length; i++) {
    const char = text[i];
    if (char === '"') {
      i = endOfString(text, i);
    } else if (char === "{" || char === "[") {
      depth++;
    } else if (char === "}" || char === "]") {
      depth--;
      if (depth === 0) return i + 1;
    }
  }
  return text.length;
}

function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === '"') return i;
  }
  return text.length;
}

function byLength(a: FoundJson, b: FoundJson): number {
  return b.end - b.start - (a.end - a.start);
}

function keepLongest(values: FoundJson[], found: FoundJson): void {
  values.push(found);
  if (values.length > MAX_VALUES) values.sort(byLength).pop();
}
