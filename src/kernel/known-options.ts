import { isRecord } from "./value-kind.ts";
import { anything, aText, fits, misfit, object, type Shape, takes } from "./argument.ts";
import { UsageError } from "./errors.ts";
import { meaningOf } from "./foreign-words.ts";
import { valueText } from "./value-text.ts";

/**
 * The names of all members of a type of options, each with its kind. A record type requires every member and no other, so the names cannot
 * differ from the type.
 */
export type Known<T> = { readonly [Name in keyof Required<T>]: Shape };

/** Letters of the shortest known name that is suggested because the given name contains it. */
const SHORTEST_PART = 4;
/** Limit on the letters of an unknown name in an error. */
const SHOWN = 60;

/**
 * Refuses options that have an unknown name or a value of another kind, so that a mistake does not go unnoticed. Members that are
 * `undefined` are ignored, and so is `undefined` instead of options.
 *
 * @param what the function that takes the options, as its caller writes it: `new Team`
 * @param known the names of all options with their kinds; the type `Known<Options>` makes a constant complete
 * @throws UsageError `OPTION_UNKNOWN`, with the name that was probably meant; `OPTION_INVALID` for a value that is not of its kind, and for
 * options that are no object; `ARGUMENT_INVALID` where `what` is no text
 *
 * @example
 * import { checkKnownOptions, kinds, type Known } from "troupe";
 *
 * interface PrinterOptions {
 *   readonly copies?: number;
 * }
 * const printerOptions: Known<PrinterOptions> = { copies: kinds.size };
 *
 * export function print(text: string, options: PrinterOptions = {}): string {
 *   checkKnownOptions("print", options, printerOptions); // { copys: 2 }: OPTION_UNKNOWN, "Did you mean copies?"
 *   return text.repeat(options.copies ?? 1);
 * }
 */
export function checkKnownOptions(what: string, given: unknown, known: Known<Record<string, unknown>>): void {
  if (given === undefined) return;
  if (typeof what !== "string") takes("checkKnownOptions", "what", what, aText);
  if (!isRecord(known)) takes("checkKnownOptions", "known", known, object("the names of all options"));
  if (!isRecord(given)) {
    throw new UsageError(
      "OPTION_INVALID",
      `Expected the options of ${what} as an object, got ${valueText(given)}. Leave them out for the defaults.${mapped(given)}`,
    );
  }
  const wrong = wrongName(what, given, known);
  if (wrong === undefined) return;
  const shape = known[wrong];
  throw isShape(shape) ? misfit("OPTION_INVALID", what, wrong, given[wrong], shape) : unknown(what, wrong, known);
}

/** `map` passes an index where a function takes options. */
function mapped(given: unknown): string {
  return Number.isInteger(given) ? " A function that takes options is passed to map as (item) => f(item)." : "";
}

/**
 * Does the same for options that are required.
 *
 * @throws UsageError `OPTION_UNKNOWN`; `OPTION_INVALID` for a value that is no object, and for undefined
 */
export function checkGivenOptions(what: string, given: unknown, known: Known<Record<string, unknown>>): void {
  checkKnownOptions(what, given, known);
  if (given !== undefined) return;
  throw new UsageError(
    "OPTION_INVALID",
    `Expected the options of ${what} as an object, got nothing. Known: ${Object.keys(known).join(", ")}.`,
  );
}

/** Returns a name that is unknown, else one whose value is of another kind. @throws UsageError `OPTION_INVALID` for an object that throws when it is read */
function wrongName(what: string, given: { readonly [name: string]: unknown }, known: Known<Record<string, unknown>>): string | undefined {
  let wrong: string | undefined;
  try {
    // Every message is checked here: no list of names is made, and only an unknown name is checked twice.
    for (const name in given) {
      const shape = known[name];
      if (shape === anything) continue;
      if (!isShape(shape)) {
        if (isGiven(given, name)) return name;
      } else if (given[name] !== undefined && !fits(given[name], shape)) wrong ??= name;
    }
    return wrong;
  } catch (cause) {
    throw new UsageError("OPTION_INVALID", `Expected the options of ${what} as an object that can be read, got one that throws.`, {
      cause,
    });
  }
}

