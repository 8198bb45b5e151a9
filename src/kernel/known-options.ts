import { anything, aText, fits, misfit, object, type Shape, takes } from "./argument.ts";
import { UsageError } from "./errors.ts";
import { meaningOf } from "./foreign-words.ts";
import { isRecord } from "./value-kind.ts";
import { valueText } from "./value-text.ts";

/** The kind of each member of a type of options. A record type requires every member and no other, so the names cannot differ from the type. */
export type Known<T> = { readonly [Name in keyof Required<T>]: Shape };

type AnyKnown = Known<Record<string, unknown>>;

/** Letters of a known name that is suggested because the given name contains it. */
const MIN_PART = 4;
const SHOWN = 60;

/**
 * Refuses options with an unknown name or a value of another kind. `undefined` is ignored, as a member and instead of options.
 *
 * @param what the function that takes the options, as its caller writes it: `new Team`
 * @throws UsageError `OPTION_UNKNOWN`, with the name that was probably meant; `OPTION_INVALID`; `ARGUMENT_INVALID`
 */
export function checkKnownOptions(what: string, given: unknown, known: AnyKnown): void {
  if (given === undefined) return;
  if (typeof what !== "string") takes("checkKnownOptions", "what", what, aText);
  if (!isRecord(known)) takes("checkKnownOptions", "known", known, object("the names of all options"));
  if (!isRecord(given)) {
    // `map` passes an index where a function takes options.
    const advice = Number.isInteger(given) ? " A function that takes options is passed to map as (item) => f(item)." : "";
    throw notOptions(what, `an object, got ${valueText(given)}. Leave them out for the defaults.${advice}`);
  }
  const fault = faultIn(what, given, known);
  if (fault !== undefined) throw fault;
}

/** @param at the place of options within options: "limits." */
function faultIn(what: string, given: { readonly [name: string]: unknown }, known: AnyKnown, at = ""): UsageError | undefined {
  const wrong = wrongName(what, given, known);
  if (wrong === undefined) return undefined;
  const shape = known[wrong];
  if (!isShape(shape)) return unknown(what, at + wrong, adviceOn(wrong, Object.keys(known)), Object.keys(known));
  return misfit("OPTION_INVALID", what, at + wrong, given[wrong], shape);
}

/** Options within options. @param needed names of members that have no default */
export function optionsWithin(known: AnyKnown, needed: readonly string[]): Shape {
  const within = (value: unknown, what: string, at: string): UsageError | undefined => {
    if (!isRecord(value)) return undefined;
    const fault = faultIn(what, value, known, `${at}.`);
    const missing = needed.find((name) => value[name] === undefined);
    if (fault !== undefined || missing === undefined) return fault;
    return misfit("OPTION_INVALID", what, `${at}.${missing}`, undefined, known[missing] ?? anything);
  };
  return { says: "an object", fits: (value) => isRecord(value) && within(value, "", "") === undefined, within };
}

/** Does the same for options that are required. @throws UsageError `OPTION_INVALID` also for undefined */
export function checkGivenOptions(what: string, given: unknown, known: AnyKnown): void {
  checkKnownOptions(what, given, known);
  if (given === undefined) throw notOptions(what, `an object, got nothing. Known: ${Object.keys(known).join(", ")}.`);
}

function notOptions(what: string, expected: string, cause?: unknown): UsageError {
  return new UsageError("OPTION_INVALID", `Expected the options of ${what} as ${expected}`, { cause });
}

/** Returns a name that is unknown, else one whose value is of another kind. */
function wrongName(what: string, given: { readonly [name: string]: unknown }, known: AnyKnown): string | undefined {
  let wrong: string | undefined;
  try {
    // Every message is checked here: no list of names is made.
    for (const name in given) {
      const shape = known[name];
      if (shape === anything) continue;
      if (!isShape(shape)) {
        if (Object.hasOwn(given, name) && given[name] !== undefined) return name;
      } else if (given[name] !== undefined && !fits(given[name], shape)) wrong ??= name;
    }
    return wrong;
  } catch (cause) {
    throw notOptions(what, "an object that can be read, got one that throws.", cause);
  }
}

