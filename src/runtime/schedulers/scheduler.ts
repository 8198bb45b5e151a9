import { UsageError } from "../../kernel/errors.ts";
import { canonicalJson, type Json } from "../../kernel/json.ts";
import { type Mask, masked } from "../../kernel/mask.ts";
import type { RandomStream } from "../../kernel/random.ts";
import { valueText } from "../../kernel/value-text.ts";
import type { Message } from "../../message/message.ts";
import {
  SCHEDULER_FORMS,
  isPolicyName,
  type MessagesScheduler,
  policyOf,
  type PoissonScheduler,
  recordedPolicy,
  type SchedulerName,
  type StagedScheduler,
} from "./policies.ts";

/**
 * The time of delivery of the messages of roles: `round`, at the end of the round in which they were sent; `turn`, when the activation that
 * sent them ends; `choice`, when the scheduler chooses it: each message, also one from outside, is in flight to each of its recipients until
 * then.
 */
export type Delivery = "round" | "turn" | "choice";

/**
 * The clock of a run, on which delays of messages count: `rounds`, the number of rounds that have ended; `activations`, the number of
 * activations that have ended; `time`, simulated time, which passes only while no role has mail or when the scheduler says so.
 */
export type ClockKind = "rounds" | "activations" | "time";

/**
 * The order in which messages that arrive together enter a mailbox: `hire`, in the order in which their senders were hired; `shuffled`, in an
 * order drawn anew each time; `sender`, by the names of their senders. Messages of one sender keep their order, except with `shuffled`.
 */
export type ArrivalOrder = "hire" | "shuffled" | "sender";

/** A role that may act, as a scheduler sees it: it has mail, or acts in each round. */
export interface ReadyRole {
  readonly name: string;
  readonly profile: string;
  /** Index in the order of hiring, from 0. */
  readonly index: number;
  readonly waiting: number;
  readonly n: number;
}

/** A message on its way to one role, as a scheduler sees it that delivers by `choice`. */
export interface MessageInFlight {
  /** The id with which it arrives; `outside#1`, `outside#2` for messages from outside, whose own ids may be random. */
  readonly id: string;
  readonly message: Message;
  /** The role that sent it; empty: outside. */
  readonly from: string;
  readonly to: string;
  /** Its tick, if it was sent with a delay. Only the scheduler decides when it arrives. */
  readonly due?: number;
  /** False while an older message of the same role to the same recipient is in flight. Delayed messages and copies wait for none. */
  readonly isNext: boolean;
}

/**
 * A choice of a scheduler that delivers by `choice`: the fate of one message of `inFlight`, by its index, or the role that crashes. A copy
 * stays in flight. A crashed role never acts again, and messages to it become dead letters.
 */
export type SchedulerChoice =
  | { readonly fate: "delivered" | "lost" | "copied"; readonly index: number }
  | { readonly fate: "crashed"; readonly role: string };

/** The input of a scheduler. */
export interface SchedulerView {
  /**
   * The roles that may act now. With rounds they are in the order of hiring, without those that have acted in this round and those whose mail
   * came since it began; without rounds the role that has waited longest is first. With turns `sweep` these are all roles of the run.
   */
  readonly ready: readonly ReadyRole[];
  /** With `delivers: "choice"`: the messages on their way, in the order in which they were sent. Otherwise empty. */
  readonly inFlight: readonly MessageInFlight[];
  /** Fates and crashes that were chosen so far. */
  readonly choices: number;
  /** The number of roles in `ready`. A scheduler that reads it and not `ready` chooses without a list of all of them. */
  readonly count: number;
  /** Rounds that have ended. Always 0 without rounds. */
  readonly round: number;
  /** Stages of this round that have ended. */
  readonly stage: number;
  /** The present tick of the run's clock. */
  readonly tick: number;
  /** Activations that have ended in this round. */
  readonly acted: number;
  /** Activations under way. */
  readonly running: number;
  /**
   * Returns the next number in [0, 1) of the scheduler's own random stream for this choice. It depends on the seed of the run and on the number
   * of ended activations; with turns `sweep` on the round instead, and with the clock `time` on the tick too. A run that is resumed after
   * a kill makes the same choice if it chooses one role, all of `ready` in their order, or a sweep. Any other choice of several roles
   * is made again, with other numbers.
   */
  random(): number;
  /** Returns the stream of that name for this choice, like {@link random}. @throws UsageError `STREAM_TAKEN` for a name used before in this choice */
  stream(name: string): RandomStream;
}

