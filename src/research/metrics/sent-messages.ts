import { iterable, object, takes } from "../../kernel/argument.ts";
import type { FlowEvent, FlowSent } from "../../inspector/index.ts";
import { type Message, ROUTE_TO_ALL, ROUTE_TO_NONE, ROUTE_TO_SELF } from "../../index.ts";

/** Messages of one run, or its events, which have the actual recipients: those of a broadcast are known from events alone. */
export type MessageSource = Iterable<Message> | Iterable<FlowEvent>;

/** A message and its recipients. */
export interface SentMessage {
  readonly message: Message;
  readonly to: readonly string[];
}

const routes: ReadonlySet<string> = new Set([ROUTE_TO_ALL, ROUTE_TO_NONE, ROUTE_TO_SELF]);

/** Returns the messages of a source in their order, each id once. @throws UsageError `ARGUMENT_INVALID` */
export function sentMessages(caller: string, source: MessageSource): readonly SentMessage[] {
  takes(caller, "source", source, iterable("messages, or events of a run"));
  const sent = new Map<string, SentMessage>();
  for (const one of source) {
    if (isMessage(one)) {
      if (!sent.has(one.id)) sent.set(one.id, { message: one, to: one.sendTo.filter((name) => !routes.has(name)) });
      continue;
    }
    takes(caller, "what is in source", one, object("a message or an event"));
    for (const { message, to } of sentIn(one)) if (isMessage(message) && !sent.has(message.id)) sent.set(message.id, { message, to });
  }
  return [...sent.values()];
}

function isMessage(one: Message | FlowEvent): one is Message {
  return typeof one === "object" && one !== null && "id" in one && "content" in one && "parents" in one && Array.isArray(one.sendTo);
}

function sentIn({ message, to, said }: FlowEvent): readonly FlowSent[] {
  if (message !== undefined && Array.isArray(to)) return [{ message, to }];
  return Array.isArray(said) ? (said as readonly FlowSent[]).filter((one) => Array.isArray(one.to)) : [];
}
