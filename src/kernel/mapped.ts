/** `map` passes an index where a function takes options, and the list behind it, by which the call is recognized. */

export function unlessMapped<T>(second: T | number | undefined, list: readonly unknown[] | undefined): T | undefined;
export function unlessMapped<T>(second: T | number | undefined, list: readonly unknown[] | undefined, otherwise: T): T;
export function unlessMapped<T>(second: T | number | undefined, list: readonly unknown[] | undefined, otherwise?: T): T | undefined {
  return second === undefined || (typeof second === "number" && Array.isArray(list)) ? otherwise : (second as T);
}