/**
 * Chooses the roles that act next, and the time of delivery of their messages. The run records its name and parameters, and resumes only
 * with equal ones.
 *
 * @example
 * ```ts
 * import { Environment } from "troupe";
 * import type { Scheduler } from "troupe/ports";
 *
 * const oneAtRandom: Scheduler = {
 *   name: "one-at-random",
 *   delivers: "turn",
 *   select: ({ ready, running, random }) => (running > 0 ? [] : [Math.floor(random() * ready.length)]),
 * };
 * new Environment({ scheduler: oneAtRandom });
 * ```
 */
export interface Scheduler {
  readonly name: string;
  /** Recorded with the run. */
  readonly parameters?: { readonly [name: string]: Json };
  /** The moment at which the messages of roles are delivered. For the order of messages that arrive together see {@link ArrivalOrder}. */
  readonly delivers: Delivery;
  /**
   * The clock of the run. With the clock `rounds` a role acts at most once in a round. Default: `rounds` if it delivers by the `round`, `time`
   * by `choice`, where no time passes, else `activations`.
   */
  readonly clock?: ClockKind;
  /**
   * The order in which the chosen roles act: `concurrent`, as many at a time as the limit of the run allows; `serial`, one after the other; `sweep`, one after
   * the other, chosen once in a round from all roles: each acts if it has mail when its turn comes. Default `concurrent`.
   */
  readonly turns?: "concurrent" | "serial" | "sweep";
  /** The number of stages of a round, if it delivers by the `round`: messages are delivered at the end of each. Default 1. */
  readonly stages?: number;
  /**
   * Returns the indexes in `ready` of the roles that act now, each once, in the order in which they begin. It is called when there is a role in
   * `ready`: with rounds or turns `serial` once all chosen roles have acted, else whenever an activation has ended or a message came from
   * outside. An empty choice ends the stage or the round, or waits for the turns under way.
   *
   * With `delivers: "choice"` it returns one choice: an index in `ready`, or a fate. It is called also when nothing is left to do. An empty
   * choice ends the run: it has finished, or stopped if there is work left.
   */
  select(view: SchedulerView): Iterable<number | SchedulerChoice>;
  /**
   * Returns the simulated time until the next activation, 0 or more, with the clock `time` and turns `serial`. Then `select` chooses the one
   * role that acts at that time. If a delayed message is due earlier, the clock stops at its tick, and both functions are called again.
   */
  wait?(view: SchedulerView): number;
}

/** A scheduler as the options take it: one of this package by its name, one with parameters, or one of a program. */
export type SchedulerOption = SchedulerName | PoissonScheduler | StagedScheduler | MessagesScheduler | Scheduler;

/** Returns the scheduler given by name, with parameters, or as an object. */
export function schedulerOf(given: unknown): Scheduler {
  const policy = policyOf(given);
  if (policy !== undefined) return policy;
  if (!isScheduler(given)) {
    throw new UsageError(
      "SCHEDULER_UNKNOWN",
      `Expected a scheduler ${SCHEDULER_FORMS}, or an object with name, delivers and select, got ${valueText(given)}. Leave it out for rounds.`,
    );
  }
  if (isPolicyName(given.name)) {
    throw new UsageError(
      "SCHEDULER_UNKNOWN",
      `Expected a scheduler with a new name, got an object with the name of the built-in ${given.name}. Give it another name.`,
    );
  }
  const fault = faultOf(given);
  if (fault === undefined) return given;
  throw new UsageError("SCHEDULER_INVALID", `Expected the scheduler ${given.name} to have ${fault}.`);
}

export interface RecordedScheduler {
  readonly scheduler: string;
  readonly parameters?: Json;
  readonly delivery?: Delivery;
  readonly clock?: ClockKind;
}

export function recordedScheduler({ name, parameters, delivers, clock }: Scheduler): RecordedScheduler {
  const given = parameters === undefined ? {} : { parameters };
  if (isPolicyName(name)) return { scheduler: name, ...given };
  return { scheduler: name, delivery: delivers, ...given, ...(clock === undefined ? {} : { clock }) };
}

export interface SchedulerTerms {
  readonly scheduler: string;
  readonly parameters: Json;
  readonly delivery: Delivery;
  readonly clock: ClockKind;
}

