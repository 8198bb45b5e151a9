import { isObject } from "../kernel/value-kind.ts";
import { z } from "zod";
import type { Json, JsonObject } from "../kernel/json.ts";

/** Larger schemas, references followed, are not checked: one of a few lines may stand for more alternatives than could ever be tried. */
const MAX_WEIGHT = 5_000;

/**
 * A check for arguments by a JSON Schema that may come from anywhere; undefined for one that is too large, that refers to itself, or that
 * cannot be understood: whoever told it checks arguments too. What it says by regular expressions is left out.
 */
export function checkable(schema: JsonObject): z.ZodType | undefined {
  try {
    if (weightOf(schema, { root: schema, under: new Set(), known: new Map() }) > MAX_WEIGHT) return undefined;
    const made = z.fromJSONSchema(harmless(schema) as Parameters<typeof z.fromJSONSchema>[0]);
    made.safeParse({});
    return made;
  } catch {
    return undefined;
  }
}

interface Weighing {
  readonly root: JsonObject;
  /** References that are being followed. */
  readonly under: Set<string>;
  readonly known: Map<string, number>;
}

/** How many places a schema has when its references are followed; Infinity when that never ends. */
function weightOf(value: Json, weighing: Weighing): number {
  if (typeof value !== "object" || value === null) return 0;
  const ref = (value as JsonObject)["$ref"];
  const own = typeof ref === "string" ? weightOfRef(ref, weighing) : 0;
  return Object.entries(value).reduce(
    (sum, [name, member]) => sum + (DEFINITIONS.has(name) ? 0 : weightOf(member as Json, weighing)),
    1 + own,
  );
}

const DEFINITIONS = new Set(["$defs", "definitions"]);

function weightOfRef(ref: string, weighing: Weighing): number {
  const known = weighing.known.get(ref);
  if (known !== undefined) return known;
  const [, place = "", name = ""] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(ref) ?? [];
  const defs = weighing.root[place];
  const target = isObject(defs) && Object.hasOwn(defs, name) ? (defs as JsonObject)[name] : undefined;
  if (target === undefined || weighing.under.has(ref)) return Infinity;
  weighing.under.add(ref);
  const weight = weightOf(target, weighing);
  weighing.under.delete(ref);
  weighing.known.set(ref, weight);
  return weight;
}

function harmless(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(harmless);
  const members = Object.entries(value as JsonObject).filter(([name, member]) => !isPattern(name, member));
  return Object.fromEntries(members.map(([name, member]) => [name, harmless(member)]));
}

/** What would be run as a regular expression on a model's words. A property of such a name has a schema, not a text, for its value. */
function isPattern(name: string, member: Json): boolean {
  return ((name === "pattern" || name === "format") && typeof member === "string") || name === "patternProperties";
}
