import type { Json } from "../kernel/json.ts";
import type { RandomStream } from "../kernel/random.ts";
import type { EdgePassage } from "../runtime/edges/edge-policy.ts";
import type { Rewrite } from "./links.ts";

/** Returns a message in which one value differs: a letter of a text, a number, or a truth value. */
export function corruption({ message: { content, instructContent }, random }: EdgePassage): Rewrite {
  if (instructContent === undefined) return { content: otherValue(content, random) as string };
  const payload = instructContent as Json;
  const places = placesIn(payload, []);
  const place = Math.floor(random() * (places.length + 1));
  const path = places[place];
  if (path !== undefined) return { content, instructContent: changedAt(payload, path, random) };
  return { content: otherValue(content, random) as string, instructContent: payload };
}

type Path = readonly (string | number)[];

/** Returns the places of all values in a payload that have no parts. */
function placesIn(value: Json, path: Path): readonly Path[] {
  if (typeof value !== "object" || value === null) return [path];
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap((item, nth) => placesIn(item, [...path, nth]));
  return Object.entries(value).flatMap(([name, member]) => placesIn(member, [...path, name]));
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
const MOST = 9;

function otherValue(value: Json, random: RandomStream): Json {
  switch (typeof value) {
    case "string":
      return otherText(value, random);
    case "number":
      return otherNumber(value, random);
    case "boolean":
      return !value;
    default:
      return random() < 0.5;
  }
}

function otherText(text: string, random: RandomStream): string {
  const letters = Array.from(text);
  const place = Math.floor(random() * letters.length);
  const others = LETTERS.replace(letters[place] ?? "", "");
  letters[place] = others.charAt(Math.floor(random() * others.length));
  return letters.join("");
}

/** Adds or takes away 1 to {@link MOST}; a number so large that this does not change it becomes 0. */
function otherNumber(number: number, random: RandomStream): number {
  const step = 1 + Math.floor(random() * MOST);
  const other = random() < 0.5 ? number - step : number + step;
  return other === number ? 0 : other;
}
