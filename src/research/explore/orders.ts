import type { Chooser, Move, Step } from "./moves.ts";
import { type Causes, isDependent, type Reads } from "./causes.ts";

interface Node {
  /** Steps that are explored here, or will be. */
  readonly wanted: Set<string>;
  /** Steps whose schedules are covered already, each with its outcomes. */
  readonly asleep: Map<string, readonly Step[]>;
  current: string;
  picks: readonly number[];
  outcomes: Step[];
}

/**
 * Visits one schedule of each class of equivalent ones: source sets with sleep sets (Abdulla, Aronis, Jonsson and Sagonas 2014, "Optimal
 * dynamic partial order reduction"). It owns the path to the present schedule.
 *
 * Orders.O1 (`next`) the state of a world is the result of its schedule: each schedule begins anew.
 * Orders.O2 (`advance`) all outcomes of a step are visited before the step sleeps.
 */
export class Orders implements Chooser {
  readonly #path: Node[] = [];
  /** The reads that its dependences count. */
  readonly reads: Reads;

  constructor(reads: Reads) {
    this.reads = reads;
  }

  next(moves: readonly Move[], steps: readonly Step[]): Move | undefined {
    const known = this.#path[steps.length];
    if (known !== undefined) return moves.find(({ key }) => key === known.current);
    const asleep = this.#asleepAfter(steps);
    const move = moves.find(({ key }) => !asleep.has(key));
    if (move === undefined) return undefined;
    this.#path.push({ wanted: new Set([move.key]), asleep, current: move.key, picks: [], outcomes: [] });
    return move;
  }

  pick(_of: number, _kind: unknown, steps: readonly Step[]): number {
    const at = steps.length - 1;
    return this.#path[at]?.picks[steps[at]?.picks.length ?? 0] ?? 0;
  }

  /** Returns the step that a schedule should have taken and did not; undefined if it took all of the path. */
  goneIn(steps: readonly Step[]): string | undefined {
    return this.#path.find(({ current }, index) => steps[index]?.move.key !== current)?.current;
  }

  /** Learns from a schedule, and goes to the next one. Returns false when all are visited. */
  advance(steps: readonly Step[], { races }: Causes): boolean {
    for (const { first, instead } of races) {
      const node = this.#path[first];
      if (node !== undefined && !instead.some((key) => node.wanted.has(key))) node.wanted.add(instead[0] as string);
    }
    while (this.#path.length > 0) {
      const node = this.#path.at(-1) as Node;
      const step = steps[this.#path.length - 1] as Step;
      node.outcomes.push(step);
      const picks = nextPicks(step);
      if (picks !== undefined) {
        node.picks = picks;
        return true;
      }
      node.asleep.set(node.current, node.outcomes);
      const key = [...node.wanted].find((one) => !node.asleep.has(one));
      if (key !== undefined) {
        Object.assign(node, { current: key, picks: [], outcomes: [] });
        return true;
      }
      this.#path.pop();
    }
    return false;
  }

  #asleepAfter(steps: readonly Step[]): Map<string, readonly Step[]> {
    const last = steps.at(-1);
    const before = this.#path.at(-1)?.asleep;
    if (last === undefined || before === undefined) return new Map();
    return new Map([...before].filter(([, outcomes]) => outcomes.every((step) => !isDependent(step, last, this.reads))));
  }
}

/** Returns the next combination of the choices inside a step; undefined after the last one. */
function nextPicks({ picks }: Step): readonly number[] | undefined {
  const last = picks.findLastIndex(({ of, took }) => took + 1 < of);
  if (last === -1) return undefined;
  return picks.slice(0, last + 1).map(({ took }, index) => (index === last ? took + 1 : took));
}