/** False for what every object inherits, such as `constructor`. */
function isShape(value: Shape | undefined): value is Shape {
  return value?.fits !== undefined;
}

function unknown(what: string, name: string, { meant, advice }: ReturnType<typeof adviceOn>, names: readonly string[]): UsageError {
  return new UsageError(
    "OPTION_UNKNOWN",
    `Expected ${names.length === 0 ? "no options" : "only known options"} of ${what}, got ${shownName(name)}. ${advice} Known: ${names.join(", ")}.`,
    { data: { option: name, known: names, ...(meant === undefined ? {} : { meant }) } },
  );
}

/** @param what "the type of an event" @throws UsageError `ARGUMENT_INVALID`, with the word that was probably meant */
export function checkKnownWord(what: string, given: unknown, words: readonly string[]): void {
  if (words.includes(given as string)) return;
  const isWord = typeof given === "string";
  const { meant, advice } = isWord ? adviceOn(given, words) : { advice: "Write one of them." };
  const guess = meant === undefined && advice === LEAVE_OUT ? "" : ` ${advice}`;
  const came = isWord ? shownName(given) : valueText(given);
  throw new UsageError("ARGUMENT_INVALID", `Expected ${what}, got ${came}.${guess} Known: ${words.join(", ")}.`, {
    data: { known: words, ...(meant === undefined ? {} : { meant }) },
  });
}

const LEAVE_OUT = "Leave it out.";

function shownName(name: string): string {
  return JSON.stringify(name.length <= SHOWN ? name : `${name.slice(0, SHOWN)}...`);
}

/** Returns the name that was probably meant, or where this package has what another framework gives that name. */
export function adviceOn(name: string, names: readonly string[]): { readonly meant?: string; readonly advice: string } {
  const meaning = meaningOf(name, names);
  const meant = meaning !== undefined && "meant" in meaning ? meaning.meant : nearestWord(name, names, 1);
  if (meant === undefined && meaning !== undefined && "elsewhere" in meaning) return { advice: `Troupe calls it ${meaning.elsewhere}.` };
  // Two slips in a short word make another word of it, unless both begin alike.
  const alike = name.length > MIN_PART ? names : names.filter((other) => other.startsWith(name.slice(0, 2)));
  const guess = meant ?? containedIn(name, names) ?? nearestWord(name, alike);
  return guess === undefined ? { advice: LEAVE_OUT } : { meant: guess, advice: `Did you mean ${guess}?` };
}

/** Returns the longest known name that contains the given one or is contained in it from the start of a word, in any case of letters. */
function containedIn(name: string, names: readonly string[]): string | undefined {
  const given = name.toLowerCase();
  const parts = names.filter((other) => {
    const word = other.toLowerCase();
    if (given.length === MIN_PART - 1) return word.startsWith(given);
    const [shorter, longer] = word.length < given.length ? [word, name] : [given, other];
    return shorter.length >= MIN_PART && startsIn(longer, shorter);
  });
  return parts.toSorted((a, b) => b.length - a.length)[0];
}

/** True if a word of a name, as its capitals and signs divide it, starts like the given letters: `suspendSchema` has no `ends`. */
function startsIn(name: string, letters: string): boolean {
  const isDivided = /[a-z][A-Z]|[^a-zA-Z]/.test(name);
  const at = (from: number): boolean =>
    !isDivided || from === 0 || /[^a-z]/.test(name[from] ?? "") || /[^a-zA-Z]/.test(name[from - 1] ?? "");
  return Array.from(name, (_, from) => from).some((from) => at(from) && name.toLowerCase().startsWith(letters, from));
}

export function nearestWord(given: string, words: readonly string[], limit: number = 2): string | undefined {
  const near = words
    .map((word) => ({ word, slips: editDistance(given.toLowerCase(), word.toLowerCase()) }))
    .filter(({ slips }) => slips <= limit);
  return near.sort((a, b) => a.slips - b.slips)[0]?.word;
}

/** Counts the letters to add, remove, change or swap with their neighbor to make one word of the other. */
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
