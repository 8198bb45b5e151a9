/**
 * Functions that make one value of another are passed to `map`: `texts.map(ChatMessage.user)`. It passes an index where they take options, and the
 * list behind it, by which the call is recognized.
 */

/** Returns the second argument of a call; another value where there is none, and where `map` has passed an index. */
export function unlessMapped<T>(second: T | number | undefined, list: readonly unknown[] | undefined): T | undefined;
export function unlessMapped<T>(second: T | number | undefined, list: readonly unknown[] | undefined, otherwise: T): T;
export function unlessMapped<T>(second: T | number | undefined, list: readonly unknown[] | undefined, otherwise?: T): T | undefined {
  return second === undefined || (typeof second === "number" && Array.isArray(list)) ? otherwise : (second as T);
}
