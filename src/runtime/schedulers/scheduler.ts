import { UsageError } from "../../kernel/errors.ts";
import { canonicalJson, type Json } from "../../kernel/json.ts";
import type { RandomStream } from "../../kernel/random.ts";
import { valueText } from "../../kernel/value-text.ts";

/**
 * The time of delivery of the messages of roles: `round`, at the end of the round in which they were sent; `turn`, when the activation that
 * sent them ends.
 */
export type Delivery = "round" | "turn";

/** A role with mail, as a scheduler sees it. */
export interface ReadyRole {
  readonly name: string;
  /** Place in the order of hiring, from 0. */
  readonly index: number;
  /** Messages in its mailbox. */
  readonly waiting: number;
  /** Activations that it has ended. */
  readonly n: number;
}

/** The input of a scheduler. */
export interface SchedulerView {
  /**
   * The roles that may act now. With delivery `round` they are in the order of hiring, without those that have acted in this round; with
   * delivery `turn` the role that has waited longest is first.
   */
  readonly ready: readonly ReadyRole[];
  /** Rounds that have ended. Always 0 with delivery `turn`. */
  readonly round: number;
  /** Activations that have ended in this round. */
  readonly acted: number;
  /** Activations under way. */
  readonly running: number;
  /**
   * Returns the next number in [0, 1) of the scheduler's own random stream, which depends on the seed of the run and on how many
   * activations have ended: a run that is resumed after a kill gets the same numbers.
   */
  random(): number;
  /**
   * Returns the stream of that name for this choice: a function of the seed, the number of ended activations, and the name.
   *
   * @throws UsageError `STREAM_TAKEN` for a name that this choice has asked for before
   */
  stream(name: string): RandomStream;
}

/**
 * Chooses the roles that act next, and the time of delivery of their messages. The run records its name and parameters, and can be resumed
 * only with a scheduler of equal ones.
 *
 * @example
 * ```ts
 * import { Environment, type Scheduler } from "troupe";
 *
 * const oneAtRandom: Scheduler = {
 *   name: "one-at-random",
 *   delivery: "turn",
 *   select: ({ ready, running, random }) => (running > 0 ? [] : [Math.floor(random() * ready.length)]),
 * };
 * new Environment({ scheduler: oneAtRandom });
 * ```
 */
export interface Scheduler {
  readonly name: string;
  /** Recorded with the run. */
  readonly parameters?: { readonly [name: string]: Json };
  readonly delivery: Delivery;
  /**
   * Returns the places in `ready` of the roles that act now, each once, in the order in which they begin. They run concurrently, as far as
   * the limit of the run allows. It is called when there is a role in `ready`: with delivery `round` once all chosen roles have acted, with
   * delivery `turn` whenever an activation has ended or a message came from outside. An empty choice ends the round, or waits for the turns
   * under way.
   */
  select(view: SchedulerView): Iterable<number>;
}

/** Simultaneous activation: every role with mail acts once in a round, and reads in the next round the messages of this one. */
const rounds: Scheduler = { name: "rounds", delivery: "round", select: ({ ready }) => ready.keys() };

/** A role acts as soon as it has mail. The role that has waited longest begins first. */
const eager: Scheduler = { name: "eager", delivery: "turn", select: ({ ready }) => ready.keys() };

const named: readonly Scheduler[] = [rounds, eager];

/** Returns the delivery of a scheduler whose record has only its name. */
export function deliveryOf(name: string): Delivery {
  return name === rounds.name ? rounds.delivery : "turn";
}

/**
 * Returns the scheduler that is given by name or as an object.
 *
 * @throws UsageError `SCHEDULER_UNKNOWN`
 */
export function schedulerOf(given: unknown): Scheduler {
  const scheduler = named.find(({ name }) => name === given) ?? given;
  if (isScheduler(scheduler)) {
    const isTaken = named.some((known) => known.name === scheduler.name && known !== scheduler);
    if (!isTaken) return scheduler;
    throw new UsageError(
      "SCHEDULER_UNKNOWN",
      `Expected a scheduler with a name of its own, got an object with the name of the built-in ${scheduler.name}. Give it another name.`,
    );
  }
  throw new UsageError(
    "SCHEDULER_UNKNOWN",
    `Expected a scheduler "rounds" or "eager", or an object with name, delivery and select, got ${valueText(given)}. Leave it out for rounds.`,
  );
}

/** The recorded form of a scheduler. */
export interface RecordedScheduler {
  readonly scheduler: string;
  readonly parameters?: Json;
  readonly delivery?: Delivery;
}

/** Returns the recorded form of a scheduler. */
export function recordedScheduler({ name, parameters, delivery }: Scheduler): RecordedScheduler {
  if (named.some((known) => known.name === name)) return { scheduler: name };
  return { scheduler: name, delivery, ...(parameters === undefined ? {} : { parameters }) };
}

/**
 * Returns the scheduler of a resumed run.
 *
 * @param given the scheduler of the program that resumes the run
 * @throws UsageError `SCHEDULER_UNKNOWN` where the record names one that the program does not have; `SCHEDULER_DIFFERS` where the
 * parameters differ
 */
export function recordedBy(
  state: { readonly scheduler: string; readonly parameters: Json; readonly delivery: Delivery },
  given: unknown,
): Scheduler {
  const own = given === undefined ? undefined : schedulerOf(given);
  const scheduler = own?.name === state.scheduler ? own : named.find(({ name }) => name === state.scheduler);
  if (scheduler === undefined) {
    throw new UsageError(
      "SCHEDULER_UNKNOWN",
      `Expected the scheduler ${valueText(state.scheduler)} that the run began with, got ${own === undefined ? "none" : valueText(own.name)}. Give the team that scheduler.`,
    );
  }
  const [then, now] = [state, scheduler].map(({ delivery, parameters }) => canonicalJson({ delivery, parameters: parameters ?? null }));
  if (then === now) return scheduler;
  throw new UsageError(
    "SCHEDULER_DIFFERS",
    `Expected the scheduler ${scheduler.name} with ${then}, as the run began, got one with ${now}. Give the team a scheduler with those.`,
  );
}

function isScheduler(given: unknown): given is Scheduler {
  if (typeof given !== "object" || given === null) return false;
  const { name, delivery, select } = given as Partial<Scheduler>;
  return typeof name === "string" && name !== "" && (delivery === "round" || delivery === "turn") && typeof select === "function";
}
