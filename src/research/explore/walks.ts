import type { Random } from "../../kernel/random.ts";
import type { Chooser, Move, PickKind, Step } from "./moves.ts";

const FAULT_CHANCE = 0.2;

/** A walk that draws each step, all with equal chance. */
export function randomWalk(random: Random): Chooser {
  return { next: (moves) => moves[drawn(moves.length, random)], pick: (of, kind) => drawnPick(of, kind, random) };
}

/**
 * A walk by random priorities of the channels, `changes` of which sink on the way (Burckhardt et al. 2010, "A randomized scheduler with
 * probabilistic guarantees of finding bugs").
 *
 * @param length of a usual schedule
 */
export function priorityWalk(random: Random, changes: number, length: number): Chooser {
  const priorities = new Map<string, number>();
  const sinking = new Set(Array.from({ length: changes }, () => drawn(length, random)));
  const priorityOf = ({ channel }: Move): number => {
    const known = priorities.get(channel) ?? 1 + random();
    priorities.set(channel, known);
    return known;
  };
  return {
    next(moves, steps) {
      const ranked = moves.toSorted((a, b) => priorityOf(b) - priorityOf(a));
      const [first, second] = ranked;
      if (!sinking.has(steps.length) || first === undefined) return first;
      priorities.set(first.channel, -steps.length);
      return second ?? first;
    },
    pick: (of, kind) => drawnPick(of, kind, random),
  };
}

/** A walk that takes the newest message first, and the last answer. */
export const newestFirst: Chooser = { next: (moves) => moves.at(-1), pick: (of, kind) => (kind === "answer" ? of - 1 : 0) };

/** Walks towards what no schedule has shown: a message that is read before another one, a fault, an answer. Equal steps are drawn. */
export class NewWalks {
  readonly #seen = new Map<string, number>();
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  readonly chooser: Chooser = {
    next: (moves) => {
      const worth = moves.map((move) => {
        const rivals = moves.filter((other) => other !== move && other.role === move.role);
        const gain = rivals.reduce((sum, rival) => sum + this.#rarity(before(move, rival)), 0);
        return gain + this.#random();
      });
      return moves[worth.indexOf(Math.max(...worth))];
    },
    pick: (of, kind, steps) => {
      const step = steps.at(-1);
      const worth = Array.from({ length: of }, (_, took) => this.#rarity(picked(steps, step, took)) + this.#random());
      // Most steps have no fault, so that others come after it.
      if (kind === "fault" && this.#random() < FAULT_CHANCE) return drawn(of, this.#random);
      return kind === "fault" && Math.max(...worth.slice(1)) < 1 ? 0 : worth.indexOf(Math.max(...worth));
    },
  };

  /** Notes what a schedule has shown. */
  learn(steps: readonly Step[]): void {
    for (const [index, step] of steps.entries()) {
      for (const other of steps.slice(index + 1)) if (other.move.role === step.move.role) this.#count(before(step.move, other.move));
      for (const { took } of step.picks) this.#count(picked(steps.slice(0, index + 1), step, took));
    }
  }

  #rarity(what: string): number {
    return 1 / (1 + (this.#seen.get(what) ?? 0)) ** 2;
  }

  #count(what: string): void {
    this.#seen.set(what, (this.#seen.get(what) ?? 0) + 1);
  }
}

function before(one: Move, other: Move): string {
  return `${one.key} before ${other.key}`;
}

/** A choice counts anew after each step of its role. */
function picked(steps: readonly Step[], step: Step | undefined, took: number): string {
  const nth = steps.filter(({ move, isEffective }) => isEffective && move.role === step?.move.role).length;
  return `${step?.move.key ?? ""} picks ${took} after ${step?.move.index === -1 ? nth : 0}`;
}

/** A walk that takes given steps, as far as they are possible, and then the oldest messages. */
export function givenWalk(keys: readonly string[], picks: readonly (readonly number[])[]): Chooser {
  return {
    next: (moves, { length }) => moves.find(({ key }) => key === keys[length]) ?? (length < keys.length ? undefined : moves[0]),
    pick: (_of, _kind, steps) => picks[steps.length - 1]?.[steps.at(-1)?.picks.length ?? 0] ?? 0,
  };
}

function drawn(of: number, random: Random): number {
  return Math.floor(random() * of);
}

function drawnPick(of: number, kind: PickKind, random: Random): number {
  if (kind === "answer") return drawn(of, random);
  return random() < FAULT_CHANCE ? 1 + drawn(of - 1, random) : 0;
}
