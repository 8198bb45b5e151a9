import type { Json } from "../kernel/json.ts";

/** Deepest nesting that is read: real answers have a handful of levels, and deeper values would overflow the stacks of those who walk them. */
export const MAX_DEPTH = 256;

/** Why what looks like JSON cannot be read; `truncated` when the text ends inside it. */
export type UnreadableReason = "truncated" | "malformed" | "too deep";

/** A value and where it ends, or why there is none and where reading failed. */
export type ReadValue =
  | { readonly ok: true; readonly value: Json; readonly end: number }
  /** `prose`: it failed before anything in it looked like data. */
  | { readonly ok: false; readonly reason: UnreadableReason | "prose"; readonly at: number };

/**
 * Reads the value that begins at `start`. Mends what can be mended without guessing: byte order marks, comments, trailing commas, single
 * quotes, bare keys, Python's literals, raw line breaks in strings, invalid escapes. Never adds what is missing. `__proto__` keys are dropped.
 */
export function readValue(text: string, start: number): ReadValue {
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

class Unreadable extends Error {
  readonly reason: UnreadableReason;
  readonly at: number;

  constructor(reason: UnreadableReason, at: number) {
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
