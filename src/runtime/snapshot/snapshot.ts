import { deserialize, serialize } from "node:v8";
import { deflate, deflateSync, inflateSync } from "node:zlib";
import { contentHash, deepFreeze, textHash } from "../../kernel/json.ts";
import { isRecord } from "../../kernel/value-kind.ts";
import type { RunEvent } from "../record/event.ts";
import { apply } from "../record/apply.ts";
import type { Journal, RunSnapshot } from "../record/journal.ts";
import { RunState } from "../record/run-state.ts";
import { formOf, type StateForm, stateFrom } from "../record/state-form.ts";
import type { LastSnapshot } from "./snapshot-writer.ts";

/*
 * The state of a run as text, so that a run is opened without folding all its events: a SHA-256, and the deflated structured clone of the
 * state's form in base64. The record stays the truth: a snapshot that is damaged, of another version or of another past is ignored.
 *
 * Snapshot.S1 (`restored`) a restored state is the fold of the events before it, and the run continues from it with the same events.
 * Snapshot.S2 (`clone`) an object is written once, however often the state has it.
 * Snapshot.S3 (`restored`) the checksum covers every byte, so a changed snapshot is ignored. No content of a snapshot makes it throw.
 * Snapshot.S4 (`continuesFrom`) a snapshot has the hash of the event before it, so it does not match a shorter record or a new run of the
 * same id.
 */

/** Increase it when the form of a state or the effect of `apply` changes. */
export const STATE_VERSION = 10;

const HASH_LENGTH = 64;

const MAX_BYTES = 2 ** 30;

const LEVEL = { level: 1 };

/** Returns the snapshot of a state. @param last the event that the state has applied last. Default: it belongs to no record */
export function snapshotOf(state: RunState, last?: RunEvent): RunSnapshot {
  return stored(state.seq, deflateSync(clone(state, last), LEVEL));
}

/** As `snapshotOf`, but deflates in the background. */
export async function writtenSnapshot(state: RunState, last: RunEvent): Promise<RunSnapshot> {
  const { seq } = state;
  const bytes = clone(state, last);
  return new Promise((resolve, reject) =>
    deflate(bytes, LEVEL, (error, deflated) => (error === null ? resolve(stored(seq, deflated)) : reject(error))),
  );
}

function stored(seq: number, bytes: Buffer): RunSnapshot {
  const text = bytes.toString("base64");
  return { seq, state: textHash(text) + text };
}

interface Content {
  readonly v: number;
  /** The hash of the event before it. */
  readonly after: string;
  readonly form: StateForm;
}

function clone(state: RunState, last: RunEvent | undefined): Buffer {
  const content: Content = { v: STATE_VERSION, after: last === undefined ? "" : contentHash(last), form: formOf(state) };
  return serialize(content);
}

export interface RestoredState extends Pick<Content, "after"> {
  readonly state: RunState;
  readonly size: number;
}

/** Returns the state in a snapshot; undefined if the snapshot is damaged, of another version, or of another run. */
export function restored(runId: string, { seq, state: text }: RunSnapshot): RestoredState | undefined {
  const body = text.slice(HASH_LENGTH);
  if (textHash(body) !== text.slice(0, HASH_LENGTH)) return undefined;
  try {
    const content: unknown = deserialize(inflateSync(Buffer.from(body, "base64"), { maxOutputLength: MAX_BYTES }));
    if (!isContent(content)) return undefined;
    const state = stateFrom(frozen(content.form));
    return state.runId === runId && state.seq === seq && seq >= 1 ? { state, after: content.after, size: text.length } : undefined;
  } catch {
    // A snapshot with a right checksum that contradicts itself was written by something else.
    return undefined;
  }
}

function isContent(value: unknown): value is Content {
  return isRecord(value) && value["v"] === STATE_VERSION && typeof value["after"] === "string" && isRecord(value["form"]);
}

function frozen<T>(value: T): T {
  if (value instanceof Map) for (const item of value.values()) frozen(item);
  else if (typeof value === "object" && value !== null && !Object.isFrozen(value)) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}

/** True if the event before a snapshot has the hash that the snapshot names. */
export function continuesFrom({ state, after }: RestoredState, event: RunEvent): boolean {
  return event.seq === state.seq - 1 && event.runId === state.runId && contentHash(event) === after;
}

export interface RecordedState {
  readonly state: RunState;
  readonly last: LastSnapshot | undefined;
}

/**
 * Returns the present state of a recorded run: from its newest snapshot and the later events, else from all its events.
 *
 * @param read returns the events of the run from a number on
 * @throws the errors of `read`; JournalError as `apply`
 */
export async function recordedState(
  journal: Pick<Journal, "newestSnapshot">,
  runId: string,
  read: (from: number) => AsyncIterable<RunEvent>,
): Promise<RecordedState> {
  // If the journal itself fails, reading its events reports that.
  const snapshot = await journal.newestSnapshot?.(runId).catch(() => undefined);
  const found = snapshot && restored(runId, snapshot);
  const continued = found && (await continuedFrom(found, read));
  if (continued !== undefined) return continued;
  const state = new RunState(runId);
  for await (const event of read(0)) apply(state, deepFreeze(event));
  return { state, last: undefined };
}

/** Returns undefined for a snapshot that does not belong to the record, or after which an event does not apply. */
async function continuedFrom(found: RestoredState, read: (from: number) => AsyncIterable<RunEvent>): Promise<RecordedState | undefined> {
  const { state, size } = found;
  const last = { seq: state.seq, size };
  let isProven = false;
  for await (const event of read(last.seq - 1)) {
    if (!isProven && !continuesFrom(found, event)) return undefined;
    try {
      if (isProven) apply(state, deepFreeze(event));
    } catch {
      return undefined;
    }
    isProven = true;
  }
  return isProven ? { state, last } : undefined;
}
