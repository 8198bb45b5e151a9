import type { RoleContext } from "../action/context.ts";
import { isThenable } from "../kernel/thenable.ts";
import { isMessage, type Message } from "../message/message.ts";
import { actWith } from "../role/act.ts";
import type { Work } from "../role/action-view.ts";
import type { Said } from "../role/role.ts";
import { messagesOf } from "../role/said.ts";
import type { ActivationParts } from "./activation-parts.ts";

/** A role in an activation. What is news is found out while it lives. */
interface Living extends RoleContext {
  news: readonly Message[];
}

type LifeParts = Pick<ActivationParts, "hired" | "spec" | "host">;

/**
 * The life of an activation: observe, remember the news, react, publish what came. It is over at once where nothing in it waits.
 *
 * @param inbox what the activation took
 */
export function live(rc: Living, parts: LifeParts, inbox: readonly Message[]): void | Promise<void> {
  const remembered = parts.hired.remembers ? parts.host.memoryOf(rc.name) : undefined;
  return remembered === undefined ? observe(rc, parts, inbox) : remembered.kept.ready().then(() => observe(rc, parts, inbox));
}

function observe(rc: Living, parts: LifeParts, inbox: readonly Message[]): void | Promise<void> {
  const message = inbox.length === 1 ? inbox[0] : undefined;
  if (message !== undefined && parts.hired.only.now !== undefined) return hear(rc, parts, inbox, message);
  const observed = parts.spec.role.observe(rc);
  if (isThenable(observed)) return Promise.resolve(observed).then((came) => remember(rc, parts, inbox, came));
  return remember(rc, parts, inbox, observed);
}

/** What is not remembered yet is news, and so is what it said to itself: as all roles observe, in one step. */
function hear(rc: Living, parts: LifeParts, inbox: readonly Message[], message: Message): void | Promise<void> {
  return react(rc, parts, rc.memory.add(message) || message.sentFrom === rc.name ? inbox : nothing);
}

function remember(rc: Living, parts: LifeParts, inbox: readonly Message[], observed: readonly Message[]): void | Promise<void> {
  const news = observed === inbox ? observed : [...messagesOf(observed, rc.name)];
  for (let place = 0; place < news.length; place += 1) rc.memory.add(news[place] as Message);
  return react(rc, parts, news);
}

function react(rc: Living, parts: LifeParts, news: readonly Message[]): void | Promise<void> {
  rc.news = Object.freeze(news);
  if (news.length === 0) return;
  const only = parts.hired.only.now;
  const said = only === undefined ? parts.spec.role.react(rc) : actWith(rc, only, wholeNews);
  return isThenable(said) ? Promise.resolve(said).then((came) => publishAll(rc, came)) : publishAll(rc, said);
}

function publishAll(rc: Living, said: Said): void {
  if (isMessage(said)) return void rc.publish(said);
  for (const message of messagesOf(said, rc.name)) rc.publish(message);
}

const wholeNews: Work = Object.freeze({});
const nothing: readonly Message[] = Object.freeze([]);
