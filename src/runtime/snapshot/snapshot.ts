import { createHash } from "node:crypto";
import { contentHash, parsedJson, textHash } from "../../kernel/json.ts";
import { isRecord } from "../../kernel/value-kind.ts";
import type { RunEvent } from "../record/event.ts";
import type { RunSnapshot } from "../record/journal.ts";
import { isSuspicious, plainFault } from "../record/plain-json.ts";
import type { RunState } from "../record/run-state.ts";
import { roleJson } from "./role-json.ts";
import { runJson } from "./state-json.ts";
import { stateFrom } from "./state-reader.ts";
import { isSnapshotBody, type SnapshotBody } from "./state-schema.ts";
import { Tables } from "./tables.ts";

/*
 * The state of a run as JSON, so that a run is opened without folding all its events. The record stays the truth: a snapshot that is damaged,
 * of another version or of another past is ignored.
 *
 * Snapshot.S1 (`restored`) a restored state is the fold of the events before it, and the run goes on from it with the same events.
 * Snapshot.S2 (`textsOf`) a message or a definition is written once, wherever the state has it.
 * Snapshot.S3 (`restored`) the checksum covers every byte, so a changed snapshot is ignored.
 * Snapshot.S4 (`continuesFrom`) a snapshot names the hash of the event before it, so it belongs to no other past: not to a run of the same
 * id that was created again, and not to a record that is shorter.
 * Snapshot.S5 (`restored`) nothing in a snapshot makes it throw.
 */

/**
 * Version of a snapshot. It grows with every change of this form and with every change of what `apply` makes of an event: a snapshot of another
 * version is ignored, and the events are folded.
 */
export const STATE_VERSION = 8;

/** Hexadecimal digits of a SHA-256, which stand before the JSON of the state. */
const HASH_LENGTH = 64;

/** Roles or messages in one piece of the text: a piece takes a millisecond or two. */
const PIECE = 250;

/** A snapshot that is being written. */
export interface SnapshotText {
  readonly seq: number;
  /** Characters so far. */
  readonly size: number;
  /** Writes the next piece. Returns false when it is complete. */
  next(): boolean;
  /** The complete snapshot. */
  stored(): RunSnapshot;
}

/**
 * Begins the snapshot of a state that nothing changes meanwhile. It is written in pieces, so that a large one holds nothing up.
 *
 * @param last the event before it, which the state has applied last. Default: no record is to be matched
 */
export function snapshotText(state: RunState, last?: RunEvent): SnapshotText {
  const pieces: string[] = [];
  const hash = createHash("sha256");
  const texts = textsOf(state, last === undefined ? "" : contentHash(last));
  let size = 0;
  return {
    seq: state.seq,
    get size() {
      return size;
    },
    next() {
      const { value, done } = texts.next();
      if (done === true) return false;
      pieces.push(value);
      hash.update(value);
      size += value.length;
      return true;
    },
    stored: () => ({ seq: state.seq, state: hash.digest("hex") + pieces.join("") }),
  };
}

/** Returns the snapshot of a state. @param last the event that the state has applied last */
export function snapshotOf(state: RunState, last?: RunEvent): RunSnapshot {
  const text = snapshotText(state, last);
  while (text.next());
  return text.stored();
}

function* textsOf(state: RunState, after: string): Generator<string, void> {
  const tables = new Tables();
  yield `{"v":${STATE_VERSION},"after":"${after}","state":${JSON.stringify(runJson(state, tables))}`;
  yield* listTexts("roles", [...state.roles.values()], (role) => roleJson(role, tables));
  yield* listTexts("messages", tables.messages.values, (message) => message);
  yield* listTexts("definitions", tables.definitions.values, (definition) => definition);
  yield* listTexts("chats", tables.chats.turns, (turn) => turn);
  yield "}";
}

function* listTexts<T>(name: string, items: readonly T[], form: (item: T) => unknown): Generator<string, void> {
  yield `,"${name}":[`;
  for (let from = 0; from < items.length; from += PIECE) {
    const texts = items.slice(from, from + PIECE).map((item) => JSON.stringify(form(item)));
    yield `${from === 0 ? "" : ","}${texts.join(",")}`;
  }
  yield "]";
}

/** A restored state and what it is known by. */
export interface RestoredState {
  readonly state: RunState;
  /** The hash of the event before it. */
  readonly after: string;
  /** Characters of its text. */
  readonly size: number;
}

/** Returns the state of a run as a snapshot has it; undefined for one that is damaged, of another version, or of another run. */
export function restored(runId: string, { seq, state: stored }: RunSnapshot): RestoredState | undefined {
  const text = stored.slice(HASH_LENGTH);
  if (textHash(text) !== stored.slice(0, HASH_LENGTH)) return undefined;
  try {
    const body = bodyOf(text);
    if (body?.state.runId !== runId || body.state.seq !== seq || seq < 1) return undefined;
    return { state: stateFrom(body), after: body.after, size: text.length };
  } catch {
    // A snapshot with a right checksum that contradicts itself was made by somebody else.
    return undefined;
  }
}

function bodyOf(text: string): SnapshotBody | undefined {
  const json = parsedJson(text);
  if (!isRecord(json) || json["v"] !== STATE_VERSION) return undefined;
  if (isSuspicious(text) && plainFault(json) !== undefined) return undefined;
  return isSnapshotBody(json) ? json : undefined;
}

/** True when the event before a snapshot is the one that it was made after. */
export function continuesFrom({ state, after }: RestoredState, event: RunEvent): boolean {
  return event.seq === state.seq - 1 && event.runId === state.runId && contentHash(event) === after;
}
