import type { Json } from "../kernel/json.ts";

/** Deepest nesting that is read: real answers have a handful of levels, and deeper values would overflow the stacks of those who walk them. */
export const MAX_DEPTH = 256;

/** Most values that are remembered of one text. */
const MAX_VALUES = 16;
/** Most brackets at which a value is looked for: a text with more of them before its value is an attack, not an answer. */
const MAX_STARTS = 20_000;

/** A JSON value found in a text, and where it stands. */
export interface FoundJson {
  readonly value: Json;
  readonly start: number;
  readonly end: number;
}

/** A part of a text that looks like JSON and cannot be read. */
export interface BrokenJson {
  readonly reason: "truncated" | "malformed" | "too deep";
  readonly start: number;
  readonly end: number;
  /** Where reading failed. */
  readonly at: number;
}

/** What a text holds: its JSON values, longest first, and the longest part that looks like JSON and is none. */
export interface JsonInText {
  readonly values: readonly FoundJson[];
  readonly broken: BrokenJson | undefined;
}

/**
 * Finds JSON objects and arrays in a model's words: bare, fenced, or with prose around them. Mends what can be mended without guessing:
 * byte order marks, comments, trailing commas, single quotes, bare keys, Python's literals, raw line breaks in strings, invalid escapes.
 * Never adds what is missing: a text that ends inside a value is `truncated`. `__proto__` keys are dropped.
 *
 * Every character is read at most three times and every bracket tried at most once, whatever the text: prose is passed over, and a
 * broken part is skipped as a whole, so that nothing inside it is taken for an answer.
 */
export function findJson(text: string): JsonInText {
  const from = afterThinking(text);
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
      const part = { reason: read.reason, start, end, at: read.at };
      if (broken === undefined || end - start > broken.end - broken.start) broken = part;
      position = end;
    }
  }
  if (values.length === 0 && broken === undefined) readScalar(text, from, values);
  values.sort((a, b) => b.end - b.start - (a.end - a.start));
  return { values, broken };
}

type Read =
  | { readonly ok: true; readonly value: Json; readonly end: number }
  /** `prose`: it failed before anything in it looked like data. */
  | { readonly ok: false; readonly reason: BrokenJson["reason"] | "prose"; readonly at: number };

function readValue(text: string, start: number): Read {
  const reader = new Reader(text, start);
  try {
    const value = reader.value(0);
    return { ok: true, value, end: reader.position };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    const reason = error.reason === "malformed" && !reader.sawData ? "prose" : error.reason;
    return { ok: false, reason, at: error.at };
  }
}

/** A reply that is nothing but a number, a string or a literal. */
function readScalar(text: string, from: number, values: FoundJson[]): void {
  const start = text.slice(from).search(/[^\s\uFEFF]/);
  if (start === -1) return;
  const read = readValue(text, from + start);
  if (read.ok && /^[\s\uFEFF]*$/.test(text.slice(read.end, read.end + 100)) && text.slice(read.end).trim() === "") {
    values.push({ value: read.value, start: from + start, end: read.end });
  }
}

/** Models that reason aloud wrap it in a first `<think>` block; drafts in it are not the answer. */
function afterThinking(text: string): number {
  if (!/^[\s\uFEFF]*<think(?:ing)?>/.test(text.slice(0, 200))) return 0;
  const end = /<\/think(?:ing)?>/.exec(text);
  return end === null ? 0 : end.index + end[0].length;
}

function nextOpening(text: string, from: number): number {
  for (let i = from; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x7b || code === 0x5b) return i;
  }
  return -1;
}

/** Where the bracket at `start` closes, strings respected; the end of the text when it never does. */
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

function keepLongest(values: FoundJson[], found: FoundJson): void {
  values.push(found);
  if (values.length <= MAX_VALUES) return;
  let shortest = 0;
  for (let i = 1; i < values.length; i++) {
    const [a, b] = [values[i], values[shortest]];
    if (a !== undefined && b !== undefined && a.end - a.start < b.end - b.start) shortest = i;
  }
  values.splice(shortest, 1);
}

class Unreadable extends Error {
  readonly reason: BrokenJson["reason"];
  readonly at: number;

  constructor(reason: BrokenJson["reason"], at: number) {
    super(reason);
    this.reason = reason;
    this.at = at;
  }
}

const SPACE = /[\s\uFEFF\u200B]*/y;
/** A `#` that touches a word is a heading or a reference in prose. */
const LINE_COMMENT = /(?:\/\/|#(?=\s))[^\n]*/y;
const NUMBER = /[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])/y;
/** A number that the end of the text has cut short. */
const CUT_NUMBER = /[+-]?[\d.]*(?:[eE][+-]?)?$/y;
const WORD = /[A-Za-z_$][\w$-]*/y;
const KEY = /[\w$-]+/y;
/** Everything in a string up to its end or an escape. */
const PLAIN = { '"': /[^"\\]*/y, "'": /[^'\\]*/y } as const;
const LITERALS: ReadonlyMap<string, Json> = new Map<string, Json>([
  ["true", true],
  ["True", true],
  ["false", false],
  ["False", false],
  ["null", null],
  ["None", null],
]);
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["t", "\t"],
  ["r", "\r"],
  ["b", "\b"],
  ["f", "\f"],
  ["/", "/"],
  ["\\", "\\"],
  ['"', '"'],
  ["'", "'"],
]);

