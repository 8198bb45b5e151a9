import type { Json, JsonObject } from "../kernel/json.ts";
import { isList } from "../kernel/value-kind.ts";
import { branchesOf, constantsOf, listOf, nodesIn, propertiesOf, referred, type SchemaNode, stringsOf, typesOf } from "./schema-node.ts";

/*
 * Replies and the schemas that they are meant for. Unions are read with all their fitting branches at once.
 */

/** Returns a reply without the nulls that mean "left out": the wire makes optional members nullable. A null stays where the schema takes one. */
export function withoutFillers(value: Json, root: JsonObject): Json {
  return holdsNull(value) ? read(value, [root], root, { isLeftOut: isFiller }) : value;
}

/**
 * Returns a reply with the keys of its schema: `fileName` or `File_Name` becomes `file_name` where that is wanted and absent, nothing in the
 * schema has the given name, and no other key is as near. Keys of records stay.
 */
export function withSchemaKeys(value: Json, root: JsonObject): Json {
  return read(value, [root], root, { names: newNames });
}

interface RecordChange {
  /** The names of members by their present keys. */
  readonly names?: (record: JsonObject, nodes: readonly SchemaNode[]) => ReadonlyMap<string, string>;
  /** True for a null that is no answer. @param owners the schemas that name the member */
  readonly isLeftOut?: (name: string, owners: readonly SchemaNode[], children: readonly SchemaNode[], root: SchemaNode) => boolean;
}

function read(value: Json, nodes: readonly SchemaNode[], root: SchemaNode, change: RecordChange): Json {
  const fits = fitting(leaves(nodes, root), value, root);
  if (isList(value)) {
    const items = fits.flatMap((node) => nodesIn([node["items"], ...listOf(node["prefixItems"])]));
    return items.length === 0 ? value : value.map((item) => read(item, items, root, change));
  }
  if (typeof value !== "object" || value === null) return value;
  const names = change.names?.(value as JsonObject, fits);
  const members = Object.entries(value as JsonObject).flatMap(([given, member]): [string, Json][] => {
    const name = names?.get(given) ?? given;
    const owners = fits.filter((node) => Object.hasOwn(propertiesOf(node), name));
    const children = nodesIn(
      owners.length === 0 ? fits.map((node) => node["additionalProperties"]) : owners.map((node) => propertiesOf(node)[name]),
    );
    if (member === null && change.isLeftOut?.(name, owners, children, root) === true) return [];
    return [[name, children.length === 0 ? member : read(member, children, root, change)]];
  });
  return Object.fromEntries(members);
}

function isFiller(name: string, owners: readonly SchemaNode[], children: readonly SchemaNode[], root: SchemaNode): boolean {
  const isOptional = owners.some((node) => !stringsOf(node["required"]).includes(name));
  return isOptional && !leaves(children, root).some(acceptsNull);
}

function holdsNull(value: Json): boolean {
  return typeof value === "object" && value !== null ? Object.values(value).some(holdsNull) : value === null;
}

/** Where several schemas fit, nothing is renamed. */
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
