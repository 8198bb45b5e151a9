import type { Json } from "../kernel/json.ts";

/** Deeper values are left to those who look closer. */
const MAX_DEPTH = 100;

/**
 * A copy of a value that is nothing but JSON, its keys in the order of canonical JSON: what writing it as that and reading it back would give,
 * without the text. Undefined for any other value: one with numbers that JSON has not, with objects of a kind of their own, very deep, or
 * with keys that would change a prototype. May throw what looking at the value throws.
 */
export function plainCopy(value: unknown, depth: number = 0): Json | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      // There is no -0 in canonical JSON.
      return Number.isFinite(value) ? value + 0 : undefined;
    case "object":
      if (value === null) return null;
      if (depth === MAX_DEPTH) return undefined;
      return Array.isArray(value) ? listCopy(value, depth) : recordCopy(value, depth);
    default:
      return undefined;
  }
}

function listCopy(value: readonly unknown[], depth: number): Json | undefined {
  if ("toJSON" in value) return undefined;
  const items: Json[] = [];
  for (const item of value) {
    const copy = plainCopy(item, depth + 1);
    if (copy === undefined) return undefined;
    items.push(copy);
  }
  return items;
}

function recordCopy(value: object, depth: number): Json | undefined {
  if (Object.getPrototypeOf(value) !== Object.prototype || "toJSON" in value || Symbol.toStringTag in value) return undefined;
  const copy: Record<string, Json> = {};
  for (const key of Object.keys(value).sort()) {
    if (key === "__proto__") return undefined;
    const member = (value as Readonly<Record<string, unknown>>)[key];
    if (member === undefined) continue;
    const inner = plainCopy(member, depth + 1);
    if (inner === undefined) return undefined;
    copy[key] = inner;
  }
  return copy;
}
