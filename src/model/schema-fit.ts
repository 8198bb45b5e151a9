import type { Json, JsonObject } from "../kernel/json.ts";
import { isList, isRecord } from "../kernel/value-kind.ts";

/*
 * Replies and the schemas that they are meant for. Unions are read with all their fitting branches at once.
 */

/** A schema, or a part of one. */
export type Node = { readonly [key: string]: Json };

/**
 * Returns a reply without the nulls that only say "left out": the wire makes optional members nullable, and here they are absent again. A
 * null stays where the schema takes one.
 */
export function withoutFillers(value: Json, root: JsonObject): Json {
  return holdsNull(value) ? read(value, [root], root, { isLeftOut: isFiller }) : value;
}

/**
 * Returns a reply with the keys that its schema names: `fileName` or `File_Name` becomes `file_name` where that is wanted and absent,
 * nothing in the schema is called so, and no other key comes as near. Case, `_`, `-` and spaces are all that may differ. Keys of records
 * stay.
 */
export function withSchemaKeys(value: Json, root: JsonObject): Json {
  return read(value, [root], root, { names: newNames });
}

/** A change to the records of a reply. */
interface RecordChange {
  /** Returns the names of members by their present keys. */
  readonly names?: (record: Node, nodes: readonly Node[]) => ReadonlyMap<string, string>;
  /** True for a null that is no answer. @param owners the schemas that name the member */
  readonly isLeftOut?: (name: string, owners: readonly Node[], children: readonly Node[], root: Node) => boolean;
}

function read(value: Json, nodes: readonly Node[], root: Node, change: RecordChange): Json {
  const fits = fitting(leaves(nodes, root), value, root);
  if (isList(value)) {
    const items = fits.flatMap((node) => childNodes([node["items"] ?? null, ...listOf(node["prefixItems"])]));
    return items.length === 0 ? value : value.map((item) => read(item, items, root, change));
  }
  if (typeof value !== "object" || value === null) return value;
  const names = change.names?.(value as Node, fits);
  const members = Object.entries(value as Node).flatMap(([given, member]): [string, Json][] => {
    const name = names?.get(given) ?? given;
    const owners = fits.filter((node) => Object.hasOwn(propertiesOf(node), name));
    const children = childNodes(
      owners.length === 0 ? fits.map((node) => node["additionalProperties"]) : owners.map((node) => propertiesOf(node)[name]),
    );
    if (member === null && change.isLeftOut?.(name, owners, children, root) === true) return [];
    return [[name, children.length === 0 ? member : read(member, children, root, change)]];
  });
  return Object.fromEntries(members);
}

function isFiller(name: string, owners: readonly Node[], children: readonly Node[], root: Node): boolean {
  const isOptional = owners.some((node) => !stringsOf(node["required"]).includes(name));
  return isOptional && !leaves(children, root).some(acceptsNull);
}

function holdsNull(value: Json): boolean {
  if (typeof value !== "object" || value === null) return value === null;
  return Array.isArray(value) ? value.some(holdsNull) : Object.values(value).some(holdsNull);
}

