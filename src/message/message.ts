import { isObject, isRecord } from "../kernel/value-kind.ts";
import { readable, type Shape, takes } from "../kernel/argument.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { unlessMapped } from "../kernel/mapped.ts";
import { z } from "zod";
import { systemClock } from "../kernel/clock.ts";
import { UsageError } from "../kernel/errors.ts";
import { freshMessageId } from "../kernel/id.ts";
import { deepFreeze, type Json, jsonRoundTrip } from "../kernel/json.ts";
import { valueText } from "../kernel/value-text.ts";
import { type Address, addressOf, ROUTE_TO_ALL, UserRequirement } from "./address.ts";
import type { FileGiven, MessageFile } from "./file.ts";
import { messageFiles } from "./given-files.ts";

/**
 * The role of a message in a conversation: any string that is not empty. Models know the four suggested roles; any other one, such as a profile,
 * is kept and sent to a model as the user's.
 */
export type MessageRole = "system" | "user" | "assistant" | "tool" | (string & Record<never, never>);

export const MESSAGE_VERSION = 1;

/**
 * A message: plain JSON, deeply frozen.
 *
 * Message.M1 (`Object.freeze`) a message never changes: its recipients share one object. Message.M2 the `id` identifies it, and is unique within a
 * run. Message.M3 (`createMessage`) an empty `sendTo` is stored as `["<all>"]`, an empty `causeBy` as `UserRequirement`.
 */
export interface Message<P = unknown> {
  readonly id: string;
  readonly content: string;
  /** The typed payload, plain JSON. */
  readonly instructContent?: P;
  readonly role: MessageRole;
  /** Name of the action that caused it. */
  readonly causeBy: string;
  /** Name of the role that sent it; empty for the user. */
  readonly sentFrom: string;
  readonly sendTo: readonly string[];
  /** Ids of the messages this one answers. */
  readonly parents: readonly string[];
  /** Milliseconds, from the run's clock. */
  readonly timestamp: number;
  readonly metadata: Readonly<Record<string, Json>>;
  /** Its rank in mailboxes: smaller numbers leave first, equal ones in order of arrival. Left out for the default, 0. */
  readonly priority?: number;
  /** Its files. Their bytes are kept beside the record, and read by `ctx.file(file)`. Left out without any. */
  readonly files?: readonly MessageFile[];
  /** What its sender says to people, in a few sentences, where the content is a document or data. Left out without any. */
  readonly speech?: string;
}

/** The fields of a new message. Routing fields take names, actions, roles and action classes. */
export interface MessageFields<P = unknown> {
  readonly id?: string;
  readonly instructContent?: P;
  /** Any string that is not empty. Default: `user`. */
  readonly role?: MessageRole;
  readonly causeBy?: Address | undefined;
  readonly sentFrom?: Address | undefined;
  readonly sendTo?: Address | Iterable<Address> | undefined;
  readonly parents?: readonly string[];
  readonly timestamp?: number;
  readonly metadata?: Readonly<Record<string, Json>>;
  /** Its rank in the mailboxes of its recipients: smaller numbers leave first, equal ones in order of arrival. Default: 0. */
  readonly priority?: number | undefined;
  /** At most 20 files of 25 MB: new ones with their bytes or base64 as `data`, or the files of another message. */
  readonly files?: readonly (MessageFile | FileGiven)[] | undefined;
  /** What its sender says to people, in a few sentences, where the content is a document or data. At most 4,000 characters are kept. */
  readonly speech?: string | undefined;
}

const messageFields: Known<MessageFields & Pick<Message, "content">> = {
  ...kinds.each(kinds.checked, "content", "id", "instructContent", "role", "causeBy", "sentFrom"),
  ...kinds.each(kinds.checked, "sendTo", "parents", "timestamp", "metadata", "priority", "files", "speech"),
};

