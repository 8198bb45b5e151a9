import type { Json } from "../kernel/json.ts";
import { isList, isRecord } from "../kernel/value-kind.ts";
import { listed, shownText, valueText } from "../kernel/value-text.ts";
import { branchesOf, constantsOf, listOf, propertiesOf, referred, type SchemaNode, stringsOf, typesOf } from "../model/schema-node.ts";
import { schemaWords, valuesOf } from "./schema-words.ts";

/* Checks a value by a JSON Schema. The schema may come from elsewhere, so the work is bounded and no regular expression of it is run. */

export interface AnswerFault {
  /** The member at fault, with dots between the names: `address.city`. Empty for the answer as a whole. */
  readonly path: string;
  /** A sentence with the expected and the given value. */
  readonly text: string;
}

export interface SchemaFault {
  readonly path: readonly (string | number)[];
  readonly text: string;
  /** The types that the schema takes there; empty where it names none. */
  readonly types: readonly string[];
}

const MAX_FAULTS = 20;
/** Pairs of a value and a schema that are compared. */
const MAX_WORK = 100_000;
/** Levels of a value, references counted too. */
const MAX_LEVELS = 64;
const NAMED = 20;

interface Check {
  readonly root: SchemaNode;
  /** True where an inner object may have members that its schema does not name. zod's schemas of plain objects say nothing of others. */
  readonly isOpen: boolean;
  /** The comparisons that are left, shared by the checks of all branches. */
  readonly work: { left: number };
  readonly faults: SchemaFault[];
}

/** Returns the faults of an answer, at most 20. @param root of the references of `schema` */
export function answerFaults(value: Json, schema: SchemaNode, root: SchemaNode = schema): readonly AnswerFault[] {
  const faults = schemaFaults(value, schema, { root });
  if (faults === undefined)
    return [{ path: "", text: "Expected an answer and a form that can be checked in bounded time; these are too large or too deep." }];
  return faults.map(({ path, text }) => ({ path: path.map((key) => (typeof key === "number" ? key + 1 : key)).join("."), text }));
}

/** Returns the faults of a value, at most 20; undefined where a check would take too long. */
export function schemaFaults(
  value: Json,
  schema: SchemaNode,
  { root = schema, isOpen = false }: { readonly root?: SchemaNode; readonly isOpen?: boolean } = {},
): readonly SchemaFault[] | undefined {
  const check: Check = { root, isOpen, work: { left: MAX_WORK }, faults: [] };
  compare(check, value, schema, []);
  return check.work.left < 0 ? undefined : check.faults;
}

type Path = SchemaFault["path"];

function isOver({ faults, work }: Check): boolean {
  return faults.length >= MAX_FAULTS || work.left < 0;
}

/** @param level counts references too */
function compare(check: Check, value: Json, schema: unknown, path: Path, level: number = path.length): void {
  if (isOver(check)) return;
  check.work.left = level > MAX_LEVELS ? -1 : check.work.left - 1;
  if (check.work.left < 0 || schema === true) return;
  if (!isRecord(schema)) return schema === false ? fault(check, path, "Expected nothing here.") : undefined;
  const { $ref: ref } = schema;
  if (typeof ref === "string") return compare(check, value, referred(ref, check.root), path, level + 1);
  for (const part of listOf(schema["allOf"])) compare(check, value, part, path, level + 1);
  const branches = branchesOf(schema);
  if (branches.length > 0 && !isOneOf(check, value, branches, path, level)) return;
  compareKind(check, value, schema, path, level);
}

function compareKind(check: Check, value: Json, node: SchemaNode, path: Path, level: number): void {
  const types = typesOf(node);
  const isWrong =
    (types.length > 0 && !types.some((type) => isOfType(value, type))) || !isConstant(value, node) || !isInBounds(value, node);
  if (isWrong) return fault(check, path, wanted(node, value), types);
  if (isList(value)) compareItems(check, value as readonly Json[], node, path, level);
  else if (isRecord(value)) compareMembers(check, value, node, path, level);
}

/** Else adds the faults of the only branch that is meant, or what all of them want. */
function isOneOf(check: Check, value: Json, branches: readonly unknown[], path: Path, level: number): boolean {
  const meant: SchemaFault[][] = [];
  for (const branch of branches) {
    const faults: SchemaFault[] = [];
    compare({ ...check, faults }, value, branch, path, level + 1);
    if (faults.length === 0) return true;
    const isMeant = faults.every((one) => one.path.length > path.length && !isTag(one, branch, check.root, path));
    if (isRecord(value) && isMeant) meant.push(faults);
  }
  const [only] = meant;
  if (only !== undefined && meant.length === 1) check.faults.push(...only.slice(0, MAX_FAULTS - check.faults.length));
  else fault(check, path, wanted({ anyOf: branches }, value));
  return false;
}

