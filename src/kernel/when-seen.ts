import { lazily } from "./lazily.ts";

/** A console shows what this gives, where it would show that there is a getter. */
const inspected: unique symbol = Symbol.for("nodejs.util.inspect.custom") as never;

/**
 * Lets members of an object be worked out when somebody first looks at them, each once. They are its own and enumerable like all others: who
 * copies, compares, writes or shows the object sees values, and whoever gives one another value has that. For one of which there are few, each with members of its own making: many of a kind
 * share theirs by `lazyMembers`.
 *
 * @returns the object
 */
export function whenSeen<T extends object>(object: T, makers: { readonly [K in keyof T]?: () => T[K] }): T {
  for (const [key, make] of Object.entries(makers) as [keyof T, () => unknown][])
    Object.defineProperty(object, key, { get: lazily(make), set: replacing(key), enumerable: true, configurable: true });
  return Object.defineProperty(object, inspected, { value: () => ({ ...object }) });
}

/** Puts a plain member where one was that had not been worked out. */
function replacing(key: PropertyKey): (this: object, value: unknown) => void {
  return function (value) {
    Object.defineProperty(this, key, { value, writable: true, enumerable: true, configurable: true });
  };
}
