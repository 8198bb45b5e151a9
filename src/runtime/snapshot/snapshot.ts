import { deserialize, serialize } from "node:v8";
import { deflate, deflateSync, inflateSync } from "node:zlib";
import { contentHash, deepFreeze, textHash } from "../../kernel/json.ts";
import { isRecord } from "../../kernel/value-kind.ts";
import type { RunEvent } from "../record/event.ts";
import { apply } from "../record/apply.ts";
import type { Journal, RunSnapshot } from "../record/journal.ts";
import { RunState } from "../record/run-state.ts";
import { formOf, type StateForm, stateFrom } from "../record/state-form.ts";
import { withTimeout } from "../../kernel/abort.ts";
import type { Clock } from "../../kernel/clock.ts";
import { errorRecord, JournalError } from "../../kernel/errors.ts";
import type { OwnedRun } from "../record/run-log.ts";

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
export const STATE_VERSION = 16;

const HASH_LENGTH = 64;

const MAX_BYTES = 2 ** 30;

const LEVEL = { level: 1 };

/** Returns the snapshot of a state. @param last the event that the state has applied last. Default: it belongs to no record */
export function snapshotOf(state: RunState, last?: RunEvent): RunSnapshot {
  return stored(state.seq, deflateSync(clone(state, last), LEVEL));
}

/** As `snapshotOf`, but deflates in the background. */
async function writtenSnapshot(state: RunState, last: RunEvent): Promise<RunSnapshot> {
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
 * @param read returns the events from a number on @throws the errors of `read`; JournalError as `apply`
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

export interface LastSnapshot {
  readonly seq: number;
  readonly size: number;
}

export interface SnapshotWriterParts {
  readonly state: RunState;
  readonly owned: OwnedRun;
  /** The minimum of events between two snapshots, 1 or more. */
  readonly every: number;
  /** The snapshot from which the state was restored. Default: the state was folded from its first event. */
  readonly last?: LastSnapshot | undefined;
  readonly clock: Clock;
  readonly warn: (role: undefined, text: string) => void;
}

/** Folding this many events takes 30 to 60 ms. */
export const EVENTS_BETWEEN = 10_000;

/** Characters of a snapshot for each event since the last one: snapshots write no more than events do, however large the state is. */
const SIZE_OF_AN_EVENT = 500;

/** Limit on roles and messages in a snapshot: reading a larger one takes about as long as folding its events. */
const MAX_ITEMS = 100_000;

/** Milliseconds that the end of a run waits for a snapshot that is being written. */
const PATIENCE = 5_000;

/** Errors after the end of a run or of its journal, when the snapshot is no longer needed. */
const OVER: ReadonlySet<string> = new Set(["EPOCH_STALE", "RUN_UNKNOWN", "JOURNAL_CLOSED"]);

/**
 * Writes snapshots of a run's state behind the run. It owns the snapshot that is being written; the state belongs to the log.
 *
 * SnapshotWriter.W1 (`#write`) no turn waits for a snapshot: the state is copied at once, then deflated and stored in the background.
 * SnapshotWriter.W2 (`#write`) a snapshot is stored only after the events before it are durable, so it is never ahead of the record.
 * SnapshotWriter.W3 (`#due`) one snapshot is written at a time, and the next comes at least `every` events later; for a large state later.
 * SnapshotWriter.W4 (`#failed`) the first failure causes a warning; no failure ends the run.
 * SnapshotWriter.W5 (`rest`) the end of a run, unless it was stopped, waits a limited time for a snapshot that is being written.
 */
export class SnapshotWriter {
  readonly #parts: SnapshotWriterParts;
  #last: LastSnapshot;
  #work: Promise<void> | undefined;
  #durableTo = 0;
  #reached: (() => void) | undefined;
  #isOver = false;
  #hasWarned = false;

  constructor(parts: SnapshotWriterParts) {
    this.#parts = parts;
    this.#last = parts.last ?? { seq: 0, size: 0 };
    this.#isOver = parts.owned.journal.keepSnapshot === undefined;
  }

  get last(): LastSnapshot {
    return this.#last;
  }

  /** Called when the events before `to` are durable. @param latest the last event that the state has applied */
  durable(to: number, latest: RunEvent | undefined): void {
    this.#durableTo = to;
    this.#reached?.();
    if (this.#work !== undefined || this.#isOver || latest === undefined || this.#parts.state.seq < this.#due) return;
    const { state } = this.#parts;
    if (state.roles.size + state.deliveries.length > MAX_ITEMS) this.#isOver = true;
    else this.#work = this.#write(latest).finally(() => (this.#work = undefined));
  }

  stop(): void {
    this.#isOver = true;
    this.#reached?.();
  }

  /** Resolves when no snapshot is being written, or when that takes too long. */
  async rest(): Promise<void> {
    const work = this.#work;
    const forever = new AbortController().signal;
    // A late snapshot is stored all the same.
    if (work !== undefined) await withTimeout(this.#parts.clock, PATIENCE, "a snapshot", forever, () => work).catch(() => {});
  }

  get #due(): number {
    const { seq, size } = this.#last;
    return seq + Math.max(this.#parts.every, Math.ceil(size / SIZE_OF_AN_EVENT));
  }

  async #write(latest: RunEvent): Promise<void> {
    const { state, owned } = this.#parts;
    const { seq } = state;
    // A copy that cannot be written is not tried again at the next event.
    this.#last = { seq, size: this.#last.size };
    try {
      const snapshot = await writtenSnapshot(state, latest);
      this.#last = { seq, size: snapshot.state.length };
      await this.#durable(seq);
      if (!this.#isOver) await owned.journal.keepSnapshot?.(state.runId, owned.epoch, snapshot);
    } catch (error) {
      this.#failed(error);
    }
  }

  async #durable(seq: number): Promise<void> {
    while (this.#durableTo < seq && !this.#isOver) await new Promise<void>((resolve) => (this.#reached = resolve));
  }

  #failed(error: unknown): void {
    if (error instanceof JournalError && OVER.has(error.code)) this.#isOver = true;
    else if (!this.#hasWarned) {
      this.#hasWarned = true;
      const { state, warn } = this.#parts;
      warn(undefined, `The state of run ${state.runId} could not be kept, so opening it reads more events: ${errorRecord(error).message}`);
    }
  }
}
