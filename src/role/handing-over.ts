import { canonicalJson } from "../kernel/json.ts";
import type { Message } from "../message/message.ts";
import { ChatMessage } from "../model/chat-message.ts";
import { cutText } from "../tool/shown-text.ts";
import type { CalledTool } from "../tool/tool-result.ts";
import type { Tool } from "../tool/tool.ts";
import type { RoleContext } from "./context.ts";
import { HANDOFF, type HandedOver, handedOver, type Handoff, handoffOf } from "./handoff.ts";

/** A hand-off that a model has chosen. */
export interface GivenHandoff extends Handoff {
  readonly args: Readonly<Record<string, unknown>>;
}

/** After this many hand-offs since a user spoke, a role answers itself. */
export const MAX_HOPS = 10;
const MAX_SAID = 200;
const MAX_CHARACTERS = 100_000;

/** Returns the hand-off of a call, with the arguments that the tool got; undefined for any other call. */
export function givenBy({ call, result }: Pick<CalledTool, "call" | "result">, tools: readonly Tool[]): GivenHandoff | undefined {
  const given = handoffOf(tools.find(({ name }) => name === call.function.name));
  return given && { ...given, args: result.data as GivenHandoff["args"] };
}

/** The hand-offs since a user spoke. */
export function hopsIn(news: readonly Message[]): number {
  return Math.max(0, ...news.map((message) => handedOver(message)?.hops ?? 0));
}

/** Returns the message that hands a conversation over. */
export async function handingOver<S>(
  rc: RoleContext<S>,
  { to, history, hasInput, args }: GivenHandoff,
  recent = MAX_SAID,
): Promise<Message> {
  const conversation = await passedOn(rc, history, recent);
  const payload: HandedOver = { conversation, isWhole: history === "all", hops: hopsIn(rc.news) + 1, ...(hasInput ? { input: args } : {}) };
  const content = hasInput ? canonicalJson(args) : typeof args["reason"] === "string" ? args["reason"] : "";
  return rc.message(content, { causeBy: HANDOFF, sendTo: to, instructContent: payload });
}

async function passedOn<S>(rc: RoleContext<S>, history: Handoff["history"], recent: number): Promise<HandedOver["conversation"]> {
  if (history === "none") return [];
  const said = saidSoFar(rc, recent);
  if (history === "all") return said;
  const text = said.map(({ from, content }) => `${from === "" ? "User" : from}: ${content}`).join("\n\n");
  const prompt = `A colleague takes over this conversation. Summarize it for them in at most ten sentences: what the user wants, what is known and done, and what is open.\n\n${text}`;
  return [{ from: rc.name, content: await rc.ask(prompt, { recall: false }) }];
}

/** The newest part of the conversation that the role knows, from the last whole one that was handed to it. */
function saidSoFar<S>({ memory, name }: RoleContext<S>, recent: number): HandedOver["conversation"] {
  const messages = memory.get(recent);
  const said = sinceHandedOver(messages, name).flatMap((message) => {
    const before = message.sentFrom === name ? [] : (handedOver(message)?.conversation ?? []);
    return message.causeBy === HANDOFF ? before : [...before, { from: message.sentFrom, content: message.content }];
  });
  let characters = 0;
  const tooOld = said.findLastIndex(({ content }) => (characters += content.length) > MAX_CHARACTERS);
  // The newest one is cut, because without it the other role would know nothing.
  const kept = said.slice(Math.max(Math.min(tooOld + 1, said.length - 1), said.length - MAX_SAID, 0));
  return kept.map(({ from, content }) => ({ from, content: cutText(content, MAX_CHARACTERS) }));
}

/** Drops the messages before the newest whole conversation that was handed to the role. */
export function sinceHandedOver(messages: readonly Message[], name: string): readonly Message[] {
  const first = messages.findLastIndex((message) => message.sentFrom !== name && handedOver(message)?.isWhole === true);
  return first === -1 ? messages : messages.slice(first);
}

/** Returns the conversation that a message hands to a role, as the role's model reads it. */
export function conversationIn(name: string, message: Message): readonly ChatMessage[] {
  return (handedOver(message)?.conversation ?? []).map(({ from, content }) => {
    if (from === name) return ChatMessage.assistant(content);
    return ChatMessage.user(from === "" ? content : `${from}: ${content}`);
  });
}
