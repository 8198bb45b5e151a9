import type { Json } from "../kernel/json.ts";
import type { RandomStream } from "../kernel/random.ts";
import type { EdgePassage } from "../runtime/edges/edge-policy.ts";
import type { Rewrite } from "./links.ts";

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
