/*
 * The work of a population, for Troupe and for others: every actor has a count as its state. An actor that reads a message adds one to the
 * count and sends one message on, in `random` to another one at random, in `ring` to its neighbour. So in `ring` all act in every round.
 */

/** Returns the name of an actor. */
export const nameOf = (place) => `r${place}`;

/** The rounds that are measured: enough messages for a small population, few rounds of a large one. */
export const roundsFor = (n) => Math.min(400, Math.max(4, Math.ceil(400_000 / n)));

/** Rounds before the measurement, in which the compiler and the heap settle. */
export const WARM = 3;

/** A generator of numbers in [0, 1) for those that have none of their own: mulberry32. */
export function generator(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
