/**
 * How hard the tests try. A test that can try more names its numbers here: few for `npm test`, more for `npm run soak`, all for
 * `npm run kill`. No other file reads TROUPE_EFFORT and TROUPE_SOAK_ENDS.
 */
export type Effort = "test" | "soak" | "kill";

const { TROUPE_EFFORT: asked = "test" } = process.env;

export const effort: Effort = asked === "soak" || asked === "kill" ? asked : "test";

/** When the soak ends, in milliseconds since 1970: no test of it begins after that. */
const { TROUPE_SOAK_ENDS: ends = "Infinity" } = process.env;

/** True once the time of the soak is over, so that it has an end on a slow machine too. */
export function isSoakOver(): boolean {
  return effort === "soak" && Date.now() > Number(ends);
}

/** Returns how often a test tries something under the present effort. */
export function tries(few: number, more: number, all: number = more): number {
  return { test: few, soak: more, kill: all }[effort];
}

/** Returns at which of the places 1 to `most` a test tries something: all of them when the effort is `kill`. */
export function placesOf(most: number, few: readonly number[], more: readonly number[]): readonly number[] {
  if (effort === "kill") return Array.from({ length: most }, (_, n) => n + 1);
  return effort === "soak" ? more : few;
}

/** Returns the places 0 to `length` where a run is cut: under `npm test` every fifth of them, from a first one that differs between lengths. */
export function cutsOf(length: number): readonly number[] {
  const all = Array.from({ length: length + 1 }, (_, place) => place);
  return effort === "test" ? all.filter((place) => place % 5 === length % 5) : all;
}

/** Returns the cases that are tried: under `npm test` so many of them, or none, spread over the list. */
export function someOf<T>(cases: readonly T[], few: number): readonly T[] {
  return effort === "test" ? cases.filter((_, place) => (place * few) % cases.length < few) : cases;
}

const nothing = Object.assign((): unknown => nothing, { each: (): unknown => nothing });

/**
 * Returns what registers a test (`it`) or a group of them (`describe`), or what registers nothing under `npm test`. For a test that takes long and
 * whose subject a faster one shows too.
 */
export function inSoak<T extends (...given: never[]) => unknown>(register: T): T {
  return effort === "test" ? (nothing as unknown as T) : register;
}
