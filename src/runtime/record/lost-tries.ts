import type { RunSettled, SettledTry, StepStarted } from "./event.ts";
import { roleNameIn } from "./role-state.ts";
import type { RunState } from "./run-state.ts";

/** A try whose end is unknown, because its process died. Its hold counts as spent until it is settled. */
export interface LostTry extends Pick<StepStarted, "act" | "key" | "try" | "hold" | "unpriced" | "dropsRepeats"> {
  /** The id of the model, if the step belongs to one. */
  readonly model?: string;
  /** Milliseconds: when it was found lost. */
  readonly at: number;
}

interface Successor extends Pick<LostTry, "act" | "key"> {
  readonly dropsRepeats: number | undefined;
  readonly cost: number | null;
}

/** Returns the settlements of the lost tries that a try repeats. They cost as much as the try, and nothing if the server dropped them. */
export function settledBy({ lost }: RunState, { act, key, dropsRepeats, cost }: Successor): readonly SettledTry[] {
  if (lost.length === 0) return lost as readonly never[];
  const isRepeated = (one: LostTry): boolean => roleNameIn(one.act) === roleNameIn(act) && addressIn(one.key) === addressIn(key);
  const isDropped = (one: LostTry): boolean =>
    one.dropsRepeats !== undefined && one.dropsRepeats === dropsRepeats && one.act === act && one.key === key;
  return lost.filter(isRepeated).map((one) => settledAt(one, isDropped(one) ? 0 : cost));
}

/** Returns the lost tries of a step, which its next try repeats, also in another attempt. */
export function lostAt({ lost }: RunState, { act, key }: Pick<LostTry, "act" | "key">): readonly LostTry[] {
  return lost.length === 0 ? lost : lost.filter((one) => one.key === key && roleNameIn(one.act) === roleNameIn(act));
}

export function settledAt({ act, key, try: nth, hold, unpriced }: Omit<LostTry, "at">, cost: number | null): SettledTry {
  return { act, key, try: nth, hold, cost, ...(unpriced === undefined ? {} : { unpriced }) };
}

/** Returns settlements at zero for tries lost before a time, unless an open activation is about to repeat them. */
export function overdueTries({ lost }: RunState, before: number): readonly [] | readonly [RunSettled] {
  const settles = lost.filter(({ at }) => at <= before).map((one) => settledAt(one, 0));
  return settles.length === 0 ? [] : [{ type: "run.settled", settles }];
}

/** Returns the difference that settlements make to the spending: micro-dollars, and calls without a known price. */
export function settledMore(settles: readonly SettledTry[] = []): { readonly known: number; readonly unpriced: number } {
  let [known, unpriced] = [0, 0];
  for (const one of settles) {
    known += (one.cost ?? 0) - one.hold;
    unpriced += (one.cost === null ? 1 : 0) - (one.unpriced === true ? 1 : 0);
  }
  return { known, unpriced };
}

function addressIn(key: string): string {
  return key.slice(0, key.lastIndexOf("."));
}

export function isSameTry(one: Pick<LostTry, "act" | "key" | "try">, other: Pick<LostTry, "act" | "key" | "try">): boolean {
  return one.act === other.act && one.key === other.key && one.try === other.try;
}
