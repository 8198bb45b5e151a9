import type { Json, JsonObject } from "../kernel/json.ts";
import { isList, isRecord } from "../kernel/value-kind.ts";
import { readValue } from "./json-reader.ts";
import { branchesOf, constantsOf, listOf, nodesIn, propertiesOf, referred, type SchemaNode, stringsOf, typesOf } from "./schema-node.ts";

/* Replies and the schemas that they are meant for. Unions are read with all their fitting branches at once. */

/** The changes to a value that a model wrote. Each is made only if the schema leaves no doubt. */
interface Mending {
  /** `fileName` or `File_Name` becomes `file_name` if that is wanted and absent, and no other key is as near. Keys of records stay. */
  readonly names?: boolean;
  /** Nulls that mean "left out" are left out: the wire makes optional members nullable. A null stays if the schema takes one. */
  readonly fillers?: boolean;
  /** "3", "true", JSON as text, one item for a list and back, a constant in another case, a value inside of one more object become what is wanted. */
  readonly types?: boolean;
}

export function mended(value: Json, root: JsonObject, how: Mending): Json {
  return mendedBy([root], how.types === true ? unwrapped(value, root) : value, root, how);
}

/** `{ result: {...} }` and `[{...}]`, if the schema has no such member. */
function unwrapped(given: Json, root: JsonObject): Json {
  const value = ofCall(given, root);
  const [name, ...others] = typeof value === "object" && value !== null ? Object.keys(value) : [];
  if (name === undefined || others.length > 0 || root["type"] !== "object") return value;
  if (isList(value)) return value[0] as Json;
  const member = (value as JsonObject)[name];
  const isKnown = Object.keys(propertiesOf(root)).some((known) => folded(known) === folded(name));
  const inner = typeof member === "string" && /^\s*\{/.test(member) ? readWhole(member.trim()) : member;
  const isWhole = typeof inner === "object" && inner !== null && !isList(inner);
  return !isKnown && isWhole && !isOpen(root) ? inner : value;
}

/** `{ name: "reply", arguments: {...} }`: the arguments. */
function ofCall(value: Json, root: JsonObject): Json {
  if (!isRecord(value) || Object.keys(value).length !== 2 || Object.hasOwn(propertiesOf(root), "name")) return value;
  const { name, arguments: args, parameters = args } = value as JsonObject;
  return typeof name === "string" && isRecord(parameters) ? { arguments: parameters as JsonObject } : value;
}

function mendedBy(nodes: readonly SchemaNode[], given: Json, root: SchemaNode, how: Mending): Json {
  const all = leaves(nodes, root);
  const value = how.types === true ? ofKind(all, given) : given;
  const within = (children: readonly SchemaNode[], inner: Json): Json =>
    children.length === 0 ? inner : mendedBy(children, inner, root, how);
  if (typeof value !== "object" || value === null) return value;
  const fits = fitting(all, value, root).slice(0, how.types === true ? 1 : undefined);
  if (isList(value)) {
    const itemsAt = (index: number): SchemaNode[] => nodesIn(fits.map((node) => listOf(node["prefixItems"])[index] ?? node["items"]));
    return (value as readonly Json[]).map((item, index) => within(itemsAt(index), item));
  }
  const names = how.names === true ? newNames(value as JsonObject, fits) : undefined;
  const members = Object.entries(value as JsonObject).flatMap(([key, member]): [string, Json][] => {
    const name = names?.get(key) ?? key;
    const owners = fits.filter((node) => Object.hasOwn(propertiesOf(node), name));
    const children = nodesIn(
      owners.length === 0 ? fits.map((node) => node["additionalProperties"]) : owners.map((node) => propertiesOf(node)[name]),
    );
    const changed = within(children, member);
    const isRequired = owners.every((node) => stringsOf(node["required"]).includes(name));
    return !isRequired && changed === member && isLeftOut(member, leaves(children, root), how) ? [] : [[name, changed]];
  });
  return Object.fromEntries(members);
}

function isLeftOut(member: Json, nodes: readonly SchemaNode[], how: Mending): boolean {
  if (member === null) return how.fillers === true && !nodes.some(acceptsNull);
  if (how.types !== true || !isNothing(member) || nodes.length === 0) return false;
  return !nodes.some((node) => constantsOf(node) === undefined && kindsOf(node).some((kind) => kind === "string" || kind === "any"));
}

/** A value in one of the kinds that the schemas take; unchanged if they take any. */
function ofKind(nodes: readonly SchemaNode[], value: Json): Json {
  const kinds = new Set(nodes.flatMap(kindsOf));
  if (nodes.length === 0 || kinds.has("any")) return value;
  if (kinds.has(kindOf(value))) return typeof value === "string" ? constantLike(value, nodes) : value;
  if (typeof value === "string") {
    const said = value.trim();
    if (kinds.has("number") && /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(said)) return Number(said);
    if (kinds.has("boolean") && /^(?:true|false)$/i.test(said)) return /^t/i.test(said);
    if (kinds.has("null") && /^(?:null|none|undefined)?$/i.test(said)) return null;
    const parsed = /^[[{]/.test(said) ? readWhole(said) : undefined;
    if (parsed !== undefined) return ofKind(nodes, parsed);
  }
  if (kinds.has("array") && value !== null && !isNothing(value)) return [value];
  const [only, ...others] = isList(value) ? (value as readonly Json[]) : [];
  return only !== undefined && others.length === 0 && kinds.has(kindOf(only)) ? ofKind(nodes, only) : value;
}

function isNothing(value: Json): boolean {
  return typeof value === "string" && /^(?:none|null|n\/a|undefined)?$/i.test(value.trim());
}

function constantLike(value: string, nodes: readonly SchemaNode[]): string {
  const constants = nodes.flatMap((node) => constantsOf(node) ?? [undefined]);
  if (constants.includes(undefined) || constants.includes(value)) return value;
  const said = folded(value.trim().replace(/^(["'`])(.*)\1$/s, "$2"));
  const near = constants.filter((one): one is string => typeof one === "string" && folded(one) === said);
  return near.length === 1 ? (near[0] ?? value) : value;
}

function kindOf(value: Json): string {
  return value === null ? "null" : isList(value) ? "array" : typeof value;
}

function kindsOf(node: SchemaNode): readonly string[] {
  const types = typesOf(node).map((type) => (type === "integer" ? "number" : type));
  const constants = constantsOf(node);
  if (types.length > 0) return types;
  return constants === undefined ? ["any"] : constants.map((one) => kindOf(one as Json));
}

function readWhole(text: string): Json | undefined {
  const found = readValue(text, 0);
  return found.ok && text.slice(found.end).trim() === "" ? found.value : undefined;
}

/** If several schemas fit, nothing is renamed. */
function newNames(value: JsonObject, [node, ...others]: readonly SchemaNode[]): ReadonlyMap<string, string> {
  if (node === undefined || others.length > 0 || isOpen(node)) return new Map();
  const wanted = Object.keys(propertiesOf(node));
  const strangers = Object.keys(value).filter((key) => !wanted.includes(key));
  const absent = wanted.filter((name) => !Object.hasOwn(value, name));
  const pairs = absent.flatMap((name): [string, string][] => {
    const near = strangers.filter((key) => folded(key) === folded(name));
    const rivals = wanted.filter((other) => folded(other) === folded(name));
    return near.length === 1 && rivals.length === 1 ? [[near[0] as string, name]] : [];
  });
  return new Map(pairs);
}

/**
 * True when a reply that ended before its objects were closed can have lost nothing: each has every member that its schema knows, and may
 * have no others.
 *
 * @param path the keys from the root to the innermost open object
 */
export function holdsAllMembers(value: Json, path: readonly string[], root: JsonObject): boolean {
  let nodes: readonly SchemaNode[] = [root];
  let member: Json | undefined = value;
  for (let index = 0; index <= path.length; index += 1) {
    if (typeof member !== "object" || member === null || isList(member)) return false;
    const held = member as JsonObject;
    const keys = new Set(Object.keys(held).map(folded));
    const fits = fitting(leaves(nodes, root), held, root);
    const isWhole = (node: SchemaNode): boolean => !isOpen(node) && Object.keys(propertiesOf(node)).every((name) => keys.has(folded(name)));
    if (fits.length === 0 || !fits.every(isWhole)) return false;
    const key = path[index] ?? "";
    member = held[key];
    nodes = nodesIn(
      fits.flatMap((node) => Object.entries(propertiesOf(node)).flatMap(([name, child]) => (folded(name) === folded(key) ? [child] : []))),
    );
  }
  return true;
}

function isOpen({ additionalProperties, propertyNames, patternProperties, properties }: SchemaNode): boolean {
  const isClosed = additionalProperties === undefined || additionalProperties === false;
  return !isClosed || propertyNames !== undefined || patternProperties !== undefined || properties === undefined;
}

function folded(key: string): string {
  return key.toLowerCase().replace(/[\s_-]/g, "");
}

function leaves(nodes: readonly SchemaNode[], root: SchemaNode): SchemaNode[] {
  const seen = new Set<SchemaNode>(nodes);
  const found: SchemaNode[] = [];
  // Iterating a set also visits the schemas added meanwhile.
  for (const node of seen) {
    const ref = node["$ref"];
    const inner = nodesIn([...branchesOf(node), ...listOf(node["allOf"]), ...(typeof ref === "string" ? [referred(ref, root)] : [])]);
    for (const one of inner) seen.add(one);
    if (typeof ref !== "string" && inner.length === 0) found.push(node);
  }
  return found;
}

/** All schemas of its type when the value fits none, because a wrong reply is read too. */
function fitting(nodes: readonly SchemaNode[], value: Json, root: SchemaNode): readonly SchemaNode[] {
  const fits = nodes.filter((node) => isShapeOf(node, value, root));
  return fits.length > 0 ? fits : nodes.filter((node) => node["type"] === (Array.isArray(value) ? "array" : "object"));
}

/** By the outermost layer: type, required members, constant members. */
function isShapeOf(node: SchemaNode, value: Json, root: SchemaNode): boolean {
  if (isList(value)) return node["type"] === "array";
  if (typeof value !== "object" || value === null || node["type"] !== "object") return false;
  const members = value as JsonObject;
  if (!stringsOf(node["required"]).every((name) => Object.hasOwn(members, name))) return false;
  return Object.entries(propertiesOf(node)).every(([name, property]) => {
    const member = Object.hasOwn(members, name) ? members[name] : null;
    if (member === undefined || member === null) return true;
    const lists = leaves(nodesIn([property]), root).map(constantsOf);
    return lists.length === 0 || lists.some((list) => list === undefined || list.includes(member));
  });
}

export function acceptsNull(node: SchemaNode): boolean {
  if (typesOf(node).includes("null")) return true;
  const constants = constantsOf(node);
  if (constants !== undefined) return constants.includes(null);
  const any = branchesOf(node);
  if (any.length > 0) return nodesIn(any).some(acceptsNull);
  return node["type"] === undefined && node["$ref"] === undefined && node["allOf"] === undefined;
}
