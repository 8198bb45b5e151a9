import { isObject } from "../kernel/value-kind.ts";
import { UsageError } from "../kernel/errors.ts";

/**
 * Anything with a name in routing: an action, a role, `UserRequirement`. `"~says"` exists for types only: it is the type of `instructContent` in the
 * messages that the addressable causes.
 */
export interface Addressable<P = unknown> {
  readonly name: string;
  readonly "~says"?: P;
}

export interface AddressableClass<P = unknown> {
  readonly name: string;
  readonly actionName?: string;
  readonly prototype: Addressable<P>;
}

/** An address in routing: a name, an action, a role, or an Action class. */
export type Address<P = unknown> = string | Addressable<P> | AddressableClass<P>;

export type PayloadOf<A> = A extends string
  ? unknown
  : A extends AddressableClass<infer P>
    ? P
    : A extends Addressable<infer P>
      ? P
      : unknown;

/** Addresses every role that watches the cause, but the sender. */
export const ROUTE_TO_ALL = "<all>";
/** Addresses the sender itself. */
export const ROUTE_TO_SELF = "<self>";
/** Addresses no role: the message is only kept in the history. */
export const ROUTE_TO_NONE = "<none>";

/** The cause of a message of the user. */
export const UserRequirement: Addressable<never> = Object.freeze({ name: "UserRequirement" });
/**
 * The cause of a later message of the user, such as a wish about a result. A message from outside that names no cause has this one where a
 * recipient watches it, unless it is the first message of its run; else it has `UserRequirement`.
 */
export const UserFeedback: Addressable<never> = Object.freeze({ name: "UserFeedback" });
/**
 * The cause of the message that the run itself sends when a role is hired or retired during it, for roles that wait for others. It comes under the
 * name of that role. Nothing is sent if no role watches it.
 *
 * @example
 * import { defineRole, TeamChange } from "troupe";
 *
 * export const host = defineRole({
 *   name: "Hana",
 *   watch: [TeamChange],
 *   react: (rc) => rc.news.map(({ content }) => rc.message(`${content} Please write it down.`)), // "Cleo has joined the team. ..."
 * });
 */
export const TeamChange: Addressable<{ readonly role: string; readonly change: "hired" | "retired" }> = Object.freeze({
  name: "TeamChange",
});

/**
 * Returns the name behind an address: a string as it is, the `name` of an action or a role, the static `actionName` of a class or else the
 * name of the class.
 *
 * @throws UsageError `ADDRESS_INVALID` for a value without a name.
 * @example
 * import { addressOf, defineAction } from "troupe";
 *
 * const Draft = defineAction({ name: "Draft", prompt: (ctx) => ctx.text });
 * console.log(addressOf(Draft), addressOf("Ada")); // Draft Ada
 */
export function addressOf(x: Address): string {
  const name = nameIn(x);
  if (typeof name === "string") return name;
  throw new UsageError(
    "ADDRESS_INVALID",
    `Expected an address (a name, an action, a role or an Action class), got ${x === null ? "null" : typeof x}.`,
  );
}

function nameIn(x: Address): unknown {
  try {
    return isObject(x) ? x.name : nameOf(x);
  } catch {
    return undefined;
  }
}

function nameOf(x: Address): unknown {
  if (typeof x === "string") return x;
  return isClass(x) ? (x.actionName ?? x.name) : undefined;
}

function isClass(x: Exclude<Address, string>): x is AddressableClass {
  return typeof x === "function";
}
