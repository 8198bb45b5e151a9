import { isRecord } from "../../kernel/value-kind.ts";

/** Members of an object by their names. */
export type Members = { readonly [name: string]: unknown };

/**
 * The members of an object besides those of the given names: null when there are none, undefined when one of them is named `__proto__`,
 * for it cannot be put into another object.
 */
export function membersBeside(object: object, names: readonly string[]): Members | null | undefined {
  const keys = Object.keys(object);
  if (isBeginning(keys, names)) return null;
  let others: Record<string, unknown> | null = null;
  for (const key of keys) {
    if (names.includes(key)) continue;
    if (key === "__proto__") return undefined;
    const member = (object as Members)[key];
    if (member !== undefined) (others ??= {})[key] = member;
  }
  return others;
}

/** Nearly all objects have the names in this order, and nothing else. */
function isBeginning(keys: readonly string[], names: readonly string[]): boolean {
  for (let place = 0; place < keys.length; place += 1) if (keys[place] !== names[place]) return false;
  return true;
}

/** The object with these members too, or undefined when it has one of them, or they are no members. */
export function withMembers<T extends object>(object: T, members: unknown): T | undefined {
  if (members === undefined) return object;
  if (!isRecord(members)) return undefined;
  return Object.keys(members).some((key) => Object.hasOwn(object, key)) ? undefined : { ...object, ...members };
}
