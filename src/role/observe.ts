import type { RoleContext } from "./context.ts";
import type { Message } from "../message/message.ts";

/**
 * The messages of the inbox that the role does not remember yet. What it said to itself it remembers already, and it is news
 * all the same.
 */
export function observe<S>(rc: RoleContext<S>): readonly Message[] {
  const first = rc.inbox[0];
  if (first !== undefined && rc.inbox.length === 1) return !rc.memory.has(first) || isOwn(rc, first) ? rc.inbox : nothing;
  const news = rc.memory.findNews(rc.inbox);
  if (news.length === rc.inbox.length) return rc.inbox;
  const unknown = new Set(news);
  return rc.inbox.filter((message) => unknown.has(message) || isOwn(rc, message));
}

const nothing: readonly Message[] = Object.freeze([]);

function isOwn<S>(rc: RoleContext<S>, message: Message): boolean {
  return message.sentFrom === rc.name;
}
