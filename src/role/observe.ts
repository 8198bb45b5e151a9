import type { RoleContext } from "../action/context.ts";
import type { ReadableMemory } from "../memory/message-memory.ts";
import type { Message } from "../message/message.ts";

/**
 * The messages of the inbox that the role does not remember yet. What it said to itself it remembers already, and it is news
 * all the same.
 */
export function observe<S>({ inbox, memory, name }: RoleContext<S>): readonly Message[] {
  return newIn(inbox, memory, name);
}

/** The same, of what is in a role's hands. */
export function newIn(inbox: readonly Message[], memory: ReadableMemory, name: string): readonly Message[] {
  const first = inbox[0];
  if (first !== undefined && inbox.length === 1) return !memory.has(first) || first.sentFrom === name ? inbox : nothing;
  const news = memory.findNews(inbox);
  if (news.length === inbox.length) return inbox;
  const unknown = new Set(news);
  return inbox.filter((message) => unknown.has(message) || message.sentFrom === name);
}

const nothing: readonly Message[] = Object.freeze([]);
