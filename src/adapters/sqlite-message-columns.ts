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
  const { id, content, role, causeBy, sentFrom, sendTo, parents, timestamp, metadata } = fields;
  const messages: Message[] = [];
  for (let n = 0; n < count; n++) {
    // Written out: objects that are made in one place, field by field, are made fastest.
    const message: Message = {
      id: valueOf(id, n),
      content: valueOf(content, n),
      role: valueOf(role, n),
      causeBy: valueOf(causeBy, n),
      sentFrom: valueOf(sentFrom, n),
      sendTo: valueOf(sendTo, n),
      parents: valueOf(parents, n),
      timestamp: valueOf(timestamp, n),
      metadata: valueOf(metadata, n),
    };
    messages.push(settled(message));
  }
  return messages;
}

function isUsual(message: Message): boolean {
  const keys = Object.keys(message);
  return keys.length === FIELDS.length && keys.join() === SHAPE;
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
