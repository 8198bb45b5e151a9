import type { JsonObject } from "../../kernel/json.ts";
import { isCrash } from "./causes.ts";
import { hasFault, type Step, type Walk } from "./moves.ts";

/** A part of a schedule that leads back to the state in which it began. */
export interface Circle {
  readonly length: number;
  /** The number of steps until its end. */
  readonly until: number;
}

interface Flying {
  readonly way: string;
  readonly text: string;
}

/** Returns the first circle of a schedule that can be repeated for ever: it uses each way on which messages wait, and no role with actions. */
export function circleIn({ steps, states: first, remembering }: Walk): Circle | undefined {
  const states = new Map<string, JsonObject>(first);
  const flying = new Map<string, Flying>();
  const known = new Map<string, number>();
  const waiting: (readonly string[])[] = [];
  const crashed = new Set<string>();
  let [remembered, faults] = [0, 0];
  const used: (string | undefined)[] = [];
  for (const [index, step] of steps.entries()) {
    const { move, state, created } = step;
    used.push(flying.get(move.key)?.way);
    if (!isCrash(step)) flying.delete(move.key);
    else crashed.add(move.role);
    if (state !== undefined) states.set(move.role, state);
    for (const key of created) flying.set(key, flightOf(key, step));
    waiting.push([...flying.values()].map(({ way }) => way));
    if (step.isEffective && remembering.has(move.role)) remembered += 1;
    // The faults of a schedule are bounded, so that none is repeated for ever.
    if (hasFault(step)) faults += 1;
    const now = JSON.stringify([
      remembered,
      faults,
      [...states],
      [...crashed],
      [...flying.values()].map(({ way, text }) => [way, text]).sort(byWay),
    ]);
    const before = known.get(now);
    known.set(now, index);
    if (before === undefined) continue;
    const isFair = (waiting[before] ?? []).every((way) => used.slice(before + 1, index + 1).includes(way));
    if (isFair) return { length: index - before, until: index + 1 };
  }
  return undefined;
}

function flightOf(key: string, { move, said }: Step): Flying {
  const message = said.find(({ id }) => key.startsWith(`${id} to `) || key.startsWith(`${id}*`));
  if (message === undefined) return { way: key, text: key };
  const { id, causeBy, content, instructContent } = message;
  return {
    way: `${move.role} to ${key.slice(key.indexOf(" to ", id.length) + 4)}`,
    text: JSON.stringify([causeBy, content, instructContent ?? null]),
  };
}

/** Messages of one way keep their order. */
function byWay([one = ""]: readonly string[], [other = ""]: readonly string[]): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
