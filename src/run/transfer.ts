import { createHash } from "node:crypto";
import { throwIfAborted } from "../kernel/abort.ts";
import { JournalError } from "../kernel/errors.ts";
import { canonicalJson, deepFreeze } from "../kernel/json.ts";
import { EVENT_VERSION, type RunEvent } from "./event.ts";
import { parseEvent } from "./event-schema.ts";
import { ExportReader } from "./export-reader.ts";
import type { Journal, RunInfo } from "./journal.ts";

/** How an export or an import goes. */
export interface TransferOptions {
  /** Looked at before each line. What the lines come from, or go to, is the caller's to stop. */
  readonly signal?: AbortSignal;
}

/** How an import goes. */
export interface ImportOptions extends TransferOptions {
  /** The id of the run here. Default: the one it had. */
  readonly id?: string;
}

/** Events are written in batches of at most so many, and about so many characters. */
const BATCH_EVENTS = 256;
const BATCH_CHARACTERS = 4 * 1024 * 1024;

/**
 * A run as lines of text, to be kept in a file or carried elsewhere: a header, one line of canonical JSON for each event, and an end with
 * their count and the sha256 over their lines. The lines come without line breaks; equal runs give equal lines. Of a run that still goes
 * on, what is there when it begins is exported. What it gives can be imported: it checks what it reads.
 *
 * @throws JournalError `RUN_UNKNOWN`, `EVENT_INVALID`, `EVENT_NEWER`, `JOURNAL_GAP`
 * @throws ControlError when the signal aborts
 */
export async function* exportRun(journal: Journal, runId: string, o: TransferOptions = {}): AsyncIterable<string> {
  const info = (await journal.runs()).find((run) => run.runId === runId);
  if (info === undefined) throw new JournalError("RUN_UNKNOWN", `Expected a run of this journal, got ${runId}, which it does not have.`);
  yield JSON.stringify({ troupe: "run", v: EVENT_VERSION, runId, events: info.events });
  const hash = createHash("sha256");
  let events = 0;
  if (info.events > 0) {
    for await (const event of journal.read(runId, 0)) {
      throwIfAborted(o.signal);
      const line = canonicalJson(event);
      if (parseEvent(JSON.parse(line)).seq !== events) throw gap(runId, events, event.seq);
      hash.update(`${line}\n`);
      yield line;
      events += 1;
      if (events === info.events) break;
    }
  }
  if (events < info.events) throw gap(runId, events, undefined);
  yield JSON.stringify({ troupe: "end", events, sha256: hash.digest("hex") });
}

/**
 * Takes the lines of an export into a journal. Every line is checked, and every event must fit those before it; what does not pass is
 * removed again, so that a journal has a run whole or not at all. Only a process that dies on the way leaves a part of one. Bounded in
 * memory by the state of the run and one line.
 *
 * @param lines with or without their line breaks; see {@link linesOf} for a text that comes in pieces
 * @throws JournalError `RUN_EXISTS` for an id the journal has; `EXPORT_CUT` when the lines end too early, `EXPORT_INVALID` when they are
 * no export, or were changed; `EVENT_INVALID`, `EVENT_NEWER`; `JOURNAL_GAP`, `JOURNAL_DAMAGED` for events that contradict each other
 * @throws ControlError when the signal aborts
 */
export async function importRun(
  journal: Journal,
  lines: AsyncIterable<string> | Iterable<string>,
  o: ImportOptions = {},
): Promise<RunInfo> {
  const reader = new ExportReader();
  const arrival = new Arrival(journal, o.id);
  try {
    for await (const line of lines) {
      throwIfAborted(o.signal);
      const event = reader.read(line);
      if (reader.runId !== undefined) await arrival.begin(reader.runId);
      if (event !== undefined) await arrival.add(event, line.length);
    }
    reader.end();
    return await arrival.end();
  } catch (error) {
    await arrival.withdraw(error);
    throw error;
  }
}

/** A run that comes into a journal. It owns what is read and not yet written, and which run the journal has made for it. */
class Arrival {
  readonly #journal: Journal;
  readonly #givenId: string | undefined;
  /** The run, once the journal has made it for us. */
  #runId: string | undefined;
  #epoch = 0;
  #batch: RunEvent[] = [];
  #characters = 0;
  #written = 0;

  constructor(journal: Journal, givenId: string | undefined) {
    this.#journal = journal;
    this.#givenId = givenId;
  }

  async begin(itsId: string): Promise<void> {
    if (this.#runId !== undefined) return;
    const runId = this.#givenId ?? itsId;
    await this.#journal.create(runId);
    this.#runId = runId;
    this.#epoch = await this.#journal.claim(runId);
  }

  async add(event: RunEvent, characters: number): Promise<void> {
    const runId = this.#runId ?? event.runId;
    this.#batch.push(event.runId === runId ? event : deepFreeze({ ...event, runId }));
    this.#characters += characters;
    if (this.#batch.length >= BATCH_EVENTS || this.#characters >= BATCH_CHARACTERS) await this.#write();
  }

  async end(): Promise<RunInfo> {
    await this.#write();
    const runId = this.#runId ?? "";
    await this.#journal.release(runId, this.#epoch);
    return { runId, events: this.#written };
  }

  /** Takes back what was written. */
  async withdraw(because: unknown): Promise<void> {
    const runId = this.#runId;
    if (runId === undefined) return;
    try {
      await this.#journal.remove(runId);
    } catch (error) {
      throw new JournalError(
        "IMPORT_LEFT_OVER",
        `Expected to remove the part of run ${runId} that was imported, for the import failed, but that failed too: ${String(error)}. Remove the run before you import it again.`,
        { cause: because },
      );
    }
  }

  async #write(): Promise<void> {
    const batch = this.#batch;
    if (this.#runId === undefined || batch.length === 0) return;
    this.#batch = [];
    this.#characters = 0;
    await this.#journal.append(this.#runId, this.#epoch, this.#written, batch);
    this.#written += batch.length;
  }
}

function gap(runId: string, expected: number, came: number | undefined): JournalError {
  const what = came === undefined ? "the end" : String(came);
  return new JournalError("JOURNAL_GAP", `Expected event ${expected} of run ${runId} next, got ${what}. Events are missing or doubled.`);
}
