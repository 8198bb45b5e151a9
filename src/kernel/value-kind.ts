/*
 * Checks of the kind of a value, shared by all rooms. None of them runs code of the value, except that `isThenable` reads `then`.
 */

/** True for an object or an array. */
export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** True for an object with members: anything of the type "object" but null and arrays. */
export function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** True for an object whose prototype is that of object literals, in this realm or another, or none. */
export function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** `Array.isArray` for readonly types. */
export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** True for a string. */
export function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** True for a whole number of 0 or more. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** True for a value that must be awaited. Code that awaits nothing else goes on without a promise. */
export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}
