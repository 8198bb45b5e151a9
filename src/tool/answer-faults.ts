import type { Json } from "../kernel/json.ts";
import { isList, isRecord } from "../kernel/value-kind.ts";
import { shownText, valueText } from "../kernel/value-text.ts";
import { schemaWords, type SchemaNode, typesOf, valuesOf } from "./schema-words.ts";

/*
 * Checks a value by a JSON Schema as zod writes it, and tells each fault in words. The schema may come from a journal of elsewhere, so the
 * work is bounded and no regular expression of it is run: a pattern is checked by the program that asked.
 */

/** A fault of an answer. */
export interface AnswerFault {
  /** The member at fault, with dots between the names: `address.city`. Empty for the answer as a whole. */
  readonly path: string;
  /** A sentence with the expected and the given value. */
  readonly text: string;
}

/** Limit on the faults that are told. */
const MOST_FAULTS = 20;
/** Limit on the pairs of a value and a schema that are compared. */
const MOST_WORK = 100_000;
/** Limit on the levels of a value, references counted too. */
const MOST_LEVELS = 64;

/** A check under way. */
interface Check {
  readonly root: SchemaNode;
  /** The comparisons that are left, shared by the checks of all branches. */
  readonly work: { left: number };
  readonly faults: AnswerFault[];
  readonly most: number;
}

/**
 * Returns the faults of a value, at most 20; none where it fits.
 *
 * @param root the schema that references are resolved in, where `schema` is a part of it
 */
export function schemaFaults(value: Json, schema: SchemaNode, root: SchemaNode = schema): readonly AnswerFault[] {
  const check: Check = { root, work: { left: MOST_WORK }, faults: [], most: MOST_FAULTS };
  compare(check, value, schema, "", 0);
  if (check.work.left >= 0) return check.faults;
  return [{ path: "", text: "Expected an answer and a form that can be checked in bounded time; these are too large or too deep." }];
}

/** Compares a value with a schema. Stops at the limit on faults and work. */
function compare(check: Check, value: Json, schema: unknown, path: string, level: number): void {
  if (check.faults.length >= check.most || check.work.left < 0) return;
  check.work.left = level > MOST_LEVELS ? -1 : check.work.left - 1;
  if (check.work.left < 0 || schema === true) return;
  if (!isRecord(schema)) return schema === false ? fault(check, path, "Expected nothing here.") : undefined;
  const node = schema as SchemaNode;
  const { $ref: ref } = node;
  if (typeof ref === "string") return compare(check, value, referred(ref, check.root), path, level + 1);
  for (const part of listOf(node["allOf"])) compare(check, value, part, path, level + 1);
  const branches = [...listOf(node["anyOf"]), ...listOf(node["oneOf"])];
  if (branches.length > 0 && !isOneOf(check, value, branches, path, level)) return;
  compareKind(check, value, node, path, level);
}

function compareKind(check: Check, value: Json, node: SchemaNode, path: string, level: number): void {
  const types = typesOf(node);
  const isWrong =
    (types.length > 0 && !types.some((type) => isOfType(value, type))) || !isConstant(value, node) || !isInBounds(value, node);
  if (isWrong) return fault(check, path, wanted(node, value));
  if (isList(value)) compareItems(check, value as readonly Json[], node, path, level);
  else if (isRecord(value)) compareMembers(check, value, node, path, level);
}

/** True when one of the branches takes the value. Else the faults of the only branch that is meant, or what all of them want. */
function isOneOf(check: Check, value: Json, branches: readonly unknown[], path: string, level: number): boolean {
  const meant: AnswerFault[][] = [];
  for (const branch of branches) {
    const faults: AnswerFault[] = [];
    compare({ ...check, faults, most: MOST_FAULTS }, value, branch, path, level + 1);
    if (faults.length === 0) return true;
    if (isRecord(value) && faults.every((one) => one.path !== path) && !faults.some((one) => isTag(one, branch, check.root, path)))
      meant.push(faults);
  }
  const [only] = meant;
  if (only !== undefined && meant.length === 1) check.faults.push(...only.slice(0, check.most - check.faults.length));
  else fault(check, path, wanted({ anyOf: branches }, value));
  return false;
}

/** True for a fault of a member that tells the branches of a union apart. */
function isTag({ path }: AnswerFault, branch: unknown, root: SchemaNode, above: string): boolean {
  const node = isRecord(branch) && typeof branch["$ref"] === "string" ? referred(branch["$ref"], root) : branch;
  const properties = isRecord(node) && isRecord(node["properties"]) ? node["properties"] : {};
  const name = above === "" ? path : path.slice(above.length + 1);
  const member = Object.hasOwn(properties, name) ? properties[name] : undefined;
  return isRecord(member) && (Object.hasOwn(member, "const") || isList(member["enum"]));
}

function compareItems(check: Check, items: readonly Json[], node: SchemaNode, path: string, level: number): void {
  const first = listOf(node["prefixItems"]);
  const rest = node["items"];
  for (const [nth, item] of items.entries()) {
    if (check.faults.length >= check.most || check.work.left < 0) return;
    compare(check, item, first[nth] ?? rest ?? true, within(path, String(nth + 1)), level + 1);
  }
}

