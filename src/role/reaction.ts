import { isList } from "../kernel/value-kind.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import type { Action } from "./action.ts";
import type { ReadableMemory } from "../memory/message-memory.ts";
import { type Address, addressOf } from "../message/address.ts";
import type { Message } from "../message/message.ts";

/** An action that runs when news caused by `on` arrives and each of `needs` is newer than the message this reaction consumed last. */
export interface Reaction {
  readonly on: Address | readonly Address[];
  /** Default: the needs of the action. A reaction with several needs is a join. */
  readonly needs?: readonly Address[];
  readonly do: Action;
}

const reactionParts: Known<Reaction> = { on: kinds.checked, needs: kinds.checked, do: kinds.checked };

export interface ReactionSpec {
  readonly on: ReadonlySet<string>;
  readonly needs: readonly string[];
  readonly action: Action;
}

/** Ids of the messages a reaction consumed last, by the name of the need. Kept for each reaction by its place in the list. */
export type Joins = Readonly<Record<string, Readonly<Record<string, string>>>>;

export function reactionSpec(reaction: Reaction): ReactionSpec {
  checkKnownOptions("a reaction", reaction, reactionParts);
  const on = isList(reaction.on) ? reaction.on : [reaction.on];
  return {
    on: new Set(on.map(addressOf)),
    needs: (reaction.needs ?? reaction.do.needs).map(addressOf),
    action: reaction.do,
  };
}

export function triggersOf(reaction: ReactionSpec, news: readonly Message[]): readonly Message[] {
  return news.filter((message) => reaction.on.has(message.causeBy));
}

/** Returns the newest message of each need; undefined if one is missing or was consumed. */
export function joinedInputs(
  reaction: ReactionSpec,
  memory: ReadableMemory,
  consumed: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> | undefined {
  const inputs: Record<string, string> = {};
  for (const need of reaction.needs) {
    const newest = memory.newestBy(need);
    if (newest === undefined || consumed?.[need] === newest.id) return undefined;
    inputs[need] = newest.id;
  }
  return inputs;
}
