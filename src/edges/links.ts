import { type EdgePassage, MAX_COPIES } from "../runtime/edges/edge-policy.ts";
import { checkFunction, checkRate, checkNumber, type Edge, edgeOf } from "./edge.ts";
import type { Json } from "../kernel/json.ts";
import type { RandomStream } from "../kernel/random.ts";

/** The contents that a recipient reads instead of the sent ones. Without a payload, new contents have none. */
export interface Rewrite {
  readonly content?: string;
  readonly instructContent?: unknown;
}

/**
 * Loses messages with a probability. A higher rate loses every message that a lower one loses.
 *
 * @throws UsageError `EDGE_INVALID`
 */
export function drop(rate: number): Edge {
  checkRate("drop", rate);
  return edgeOf({ name: "drop", parameters: { rate }, decide: ({ random }) => (random() < rate ? { kind: "drop" } : undefined) });
}

/**
 * Delays messages by a number of ticks, or by one that is drawn evenly from `least` to `most`. Without a delay a message arrives at the next
 * tick, with `delay(1)` at the one after. A tick is a unit of the run's clock: see `ClockKind`.
 *
 * @throws UsageError `EDGE_INVALID`
 */
export function delay(least: number, most: number = least): Edge {
  checkNumber("delay", "the ticks", least, 0);
  checkNumber("delay", "the most ticks", most, least);
  const parameters = most === least ? { ticks: least } : { least, most };
  return edgeOf({
    name: "delay",
    parameters,
    decide: (passage) => ({ kind: "delay", ticks: most === least ? least : least + below(passage, most - least + 1) }),
  });
}

/**
 * Lets messages overtake one another: with a probability, one arrives 1 to `most` ticks later.
 *
 * @param most default 3
 * @throws UsageError `EDGE_INVALID`
 */
export function reorder(rate: number, most: number = 3): Edge {
  checkRate("reorder", rate);
  checkNumber("reorder", "the most ticks", most, 1);
  return edgeOf({
    name: "reorder",
    parameters: { rate, most },
    decide: (passage) => (passage.random() < rate ? { kind: "delay", ticks: 1 + below(passage, most) } : undefined),
  });
}

/**
 * Delivers copies of messages besides them, with a probability. A copy has an id of its own: that of the message, a star and a number.
 *
 * @param copies default 1, at most 1,000; a message has no more for one recipient over all policies
 * @throws UsageError `EDGE_INVALID`
 */
export function duplicate(rate: number, copies: number = 1): Edge {
  checkRate("duplicate", rate);
  checkNumber("duplicate", "the copies", copies, 1, MAX_COPIES);
  return edgeOf({
    name: "duplicate",
    parameters: { rate, copies },
    decide: ({ random }) => (random() < rate ? { kind: "copy", copies } : undefined),
  });
}

/**
 * Changes messages with a probability.
 *
 * @param change returns what is read instead, from the passage alone; it is not recorded with the run. Default: changes one letter of a string,
 * number or boolean, in the content or in the payload
 * @throws UsageError `EDGE_INVALID`
 */
export function corrupt(rate: number, change: (passage: EdgePassage) => Rewrite = corruption): Edge {
  checkRate("corrupt", rate);
  checkFunction("corrupt", "the change", change);
  return edgeOf({
    name: "corrupt",
    parameters: { rate },
    decide: (passage) => (passage.random() < rate ? { ...change(passage), kind: "rewrite" } : undefined),
  });
}

function below({ random }: EdgePassage, count: number): number {
  return Math.floor(random() * count);
}

/** Returns a message in which one value differs: a letter of a string, a number, or a boolean. */
export function corruption({ message: { content, instructContent }, random }: EdgePassage): Rewrite {
  if (instructContent === undefined) return { content: otherValue(content, random) as string };
  const payload = instructContent as Json;
  const paths = pathsIn(payload, []);
  const path = paths[Math.floor(random() * (paths.length + 1))];
  if (path !== undefined) return { content, instructContent: changedAt(payload, path, random) };
  return { content: otherValue(content, random) as string, instructContent: payload };
}

type Path = readonly (string | number)[];

/** Returns the paths of all values without parts. */
function pathsIn(value: Json, path: Path): readonly Path[] {
  if (typeof value !== "object" || value === null) return [path];
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap((item, nth) => pathsIn(item, [...path, nth]));
  return Object.entries(value).flatMap(([name, member]) => pathsIn(member, [...path, name]));
}

function changedAt(value: Json, [first, ...rest]: Path, random: RandomStream): Json {
  if (first === undefined) return otherValue(value, random);
  if (Array.isArray(value)) return (value as readonly Json[]).map((item, nth) => (nth === first ? changedAt(item, rest, random) : item));
  return Object.fromEntries(
    Object.entries(value as { readonly [name: string]: Json }).map(([name, member]) => [
      name,
      name === first ? changedAt(member, rest, random) : member,
    ]),
  );
}

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
/** Limit on the change of a number. */
const MAX_CHANGE = 9;

function otherValue(value: Json, random: RandomStream): Json {
  if (typeof value === "string") return otherText(value, random);
  if (typeof value === "number") return otherNumber(value, random);
  return typeof value === "boolean" ? !value : random() < 0.5;
}

function otherText(text: string, random: RandomStream): string {
  const letters = Array.from(text);
  const index = Math.floor(random() * letters.length);
  const others = LETTERS.replace(letters[index] ?? "", "");
  letters[index] = others.charAt(Math.floor(random() * others.length));
  return letters.join("");
}

/** Adds or subtracts 1 to {@link MAX_CHANGE}; a number too large to change becomes 0. */
function otherNumber(number: number, random: RandomStream): number {
  const step = 1 + Math.floor(random() * MAX_CHANGE);
  const other = random() < 0.5 ? number - step : number + step;
  return other === number ? 0 : other;
}