export function termsOf({ scheduler, parameters = null, delivery, clock }: RecordedScheduler): SchedulerTerms {
  const policy = delivery === undefined ? recordedPolicy(scheduler, parameters) : undefined;
  const when = delivery ?? policy?.delivers ?? "turn";
  return { scheduler, parameters, delivery: when, clock: clock ?? policy?.clock ?? clockOf(when) };
}

/** Returns the scheduler of a resumed run. Parameters are compared without secrets, because the record has no secrets. */
export function recordedBy(state: SchedulerTerms, given: unknown, mask: Mask): Scheduler {
  const own = given === undefined ? undefined : schedulerOf(given);
  const scheduler = own?.name === state.scheduler ? own : recordedPolicy(state.scheduler, state.parameters);
  if (scheduler === undefined) {
    throw new UsageError(
      "SCHEDULER_UNKNOWN",
      `Expected the scheduler ${valueText(state.scheduler)} of the run's record, got ${own === undefined ? "none" : valueText(own.name)}. Give the team that scheduler.`,
    );
  }
  const [then, now] = [state, termsOf(recordedScheduler(scheduler))].map(({ delivery, clock, parameters }) =>
    canonicalJson({ delivers: delivery, ...(clock === clockOf(delivery) ? {} : { clock }), parameters: masked(mask, parameters) }),
  );
  if (then === now) return scheduler;
  throw new UsageError(
    "SCHEDULER_DIFFERS",
    `Expected the scheduler ${scheduler.name} with ${then}, as in the run's record, got ${now}. Give the team a scheduler with the recorded values.`,
  );
}

/** @throws UsageError `DELIVERY_DIFFERS` if a program resumes a run with another arrival order */
export function assertArrivalOrder({ arrival }: { readonly arrival: ArrivalOrder }, given: ArrivalOrder | undefined): void {
  if (given === undefined || given === arrival) return;
  throw new UsageError(
    "DELIVERY_DIFFERS",
    `Expected the delivery "${arrival}" of the run's record, got "${given}". Give the team the recorded delivery, or leave it out.`,
  );
}

function clockOf(delivery: Delivery): ClockKind {
  if (delivery === "choice") return "time";
  return delivery === "round" ? "rounds" : "activations";
}

function isScheduler(given: unknown): given is Scheduler {
  if (typeof given !== "object" || given === null) return false;
  const { name, delivers, select } = given as Partial<Scheduler>;
  return typeof name === "string" && name !== "" && DELIVERIES.has(delivers) && typeof select === "function";
}

const DELIVERIES: ReadonlySet<unknown> = new Set<Delivery>(["round", "turn", "choice"]);
const CLOCKS: ReadonlySet<unknown> = new Set<ClockKind>(["rounds", "activations", "time"]);
const TURNS: ReadonlySet<unknown> = new Set<Scheduler["turns"]>([undefined, "concurrent", "serial", "sweep"]);

/** Returns what a scheduler of a program should have instead of what it has. */
function faultOf({ delivers, clock = clockOf(delivers), turns, stages, wait }: Scheduler): string | undefined {
  if (!CLOCKS.has(clock)) return `a clock "rounds", "activations" or "time", got ${valueText(clock)}. Leave it out for the default`;
  if (delivers === "round" && clock !== "rounds") return `the clock "rounds" with delivers "round", got "${clock}". Leave the clock out`;
  if (delivers === "choice" && (clock !== "time" || turns !== undefined || wait !== undefined))
    return 'neither clock, turns nor wait with delivers "choice". Leave them out';
  if (!TURNS.has(turns)) return `turns "concurrent", "serial" or "sweep", got ${valueText(turns)}. Leave them out for the default`;
  const isSwept = delivers === "turn" && clock === "rounds";
  if (turns === "sweep" && !isSwept) return 'delivers "turn" and the clock "rounds" with turns "sweep". Add them';
  const areStages = stages === undefined || (Number.isSafeInteger(stages) && stages >= 1 && delivers === "round");
  if (!areStages) return `a whole number of stages, 1 or more, with delivers "round", got ${valueText(stages)}. Leave them out for one`;
  const isTimed = wait === undefined || (typeof wait === "function" && clock === "time" && turns === "serial");
  return isTimed ? undefined : 'a function wait with the clock "time" and turns "serial" alone. Leave wait out, or add them';
}
