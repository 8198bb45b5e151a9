import { isList, isRecord } from "../kernel/value-kind.ts";
import { shownText } from "../kernel/value-text.ts";

/** A JSON Schema, or a part of one. */
export type SchemaNode = { readonly [key: string]: unknown };

/** Limit on the values and branches that words name. */
const NAMED = 12;
/** Limit on the levels of a schema that words describe. */
const TOLD_LEVELS = 2;

/** The types that a schema names; none where it takes any. */
export function typesOf({ type }: SchemaNode): readonly string[] {
  return (isList(type) ? type : [type]).filter((one) => typeof one === "string");
}

/** The values that a schema is limited to; undefined where it is not. A union of constants is one, as zod writes unions of literals. */
export function valuesOf(node: unknown): readonly unknown[] | undefined {
  if (!isRecord(node)) return undefined;
  if (isList(node["enum"])) return node["enum"];
  if (Object.hasOwn(node, "const")) return [node["const"]];
  const branches = branchesOf(node);
  if (branches.length === 0) return undefined;
  const values = branches.map((branch) => (isRecord(branch) && branchesOf(branch).length === 0 ? valuesOf(branch) : undefined));
  return values.some((list) => list === undefined) ? undefined : values.flatMap((list) => list ?? []);
}

export function branchesOf(node: SchemaNode): readonly unknown[] {
  const { anyOf: any, oneOf: one } = node;
  return isList(any) ? any : isList(one) ? one : [];
}

/** Says in words what a schema wants: `a whole number from 1 to 5`. */
export function schemaWords(node: unknown, level: number = 0): string {
  if (!isRecord(node)) return "a value";
  const values = valuesOf(node);
  if (values !== undefined) return valuesWords(values);
  const branches = branchesOf(node);
  if (branches.length > 0) return level >= TOLD_LEVELS ? "a value" : unionWords(branches, level);
  const types = typesOf(node);
  const words = types.map((type) => typeWords(type, node, level));
  return words.length === 0 ? "a value" : words.join(" or ");
}

function unionWords(branches: readonly unknown[], level: number): string {
  const words = branches.slice(0, NAMED).map((branch) => schemaWords(branch, level + 1));
  return [...new Set(words)].join(" or ") + (branches.length > NAMED ? " or something else" : "");
}

function valuesWords(values: readonly unknown[]): string {
  const told = values.slice(0, NAMED).map((value) => shownText(JSON.stringify(value) ?? "", 80));
  const rest = values.length > NAMED ? ` and ${values.length - NAMED} more` : "";
  return values.length === 1 ? (told[0] ?? "") : `one of ${told.join(", ")}${rest}`;
}

const FORMAT_WORDS: ReadonlyMap<unknown, string> = new Map([
  ["email", "an address such as ada@example.org"],
  ["uri", "an address such as https://example.org"],
  ["uuid", "an id such as 123e4567-e89b-42d3-a456-426614174000"],
  ["date", "a date such as 2026-11-23"],
  ["time", "a time such as 16:40:00"],
  ["date-time", "a time such as 2026-11-23T16:40:00Z"],
]);

function typeWords(type: string, node: SchemaNode, level: number): string {
  switch (type) {
    case "string":
      return FORMAT_WORDS.get(node["format"]) ?? `a text${sizeWords(node, "Length", "character")}${patternWords(node)}`;
    case "integer":
      return `a whole number${numberWords(node)}`;
    case "number":
      return `a number${numberWords(node)}`;
    case "boolean":
      return "yes or no (true or false)";
    case "array":
      return `a list${itemWords(node, level)}${sizeWords(node, "Items", "entry")}`;
    case "object":
      return `an object${memberWords(node, level)}`;
    default:
      return type === "null" ? "null" : "a value";
  }
}

function itemWords({ items }: SchemaNode, level: number): string {
  if (!isRecord(items) || level >= TOLD_LEVELS) return "";
  return ` of which each is ${schemaWords(items, level + 1)}`;
}

function memberWords({ properties }: SchemaNode, level: number): string {
  const names = isRecord(properties) ? Object.keys(properties) : [];
  if (names.length === 0 || level >= TOLD_LEVELS) return "";
  const rest = names.length > NAMED ? ` and ${names.length - NAMED} more` : "";
  return ` with ${shownText(names.slice(0, NAMED).join(", "), 400)}${rest}`;
}

function numberWords({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: SchemaNode): string {
  const given = (value: unknown): value is number => typeof value === "number" && Math.abs(value) !== Number.MAX_SAFE_INTEGER;
  const range = given(minimum) && given(maximum) ? [` from ${minimum} to ${maximum}`] : [];
  const least = range.length === 0 && given(minimum) ? [` of ${minimum} or more`] : [];
  const most = range.length === 0 && given(maximum) ? [` of ${maximum} or less`] : [];
  const above = given(exclusiveMinimum) ? [` above ${exclusiveMinimum}`] : [];
  const below = given(exclusiveMaximum) ? [` below ${exclusiveMaximum}`] : [];
  const steps = given(multipleOf) ? [` in steps of ${multipleOf}`] : [];
  return [...range, ...least, ...most, ...above, ...below, ...steps].join("");
}

function sizeWords(node: SchemaNode, of: "Length" | "Items", unit: string): string {
  const [least, most] = [node[`min${of}`], node[`max${of}`]];
  const plural = (count: number): string => `${count} ${count === 1 ? unit : unit.replace(/y$/, "ie").concat("s")}`;
  if (typeof least === "number" && typeof most === "number") return ` of ${least} to ${plural(most)}`;
  if (typeof least === "number") return ` of at least ${plural(least)}`;
  return typeof most === "number" ? ` of at most ${plural(most)}` : "";
}

/** A pattern is told and not checked here: the flags of the expression are not in a schema. */
function patternWords({ pattern }: SchemaNode): string {
  return typeof pattern === "string" ? ` that fits ${shownText(pattern, 100)}` : "";
}
