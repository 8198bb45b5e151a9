import { isList, isRecord } from "../kernel/value-kind.ts";

/** A JSON Schema, or a part of one. It may come from elsewhere, so any keyword may have any value. */
export type SchemaNode = { readonly [key: string]: unknown };

export function listOf(value: unknown): readonly unknown[] {
  return isList(value) ? value : [];
}

export function nodesIn(list: readonly unknown[]): SchemaNode[] {
  return list.filter((item): item is SchemaNode => isRecord(item));
}

export function stringsOf(value: unknown): readonly string[] {
  return listOf(value).filter((item): item is string => typeof item === "string");
}

export function typesOf({ type }: SchemaNode): readonly string[] {
  return stringsOf(isList(type) ? type : [type]);
}

export function branchesOf(node: SchemaNode): readonly unknown[] {
  return [...listOf(node["anyOf"]), ...listOf(node["oneOf"])];
}

export function propertiesOf(node: SchemaNode): SchemaNode {
  return isRecord(node["properties"]) ? node["properties"] : {};
}

/** The values that a schema is limited to; undefined when it is not. */
export function constantsOf(node: SchemaNode): readonly unknown[] | undefined {
  if (isList(node["enum"])) return node["enum"];
  return Object.hasOwn(node, "const") ? [node["const"]] : undefined;
}

/** Returns the schema that a reference names. An unknown one takes any value. */
export function referred(ref: string, root: SchemaNode): unknown {
  if (ref === "#") return root;
  const [, folder = "", name = ""] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(ref) ?? [];
  const defs = root[folder];
  return isRecord(defs) && Object.hasOwn(defs, name) ? defs[name] : true;
}