/** Reads one value, leniently, from left to right and never back. */
class Reader {
  readonly #text: string;
  position: number;
  /** True once an element or a quoted key with its colon was read: from here on it is meant as data. */
  sawData = false;

  constructor(text: string, start: number) {
    this.#text = text;
    this.position = start;
  }

  value(depth: number): Json {
    if (depth > MAX_DEPTH) throw new Unreadable("too deep", this.position);
    const char = this.#peek();
    if (char === "{") return this.#object(depth);
    if (char === "[") return this.#array(depth);
    if (char === '"' || char === "'") return this.#string(char);
    const number = this.#match(NUMBER);
    if (number !== undefined) return this.#number(number);
    const at = this.position;
    if (/[+\-.\d]/.test(char) && this.#match(CUT_NUMBER) !== undefined) throw new Unreadable("truncated", at);
    const word = this.#match(WORD);
    const literal = word === undefined ? undefined : LITERALS.get(word);
    // A word that runs into the end of the text may be a literal cut short.
    if (literal === undefined) throw new Unreadable(this.position >= this.#text.length ? "truncated" : "malformed", at);
    return literal;
  }

  #object(depth: number): Json {
    const members: [string, Json][] = [];
    this.position++;
    for (;;) {
      if (this.#peek() === "}") break;
      const quoted = this.#peek() === '"';
      const key = this.#key();
      if (this.#peek() !== ":") throw this.#unexpected();
      this.position++;
      if (quoted) this.sawData = true;
      const value = this.value(depth + 1);
      this.sawData = true;
      if (key !== "__proto__") members.push([key, value]);
      if (!this.#comma("}")) break;
    }
    this.position++;
    return Object.fromEntries(members);
  }

  #array(depth: number): Json {
    const items: Json[] = [];
    this.position++;
    for (;;) {
      if (this.#peek() === "]") break;
      items.push(this.value(depth + 1));
      this.sawData = true;
      if (!this.#comma("]")) break;
    }
    this.position++;
    return items;
  }

  /** True after a comma; false before the closing bracket. */
  #comma(closing: string): boolean {
    const char = this.#peek();
    if (char === closing) return false;
    if (char !== ",") throw this.#unexpected();
    this.position++;
    return true;
  }

  #key(): string {
    const char = this.#peek();
    if (char === '"' || char === "'") return this.#string(char);
    const bare = this.#match(KEY);
    if (bare === undefined) throw this.#unexpected();
    return bare;
  }

  #string(quote: '"' | "'"): string {
    const pieces: string[] = [];
    this.position++;
    for (;;) {
      pieces.push(this.#match(PLAIN[quote]) ?? "");
      const char = this.#text[this.position];
      if (char === undefined) throw new Unreadable("truncated", this.position);
      this.position++;
      if (char === quote) return pieces.join("");
      pieces.push(this.#escape());
    }
  }

  /** What stands behind a backslash. An escape that JSON does not know was meant as it is written. */
  #escape(): string {
    const char = this.#text[this.position];
    if (char === undefined) throw new Unreadable("truncated", this.position);
    this.position++;
    if (char === "u") {
      const digits = this.#text.slice(this.position, this.position + 4);
      if (!/^[0-9a-fA-F]{4}$/.test(digits)) return "\\u";
      this.position += 4;
      return String.fromCharCode(Number.parseInt(digits, 16));
    }
    return ESCAPES.get(char) ?? `\\${char}`;
  }

  #number(digits: string): number {
    const number = Number(digits);
    if (!Number.isFinite(number)) throw new Unreadable("malformed", this.position);
    return number;
  }

  /** The next character that is neither space nor comment. */
  #peek(): string {
    for (;;) {
      this.#match(SPACE);
      const char = this.#text[this.position];
      if (char === undefined) throw new Unreadable("truncated", this.position);
      if (char === "/" && this.#text[this.position + 1] === "*") this.#blockComment();
      else if (this.#match(LINE_COMMENT) === undefined) return char;
    }
  }

  #blockComment(): void {
    const end = this.#text.indexOf("*/", this.position + 2);
    if (end === -1) throw new Unreadable("truncated", this.#text.length);
    this.position = end + 2;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.position;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined) return undefined;
    this.position += found.length;
    return found;
  }

  #unexpected(): Unreadable {
    return new Unreadable("malformed", this.position);
  }
}
