import type { Json } from "../kernel/json.ts";

/** Deeper values would overflow a stack. */
export const MAX_DEPTH = 256;

/** `truncated`: the text ends inside the value. */
export type UnreadableReason = "truncated" | "malformed" | "too deep";

export type ReadValue =
  | { readonly ok: true; readonly value: Json; readonly end: number }
  /** `prose`: reading failed before anything looked like data. */
  | { readonly ok: false; readonly reason: UnreadableReason | "prose"; readonly at: number; readonly closed?: ClosedJson };

/** The value of a text that ends after a complete member, with only closing braces missing. */
export interface ClosedJson {
  readonly value: Json;
  readonly path: readonly string[];
}

/**
 * Reads the value that begins at `start`. Repairs what needs no guess: byte order marks, comments, trailing commas, single and triple
 * quotes, bare keys, Python's literals, raw line breaks in strings, invalid escapes, a comma that is missing at the end of a line, the
 * brace of an object that is missing before the bracket of its list. `__proto__` keys are dropped.
 *
 * A text that ends inside a value is `truncated`. If it ends after a complete member of an object, and no list is open, `closed` has the
 * value with the missing braces; the caller judges whether more was to come.
 */
export function readValue(text: string, start: number): ReadValue {
  const reader = new Reader(text, start);
  try {
    const value = reader.value(0);
    if (reader.open === undefined) return { ok: true, value, end: reader.position };
    return { ok: false, reason: "truncated", at: reader.position, closed: { value, path: reader.open } };
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
/** In prose, a `#` that touches a word is a heading or a reference. */
const LINE_COMMENT = /(?:\/\/|#(?=\s))[^\n]*/y;
const NUMBER = /[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])/y;
const CUT_NUMBER = /[+-]?[\d.]*(?:[eE][+-]?)?$/y;
const WORD = /[A-Za-z_$][\w$-]*/y;
const KEY = /[\w$-]+/y;
/** The characters that may open a string, each with the text that may follow before its end. */
const PLAIN: Readonly<Record<string, RegExp>> = { '"': /[^"\\]*/y, "'": /[^'\\]*/y, "“": /[^”“\\]*/y, "”": /[^”“\\]*/y, "「": /[^」\\]*/y };
const ENDS: Readonly<Record<string, string>> = { "“": "”“", "”": "”“", "「": "」" };
/** Punctuation of other scripts, outside of strings. */
const WIDE: Readonly<Record<string, string>> = { "：": ":", "，": ",", "、": ",", "｛": "{", "｝": "}", "［": "[", "］": "]", "＂": '"' };
const CLOSING_FENCE = /```\s*$/y;
const BEGINS_VALUE = /["'“”「{[]/;
const BEGINS_KEY = /["'“”「]/;
const LITERALS: Readonly<Record<string, Json>> = {
  ...{ true: true, True: true, TRUE: true },
  ...{ false: false, False: false, FALSE: false },
  ...{ null: null, None: null, NULL: null },
};
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f", "/": "/", "\\": "\\", '"': '"', "'": "'" };

class Reader {
  readonly #text: string;
  position: number;
  /** True once an element or a quoted key with its colon was read. */
  sawData = false;
  /** Set when the text ended after a whole member: the keys from the current object to the innermost one. */
  open: string[] | undefined;
  /** At the end of the text more digits may have followed the last number. */
  #numberEnd = -1;

  constructor(text: string, start: number) {
    this.#text = text;
    this.position = start;
  }

  value(depth: number, isItem = false): Json {
    if (depth > MAX_DEPTH) throw new Unreadable("too deep", this.position);
    const char = this.#peek();
    if (char === "{") return this.#object(depth, isItem);
    if (char === "[") return this.#array(depth);
    if (Object.hasOwn(PLAIN, char)) return this.#string(char);
    const number = this.#match(NUMBER);
    if (number !== undefined) return this.#number(number);
    const at = this.position;
    if (/[+\-.\d]/.test(char) && this.#match(CUT_NUMBER) !== undefined) throw new Unreadable("truncated", at);
    const word = this.#match(WORD);
    if (word !== undefined && Object.hasOwn(LITERALS, word)) return LITERALS[word] ?? null;
    throw new Unreadable(this.position >= this.#text.length ? "truncated" : "malformed", at);
  }

  #object(depth: number, isItem: boolean): Json {
    const members: [string, Json][] = [];
    this.position++;
    for (;;) {
      if (this.#peek() === "}") break;
      const quoted = '"“”「'.includes(this.#peek());
      const key = this.#key();
      if (this.#peek() !== ":") throw this.#unexpected();
      this.position++;
      if (quoted) this.sawData = true;
      const value = this.value(depth + 1);
      const end = this.position;
      this.sawData = true;
      if (key !== "__proto__") members.push([key, value]);
      if (this.open !== undefined) {
        this.open.unshift(key);
        break;
      }
      if (this.#endsHere()) {
        this.open = [];
        break;
      }
      if (!this.#comma(isItem ? "}]" : "}", BEGINS_KEY, end)) break;
    }
    if (this.open === undefined && !(isItem && "]］".includes(this.#text[this.position] ?? " "))) this.position++;
    return Object.fromEntries(members);
  }

  #array(depth: number): Json {
    const items: Json[] = [];
    this.position++;
    for (;;) {
      if (this.#peek() === "]") break;
      items.push(this.value(depth + 1, true));
      if (this.open !== undefined) throw new Unreadable("truncated", this.position);
      const end = this.position;
      this.sawData = true;
      if (!this.#comma("]", BEGINS_VALUE, end)) break;
    }
    this.position++;
    return items;
  }

  /** True after a comma or a line break in its stead; false before the end of the value. @param end where the last value ended */
  #comma(closing: string, next: RegExp, end: number): boolean {
    const char = this.#peek();
    if (closing.includes(char)) return false;
    if (char === ",") {
      this.position++;
      return true;
    }
    const isNewLine = this.#text.slice(end, this.position).includes("\n");
    if (!isNewLine || !next.test(char)) throw this.#unexpected();
    return true;
  }

  #endsHere(): boolean {
    if (this.#numberEnd === this.#text.length) return false;
    this.#skip();
    if (this.position === this.#text.length) return true;
    CLOSING_FENCE.lastIndex = this.position;
    return CLOSING_FENCE.test(this.#text);
  }

  #key(): string {
    const char = this.#peek();
    if (Object.hasOwn(PLAIN, char)) return this.#string(char);
    const bare = this.#match(KEY);
    if (bare === undefined) throw this.#unexpected();
    return bare;
  }

  #string(quote: string): string {
    const ends = ENDS[quote] ?? quote;
    const plain = PLAIN[quote] ?? KEY;
    const triple = quote.repeat(3);
    const isTriple = this.#text.startsWith(triple, this.position);
    const mark = isTriple ? triple : quote;
    const pieces: string[] = [];
    this.position += mark.length;
    for (;;) {
      pieces.push(this.#match(plain) ?? "");
      const char = this.#text[this.position];
      if (char === undefined) throw new Unreadable("truncated", this.position);
      if (ends.includes(char) && (!isTriple || this.#endsTriple(triple, quote))) {
        this.position += mark.length;
        return pieces.join("");
      }
      this.position++;
      pieces.push(ends.includes(char) ? char : this.#escape());
    }
  }

  /** In a row of more than three quotes, the last three are the end. */
  #endsTriple(triple: string, quote: string): boolean {
    return this.#text.startsWith(triple, this.position) && this.#text[this.position + triple.length] !== quote;
  }

  /** An escape that JSON does not know is kept as written. */
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
    return ESCAPES[char] ?? `\\${char}`;
  }

  #number(digits: string): number {
    const number = Number(digits);
    if (!Number.isFinite(number)) throw new Unreadable("malformed", this.position);
    this.#numberEnd = this.position;
    return number;
  }

  #peek(): string {
    this.#skip();
    const char = this.#text[this.position];
    if (char === undefined) throw new Unreadable("truncated", this.position);
    return char > "\u2fff" ? (WIDE[char] ?? char) : char;
  }

  #skip(): void {
    for (;;) {
      this.#match(SPACE);
      if (this.#text.startsWith("/*", this.position)) this.#blockComment();
      else if (this.#match(LINE_COMMENT) === undefined) return;
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
