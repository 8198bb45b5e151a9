/* None of these checks runs code of the value, except that `isThenable` reads `then`. */

export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** True for an object that is neither null nor an array. */
export function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** True for an object whose prototype is that of object literals, in any realm, or none. */
export function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Returns the members that are not undefined. */
export function defined<T extends object>(members: T): { readonly [K in keyof T]?: Exclude<T[K], undefined> } {
  const known = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known) as { readonly [K in keyof T]?: Exclude<T[K], undefined> };
}

/** Returns a record with the same names, each with a value of its own. */
export function mapped<T, U>(record: Readonly<Record<string, T>>, change: (value: T) => U): Readonly<Record<string, U>> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}

/** `Array.isArray` for readonly types. */
export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

export function isText(value: unknown): value is string {
  return typeof value === "string";
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Code that awaits nothing else continues without a promise. */
export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}
