import { deflateRawSync, inflateRawSync } from "node:zlib";
import { JournalError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { isRecord } from "../kernel/value-kind.ts";
import { EVENT_VERSION, type RunEvent, isEventType } from "../runtime/record/event.ts";
import { type Chat, chatOf } from "./event-chats.ts";
import { assertPlain, digestOf, parsePlain } from "./stored-json.ts";

/*
 * Events as rows. A row is a block: the deflated JSON of the events of one append, without their run and their numbers. The messages that a model
 * read repeat, so they are stored elsewhere: `[event, chat]` is an event with the digest of its conversation. The checksum of a row covers its body
 * and the checksum before it, and starts from the run's id, so a row that was changed, moved or removed does not match.
 */

/** Limits on the events of a block, and on the characters of their JSON unless one event has more. */
const MAX_EVENTS = 64;
const MAX_CHARACTERS = 1_000_000;
/** Limit on the bytes of an inflated block: no string is longer. */
const MAX_BYTES = 2 ** 29;

/** The texts that events have in common, the most frequent last: with them an event alone takes half as many bytes. */
const DICTIONARY = Buffer.from(
  [
    '"},{"v":1,"time":1,"type":"step.ended","act":"#1~1","key":".0","try":1,"ok":true,"value":{"content":"","toolCalls":[],"finish":"stop",',
    '"usage":{"inputTokens":1,"outputTokens":1}},"cost":0,"basis":"usage","usage":{"inputTokens":1,"outputTokens":1},"at":1},',
    '[{"v":1,"time":1,"type":"step.started","act":"#1~1","key":".0","kind":"model","name":"","asked":0,"try":1,"hold":0,"unpriced":true,',
    '"request":{"messages":[]}},"{"v":1,"time":1,"type":"act.started","act":"#1~1","role":"","n":1,"attempt":1,"take":1,"at":1},',
    '{"v":1,"time":1,"type":"message","message":{"id":"user#1","content":"","role":"user","causeBy":"UserRequirement","sentFrom":"",',
    '"sendTo":["<all>"],"parents":[],"timestamp":1,"metadata":{}},"to":[""]},{"v":1,"time":1,"type":"round.ended","round":1},',
    '[{"v":1,"time":1,"type":"act.ended","act":"#1~1","role":"","round":1,"take":1,"at":1,"said":[{"message":{"id":"#1.0","content":"",',
    '"role":"assistant","causeBy":"","sentFrom":"","sendTo":["<self>"],"parents":["#1.0"],"timestamp":1,"metadata":{}},"to":[""]}],',
    '"memory":[["+","#1.0"],["+","#1.0"]],"working":[]}]',
  ].join(""),
);

/** A small window costs half the time of the default one, and no bytes where blocks are small. */
const DEFLATE = { dictionary: DICTIONARY, windowBits: 13, memLevel: 4 };

export interface EventBlock {
  readonly seq: number;
  readonly events: number;
  readonly body: Buffer;
  readonly chats: readonly Chat[];
}

export function chainStart(runId: string): string {
  return digestOf(`run ${JSON.stringify(runId)}`);
}

export function chained(before: string, body: Uint8Array): string {
  return digestOf(Buffer.concat([Buffer.from(before), body]));
}

/** Returns events as rows, in their order. @throws JournalError `SEQ_MISMATCH`, NotJsonError */
export function encodeEvents(events: readonly RunEvent[], runId: string, from: number): readonly EventBlock[] {
  const blocks: EventBlock[] = [];
  let texts: string[] = [];
  let chats: Chat[] = [];
  let characters = 0;
  const end = (next: number): void => {
    blocks.push({ seq: next - texts.length, events: texts.length, body: deflated(texts), chats });
    [texts, chats, characters] = [[], [], 0];
  };
  for (const [nth, event] of events.entries()) {
    if (event.seq !== from + nth || event.runId !== runId) throw mismatch(event, runId, from + nth);
    const chat = chatIn(event);
    const text = textOf(event, chat);
    if (texts.length === MAX_EVENTS || (texts.length > 0 && characters + text.length > MAX_CHARACTERS)) end(event.seq);
    texts.push(text);
    if (chat !== undefined) chats.push(chat);
    characters += text.length;
  }
  if (texts.length > 0) end(from + events.length);
  return blocks;
}

function deflated(texts: readonly string[]): Buffer {
  return deflateRawSync(`[${texts.join(",")}]`, DEFLATE);
}

function textOf(event: RunEvent, chat: Chat | undefined): string {
  const { runId, seq, ...kept } = event;
  const body = JSON.stringify(chat === undefined ? kept : [withMessages(kept as RunEvent, []), chat.digest]);
  assertPlain(body, `event ${seq} of run ${runId}`);
  return body;
}

function mismatch(event: RunEvent, runId: string, seq: number): JournalError {
  return new JournalError(
    "SEQ_MISMATCH",
    `Expected event ${seq} of run ${runId} next, got event ${event.seq} of run ${event.runId}. Append the events of one run in their order.`,
  );
}

function chatIn(event: RunEvent): Chat | undefined {
  const messages = messagesIn(event);
  return messages && chatOf(messages);
}

function messagesIn(event: RunEvent): readonly Json[] | undefined {
  if (event.type !== "step.started") return undefined;
  const { request } = event;
  const messages = isRecord(request) ? request["messages"] : undefined;
  return Array.isArray(messages) ? (messages as readonly Json[]) : undefined;
}

export function withMessages(event: RunEvent, messages: readonly Json[]): RunEvent {
  return event.type === "step.started" && isRecord(event.request) ? { ...event, request: { ...event.request, messages } as Json } : event;
}

export interface StoredBlock {
  readonly seq: unknown;
  readonly body: unknown;
  readonly checksum: unknown;
}

export interface Position {
  readonly seq: number;
  readonly checksum: string;
}

export interface RowsOfRun {
  readonly runId: string;
  damaged(intact: number, why: string): JournalError;
}

export interface OpenedRows {
  readonly items: readonly { readonly event: RunEvent; readonly chat: string }[];
  readonly next: Position;
  readonly failed?: { readonly error: unknown };
}

/** Checks rows from a position on, up to the first one that cannot be read. */
export function openRows(rows: Iterable<StoredBlock>, from: Position, run: RowsOfRun): OpenedRows {
  const items: OpenedRows["items"][number][] = [];
  let next = from;
  try {
    for (const { seq, body, checksum } of rows) {
      if (seq !== next.seq) throw run.damaged(next.seq, `event ${next.seq} is missing`);
      const sum = body instanceof Uint8Array ? chained(next.checksum, body) : undefined;
      if (sum === undefined || sum !== checksum) throw run.damaged(next.seq, `event ${next.seq} was changed since it was written`);
      const list = listIn(body as Uint8Array);
      if (list === undefined) throw run.damaged(next.seq, `event ${next.seq} has not the shape of one`);
      for (const [nth, item] of list.entries()) items.push(opened(item, next.seq + nth, run));
      next = { seq: next.seq + list.length, checksum: sum };
    }
    return { items, next };
  } catch (error) {
    return { items, next, failed: { error } };
  }
}

function listIn(body: Uint8Array): readonly unknown[] | undefined {
  try {
    const text = inflateRawSync(body, { dictionary: DICTIONARY, maxOutputLength: MAX_BYTES }).toString();
    const list = parsePlain(text)?.value;
    return Array.isArray(list) && list.length > 0 ? (list as unknown[]) : undefined;
  } catch {
    return undefined;
  }
}

function opened(item: unknown, seq: number, run: RowsOfRun): OpenedRows["items"][number] {
  const [kept, chat] = Array.isArray(item) ? (item as unknown[]) : [item, ""];
  const event = isRecord(kept) ? { v: kept["v"], runId: run.runId, seq, ...kept } : undefined;
  if (typeof event?.v === "number" && event.v > EVENT_VERSION) throw newer(run.runId, seq, event.v);
  if (!isEvent(event) || event.seq !== seq || event.runId !== run.runId || typeof chat !== "string")
    throw run.damaged(seq, `event ${seq} has not the shape of one`);
  return { event, chat };
}

function isEvent(value: object | undefined): value is RunEvent {
  const { v, time, type } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return v === EVENT_VERSION && typeof time === "number" && isEventType(type);
}

function newer(runId: string, seq: number, version: number): JournalError {
  return new JournalError(
    "EVENT_NEWER",
    `Expected events of version ${EVENT_VERSION} at most, got ${version} as event ${seq} of run ${runId}. Update this program to read the run.`,
    { data: { runId, intact: seq, version } },
  );
}
