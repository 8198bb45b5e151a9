import { kinds } from "../kernel/option-kinds.ts";
import { aFunction, listOf, takes } from "../kernel/argument.ts";
import type { CustomState } from "../role/context.ts";
import { canonicalJson } from "../kernel/json.ts";
import { type Address, addressOf } from "../message/address.ts";
import type { Message } from "../message/message.ts";
import type { MicroUsd } from "../model/money.ts";
import type { Role } from "../role/role.ts";
import type { Immutable } from "../role/step-role.ts";
import type { RecordedStop } from "./record/event.ts";
import { unreadIn } from "./record/delivery.ts";
import type { RunState } from "./record/run-state.ts";
import { turnCount } from "./record/turn-count.ts";

/**
 * The view of a run that a stop condition gets when a run is resumed and after every round or, without rounds, every activation. A turn begins
 * with the run, and again with the first activation after a message from outside came to a run at rest.
 */
export interface RunProgress {
  /** The rounds of the present turn; without rounds the most activations of one role in it. */
  readonly rounds: number;
  /** The ticks of the run's clock in the present turn: rounds, simulated time, or activations that have ended. */
  readonly tick: number;
  /** Micro-dollars. */
  readonly spent: MicroUsd;
  /** The number of delivered messages, each counted once; also in an environment with `memory: false`. */
  readonly delivered: number;
  /** Messages that no role has read, for each recipient. States do not reflect them: under `rounds`, a state lags behind its mail by a round. */
  readonly unread: number;
  /** The number of answers of models. */
  readonly calls: number;
  readonly messages: readonly Message[];
  /** Returns true when a message with this cause was delivered in the present turn. */
  said(cause: Address): boolean;
  readonly outputs: readonly Message[];
  /**
   * Returns the custom state of a role after the activations that have ended, by the name it was hired under. A definition gives its type,
   * and names the role hired under the definition's own name. Undefined for an unknown name. It must not be changed.
   */
  state<S>(role: Role<S>): Immutable<S> | undefined;
  state(role: string): CustomState | undefined;
  /** Returns the messages in the mailbox of a role, oldest first. Empty for an unknown name. */
  inbox(role: string): readonly Message[];
}

/**
 * Returns true to end the run. A bound (`afterRounds`, `afterSpending`) ends it with status `stopped`; a function of a program and `saidBy` say that its
 * work is done: `finished`. `RunResult.stoppedBy` names the condition. The conditions of this package are recorded with their arguments, and hold wherever
 * a run is resumed. A function of a program is recorded by its name, which a `const` or a declaration gives it: the program that resumes
 * the run must provide it under that name.
 */
export type StopCondition = (progress: RunProgress) => boolean;

/**
 * A stop condition: the run stops after `n` rounds of a turn, with status `stopped`. The option `rounds` bounds a turn too and ends the run
 * with status `rounds`.
 *
 * @example
 * import { afterRounds, defineRole, Team } from "troupe";
 *
 * const clock = defineRole({ name: "Clock", react: (rc) => rc.message("tick", { sendTo: "<self>" }) });
 * const { status, rounds } = await new Team({ roles: [clock] }).run("begin", { stopWhen: afterRounds(3) }).result;
 * console.log(status, rounds); // stopped 3
 */
export function afterRounds(n: number): StopCondition {
  takes("afterRounds", "n", n, kinds.count);
  return recordable("afterRounds", [n], ({ rounds }) => rounds >= n, true);
}

/**
 * A stop condition: the run stops when at least `amount` micro-dollars were spent. A budget stops the run before the money is spent; this
 * condition stops it after.
 *
 * @example
 * import { afterSpending, usd, type StopCondition } from "troupe";
 *
 * export const enough: StopCondition = afterSpending(usd(0.5));
 */
export function afterSpending(amount: MicroUsd): StopCondition {
  takes("afterSpending", "amount", amount, kinds.count);
  return recordable("afterSpending", [amount], ({ spent }) => spent >= amount, true);
}

/**
 * A stop condition: the run is finished when a message caused by this action was delivered in the present turn.
 *
 * @throws UsageError `ADDRESS_INVALID` for a cause without a name
 *
 * @example
 * import { defineAction, defineRole, saidBy, Team } from "troupe";
 *
 * const Draft = defineAction({ name: "Draft", run: () => "a draft" });
 * const writer = defineRole({ name: "Wim", actions: [Draft] });
 * const { status } = await new Team({ roles: [writer] }).run("write", { stopWhen: saidBy(Draft) }).result;
 * console.log(status); // finished
 */
export function saidBy(cause: Address): StopCondition {
  return recordable("saidBy", [addressOf(cause)], ({ said }) => said(cause));
}

/**
 * A stop condition: the run ends when any of the conditions holds, as that one ends it.
 *
 * @throws UsageError `ARGUMENT_INVALID` for a condition that is no function
 * @example
 * import { afterRounds, afterSpending, anyOf, usd } from "troupe";
 *
 * export const enough = anyOf(afterRounds(20), afterSpending(usd(1)));
 */
export function anyOf(...conditions: readonly StopCondition[]): StopCondition {
  takes("anyOf", "what is given", conditions, listOf(aFunction));
  const holding = (progress: RunProgress): HeldStop | undefined => {
    for (const condition of conditions) {
      const held = heldBy(condition, progress);
      if (held !== undefined) return held;
    }
    return undefined;
  };
  return combined("anyOf", conditions, holding);
}