/** Returns the names of the schema by the keys that stand for them. Where several schemas fit, nothing is renamed. */
function newNames(value: Node, nodes: readonly Node[]): ReadonlyMap<string, string> {
  const [node] = nodes;
  if (node === undefined || nodes.length > 1 || isOpen(node)) return new Map();
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
 * True when a reply that ended before its objects were closed can have lost nothing: each of them has every member that its schema knows, also
 * the optional ones, and may have no others.
 *
 * @param path the keys from the root to the innermost open object
 */
export function holdsAllMembers(value: Json, path: readonly string[], root: JsonObject): boolean {
  let nodes: readonly Node[] = [root];
  let member: Json | undefined = value;
  for (let place = 0; place <= path.length; place += 1) {
    if (typeof member !== "object" || member === null || isList(member)) return false;
    const held: Node = member as Node;
    const keys = new Set(Object.keys(held).map(folded));
    const fits = fitting(leaves(nodes, root), held, root);
    const isWhole = (node: Node): boolean => !isOpen(node) && Object.keys(propertiesOf(node)).every((name) => keys.has(folded(name)));
    if (fits.length === 0 || !fits.every(isWhole)) return false;
    const key = path[place] ?? "";
    member = held[key];
    nodes = childNodes(
      fits.flatMap((node) => Object.entries(propertiesOf(node)).flatMap(([name, child]) => (folded(name) === folded(key) ? [child] : []))),
    );
  }
  return true;
}

/** True when it may have members that it does not name. */
function isOpen(node: Node): boolean {
  const { additionalProperties, propertyNames, patternProperties, properties } = node;
  const isClosed = additionalProperties === undefined || additionalProperties === false;
  return !isClosed || propertyNames !== undefined || patternProperties !== undefined || properties === undefined;
}

function folded(key: string): string {
  return key.toLowerCase().replace(/[\s_-]/g, "");
}

/** The plain schemas behind references and unions, each once. */
function leaves(nodes: readonly Node[], root: Node): Node[] {
  const seen = new Set<Node>();
  const found: Node[] = [];
  const open = [...nodes];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    const ref = node["$ref"];
    const inner = [node["anyOf"], node["oneOf"], node["allOf"]].flatMap((list) => (Array.isArray(list) ? childNodes(list as Json[]) : []));
    if (typeof ref === "string") open.push(...childNodes([resolve(ref, root)]));
    open.push(...inner);
    if (typeof ref !== "string" && inner.length === 0) found.push(node);
  }
  return found;
}

/** Returns the schemas that the value can be meant for; all of its type when it fits none, because a wrong reply is read too. */
function fitting(nodes: readonly Node[], value: Json, root: Node): readonly Node[] {
  const fits = nodes.filter((node) => isShapeOf(node, value, root));
  return fits.length > 0 ? fits : nodes.filter((node) => node["type"] === (Array.isArray(value) ? "array" : "object"));
}

/** True when a value can be meant for a schema, by its outermost layer: type, required members, constant members. */
function isShapeOf(node: Node, value: Json, root: Node): boolean {
  if (isList(value)) return node["type"] === "array";
  if (typeof value !== "object" || value === null || node["type"] !== "object") return false;
  const members = value as Node;
  if (!stringsOf(node["required"]).every((name) => Object.hasOwn(members, name))) return false;
  return Object.entries(propertiesOf(node)).every(([name, property]) => {
    const member = Object.hasOwn(members, name) ? members[name] : null;
    if (member === undefined || member === null) return true;
    const lists = leaves(childNodes([property]), root).map(constantsOf);
    return lists.length === 0 || lists.some((list) => list === undefined || list.includes(member));
  });
}

/** The values a schema is limited to; undefined when it is not. */
export function constantsOf(node: Node): readonly Json[] | undefined {
  if (isList(node["enum"])) return node["enum"];
  return node["const"] === undefined ? undefined : [node["const"]];
}

export function acceptsNull(node: Node): boolean {
  if (node["type"] === "null" || listOf(node["type"]).includes("null")) return true;
  const constants = constantsOf(node);
  if (constants !== undefined) return constants.includes(null);
  const any = node["anyOf"] ?? node["oneOf"];
  if (any !== undefined) return childNodes(listOf(any)).some(acceptsNull);
  return node["type"] === undefined && node["$ref"] === undefined && node["allOf"] === undefined;
}

function resolve(ref: string, root: Node): Json | undefined {
  if (ref === "#") return root;
  return ref.startsWith("#/$defs/") ? asNode(root["$defs"] ?? {})[ref.slice("#/$defs/".length)] : undefined;
}

export function childNodes(list: readonly (Json | undefined)[]): Node[] {
  return list.filter((item): item is Node => isRecord(item));
}

export function asNode(value: Json): Node {
  return isRecord(value) ? (value as Node) : {};
}

function propertiesOf(node: Node): Node {
  return asNode(node["properties"] ?? {});
}

function listOf(value: Json | undefined): readonly Json[] {
  return isList(value) ? value : [];
}

export function stringsOf(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}