/**
 * Makes a frozen message. Defaults: `role` is `user`, `causeBy` is `UserRequirement`, `sendTo` is everybody who watches the cause,
 * `sentFrom` is empty, `timestamp` is now in milliseconds, and `id` is random. Inside an activation the message gets its final id and time
 * when it is returned or published.
 *
 * @throws NotJsonError when the payload or the metadata are not plain JSON.
 * @throws UsageError `MESSAGE_INVALID` for a content or an id that is no text, an empty role, parents that are no texts, metadata that is
 * no object, or a timestamp or a priority that is no finite number; `FILE_INVALID`, `FILE_TOO_LARGE` for files; `OPTION_UNKNOWN` for an unknown
 * field.
 * @example
 * import { createMessage } from "troupe";
 *
 * const message = createMessage("The bridge is open.", { sentFrom: "Ada", sendTo: ["Ben"], instructContent: { open: true } });
 * console.log(message.sendTo, message.instructContent?.open); // [ 'Ben' ] true
 * console.log(createMessage("Fire!", { priority: -1 }).priority); // -1
 */
export function createMessage<P = unknown>(content: string, fields?: MessageFields<P>): Message<P>;
// As `map` calls it: `texts.map(createMessage)`.
export function createMessage(content: string, index: number, list: readonly string[]): Message;
export function createMessage<P = unknown>(content: string, given?: MessageFields<P> | number, list?: readonly unknown[]): Message<P> {
  const fields = unlessMapped(given, list, {});
  checkFields(fields, "createMessage");
  const { id, causeBy, sentFrom, parents } = fields;
  const message = buildMessage(
    content,
    fields,
    id === undefined || id === "" ? freshMessageId() : id,
    fields.role ?? "user",
    causeBy === undefined ? UserRequirement.name : nameOr(causeBy, UserRequirement.name),
    sentFrom === undefined ? "" : nameOr(sentFrom, ""),
    addressedIn(fields),
    parents === undefined || parents === null ? NO_PARENTS : listedParents(parents),
    fields.timestamp ?? systemClock.now(),
  );
  if (causeBy === undefined) causeLeftOpen.add(message);
  return message;
}

function listedParents(parents: readonly string[]): readonly string[] {
  if (!Array.isArray(parents)) throw invalid("parents", "a list of ids", parents);
  return Object.freeze([...(parents as readonly string[])]);
}

/** Refuses fields that no message has. @throws UsageError `OPTION_UNKNOWN` @internal */
export function checkFields(fields: object, what: string = "a message"): void {
  // Every message passes here, and nearly all have known fields.
  let areKnown = typeof fields === "object" && fields !== null && !Array.isArray(fields);
  try {
    for (const name in fields) areKnown &&= Object.hasOwn(messageFields, name);
  } catch {
    areKnown = false;
  }
  if (!areKnown) checkKnownOptions(what, fields, messageFields);
}

const NO_PARENTS: readonly string[] = Object.freeze([]);
const everybody: readonly string[] = Object.freeze([ROUTE_TO_ALL]);
export const NO_METADATA: Message["metadata"] = Object.freeze({});

/** Freezes a message that was just parsed, and shares default values with other messages. */
export function frozenMessage(read: Message): Message {
  const message: { -readonly [Key in keyof Message]?: Message[Key] } = read;
  const { parents, sendTo, metadata } = message;
  if (Array.isArray(parents) && parents.length === 0) message.parents = NO_PARENTS;
  if (Array.isArray(sendTo) && sendTo.length === 1 && sendTo[0] === ROUTE_TO_ALL) message.sendTo = everybody;
  if (isRecord(metadata) && Object.keys(metadata).length === 0) message.metadata = NO_METADATA;
  return deepFreeze(read);
}