/**
 * A stop condition: the run ends when all of the conditions hold: `stopped` if all are bounds.
 *
 * @throws UsageError `ARGUMENT_INVALID` for a condition that is no function
 * @example
 * import { afterRounds, allOf, saidBy } from "troupe";
 *
 * export const done = allOf(afterRounds(2), saidBy("Review"));
 */
export function allOf(...conditions: readonly StopCondition[]): StopCondition {
  takes("allOf", "what is given", conditions, listOf(aFunction));
  const holding = (progress: RunProgress): HeldStop | undefined => {
    let isBound = true;
    for (const condition of conditions) {
      const held = heldBy(condition, progress);
      if (held === undefined) return undefined;
      isBound &&= held.isBound;
    }
    return { name: stopText(recordOf(all)), isBound };
  };
  const all = combined("allOf", conditions, holding);
  return all;
}

/** A registered symbol is equal in every copy of this package. */
const record: unique symbol = Symbol.for("troupe.stop");

/** Returns the condition that holds. Equal in every copy of this package, too. */
const holds: unique symbol = Symbol.for("troupe.stop.holds");

/** The condition that ended a run. */
export interface HeldStop {
  readonly name: string;
  /** It bounds the run, and does not say that its work is done. */
  readonly isBound: boolean;
}

type Holding = (progress: RunProgress) => HeldStop | undefined;

function recordable(name: string, made: readonly unknown[], condition: StopCondition, isBound = false): StopCondition {
  const recorded = Object.freeze({ name, with: made }) as RecordedStop;
  const held: HeldStop = { name: stopText(recorded), isBound };
  return withHolding(recorded, condition, (progress) => (condition(progress) ? held : undefined));
}

function combined(name: string, conditions: readonly StopCondition[], holding: Holding): StopCondition {
  return withHolding(Object.freeze({ name, with: conditions.map(recordOf) }), (progress) => holding(progress) !== undefined, holding);
}

function withHolding(recorded: RecordedStop, condition: StopCondition, holding: Holding): StopCondition {
  return Object.defineProperties(condition, { [record]: { value: recorded }, [holds]: { value: holding } });
}

function heldBy(condition: StopCondition & { readonly [holds]?: Holding }, progress: RunProgress): HeldStop | undefined {
  const holding = condition[holds];
  if (holding !== undefined) return holding(progress);
  return condition(progress) ? { name: stopText(recordOf(condition)), isBound: false } : undefined;
}

/** Returns the check of a condition between rounds, and the condition that has held. */
export function checkpointOf(
  stopWhen: StopCondition | undefined,
  state: RunState,
): { readonly checkpoint: (() => boolean) | undefined; readonly held: () => HeldStop | undefined } {
  let held: HeldStop | undefined;
  const checkpoint = (): boolean => {
    held = stopWhen && heldBy(stopWhen, progressOf(state));
    return held !== undefined;
  };
  return { checkpoint: stopWhen && checkpoint, held: () => held };
}

export function recordOf(condition: StopCondition & { readonly [record]?: RecordedStop }): RecordedStop {
  return condition[record] ?? { name: condition.name };
}

export function conditionOf({ name, with: made }: RecordedStop): StopCondition | undefined {
  if (made === undefined) return undefined;
  const [first] = made;
  if (name === "afterRounds" && typeof first === "number") return afterRounds(first);
  if (name === "afterSpending" && typeof first === "number") return afterSpending(first as MicroUsd);
  if (name === "saidBy" && typeof first === "string") return saidBy(first);
  if (name !== "anyOf" && name !== "allOf") return undefined;
  const parts = made.map((part) => (isRecordedStop(part) ? conditionOf(part) : undefined));
  const known = parts.filter((part) => part !== undefined);
  if (known.length < parts.length) return undefined;
  return name === "anyOf" ? anyOf(...known) : allOf(...known);
}

/** Returns a condition as `anyOf(afterRounds(3), enough)`. */
export function stopText({ name, with: made }: RecordedStop): string {
  if (made === undefined) return name === "" ? "a function that has no name" : name;
  return `${name}(${made.map((part) => (isRecordedStop(part) ? stopText(part) : canonicalJson(part))).join(", ")})`;
}

function isRecordedStop(value: unknown): value is RecordedStop {
  if (typeof value !== "object" || value === null) return false;
  const { name, with: made } = value as Partial<RecordedStop>;
  return typeof name === "string" && (made === undefined || Array.isArray(made));
}

function isSaidAfter(deliveries: readonly Message[], cause: string, after: number): boolean {
  for (let index = after; index < deliveries.length; index += 1) if (deliveries[index]?.causeBy === cause) return true;
  return false;
}

/** Returns the present progress of a run. Lists are copied only if a condition reads them. */
export function progressOf(state: RunState): RunProgress {
  const { rounds, tick, after } = turnCount(state);
  return {
    ...{ rounds, tick },
    spent: state.ledger.spent,
    delivered: state.delivered,
    get unread() {
      return unreadIn(state);
    },
    calls: state.calls,
    said: (cause) => (after === 0 ? state.history.newestBy(cause) !== undefined : isSaidAfter(state.deliveries, addressOf(cause), after)),
    get messages() {
      return state.history.get();
    },
    get outputs() {
      return [...state.outputs];
    },
    state: <S>(role: Role<S> | string) => state.roles.get(typeof role === "string" ? role : role.name)?.custom as Immutable<S> | undefined,
    inbox: (name) => state.roles.get(name)?.news() ?? [],
  };
}
