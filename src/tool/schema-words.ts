import { isRecord } from "../kernel/value-kind.ts";
import { listed, shownText } from "../kernel/value-text.ts";
import { branchesOf, constantsOf, type SchemaNode, typesOf } from "../model/schema-node.ts";

const NAMED = 12;
const WORD_LEVELS = 2;

/** The values that a schema is limited to. A union of constants is one, as zod writes unions of literals. */
export function valuesOf(node: unknown): readonly unknown[] | undefined {
  if (!isRecord(node)) return undefined;
  const branches = branchesOf(node);
  if (branches.length === 0) return constantsOf(node);
  const values = branches.map((branch) => (isRecord(branch) && branchesOf(branch).length === 0 ? constantsOf(branch) : undefined));
  return values.some((list) => list === undefined) ? undefined : values.flatMap((list) => list ?? []);
}

/** `a whole number from 1 to 5` */
export function schemaWords(node: unknown, level: number = 0): string {
  if (!isRecord(node)) return "a value";
  const values = valuesOf(node);
  if (values !== undefined) return valuesWords(values);
  const branches = branchesOf(node);
  if (branches.length > 0) return level >= WORD_LEVELS ? "a value" : unionWords(branches, level);
  const types = typesOf(node);
  return types.map((type) => typeWords(type, node, level)).join(" or ") || "a value";
}

function unionWords(branches: readonly unknown[], level: number): string {
  const words = branches.slice(0, NAMED).map((branch) => schemaWords(branch, level + 1));
  return [...new Set(words)].join(" or ") + (branches.length > NAMED ? " or something else" : "");
}

function valuesWords(values: readonly unknown[]): string {
  const words = listed(
    values.map((value) => shownText(JSON.stringify(value) ?? "", 80)),
    NAMED,
  );
  return values.length === 1 ? words : `one of ${words}`;
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
  if (type === "string") return FORMAT_WORDS.get(node["format"]) ?? `a text${sizeWords(node, "Length", "character")}${patternWords(node)}`;
  if (type === "integer") return `a whole number${numberWords(node)}`;
  if (type === "number") return `a number${numberWords(node)}`;
  if (type === "boolean") return "yes or no (true or false)";
  if (type === "array") return `a list${itemWords(node, level)}${sizeWords(node, "Items", "entry")}`;
  if (type === "object") return `an object${memberWords(node, level)}`;
  return type === "null" ? "null" : "a value";
}

function itemWords({ items }: SchemaNode, level: number): string {
  if (!isRecord(items) || level >= WORD_LEVELS) return "";
  return ` of which each is ${schemaWords(items, level + 1)}`;
}

function memberWords({ properties }: SchemaNode, level: number): string {
  const names = isRecord(properties) ? Object.keys(properties) : [];
  return names.length === 0 || level >= WORD_LEVELS ? "" : ` with ${shownText(listed(names, NAMED), 400)}`;
}

function numberWords({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: SchemaNode): string {
  const words = (value: unknown, say: (value: number) => string): string =>
    typeof value === "number" && Math.abs(value) !== Number.MAX_SAFE_INTEGER ? say(value) : "";
  const [least, most] = [words(minimum, (n) => ` of ${n} or more`), words(maximum, (n) => ` of ${n} or less`)];
  const range = least !== "" && most !== "" ? ` from ${String(minimum)} to ${String(maximum)}` : least + most;
  const open = words(exclusiveMinimum, (n) => ` above ${n}`) + words(exclusiveMaximum, (n) => ` below ${n}`);
  return range + open + words(multipleOf, (n) => ` in steps of ${n}`);
}

function sizeWords(node: SchemaNode, of: "Length" | "Items", unit: string): string {
  const [least, most] = [node[`min${of}`], node[`max${of}`]];
  const plural = (count: number): string => `${count} ${count === 1 ? unit : unit.replace(/y$/, "ie").concat("s")}`;
  if (typeof least === "number" && typeof most === "number") return ` of ${least} to ${plural(most)}`;
  if (typeof least === "number") return ` of at least ${plural(least)}`;
  return typeof most === "number" ? ` of at most ${plural(most)}` : "";
}

function patternWords({ pattern }: SchemaNode): string {
  return typeof pattern === "string" ? ` that fits ${shownText(pattern, 100)}` : "";
}
