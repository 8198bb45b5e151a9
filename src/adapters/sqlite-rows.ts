import { isRecord } from "../kernel/value-kind.ts";
import { JournalError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { EVENT_TYPES, EVENT_VERSION, type RunEvent } from "../runtime/record/event.ts";
import { packedEvent, unpackedEvent } from "../runtime/record/packed-event.ts";
import { type Chat, chatOf } from "./sqlite-chats.ts";
import { digestOf } from "./sqlite-digest.ts";
import { assertPlain, parsePlain } from "./sqlite-text.ts";

/*
 * An event as a row, and back. The body is the JSON text of its list, or of the event itself where it has none, as in all files of
 * version 1; the messages a model was shown are taken out of it, for they are the same over and over. Every row carries a checksum over the one before, the messages and the body, from a start that only its run has: a row that
 * was changed, moved, left out or taken from another run does not fit.
 */

/** An event ready to be written. */
export interface EncodedEvent {
  readonly body: string;
  readonly chat: Chat | undefined;
}

/** What a row's bytes say is wrong with them. */
export interface Flaw {
  readonly flaw: string;
}

/** The checksum before the first event of a run. */
export function chainStart(runId: string): string {
  return digestOf(`run ${JSON.stringify(runId)}`);
}

/** The checksum of a row. @param chat the digest of its conversation, or an empty text */
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
  /** No key in it reaches for prototypes. */
  readonly isSurelyPlain: boolean;
}

/** Reads a body whose checksum is right. @throws JournalError `EVENT_NEWER` */
export function decodeEvent(checked: CheckedBody, messages: readonly Json[] | undefined, runId: string, seq: number): RunEvent | Flaw {
  const parsed = parsePlain(checked.body, checked.isSurelyPlain)?.value;
  const value = Array.isArray(parsed) ? unpackedEvent(parsed, runId, seq) : parsed;
  if (isRecord(value) && typeof value["v"] === "number" && value["v"] > EVENT_VERSION) throw newer(runId, seq, value["v"]);
  if (!isEvent(value, runId, seq)) return { flaw: `event ${seq} has not the shape of one` };
  if (messages === undefined) return value;
  return messagesIn(value)?.length === 0 ? withMessages(value, messages) : { flaw: `event ${seq} has no place for its messages` };
}

/** The messages a model is shown by a step, if it shows any. */
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