function compareMembers(check: Check, members: { readonly [name: string]: unknown }, node: SchemaNode, path: string, level: number): void {
  const properties = isRecord(node["properties"]) ? node["properties"] : {};
  const names = Object.keys(properties);
  for (const name of listOf(node["required"])) {
    if (typeof name === "string" && !Object.hasOwn(members, name))
      fault(check, within(path, name), `Expected ${schemaWords(properties[name])}, got nothing.`);
  }
  const others = node["additionalProperties"] ?? (node["propertyNames"] === undefined && node["properties"] !== undefined ? false : true);
  for (const [name, member] of Object.entries(members)) {
    if (check.faults.length >= check.most || check.work.left < 0) return;
    const place = within(path, name);
    if (Object.hasOwn(properties, name)) compare(check, member as Json, properties[name], place, level + 1);
    else if (others !== false) compare(check, member as Json, others, place, level + 1);
    else fault(check, place, `Expected only known members, got ${shownText(valueText(name))}. Known: ${known(names)}.`);
    if (node["propertyNames"] !== undefined) compare(check, name, node["propertyNames"], place, level + 1);
  }
}

const NAMED = 20;

function known(names: readonly string[]): string {
  const rest = names.length > NAMED ? ` and ${names.length - NAMED} more` : "";
  return names.length === 0 ? "none" : shownText(names.slice(0, NAMED).join(", "), 1_000) + rest;
}

function fault({ faults, most }: Check, path: string, text: string): void {
  if (faults.length < most) faults.push({ path, text });
}

function wanted(node: SchemaNode, value: Json): string {
  const types = typesOf(node);
  // A field that was left empty is read as an empty text.
  const isEmpty = value === "" && (valuesOf(node) !== undefined || (types.length > 0 && !types.includes("string")));
  return `Expected ${schemaWords(node)}, got ${isEmpty ? "nothing" : shownText(valueText(value))}.`;
}

function within(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

function isOfType(value: Json, type: string): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return isList(value);
    case "object":
      return isRecord(value);
    case "integer":
      return Number.isSafeInteger(value);
    case "number":
      return typeof value === "number" && Number.isFinite(value);
    default:
      return typeof value === type;
  }
}

function isConstant(value: Json, node: SchemaNode): boolean {
  const { const: only, enum: listed } = node;
  const isSame = (other: unknown): boolean => other === value || (isRecord(other) && JSON.stringify(other) === JSON.stringify(value));
  return (only === undefined || isSame(only)) && (!isList(listed) || listed.some(isSame));
}

function isInBounds(value: Json, node: SchemaNode): boolean {
  if (typeof value === "number") return isNumberIn(value, node);
  if (typeof value === "string")
    return isSizeIn(Array.from(value).length, value.length, node, "Length") && hasFormat(value, node["format"]);
  if (isList(value)) return isSizeIn(value.length, value.length, node, "Items");
  const members = isRecord(value) ? Object.keys(value).length : 0;
  return !isRecord(value) || isSizeIn(members, members, node, "Properties");
}

function isNumberIn(value: number, { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: SchemaNode): boolean {
  const bound = (limit: unknown, holds: (limit: number) => boolean): boolean => typeof limit !== "number" || holds(limit);
  return (
    bound(minimum, (limit) => value >= limit) &&
    bound(maximum, (limit) => value <= limit) &&
    bound(exclusiveMinimum, (limit) => value > limit) &&
    bound(exclusiveMaximum, (limit) => value < limit) &&
    bound(multipleOf, (limit) => limit <= 0 || isMultiple(value, limit))
  );
}

/** Decimal fractions such as 0.3 are multiples of 0.1 up to the error of floating point. */
function isMultiple(value: number, of: number): boolean {
  const times = value / of;
  return Math.abs(times - Math.round(times)) <= Number.EPSILON * Math.max(1, Math.abs(times)) * 4;
}

/** zod counts the units of UTF-16 and JSON Schema counts characters: a text fits that either of them accepts. */
function isSizeIn(characters: number, units: number, node: SchemaNode, of: "Length" | "Items" | "Properties"): boolean {
  const [least, most] = [node[`min${of}`], node[`max${of}`]];
  return (typeof least !== "number" || units >= least) && (typeof most !== "number" || characters <= most);
}

const DATE = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/;
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,12})?)?(?:Z|[+-]\d\d:?\d\d)?$/;

/** The formats that are checked here. The program checks all others. */
const FORMATS: ReadonlyMap<unknown, (text: string) => boolean> = new Map([
  ["email", (text: string) => /^[^\s@]{1,200}@[^\s@]{1,300}$/.test(text)],
  ["uri", (text: string) => URL.canParse(text)],
  ["uuid", (text: string) => /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(text)],
  ["date", (text: string) => DATE.test(text)],
  ["time", (text: string) => TIME.test(text)],
  ["date-time", (text: string) => DATE.test(text.slice(0, 10)) && text[10] === "T" && TIME.test(text.slice(11, 60))],
]);

function hasFormat(text: string, format: unknown): boolean {
  return FORMATS.get(format)?.(text) ?? true;
}

function listOf(value: unknown): readonly unknown[] {
  return isList(value) ? value : [];
}

/** Returns the schema that a reference names. An unknown one takes any value. */
export function referred(ref: string, root: SchemaNode): unknown {
  if (ref === "#") return root;
  const defs = root["$defs"];
  const name = ref.startsWith("#/$defs/") ? ref.slice("#/$defs/".length) : undefined;
  return name !== undefined && isRecord(defs) && Object.hasOwn(defs, name) ? defs[name] : true;
}
