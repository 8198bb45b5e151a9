import type { Address } from "../message/address.ts";
import type { Message } from "../message/message.ts";
import type { MicroUsd } from "../model/money.ts";

/** What a stop condition may look at, after every round (or, when eager, after every activation) and when a run goes on. */
export interface RunProgress {
  readonly rounds: number;
  /** Micro-dollars. */
  readonly spent: MicroUsd;
  readonly messages: readonly Message[];
  /** Whether a message caused by this was delivered. Costs the same however many there are. */
  said(cause: Address): boolean;
  readonly outputs: readonly Message[];
}

/** Whether a run shall stop here, with status `stopped`. */
export type StopCondition = (progress: RunProgress) => boolean;

/** After `n` rounds. */
export function afterRounds(n: number): StopCondition {
  return ({ rounds }) => rounds >= n;
}

/** When at least this much was spent. A budget stops before; this stops after. */
export function afterSpending(amount: MicroUsd): StopCondition {
  return ({ spent }) => spent >= amount;
}

/** When a message caused by this was said. */
export function saidBy(cause: Address): StopCondition {
  return ({ said }) => said(cause);
}

/** When any of the conditions holds. */
export function anyOf(...conditions: readonly StopCondition[]): StopCondition {
  return (progress) => conditions.some((condition) => condition(progress));
}

/** When all of the conditions hold. */
export function allOf(...conditions: readonly StopCondition[]): StopCondition {
  return (progress) => conditions.every((condition) => condition(progress));
}