export function buildMessage<P>(
  content: string,
  fields: MessageFields<P>,
  id: string,
  role: MessageRole,
  causeBy: string,
  sentFrom: string,
  sendTo: readonly string[],
  parents: readonly string[],
  timestamp: number,
): Message<P> {
  if (typeof content !== "string") {
    throw new UsageError(
      "MESSAGE_INVALID",
      `Expected the content of a message to be a string, got ${typeof content}. Put data into instructContent.`,
    );
  }
  if (typeof id !== "string") throw invalid("id", "a string", id);
  if (typeof role !== "string" || role === "") throw invalid("role", "a string that is not empty", role);
  for (const parent of parents) if (typeof parent !== "string") throw invalid("parents", "a list of ids", parent);
  if (!Number.isFinite(timestamp)) throw invalid("timestamp", "a number of milliseconds", timestamp);
  const { metadata = NO_METADATA, instructContent, priority = 0 } = fields;
  if (!Number.isFinite(priority)) throw invalid("priority", "a finite number, of which smaller ones leave first", priority);
  const message: { -readonly [Key in keyof Message<P>]: Message<P>[Key] } = {
    id,
    content,
    role,
    causeBy,
    sentFrom,
    sendTo,
    parents: parents.length === 0 ? NO_PARENTS : parents,
    timestamp,
    metadata: metadata === NO_METADATA ? NO_METADATA : metadataOf(metadata),
  };
  if (instructContent !== undefined) message.instructContent = deepFreeze(jsonRoundTrip(instructContent, LEVELS_ABOVE));
  // Most messages have none, and a member more would make each of them larger.
  if (priority !== 0) message.priority = priority;
  const files = fields.files === undefined ? undefined : messageFiles(fields.files);
  if (files !== undefined) message.files = files;
  const speech = fields.speech === undefined ? "" : speechOf(fields.speech);
  if (speech !== "") message.speech = speech;
  return Object.freeze(message);
}

const MAX_SPEECH = 4_000;

