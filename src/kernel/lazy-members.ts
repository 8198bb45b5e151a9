/** How members of an object are worked out when they are read. */
export type LazyReads<T extends object> = { readonly [K in keyof T]?: (object: T) => T[K] };

/** Under it an object knows itself, whoever is asked in its place: a proxy before it, or an object that has it for a prototype. */
const itself: unique symbol = Symbol("itself");

/**
 * Gives objects members that are worked out when they are read, their own and enumerable: a copy of the object has them too. An accessor in an
 * object literal does the same, with functions and a shape of its own for each object: that takes longer than all else that a step does, and
 * keeps what those functions see until old garbage is collected. Here all objects of a kind share them.
 *
 * @returns puts the members into an object, which is given back
 */
export function lazyMembers<T extends object>(reads: LazyReads<T>): (object: T) => T {
  const all: PropertyDescriptorMap = {};
  for (const [key, read] of Object.entries(reads) as [string, (object: T) => unknown][]) {
    all[key] = {
      get(this: T & { readonly [itself]: T }): unknown {
        return read(this[itself]);
      },
      enumerable: true,
      configurable: true,
    };
  }
  return (object) => Object.defineProperty(Object.defineProperties(object, all), itself, { value: object });
}
