import { makersOf, type Step } from "./moves.ts";

/** What one property has read between the steps so far. */
export interface Reads {
  readonly roles: ReadonlySet<string>;
  /** True if it has read the messages that were said. */
  readonly messages: boolean;
}

/** Two steps that could have come in the other order. */
export interface Race {
  readonly first: number;
  /** The steps one of which must be tried instead of the first one. */
  readonly instead: readonly string[];
}

/** True if the order of two steps may matter: they have the same role, or both change what a property reads. */
export function isDependent(a: Step, b: Step, reads: Reads): boolean {
  if (a.move.channel === b.move.channel) return true;
  if (a.move.role === b.move.role) return isCrash(a) || isCrash(b) || (a.isEffective && b.isEffective);
  return isRead(a, reads) && isRead(b, reads);
}

export function isCrash({ fates }: Step): boolean {
  return fates[0]?.fate === "crashed";
}

export function isRead(step: Step, { roles, messages }: Reads): boolean {
  const { move, state, said } = step;
  return ((state !== undefined || isCrash(step)) && roles.has(move.role)) || (messages && said.length > 0);
}

/** The causes of the steps of one schedule: which of them must come before which others in every schedule that is equivalent. */
export class Causes {
  readonly #steps: readonly Step[];
  readonly #before: Uint8Array[] = [];
  readonly races: Race[] = [];

  constructor(steps: readonly Step[], reads: Reads) {
    this.#steps = steps;
    const makers = makersOf(steps);
    for (const [index, step] of steps.entries()) {
      const before = new Uint8Array(index);
      this.#before.push(before);
      for (let other = index - 1; other >= 0; other -= 1) {
        const earlier = steps[other] as Step;
        if (before[other] === 1) continue;
        const isMaker = makers[index] === other;
        if (!isMaker && !isDependent(earlier, step, reads)) continue;
        // Of the causes in between, none comes after this one: the two steps could be exchanged.
        if (!isMaker && earlier.move.channel !== step.move.channel) this.races.push(this.#race(other, index));
        before[other] = 1;
        for (const [cause, is] of (this.#before[other] as Uint8Array).entries()) if (is === 1) before[cause] = 1;
      }
    }
  }

  isBefore(one: number, other: number): boolean {
    return this.#before[other]?.[one] === 1;
  }

  /** Returns the steps that must come before one of these, and these, in their order. */
  pastOf(indexes: Iterable<number>): readonly number[] {
    const past = new Set<number>(indexes);
    for (const index of [...past]) for (let one = 0; one < index; one += 1) if (this.isBefore(one, index)) past.add(one);
    return [...past].sort((a, b) => a - b);
  }

  #race(first: number, second: number): Race {
    const free: number[] = [];
    for (let index = first + 1; index < second; index += 1) if (!this.isBefore(first, index)) free.push(index);
    free.push(second);
    const initials = free.filter((one, place) => free.slice(0, place).every((other) => !this.isBefore(other, one)));
    return { first, instead: initials.map((index) => (this.#steps[index] as Step).move.key) };
  }
}
