import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { aJournal, aReadableJournal } from "./journal-shape.ts";
import { aText, iterable, takes } from "../../kernel/argument.ts";
import { createHash } from "node:crypto";
import { throwIfAborted } from "../../kernel/abort.ts";
import { JournalError } from "../../kernel/errors.ts";
import { canonicalJson, deepFreeze } from "../../kernel/json.ts";
import { EVENT_VERSION, type RunEvent } from "./event.ts";
import { parseEvent } from "./event-schema.ts";
import type { Journal, RunInfo } from "./journal.ts";
import { runInfo } from "./run-info.ts";

/** How an export or an import goes. */
export interface TransferOptions {
  /** Looked at before each line. What the lines come from, or go to, is the caller's to stop. */
  readonly signal?: AbortSignal;
}

const transferOptions: Known<TransferOptions> = { signal: true };

/** How an import goes. */
export interface ImportOptions extends TransferOptions {
  /** The id of the run here. Default: the one it had. */
  readonly id?: string;
}

const importOptions: Known<ImportOptions> = { ...transferOptions, id: true };

/** Most characters of events that are held until all have come, and are then written at once. */
const HELD: number = 64 * 1024 * 1024;

/**
 * A run as lines of text, to be kept in a file or carried elsewhere: a header, one line of canonical JSON for each event, and an end with
 * their count and the sha256 over their lines. The lines come without line breaks; equal runs give equal lines. Of a run that still goes
 * on, what is there when it begins is exported. What it gives can be imported: it checks what it reads.
 *
 * @throws JournalError `RUN_UNKNOWN`, `RUN_FORGOTTEN`, `EVENT_INVALID`, `EVENT_NEWER`, `JOURNAL_GAP`
 * @throws ControlError when the signal aborts
 * @example
 * import { writeFile } from "node:fs/promises";
 * import { exportRun, type Journal } from "troupe";
 *
 * export async function backup(journal: Journal, runId: string): Promise<void> {
 *   const lines: string[] = [];
 *   for await (const line of exportRun(journal, runId)) lines.push(line);
 *   await writeFile(`${runId}.jsonl`, lines.join("\n"));
 * }
 */
export async function* exportRun(journal: Journal, runId: string, o: TransferOptions = {}): AsyncIterable<string> {
  checkKnownOptions("exportRun", o, transferOptions);
  takes("exportRun", "journal", journal, aReadableJournal);
  takes("exportRun", "runId", runId, aText);
  const info = await runInfo(journal, runId);
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
 * Takes the lines of an export into a journal. Every line is checked, and every event must fit those before it. A run is written when all
 * of it has come, at once, so that a journal has it whole or not at all, also when the process dies on the way: at most an empty run of
 * that id is left then, which the next import fills. Only one of more than 64 million characters is written in parts, which are removed
 * again when the import fails; of that one a part stays when the process dies.
 *
 * @param lines with or without their line breaks; see {@link linesOf} for a text that comes in pieces
 * @throws JournalError `RUN_EXISTS` for an id the journal has; `EXPORT_CUT` when the lines end too early, `EXPORT_INVALID` when they are
 * no export, or were changed; `EVENT_INVALID`, `EVENT_NEWER`; `JOURNAL_GAP`, `JOURNAL_DAMAGED` for events that contradict each other
 * @throws ControlError when the signal aborts
 * @example
 * import { readFile } from "node:fs/promises";
 * import { importRun, memoryJournal } from "troupe";
 *
 * export async function restore(path: string): Promise<string> {
 *   const lines = (await readFile(path, "utf8")).split("\n");
 *   return (await importRun(memoryJournal(), lines)).runId;
 * }
 */
export async function importRun(
  journal: Journal,
  lines: AsyncIterable<string> | Iterable<string>,
  o: ImportOptions = {},
): Promise<RunInfo> {
  checkKnownOptions("importRun", o, importOptions);
  takes("importRun", "journal", journal, aJournal);
  takes("importRun", "lines", lines, iterable("the lines of an export"));
  // Most programs never import.
  const { ExportReader } = await import("./export-reader.ts");
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

/** A run that comes into a journal. It owns what is read and not yet written, and which run the journal has for it. */
class Arrival {
  readonly #journal: Journal;
  readonly #givenId: string | undefined;
  #runId: string | undefined;
  /** Whether the journal has the run, for us. */
  #isOurs = false;
  #epoch = 0;
  #held: RunEvent[] = [];
  #characters = 0;
  #written = 0;

  constructor(journal: Journal, givenId: string | undefined) {
    this.#journal = journal;
    this.#givenId = givenId;
  }

  /** @throws JournalError `RUN_EXISTS`, before anything is read for nothing */
  async begin(itsId: string): Promise<void> {
    if (this.#runId !== undefined) return;
    this.#runId = this.#givenId ?? itsId;
    const known = await this.#known();
    if (known !== undefined && known.events > 0) throw taken(this.#runId);
  }

  async add(event: RunEvent, characters: number): Promise<void> {
    const runId = this.#runId ?? event.runId;
    this.#held.push(event.runId === runId ? event : deepFreeze({ ...event, runId }));
    this.#characters += characters;
    if (this.#characters >= HELD) await this.#write();
  }

  async end(): Promise<RunInfo> {
    await this.#write();
    const runId = this.#runId ?? "";
    await this.#journal.release(runId, this.#epoch);
    return { runId, events: this.#written };
  }

  /** Takes back what was written, unless somebody else has taken the run over. */
  async withdraw(because: unknown): Promise<void> {
    const runId = this.#runId;
    if (runId === undefined || !this.#isOurs || isTakenOver(because)) return;
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
    const runId = this.#runId ?? "";
    if (!this.#isOurs) await this.#make(runId);
    const held = this.#held;
    if (held.length === 0) return;
    this.#held = [];
    this.#characters = 0;
    await this.#journal.append(runId, this.#epoch, this.#written, held);
    this.#written += held.length;
  }

  async #make(runId: string): Promise<void> {
    try {
      await this.#journal.create(runId);
      this.#isOurs = true;
    } catch (error) {
      // One without events is what a process leaves that died between this and the first write.
      const isLeft = error instanceof JournalError && error.code === "RUN_EXISTS" && (await this.#known())?.events === 0;
      if (!isLeft) throw error;
    }
    this.#epoch = await this.#journal.claim(runId);
    this.#isOurs = true;
  }

  async #known(): Promise<RunInfo | undefined> {
    return (await this.#journal.runs()).find(({ runId }) => runId === this.#runId);
  }
}

function isTakenOver(error: unknown): boolean {
  return error instanceof JournalError && (error.code === "EPOCH_STALE" || error.code === "RUN_OWNED" || error.code === "SEQ_MISMATCH");
}

function taken(runId: string): JournalError {
  return new JournalError(
    "RUN_EXISTS",
    `Expected a run that the journal does not have, got ${runId}. Remove it, or import under another id.`,
  );
}

function gap(runId: string, expected: number, came: number | undefined): JournalError {
  const what = came === undefined ? "the end" : String(came);
  return new JournalError("JOURNAL_GAP", `Expected event ${expected} of run ${runId} next, got ${what}. Events are missing or doubled.`);
}
