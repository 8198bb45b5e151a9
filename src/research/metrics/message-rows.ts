import { UsageError } from "../../kernel/errors.ts";
import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { valueText } from "../../kernel/value-text.ts";
import type { CellValue } from "../experiment/cell.ts";
import { iterable, object, takes } from "../../kernel/argument.ts";
import type { FlowEvent, FlowSent } from "../../inspector/index.ts";
import { type Message, ROUTE_TO_ALL, ROUTE_TO_NONE, ROUTE_TO_SELF } from "../../index.ts";

/** A message as a row of a table: strings and numbers alone. */
export type MessageRow = {
  /** From 0, in the order of the record. */
  readonly place: number;
  readonly id: string;
  readonly timestamp: number;
  /** The sender; empty for a message from outside. */
  readonly sender: string;
  /** With `per: "recipient"` one recipient, or null where there is none; else a JSON list of all. */
  readonly recipient: string | null;
  readonly recipients: number;
  readonly addresses: string;
  readonly cause: string;
  readonly role: string;
  readonly parents: string;
  readonly content: string;
  readonly characters: number;
  readonly payload: string | null;
  readonly metadata: string;
};

const OWN_COLUMNS: readonly string[] = [
  ...(["place", "id", "timestamp", "sender", "recipient", "recipients", "addresses", "cause"] as const),
  ...(["role", "parents", "content", "characters", "payload", "metadata"] as const),
] satisfies readonly (keyof MessageRow)[];

export interface MessageRowOptions {
  /** A row for each message, or for each recipient of each message. Default `message`. */
  readonly per?: "message" | "recipient";
  /** Columns that every row has besides, such as the parameters and the seed of the run. Default: none. */
  readonly columns?: { readonly [name: string]: CellValue };
}

const messageRowOptions: Known<MessageRowOptions> = {
  per: kinds.oneOf("message", "recipient"),
  columns: kinds.record({
    says: "a string, a number, true, false or null",
    fits: (value) => value === null || ["string", "number", "boolean"].includes(typeof value),
  }),
};

/** Returns messages as rows of a flat table, from messages of a run or from its events, which have the recipients of broadcasts. */
export function messageRows(
  source: MessageSource,
  o: MessageRowOptions = {},
): readonly (MessageRow & { readonly [name: string]: CellValue })[] {
  checkKnownOptions("messageRows", o, messageRowOptions);
  const { per = "message", columns = {} } = o;
  const taken = Object.keys(columns).find((name) => OWN_COLUMNS.includes(name));
  if (taken !== undefined)
    throw new UsageError(
      "OPTION_INVALID",
      `Expected other columns of messageRows than those of a message, got ${valueText(taken)}. Rename it.`,
    );
  return sentMessages("messageRows", source).flatMap((sent, place) => {
    const recipients = per === "message" ? [JSON.stringify(sent.to)] : sent.to.length === 0 ? [null] : sent.to;
    return recipients.map((recipient) => ({ ...columns, ...rowOf(sent, place, recipient) }));
  });
}

function rowOf({ message, to }: SentMessage, place: number, recipient: string | null): MessageRow {
  const { id, timestamp, sentFrom, sendTo, causeBy, role, parents, content, instructContent, metadata } = message;
  return {
    place,
    id,
    timestamp,
    sender: sentFrom,
    recipient,
    recipients: to.length,
    addresses: JSON.stringify(sendTo),
    cause: causeBy,
    role,
    parents: JSON.stringify(parents),
    content,
    characters: content.length,
    payload: instructContent === undefined ? null : JSON.stringify(instructContent),
    metadata: JSON.stringify(metadata),
  };
}

/** Messages of one run, or its events, which have the actual recipients: those of a broadcast are known from events alone. */
export type MessageSource = Iterable<Message> | Iterable<FlowEvent>;

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
