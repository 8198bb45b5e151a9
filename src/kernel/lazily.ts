/**
 * Makes a value when it is first asked for, and gives the same one ever after. For what is dear to make and seldom needed: a schema costs as
 * much as a few hundred hops, and nobody who only imports the package has asked for one.
 *
 * @returns gives the value; what `make` throws is thrown each time
 */
export function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
