import type { Action } from "../../role/action.ts";
import type { RoleContext } from "../../role/context.ts";
import { isThenable } from "../../kernel/value-kind.ts";
import { isMessage, type Message } from "../../message/message.ts";
import { performed } from "../../role/act.ts";
import type { Work } from "../../role/action-view.ts";
import type { Said } from "../../role/role.ts";
import { messagesOf } from "../../role/said.ts";
import type { ActivationHost } from "./activation-parts.ts";
import type { Definition } from "../hired-roles.ts";

/** A role in an activation. What is news is found out while it lives. */
interface Living extends RoleContext {
  news: readonly Message[];
  takeNews(): boolean;
  send(own: Message): unknown;
}

/**
 * The life of an activation: observe, remember the news, react, publish what came. It is over at once where nothing in it waits.
 *
 * @param inbox what the activation took
 */
export function live(rc: Living, hired: Definition, host: ActivationHost, inbox: readonly Message[]): void | Promise<void> {
  const memory = hired.remembers === "longer" ? host.memoryOf(rc.name) : undefined;
  return memory === undefined ? observe(rc, hired, inbox) : observeWhen(memory.kept.ready(), rc, hired, inbox);
}

/*
 * What is waited for is waited for in a function of its own: most activations wait for nothing, and a function with a closure in it makes room for
 * what the closure knows each time that it is called. By `then`, not by `await`: see `act.ts`.
 */
function observeWhen(isReady: Promise<unknown>, rc: Living, hired: Definition, inbox: readonly Message[]): Promise<void> {
  return isReady.then(() => observe(rc, hired, inbox));
}

function observe(rc: Living, hired: Definition, inbox: readonly Message[]): void | Promise<void> {
  const only = hired.only.now;
  // Whoever changed a part of its life may hand on its context as another one, with a memory of its own.
  if ((only !== undefined || hired.only.isDefault) && rc.takeNews()) return react(rc, hired, only);
  const message = inbox.length === 1 ? inbox[0] : undefined;
  if (only !== undefined && message !== undefined) {
    // What is not remembered yet is news, and so is what it said to itself: as all roles observe, in one step.
    if (!rc.memory.add(message) && message.sentFrom !== rc.name) return;
    rc.news = Object.freeze(inbox);
    return publish(rc, performed(rc, only, wholeNews));
  }
  const observed = hired.spec.role.observe(rc);
  return isThenable(observed) ? rememberLater(rc, hired, inbox, observed) : remember(rc, hired, inbox, observed);
}

function rememberLater(rc: Living, hired: Definition, inbox: readonly Message[], observed: PromiseLike<readonly Message[]>): Promise<void> {
  return Promise.resolve(observed).then((came) => remember(rc, hired, inbox, came));
}

function remember(rc: Living, hired: Definition, inbox: readonly Message[], observed: readonly Message[]): void | Promise<void> {
  const news = observed === inbox ? observed : [...messagesOf(observed, rc.name)];
  for (let place = 0; place < news.length; place += 1) rc.memory.add(news[place] as Message);
  rc.news = Object.freeze(news);
  return news.length === 0 ? undefined : react(rc, hired, hired.only.now);
}

function react(rc: Living, hired: Definition, only: Action | undefined): void | Promise<void> {
  if (only !== undefined) return publish(rc, performed(rc, only, wholeNews));
  const said = hired.spec.role.react(rc);
  return isThenable(said) ? publishLater(rc, Promise.resolve(said)) : publishAll(rc, said);
}

/** What an action said: that they are messages, and of this activation, is known. */
function publish(rc: Living, said: Said | Promise<Said>): void | Promise<void> {
  if (said === undefined) return;
  if ("then" in said) return publishLater(rc, said);
  if (!Array.isArray(said)) rc.send(said as Message);
  else for (let place = 0; place < said.length; place += 1) rc.send(said[place] as Message);
}

function publishLater(rc: Living, said: Promise<Said>): Promise<void> {
  return said.then((came) => publishAll(rc, came));
}

function publishAll(rc: Living, said: Said): void {
  if (isMessage(said)) return void rc.publish(said);
  for (const message of messagesOf(said, rc.name)) rc.publish(message);
}

const wholeNews: Work = Object.freeze({});