/** False for what every object inherits, such as `constructor`. */
function isShape(value: Shape | undefined): value is Shape {
  return value?.fits !== undefined;
}

function isGiven(given: object, name: string): boolean {
  return Object.hasOwn(given, name) && (given as { readonly [name: string]: unknown })[name] !== undefined;
}

function unknown(what: string, name: string, known: object): UsageError {
  const names = Object.keys(known);
  const { meant, advice } = adviceOn(name, names);
  const came = shownName(name);
  return new UsageError(
    "OPTION_UNKNOWN",
    `Expected ${names.length === 0 ? "no options" : "only known options"} of ${what}, got ${came}. ${advice} Known: ${names.join(", ")}.`,
    { data: { option: name, known: names, ...(meant === undefined ? {} : { meant }) } },
  );
}

/**
 * Refuses a word that is none of a fixed set, such as the type of an event.
 *
 * @param what "the type of an event"
 * @throws UsageError `ARGUMENT_INVALID`, with the word that was probably meant
 */
export function checkKnownWord(what: string, given: unknown, words: readonly string[]): void {
  if (words.includes(given as string)) return;
  const { meant, advice } = typeof given === "string" ? adviceOn(given, words) : { advice: "Write one of them." };
  const guess = meant === undefined && advice === "Leave it out." ? "" : ` ${advice}`;
  const came = typeof given === "string" ? shownName(given) : valueText(given);
  throw new UsageError("ARGUMENT_INVALID", `Expected ${what}, got ${came}.${guess} Known: ${words.join(", ")}.`, {
    data: { known: words, ...(meant === undefined ? {} : { meant }) },
  });
}

function shownName(name: string): string {
  return JSON.stringify(name.length <= SHOWN ? name : `${name.slice(0, SHOWN)}...`);
}

/**
 * Returns the advice for an unknown name: the name that was probably meant, or the place where this package has what a word of another
 * framework names.
 */
export function adviceOn(name: string, names: readonly string[]): { readonly meant?: string; readonly advice: string } {
  const meaning = meaningOf(name, names);
  const meant = meaning !== undefined && "meant" in meaning ? meaning.meant : nearestWord(name, names, 1);
  if (meant === undefined && meaning !== undefined && "elsewhere" in meaning) return { advice: `Troupe calls it ${meaning.elsewhere}.` };
  // Two slips in a short word make another word of it, unless both begin alike.
  const alike = name.length > SHORTEST_PART ? names : names.filter((each) => each.startsWith(name.slice(0, 2)));
  const guess = meant ?? containedIn(name, names) ?? nearestWord(name, alike);
  return guess === undefined ? { advice: "Leave it out." } : { meant: guess, advice: `Did you mean ${guess}?` };
}

/** Returns the longest known name that contains the given one or is contained in it, in any case of letters. */
function containedIn(name: string, names: readonly string[]): string | undefined {
  const given = name.toLowerCase();
  const parts = names.filter((each) => {
    const word = each.toLowerCase();
    return (
      (word.length >= SHORTEST_PART && given.includes(word)) ||
      (given.length >= SHORTEST_PART && word.includes(given)) ||
      (given.length === SHORTEST_PART - 1 && word.startsWith(given))
    );
  });
  return parts.toSorted((a, b) => b.length - a.length)[0];
}

/** The default limit on the mistakes in a mistyped word. */
const SLIPS = 2;

/** Returns the nearest of some words, if its distance is within the limit. */
export function nearestWord(given: string, words: readonly string[], most: number = SLIPS): string | undefined {
  const near = words
    .map((word) => ({ word, slips: editDistance(given.toLowerCase(), word.toLowerCase()) }))
    .filter(({ slips }) => slips <= most);
  return near.sort((a, b) => a.slips - b.slips)[0]?.word;
}

/** Returns the number of single letters to add, remove, change or swap with their neighbour to make one word of the other. */
export function editDistance(a: string, b: string): number {
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swaps = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, change, swaps ? (before[j - 2] ?? 0) + 1 : Infinity));
    }
    [before, last] = [last, row];
  }
  return last[b.length] ?? 0;
}