function speechOf(given: unknown): string {
  if (typeof given !== "string") throw invalid("speech", "a string", given);
  const speech = given.trim();
  return speech.length <= MAX_SPEECH ? speech : `${speech.slice(0, MAX_SPEECH - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

function metadataOf(given: unknown): Message["metadata"] {
  const metadata = deepFreeze(jsonRoundTrip(given ?? NO_METADATA, LEVELS_ABOVE));
  if (!isRecord(metadata)) throw invalid("metadata", "an object", given);
  return metadata as Message["metadata"];
}

/** Levels of nesting that an event, a memory or a snapshot adds around a payload, so that every message can be written. */
const LEVELS_ABOVE = 20;

function invalid(field: string, expected: string, came: unknown): UsageError {
  return new UsageError("MESSAGE_INVALID", `Expected the ${field} of a message to be ${expected}, got ${valueText(came)}.`);
}

function checkWire({ v = MESSAGE_VERSION, ...fields }: { readonly [field: string]: unknown }): void {
  if (v === MESSAGE_VERSION) checkFields(fields);
}

/** Messages created without a cause: inside an activation its action becomes the cause. */
const causeLeftOpen = new WeakSet<Message>();

/** True when the message was created without a cause. @internal */
export function isCauseLeftOpen(message: Message): boolean {
  return causeLeftOpen.has(message);
}

export function isMessage(value: unknown): value is Message {
  return typeof value === "object" && value !== null && "causeBy" in value && "sendTo" in value && "parents" in value && "content" in value;
}

const aMessage: Shape = { says: "a message, made by createMessage", fits: isMessage };

/** @throws UsageError `MESSAGE_INVALID` for a value that is not a message. @internal */
export function assertMessage(value: unknown): asserts value is Message {
  if (isMessage(value)) return;
  throw new UsageError("MESSAGE_INVALID", `Expected a message, got ${valueText(value)}. Make one with createMessage(text).`);
}

/** Validates a message from outside. Adds defaults for missing fields, and rejects another version. */
export const MessageSchema: z.ZodType<Message> = z.lazy(() =>
  z
    .strictObject({
      v: z.literal(MESSAGE_VERSION, { error: "a message of a newer version; update this program to read it" }).optional(),
      id: z.string().nullish(),
      content: z.string(),
      instructContent: z.unknown().optional(),
      role: z.string().min(1).nullish(),
      causeBy: z.string().nullish(),
      sentFrom: z.string().nullish(),
      sendTo: z.array(z.string()).nullish(),
      parents: z.array(z.string()).nullish(),
      timestamp: z.number().nullish(),
      metadata: z.record(z.string(), z.unknown()).nullish(),
      priority: z.number().nullish(),
      files: z.array(z.unknown()).nullish(),
      speech: z.string().nullish(),
    })
    .transform(({ v: _version, ...fields }, ctx) => {
      try {
        return createMessage(fields.content, present(fields) as MessageFields);
      } catch (error) {
        ctx.addIssue({ code: "custom", message: error instanceof Error ? error.message : "not a message" });
        return z.NEVER;
      }
    }),
);

/**
 * Reads a message from its wire form, see {@link serializeMessage}. Missing fields get the defaults of {@link createMessage}.
 *
 * @throws UsageError `MESSAGE_INVALID` naming the fields that do not fit, and for a message of a newer version; `OPTION_UNKNOWN` for a field
 * that no message has.
 * @example
 * import { parseMessage } from "troupe";
 *
 * const message = parseMessage({ content: "Hello", causeBy: "Greet", sentFrom: "Hana" });
 * console.log(message.causeBy, message.sentFrom); // Greet Hana
 */
export function parseMessage(wire: unknown): Message {
  takes("parseMessage", "message", wire, readable);
  if (isRecord(wire)) checkWire(wire);
  const parsed = MessageSchema.safeParse(wire);
  if (parsed.success) return parsed.data;
  throw new UsageError("MESSAGE_INVALID", `Expected a message, got something else: ${z.prettifyError(parsed.error)}`);
}

/**
 * Returns the wire form of a message: its fields and the version `v` of the format.
 *
 * @throws UsageError `ARGUMENT_INVALID` for a value that is no message
 * @example
 * import { createMessage, parseMessage, serializeMessage } from "troupe";
 *
 * const line = JSON.stringify(serializeMessage(createMessage("Hello")));
 * console.log(parseMessage(JSON.parse(line)).content); // Hello
 */
export function serializeMessage(message: Message): Message & { readonly v: number } {
  takes("serializeMessage", "message", message, aMessage);
  return { v: MESSAGE_VERSION, ...message };
}

/** The message that was answered last, and the parents of its answers: many roles answer the same message in a row. */
let answered = "";
let answer: readonly string[] = Object.freeze([answered]);

/** Returns the frozen parents of an answer to one message. Answers in a row share one list. @internal */
export function parentsOfAnswer(id: string): readonly string[] {
  if (answered !== id) {
    answered = id;
    answer = Object.freeze([id]);
  }
  return answer;
}

export function nameOr(address: Address | undefined, fallback: string): string {
  if (address === undefined) return fallback;
  const name = typeof address === "string" ? address : addressOf(address);
  return name === "" ? fallback : name;
}

/** Returns the frozen list of the addresses that the fields of a message name; without any, everybody who watches the cause. */
export function addressedIn({ sendTo }: Pick<MessageFields, "sendTo">): readonly string[] {
  if (sendTo === undefined) return everybody;
  // Most messages that are not for all have one recipient: messages to the same recipient share one list.
  return typeof sendTo === "string" ? (sharedLists.get(sendTo) ?? recipientList(sendTo)) : sendToNames(sendTo);
}

function sendToNames(sendTo: Exclude<MessageFields["sendTo"], string | undefined>): readonly string[] {
  const names = new Set((isIterable(sendTo) ? [...sendTo] : [sendTo]).map(addressOf).filter((name) => name !== ""));
  if (names.size === 0) return everybody;
  return Object.freeze([...names]);
}

/** Most recipients with a shared list, so that addresses from outside do not fill the memory. */
const MAX_SHARED = 1_000;
const sharedLists = new Map<string, readonly string[]>();

function recipientList(address: string): readonly string[] {
  if (address === "") return everybody;
  const list = Object.freeze([address]);
  if (sharedLists.size < MAX_SHARED && address.length < MAX_SHARED) sharedLists.set(address, list);
  return list;
}

function isIterable(value: Address | Iterable<Address>): value is Iterable<Address> & object {
  return isObject(value) && Symbol.iterator in value;
}

function present(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).filter(([key, value]) => value !== undefined && (value !== null || key === "instructContent")),
  );
}

/** Refuses what is given besides a message to publish: the message has all its fields. @throws UsageError `OPTION_UNKNOWN` @internal */
export function assertMessageAlone(what: string, more: unknown): void {
  if (more === undefined) return;
  throw new UsageError(
    "OPTION_UNKNOWN",
    `Expected ${what} to get a message and no options, got ${valueText(more)}. Give the message its fields: createMessage(text, { priority: -1 }).`,
  );
}

/** The result of publishing: the stored message, and the names of its recipients in order of hiring. */
export interface Receipt {
  readonly message: Message;
  readonly recipients: readonly string[];
}
