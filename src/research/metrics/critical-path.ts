import type { SentMessage } from "./sent-messages.ts";

/** The work of messages, and the part of it that cannot be done side by side. */
export interface Chains {
  /** The sum of the weights. */
  readonly work: number;
  /** The largest sum of weights along messages that answer one another. */
  readonly longest: number;
}

/** Follows the parents of messages. A parent outside the list, and one that leads back to its child, counts nothing. */
export function chainsOf(sent: readonly SentMessage[], weightOf: (message: SentMessage["message"]) => number): Chains {
  const byId = new Map(sent.map(({ message }) => [message.id, message]));
  const lengths = new Map<string, number>();
  const open = new Set<string>();
  let [work, longest] = [0, 0];
  for (const { message: start } of sent) {
    work += weightOf(start);
    const way = [start];
    for (let message = way.at(-1); message !== undefined; message = way.at(-1)) {
      if (lengths.has(message.id)) {
        way.pop();
        continue;
      }
      open.add(message.id);
      const waiting = message.parents
        .map((id) => byId.get(id))
        .filter((parent) => parent !== undefined && !lengths.has(parent.id) && !open.has(parent.id));
      const [next] = waiting;
      if (next !== undefined) {
        way.push(next);
        continue;
      }
      const before = message.parents.reduce((most, id) => Math.max(most, lengths.get(id) ?? 0), 0);
      lengths.set(message.id, before + weightOf(message));
      longest = Math.max(longest, before + weightOf(message));
      open.delete(message.id);
      way.pop();
    }
  }
  return { work, longest };
}
