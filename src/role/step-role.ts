import type { CustomState } from "./context.ts";
import { UsageError } from "../kernel/errors.ts";
import type { RandomStream } from "../kernel/random.ts";
import type { Message, MessageFields } from "../message/message.ts";
import type { Role, RoleOptions } from "./role.ts";

/** A value that cannot be changed at any depth. */
export type Immutable<T> = T extends object ? { readonly [K in keyof T]: Immutable<T[K]> } : T;

/** The output of a step function. It belongs to one activation and is closed when that ends. */
export interface StepOut {
  /** The name the role was hired under. */
  readonly name: string;
  /**
   * Makes a message that is published when the activation ends. Its cause is the role's own name, unless `causeBy` gives another, and its
   * parents are the messages read since the last message with an answer. Without `sendTo` it is a broadcast.
   *
   * @throws UsageError `MESSAGE_INVALID`, `MESSAGE_TOO_LONG`; NotJsonError
   */
  say<P = unknown>(content: string, fields?: MessageFields<P>): Message<P>;
  /**
   * As `say`, for a message that is delivered `delay` ticks from now. A tick is a unit of the run's clock: see `ClockKind`. 0 and 1 are as
   * `say`; with the clock `time` 0 alone is so.
   *
   * @throws UsageError `DELAY_INVALID`, and as `say`
   */
  after<P = unknown>(delay: number, content: string, fields?: MessageFields<P>): Message<P>;
  /** Returns a number in [0, 1) from the activation's own stream: a function of the seed, the role's name and its activation count. */
  random(): number;
  /**
   * Returns the stream of that name for this call of the function: a function of the seed, the role's name, how often it has acted, the index
   * of the message in the activation, and the name.
   *
   * @throws UsageError `STREAM_TAKEN` for a name used before in this call
   */
  stream(name: string): RandomStream;
  /** Returns milliseconds: when the activation began. */
  now(): number;
  /** The number of the present round, from 0. Always 0 with a scheduler without rounds. */
  readonly round: number;
  /** The present tick, on which {@link after} counts. A tick is a unit of the run's clock: see `ClockKind`. */
  readonly tick: number;
  /**
   * Returns the tick at which a message that the role reads now came into its mailbox: `out.tick - out.arrivedAt(message)` is how long it waited.
   *
   * @throws UsageError `MESSAGE_INVALID` for another message
   */
  arrivedAt(message: Message): number;
}

type StepRoleParts =
  | "name"
  | "profile"
  | "goal"
  | "constraints"
  | "description"
  | "watch"
  | "addresses"
  | "observeAll"
  | "state"
  | "onFailure"
  | "mailbox";

/**
 * Options of a role that is one function over its state and one message; see {@link defineRole}. What a role shall do once in a round, or what
 * depends on all messages that came together, is written with `steps`: {@link StepsRoleOptions}.
 */
export interface StepRoleOptions<S = CustomState> extends Pick<RoleOptions<S>, StepRoleParts> {
  /**
   * The whole behavior of the role: called once for each message, in the order in which they came, without waiting. It must be a function
   * of its arguments: data from outside comes in messages, random numbers and the time from `out`. What it decides on one message does not
   * see the messages behind it: under `rounds` this is not simultaneous activation, for which `steps` gets all messages of a round.
   *
   * @param state the present state, plain JSON, frozen; at first the defaults of the schema
   * @returns the next state, plain JSON, which takes effect when all messages of the activation are done; undefined for no change
   */
  step(state: Immutable<NoInfer<S>>, message: Message, out: StepOut): Immutable<NoInfer<S>> | void | undefined;
  readonly steps?: never;
}

/** Options of a role that is one function over its state and its whole mailbox; see {@link defineRole}. */
export interface StepsRoleOptions<S = CustomState> extends Pick<RoleOptions<S>, StepRoleParts> {
  /**
   * The whole behavior of the role: called once for each activation, with all messages that it takes, without waiting. It must be a function
   * of its arguments, as `step` of {@link StepRoleOptions}. A message that it sends has all these messages as its parents by default.
   *
   * @param messages one or more (none too for a role that acts in each round), in the order in which they came, a frozen list
   * @returns the next state, plain JSON; undefined for no change
   */
  steps(state: Immutable<NoInfer<S>>, messages: readonly Message[], out: StepOut): Immutable<NoInfer<S>> | void | undefined;
  readonly step?: never;
  /**
   * `each round`: the role acts in every round, with mail or without, as agents of Mesa and turtles of NetLogo do; `messages` may be empty.
   * Without rounds it may always act: under `single` and `poisson` it is drawn with mail or without. Under
   * `messages` it acts when it has mail. A run with such a role is never idle:
   * its limit of rounds (default 100), a stop condition or a signal ends it. Default: it acts when it has mail.
   */
  readonly acts?: "each round";
}

const LISTS = ["actions", "reactions"] as const;
const VALUES = ["reactMode", "maxReactLoop", "model", "tools", "agent", "memoryLimit", "planTasks"] as const;
const METHODS = ["observe", "think", "act", "react"] as const;

export function assertStepAlone(role: Role): void {
  const name = role.step === undefined ? "steps" : "step";
  const part = name === "step" && role.steps !== undefined ? "steps" : otherPart(role);
  if (part !== undefined) {
    throw new UsageError(
      "ROLE_INVALID",
      `Expected role ${role.name} to have a ${name} function and nothing else to do, got ${part} too. Leave ${part} out, or write react instead of ${name}.`,
    );
  }
  if (name === "step" && role.acts !== undefined) {
    throw new UsageError(
      "ROLE_INVALID",
      `Expected role ${role.name}, which acts in each round, to have a steps function, got step, which is called for a message. Write steps(state, messages, out) { ... }.`,
    );
  }
  if (/^\[object (Async|Generator|AsyncGenerator)Function\]$/.test(Object.prototype.toString.call(role[name]))) {
    const given = name === "step" ? "message" : "messages";
    throw new UsageError(
      "ROLE_INVALID",
      `Expected ${name} of role ${role.name} to be a plain function, got one that waits. Write ${name}(state, ${given}, out) { ... }; what waits belongs into react.`,
    );
  }
}

function otherPart(role: Role): string | undefined {
  const base = baseOf(role);
  return (
    LISTS.find((part) => role[part].length > 0) ??
    VALUES.find((part) => role[part] !== undefined) ??
    METHODS.find((part) => role[part] !== base[part]) ??
    (role.human ? "human" : undefined) ??
    (role.memory === undefined || role.memory === false ? undefined : "memory")
  );
}

/** The base class of all roles, in whichever copy of this package. */
function baseOf(role: Role): Role {
  let base: Role = role;
  for (;;) {
    const above = Object.getPrototypeOf(base) as Role | null;
    if (above === null || !("react" in above)) return base;
    base = above;
  }
}
