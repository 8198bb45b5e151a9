/**
 * Makes a value when it is first asked for, and gives the same one ever after. For what is dear to make and seldom needed: a schema costs as
 * much as a few hundred hops, and nobody who only imports the package has asked for one. What it was made of is let go.
 *
 * @returns gives the value; what `make` throws is thrown each time
 */
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
