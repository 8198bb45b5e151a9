import type { CustomState } from "./context.ts";
import { UsageError } from "../kernel/errors.ts";
import type { Message, MessageFields } from "../message/message.ts";
import type { Role, RoleOptions } from "./role.ts";

/** A value that nobody changes, however deep. */
export type Immutable<T> = T extends object ? { readonly [K in keyof T]: Immutable<T[K]> } : T;

/** What a step function has besides its state and a message. It belongs to one activation and is closed when that ends. */
export interface StepOut {
  /** The name the role was hired under. */
  readonly name: string;
  /**
   * Says something: it is published when the activation ends. It is caused by the role's own name, unless `causeBy` says otherwise, and answers
   * what the activation has heard since the last message to which something was said, up to the one at hand: so a role that joins several
   * inputs names them all. Sender, id and time are filled in. Without `sendTo` it is a broadcast.
   *
   * @throws UsageError `MESSAGE_INVALID`, `MESSAGE_TOO_LONG`
   * @throws NotJsonError when the payload or the metadata are not plain JSON.
   */
  say<P = unknown>(content: string, fields?: MessageFields<P>): Message<P>;
  /** A number in [0, 1) from the activation's own stream: a function of the seed, the role's name and how often it has acted. */
  random(): number;
  /** Milliseconds: when the activation began. */
  now(): number;
}

/** What a role is made of that is one function over its state; see {@link defineRole}. */
export interface StepRoleOptions<S = CustomState> extends Pick<
  RoleOptions<S>,
  "name" | "profile" | "goal" | "constraints" | "description" | "watch" | "addresses" | "observeAll" | "state" | "onFailure" | "mailbox"
> {
  /**
   * All that the role does: called once for each message, in the order in which they came, at one go. It must be a function of what it is given:
   * what it needs of the world comes by messages, and its random numbers and the time from `out`.
   *
   * @param state what the role holds, plain JSON, frozen; at first the defaults of the schema
   * @returns the next state, plain JSON, which takes effect when all messages of the activation are done; nothing when it stays as it is
   */
  step(state: Immutable<NoInfer<S>>, message: Message, out: StepOut): Immutable<NoInfer<S>> | void | undefined;
}

const LISTS = ["actions", "reactions"] as const;
const VALUES = ["reactMode", "maxReactLoop", "model", "tools", "agent", "memoryLimit", "planTasks"] as const;
const METHODS = ["observe", "think", "act", "react"] as const;

/**
 * Refuses a step function beside which there is something else for the role to do: nobody would ever do it.
 *
 * @throws UsageError `ROLE_INVALID`
 */
export function assertStepAlone(role: Role): void {
  const part = otherPart(role);
  if (part !== undefined) {
    throw new UsageError(
      "ROLE_INVALID",
      `Expected role ${role.name} to have a step function and nothing else to do, got ${part} too. Leave ${part} out, or write react instead of step.`,
    );
  }
  if (/^\[object (Async|Generator|AsyncGenerator)Function\]$/.test(Object.prototype.toString.call(role.step))) {
    throw new UsageError(
      "ROLE_INVALID",
      `Expected step of role ${role.name} to be a plain function, got one that waits. Write step(state, message, out) { ... }; what waits belongs into react.`,
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

/** Where the methods stand that a role has not changed: the class that all roles are of, in whichever copy of this package. */
function baseOf(role: Role): Role {
  let base: Role = role;
  for (;;) {
    const above = Object.getPrototypeOf(base) as Role | null;
    if (above === null || !("react" in above)) return base;
    base = above;
  }
}
