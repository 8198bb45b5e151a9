import { appendFileSync } from "node:fs";

/** The groups of long tests, each run by `npm run long -- GROUP`. A test belongs to the groups among its tags. */
export const GROUPS = ["fleet", "pages", "company", "kill", "numbers", "science", "site"] as const;

const { TROUPE_LONG: asked, TROUPE_FIGURES: figures } = process.env;

/** The group that runs, or undefined under `npm test`. No other file reads TROUPE_LONG and TROUPE_FIGURES. */
export const group = GROUPS.find((one) => one === asked);

/** Returns how often a test tries something: `few` times under `npm test`, `many` times in a group. */
export function tries(few: number, many: number): number {
  return group === undefined ? few : many;
}

/** Returns the positions 1 to `most`, or under `npm test` a few of them. */
export function positionsOf(most: number, few: readonly number[]): readonly number[] {
  return group === undefined ? few : Array.from({ length: most }, (_, n) => n + 1);
}

/** Returns the positions 0 to `length` where a run is cut: under `npm test` every fifth, from a first one that differs between lengths. */
export function cutsOf(length: number): readonly number[] {
  const all = Array.from({ length: length + 1 }, (_, position) => position);
  return group === undefined ? all.filter((position) => position % 5 === length % 5) : all;
}

/** Returns the cases of a test: under `npm test` only `few` of them, spread over the list. */
export function someOf<T>(cases: readonly T[], few: number): readonly T[] {
  return group === undefined ? cases.filter((_, position) => (position * few) % cases.length < few) : cases;
}

/** Adds a line to the figures that a group prints at its end. */
export function figure(line: string): void {
  if (figures !== undefined) appendFileSync(figures, `${line}\n`);
}
