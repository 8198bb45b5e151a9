import { hash } from "node:crypto";
import type { StoredMessage } from "../memory/message-store.ts";
import { MESSAGE_VERSION, type Message, settled } from "../message/message.ts";
import { textOf } from "./sqlite-text.ts";

/*
 * The messages of a block as columns, and back: what all of them say alike is written once and shared by all, so that they are read several
 * times as fast as one by one. What has another shape than a message usually has is written as it is.
 */

/** One field of many messages: the same for all, or one for each. */
type Column<T> = { readonly all: T; readonly each?: undefined } | { readonly each: readonly T[] };

type Usual = Exclude<keyof Message, "instructContent">;

interface Columns {
  readonly v: number;
  /** The block, so that the row of one is never taken for that of another. */
  readonly block: number;
  readonly offset: readonly number[];
  readonly runId: Column<string>;
  readonly addedAt: Column<number>;
  readonly fields: { readonly [Field in Usual]: Column<Message[Field]> };
  /** Messages of other shapes, each with its place among all. */
  readonly others: readonly (readonly [number, Message])[];
}

/** The fields of a message without a payload, in their order. */
const FIELDS: readonly Usual[] = ["id", "content", "role", "causeBy", "sentFrom", "sendTo", "parents", "timestamp", "metadata"];
const SHAPE = FIELDS.join();
/** Bytes of a checksum: 128 bits. */
const DIGEST = 16;

/** Messages of a block, in order, ready to be written; their places are rows. */
export function encodeColumns(block: number, messages: readonly StoredMessage[]): { readonly content: Buffer; readonly checksum: Buffer } {
  const usual = messages.filter(({ message }) => isUsual(message));
  const others = messages.flatMap(({ message }, n) => (isUsual(message) ? [] : [[n, message] as const]));
  const columns: Columns = {
    v: MESSAGE_VERSION,
    block,
    offset: messages.map(({ place }) => place - block),
    runId: columnOf(messages.map(({ runId }) => runId)),
    addedAt: columnOf(messages.map(({ addedAt }) => addedAt)),
    fields: Object.fromEntries(FIELDS.map((field) => [field, columnOf(usual.map(({ message }) => message[field]))])) as Columns["fields"],
    others,
  };
  const content = Buffer.from(JSON.stringify(columns));
  return { content, checksum: digestOf(content) };
}

/** What was written of a block, with places behind `base`, or undefined when it is damaged, or of another version. */
export function decodeColumns(block: number, content: Uint8Array, checksum: Uint8Array, base: number): StoredMessage[] | undefined {
  if (!digestOf(content).equals(checksum)) return undefined;
  const columns = JSON.parse(textOf(content) as string) as Columns;
  if (columns.v !== MESSAGE_VERSION || columns.block !== block) return undefined;
  const { offset, others, runId, addedAt } = columns;
  const messages = messagesIn(columns.fields, offset.length - others.length);
  for (const [n, message] of others) messages.splice(n, 0, settled(message));
  return messages.map((message, n) => ({
    place: block - base + (offset[n] as number),
    runId: valueOf(runId, n),
    addedAt: valueOf(addedAt, n),
    message,
  }));
}

function messagesIn(fields: Columns["fields"], count: number): Message[] {
  if (count === 0) return [];
  const { id, content, role, causeBy, sentFrom, timestamp } = fields;
  const first = settled(messageAt(fields, 0));
  if (fields.sendTo.each !== undefined || fields.parents.each !== undefined || fields.metadata.each !== undefined) {
    return Array.from({ length: count }, (_, n) => (n === 0 ? first : settled(messageAt(fields, n))));
  }
  const { sendTo, parents, metadata } = first;
  const messages = [first];
  for (let n = 1; n < count; n++) {
    const message: Message = {
      id: valueOf(id, n),
      content: valueOf(content, n),
      role: valueOf(role, n),
      causeBy: valueOf(causeBy, n),
      sentFrom: valueOf(sentFrom, n),
      sendTo,
      parents,
      timestamp: valueOf(timestamp, n),
      metadata,
    };
    messages.push(Object.freeze(message));
  }
  return messages;
}

function messageAt(fields: Columns["fields"], n: number): Message {
  return {
    id: valueOf(fields.id, n),
    content: valueOf(fields.content, n),
    role: valueOf(fields.role, n),
    causeBy: valueOf(fields.causeBy, n),
    sentFrom: valueOf(fields.sentFrom, n),
    sendTo: valueOf(fields.sendTo, n),
    parents: valueOf(fields.parents, n),
    timestamp: valueOf(fields.timestamp, n),
    metadata: valueOf(fields.metadata, n),
  };
}

/** Whether it has the fields of a message without a payload, and those that are no lists are none. */
function isUsual(message: Message): boolean {
  const { id, content, role, causeBy, sentFrom, timestamp } = message;
  const keys = Object.keys(message);
  const isPlain = [id, content, role, causeBy, sentFrom, timestamp].every((value) => Object(value) !== value);
  return keys.length === FIELDS.length && keys.join() === SHAPE && isPlain;
}

function columnOf<T>(values: readonly T[]): Column<T> {
  const [first] = values;
  const text = JSON.stringify(first);
  return first !== undefined && values.every((value) => JSON.stringify(value) === text) ? { all: first } : { each: values };
}

function valueOf<T>(column: Column<T>, n: number): T {
  return column.each === undefined ? column.all : (column.each[n] as T);
}

function digestOf(bytes: Uint8Array): Buffer {
  return hash("sha256", bytes, "buffer").subarray(0, DIGEST);
}
