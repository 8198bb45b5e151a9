import type { Message } from "../message/message.ts";
import type { Sent } from "./event.ts";

/** Finds a message of an activation by its id: one that it said, else one that it took. */
export type KnownMessages = (id: string) => Message | undefined;

/** Most messages of an activation that are looked through one by one. */
const FEW_MESSAGES = 8;

/** The messages that the record of an activation may name by their ids. */
export function knownBy(taken: readonly Message[], said: readonly Sent[]): KnownMessages {
  if (taken.length + said.length <= FEW_MESSAGES) {
    return (id) => said.findLast(({ message }) => message.id === id)?.message ?? taken.findLast((message) => message.id === id);
  }
  const known = new Map(taken.map((message) => [message.id, message]));
  for (const { message } of said) known.set(message.id, message);
  return (id) => known.get(id);
}
