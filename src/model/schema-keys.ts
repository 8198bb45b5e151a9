import { isList } from "../kernel/value-kind.ts";
import type { Json, JsonObject } from "../kernel/json.ts";
import { childNodes, fitting, leaves, listOf, type Node, propertiesOf } from "./json-schema.ts";

/*
 * Keys of a reply against those of its schema. Pure.
 */

/**
 * A reply with the keys that its schema names: `fileName` or `File_Name` becomes `file_name` where that is wanted and absent, nothing in the
 * schema is called so, and no other key comes as near. Case, `_`, `-` and spaces are all that may differ. Keys of records stay.
 */
export function withSchemaKeys(value: Json, root: JsonObject): Json {
  return renamed(value, [root], root);
}

function renamed(value: Json, nodes: readonly Node[], root: Node): Json {
  const fits = fitting(leaves(nodes, root), value, root);
  if (isList(value)) {
    const items = fits.flatMap((node) => childNodes([node["items"] ?? null, ...listOf(node["prefixItems"])]));
    return items.length === 0 ? value : value.map((item) => renamed(item, items, root));
  }
  if (typeof value !== "object" || value === null) return value;
  const names = newNames(value as Node, fits);
  const members = Object.entries(value as Node).map(([given, member]): [string, Json] => {
    const name = names.get(given) ?? given;
    const owners = fits.filter((node) => Object.hasOwn(propertiesOf(node), name));
    const children = childNodes(
      owners.length === 0 ? fits.map((node) => node["additionalProperties"]) : owners.map((node) => propertiesOf(node)[name]),
    );
    return [name, children.length === 0 ? member : renamed(member, children, root)];
  });
  return Object.fromEntries(members);
}

/** The names of the schema by the keys that stand for them. Where several schemas may be meant nothing is renamed. */
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
 * Whether a reply that ended before its objects were closed can have lost nothing: each of them has every member that its schema knows, also
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

/** Whether it may have members that it does not name. */
function isOpen(node: Node): boolean {
  const { additionalProperties, propertyNames, patternProperties, properties } = node;
  const isClosed = additionalProperties === undefined || additionalProperties === false;
  return !isClosed || propertyNames !== undefined || patternProperties !== undefined || properties === undefined;
}

function folded(key: string): string {
  return key.toLowerCase().replace(/[\s_-]/g, "");
}
