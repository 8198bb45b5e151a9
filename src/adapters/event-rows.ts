import { JournalError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { isRecord } from "../kernel/value-kind.ts";
import { EVENT_VERSION, type RunEvent } from "../runtime/record/event.ts";
import { EVENT_TYPES } from "../runtime/record/observed.ts";
import { packedEvent, unpackedEvent } from "../runtime/record/packed-event.ts";
import { type Chat, chatOf } from "./event-chats.ts";
import { assertPlain, digestOf, parsePlain } from "./stored-json.ts";

/*
 * Encoding of an event as a row. The body is the JSON text of its packed list, or of the event itself, as in all SQLite files of version 1. The
 * messages that a model read are stored elsewhere, because they repeat. The checksum of a row covers the checksum before it, the messages
 * and the body, and starts from the run's id: a row that was changed, moved, removed or taken from another run does not match.
 */

/** The row of an event. */
export interface EncodedEvent {
  readonly body: string;
  readonly chat: Chat | undefined;
}

/** The fault found in the bytes of a row. */
export interface Flaw {
  readonly flaw: string;
}

/** The checksum before the first event of a run. */
export function chainStart(runId: string): string {
  return digestOf(`run ${JSON.stringify(runId)}`);
}

/** Returns the checksum of a row. @param chat the digest of its conversation, or an empty text */
export function chained(before: string, body: string, chat: string): string {
  return digestOf(`${before} ${chat} ${body}`);
}

/** @throws JournalError `SEQ_MISMATCH`, NotJsonError */
export function encodeEvent(event: RunEvent, runId: string, seq: number): EncodedEvent {
  if (event.seq !== seq || event.runId !== runId) {
    throw new JournalError(
      "SEQ_MISMATCH",
      `Expected event ${seq} of run ${runId} next, got event ${event.seq} of run ${event.runId}. Append the events of one run in their order.`,
    );
  }
  const messages = messagesIn(event);
  const kept = messages === undefined ? event : withMessages(event, []);
  const body = JSON.stringify(packedEvent(kept) ?? kept);
  assertPlain(body, `event ${seq} of run ${runId}`);
  return { body, chat: messages === undefined ? undefined : chatOf(messages) };
}

/** A body whose checksum is right. */
export interface CheckedBody {
  readonly body: string;
  /** It contains no key that names a prototype. */
  readonly isSurelyPlain: boolean;
}

/** Reads a body whose checksum is right. @throws JournalError `EVENT_NEWER` */
function decodeEvent(checked: CheckedBody, messages: readonly Json[] | undefined, runId: string, seq: number): RunEvent | Flaw {
  const parsed = parsePlain(checked.body, checked.isSurelyPlain)?.value;
  const value = Array.isArray(parsed) ? unpackedEvent(parsed, runId, seq) : parsed;
  if (isRecord(value) && typeof value["v"] === "number" && value["v"] > EVENT_VERSION) throw newer(runId, seq, value["v"]);
  if (!isEvent(value, runId, seq)) return { flaw: `event ${seq} has not the shape of one` };
  if (messages === undefined) return value;
  return messagesIn(value)?.length === 0 ? withMessages(value, messages) : { flaw: `event ${seq} has no place for its messages` };
}

/** Returns the messages that a model reads in a step, if any. */
function messagesIn(event: RunEvent): readonly Json[] | undefined {
  if (event.type !== "step.started") return undefined;
  const { request } = event;
  const messages = isRecord(request) ? request["messages"] : undefined;
  return Array.isArray(messages) ? (messages as readonly Json[]) : undefined;
}

function withMessages(event: RunEvent, messages: readonly Json[]): RunEvent {
  return event.type === "step.started" && isRecord(event.request) ? { ...event, request: { ...event.request, messages } as Json } : event;
}

function isEvent(value: unknown, runId: string, seq: number): value is RunEvent {
  if (!isRecord(value)) return false;
  const { v, type, time } = value;
  return (
    v === EVENT_VERSION &&
    value["runId"] === runId &&
    value["seq"] === seq &&
    typeof time === "number" &&
    typeof type === "string" &&
    Object.hasOwn(EVENT_TYPES, type)
  );
}

function newer(runId: string, seq: number, version: number): JournalError {
  return new JournalError(
    "EVENT_NEWER",
    `Expected events of version ${EVENT_VERSION} at most, got ${version} as event ${seq} of run ${runId}. Update this program to read the run.`,
    { data: { runId, intact: seq, version } },
  );
}

/*
 * Reading. A store gives rows unchecked; this checks each against the one before it.
 */

/** The row of an event as it is in a store. */
export interface StoredEvent {
  readonly place: unknown;
  readonly body: string | undefined;
  readonly checksum: unknown;
  readonly chat: unknown;
  readonly isSurelyPlain: boolean;
}

/** The next event to be read, and the checksum of the one before it. */
export interface Position {
  readonly seq: number;
  readonly checksum: string;
}

/** The run whose rows are read. */
export interface RowsOfRun {
  readonly runId: string;
  /** The place of its event 0. */
  readonly place: number;
  /** Returns the messages of a conversation; undefined when one is missing or damaged. */
  messages(chat: string): readonly Json[] | undefined;
  /** Returns the error for a run that is damaged after its first `intact` events. */
  damaged(intact: number, why: string): JournalError;
}

/** Intact events, the position behind them, and the error that ended them, if one did. */
export interface ReadRows {
  readonly events: readonly RunEvent[];
  readonly next: Position;
  readonly failed?: { readonly error: unknown };
}

/** Checks rows from a position on and decodes them, up to the first one that cannot be read. */
export function readRows(rows: Iterable<StoredEvent>, from: Position, run: RowsOfRun): ReadRows {
  const events: RunEvent[] = [];
  let next = from;
  try {
    for (const row of rows) {
      const checked = checkedRow(row, next, run);
      events.push(eventIn(checked, next.seq, run));
      next = { seq: next.seq + 1, checksum: checked.checksum };
    }
    return { events, next };
  } catch (error) {
    return { events, next, failed: { error } };
  }
}

/** A row whose checksum is right. */
interface CheckedRow extends CheckedBody {
  /** Empty without one. */
  readonly chat: string;
  readonly checksum: string;
}

/** @throws JournalError for a row that is not the next one, or was changed */
function checkedRow(row: StoredEvent, { seq, checksum }: Position, run: RowsOfRun): CheckedRow {
  if (row.place !== run.place + seq) throw run.damaged(seq, `event ${seq} is missing`);
  if (fits(row, checksum)) return row;
  throw run.damaged(seq, `event ${seq} was changed since it was written`);
}

function fits(row: StoredEvent, before: string): row is StoredEvent & CheckedRow {
  const { body, chat, checksum } = row;
  return body !== undefined && typeof chat === "string" && chained(before, body, chat) === checksum;
}

function eventIn(checked: CheckedRow, seq: number, run: RowsOfRun): RunEvent {
  const { chat } = checked;
  const messages = chat === "" ? undefined : run.messages(chat);
  if (chat !== "" && messages === undefined) throw run.damaged(seq, `the messages of event ${seq} are not as they were written`);
  const event = decodeEvent(checked, messages, run.runId, seq);
  if ("flaw" in event) throw run.damaged(seq, event.flaw);
  return event;
}