/** True for a fault of a member that tells the branches of a union apart. */
function isTag({ path }: SchemaFault, branch: unknown, root: SchemaNode, above: Path): boolean {
  const node = isRecord(branch) && typeof branch["$ref"] === "string" ? referred(branch["$ref"], root) : branch;
  const properties = isRecord(node) ? propertiesOf(node) : {};
  const name = path.length === above.length + 1 ? String(path.at(-1)) : "";
  const member = Object.hasOwn(properties, name) ? properties[name] : undefined;
  return isRecord(member) && constantsOf(member) !== undefined;
}

function compareItems(check: Check, items: readonly Json[], node: SchemaNode, path: Path, level: number): void {
  const first = listOf(node["prefixItems"]);
  for (const [index, item] of items.entries()) {
    if (isOver(check)) return;
    compare(check, item, first[index] ?? node["items"] ?? true, [...path, index], level + 1);
  }
}

function compareMembers(check: Check, members: { readonly [name: string]: unknown }, node: SchemaNode, path: Path, level: number): void {
  const properties = propertiesOf(node);
  const names = Object.keys(properties);
  for (const name of stringsOf(node["required"])) {
    if (!Object.hasOwn(members, name)) fault(check, [...path, name], `Expected ${schemaWords(properties[name])}, got nothing.`);
  }
  const { propertyNames, patternProperties } = node;
  const isClosed = !check.isOpen && propertyNames === undefined && node["properties"] !== undefined;
  const others = patternProperties === undefined ? (node["additionalProperties"] ?? !isClosed) : true;
  for (const [name, member] of Object.entries(members)) {
    if (isOver(check)) return;
    const inside = [...path, name];
    if (Object.hasOwn(properties, name)) compare(check, member as Json, properties[name], inside, level + 1);
    else if (others !== false) compare(check, member as Json, others, inside, level + 1);
    else fault(check, inside, `Expected only known members, got ${shownText(valueText(name))}. Known: ${known(names)}.`);
    if (propertyNames !== undefined) compare(check, name, propertyNames, inside, level + 1);
  }
}

function known(names: readonly string[]): string {
  return names.length === 0 ? "none" : shownText(listed(names, NAMED), 1_000);
}

function fault({ faults }: Check, path: Path, text: string, types: readonly string[] = []): void {
  if (faults.length < MAX_FAULTS) faults.push({ path, text, types });
}

function wanted(node: SchemaNode, value: Json): string {
  const types = typesOf(node);
  // A field that was left empty is read as an empty string.
  const isEmpty = value === "" && (valuesOf(node) !== undefined || (types.length > 0 && !types.includes("string")));
  return `Expected ${schemaWords(node)}, got ${isEmpty ? "nothing" : shownText(valueText(value))}.`;
}

function isOfType(value: Json, type: string): boolean {
  if (type === "null") return value === null;
  if (type === "array") return isList(value);
  if (type === "object") return isRecord(value);
  if (type === "integer") return Number.isSafeInteger(value);
  return typeof value === type && (type !== "number" || Number.isFinite(value));
}

function isConstant(value: Json, node: SchemaNode): boolean {
  const { const: only, enum: values } = node;
  const isSame = (other: unknown): boolean => other === value || (isRecord(other) && JSON.stringify(other) === JSON.stringify(value));
  return (only === undefined || isSame(only)) && (!isList(values) || values.some(isSame));
}

function isInBounds(value: Json, node: SchemaNode): boolean {
  if (typeof value === "number") return isNumberIn(value, node);
  if (typeof value === "string")
    return isSizeIn(Array.from(value).length, value.length, node, "Length") && (FORMATS.get(node["format"])?.(value) ?? true);
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

/** Up to the error of floating point: 0.3 is a multiple of 0.1. */
function isMultiple(value: number, of: number): boolean {
  const times = value / of;
  return Math.abs(times - Math.round(times)) <= Number.EPSILON * Math.max(1, Math.abs(times)) * 4;
}

/** zod counts the units of UTF-16, JSON Schema counts characters: a string fits that either of them accepts. */
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
