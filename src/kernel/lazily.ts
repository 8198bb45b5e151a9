/** Makes a value on first use, keeps it and releases the maker. An error of `make` is thrown on each call. */
export function lazily<T>(make: () => T): () => T {
  let left: (() => T) | undefined = make;
  let made: T | undefined;
  return () => {
    if (left === undefined) return made as T;
    made = left();
    left = undefined;
    return made;
  };
}

/** Makes members of an object lazy. They stay own, enumerable and writable. @returns the object */
export function lazyMembers<T extends object>(object: T, makers: { readonly [K in keyof T]?: () => T[K] }): T {
  for (const [key, make] of Object.entries(makers) as [keyof T, () => unknown][])
    Object.defineProperty(object, key, { get: lazily(make), set: replacing(key), enumerable: true, configurable: true });
  // Without this a console would print getters.
  return Object.defineProperty(object, Symbol.for("nodejs.util.inspect.custom"), { value: () => ({ ...object }) });
}

function replacing(key: PropertyKey): (this: object, value: unknown) => void {
  return function (value) {
    Object.defineProperty(this, key, { value, writable: true, enumerable: true, configurable: true });
  };
}
