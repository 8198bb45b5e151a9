import { parseEvent } from "./parse-event.ts";
import { aText, takes } from "../../kernel/argument.ts";
import { isObject } from "../../kernel/value-kind.ts";
import { createHash } from "node:crypto";
import { z } from "zod";
import { throwIfAborted } from "../../kernel/abort.ts";
import { JournalError } from "../../kernel/errors.ts";
import { deepFreeze } from "../../kernel/json.ts";
import { shownText } from "../../kernel/value-text.ts";
import { apply } from "./apply.ts";
import { EVENT_VERSION, type RunEvent } from "./event.ts";
import { type Journal, knownRun, type RunInfo } from "./journal.ts";
import { RunState } from "./run-state.ts";
import type { ImportOptions } from "./transfer.ts";

/** Limit on the characters of a line. An event is one line, and the longest answer of a model fits in half of it. */
const MAX_LINE: number = 64 * 1024 * 1024;

/** Limit on the characters of events that are held before they are written. */
const MAX_HELD: number = 64 * 1024 * 1024;

/** Implements `importRun`. */
export async function importLines(journal: Journal, lines: AsyncIterable<string> | Iterable<string>, o: ImportOptions): Promise<RunInfo> {
  const reader = new ExportReader();
  const writer = new RunWriter(journal, o.id);
  try {
    for await (const line of lines) {
      takes("importRun", "a line", line, aText);
      throwIfAborted(o.signal);
      const event = reader.read(line);
      if (reader.runId !== undefined) await writer.begin(reader.runId);
      if (event !== undefined) await writer.add(event, line.length);
    }
    reader.end();
    return await writer.end();
  } catch (error) {
    await writer.withdraw(error);
    throw error;
  }
}

/**
 * Yields the lines of a text that comes in pieces, such as the chunks of a file.
 *
 * @throws JournalError `EXPORT_INVALID` for a line that is too long for an export, before all of it is in memory
 */
export async function* linesOf(pieces: AsyncIterable<string> | Iterable<string>): AsyncIterable<string> {
  let open: string[] = [];
  let length = 0;
  for await (const piece of pieces) {
    let from = 0;
    for (let end = piece.indexOf("\n"); end !== -1; end = piece.indexOf("\n", from)) {
      open.push(piece.slice(from, end));
      yield open.join("");
      open = [];
      length = 0;
      from = end + 1;
    }
    open.push(piece.slice(from));
    length += piece.length - from;
    if (length > MAX_LINE) throw tooLong();
  }
  if (length > 0) yield open.join("");
}

const headerSchema = z.object({
  troupe: z.literal("run"),
  v: z.int().positive(),
  runId: z.string().min(1).max(1_000),
  events: z.int().nonnegative(),
});

const endSchema = z.strictObject({ troupe: z.literal("end"), events: z.int().nonnegative(), sha256: z.string().length(64) });

type Header = z.infer<typeof headerSchema>;

/**
 * Checks an export line by line. It owns the number of lines read, the hash of the lines of events, and the state that the events lead to.
 *
 * RunImport.X1 (`ExportReader.read`): the header comes first, then as many events as it says, then the end.
 * RunImport.X2 (`ExportReader.#event`): every event has its schema, belongs to the run of the header and fits the events before it.
 * RunImport.X3 (`ExportReader.#finish`): the hash in the end is the hash of the lines of events.
 * RunImport.X4 (`ExportReader.end`): only a last line can be cut; any other line that is no JSON makes the export invalid.
 */
class ExportReader {
  readonly #hash = createHash("sha256");
  #header: Header | undefined;
  #state: RunState = new RunState("");
  #lines = 0;
  #isEnded = false;
  /** A line that is no JSON. The export was cut there, unless another line follows. */
  #broken: { readonly error: unknown } | undefined;

  /** The id of the run, once the header is read. */
  get runId(): string | undefined {
    return this.#header?.runId;
  }

  /** Reads the next line, and returns its event if it has one. @throws JournalError as `importRun` */
  read(line: string): RunEvent | undefined {
    const text = line.replace(/\r?\n$/, "");
    if (text.trim() === "") return undefined;
    if (text.length > MAX_LINE) throw tooLong();
    if (this.#broken !== undefined) throw this.#invalid("a line that is no JSON", this.#broken.error);
    this.#lines += 1;
    if (this.#isEnded) throw this.#invalid("more after its end");
    const json = this.#parsed(text);
    if (json === undefined) return undefined;
    if (this.#header === undefined) return this.#begin(json);
    return isEnd(json) ? this.#finish(json, this.#header) : this.#event(json, text, this.#header);
  }

  /** Ends the reading. @throws JournalError `EXPORT_CUT`, `EXPORT_INVALID` */
  end(): void {
    if (this.#isEnded) return;
    if (this.#header === undefined)
      throw this.#invalid(this.#lines === 0 ? "nothing" : "a first line that is no JSON", this.#broken?.error);
    const { seq } = this.#state;
    const intact = seq === 0 ? "no event is whole" : `events 0 to ${seq - 1} are whole`;
    throw new JournalError(
      "EXPORT_CUT",
      `Expected an export of ${this.#header.events} events and its end, got one that was cut: ${intact}. Export the run again.`,
      { data: { intact: seq, events: this.#header.events } },
    );
  }

  #parsed(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch (error) {
      this.#broken = { error };
      return undefined;
    }
  }

  #begin(json: unknown): undefined {
    const parsed = headerSchema.safeParse(json);
    if (!parsed.success) throw this.#invalid(`a first line that is no header: ${shownText(z.prettifyError(parsed.error))}`);
    const header = parsed.data;
    if (header.v > EVENT_VERSION) {
      throw new JournalError(
        "EVENT_NEWER",
        `Expected an export of version ${EVENT_VERSION} or older, got one of version ${header.v}. Update this program to read the run.`,
        { data: { version: header.v } },
      );
    }
    this.#header = header;
    this.#state = new RunState(header.runId);
  }

  #event(json: unknown, text: string, { events }: Header): RunEvent {
    const event = deepFreeze(parseEvent(json));
    const { seq } = this.#state;
    if (seq === events) throw this.#invalid(`more than the ${events} events it tells of`);
    if (seq === 0 && event.type !== "run.started") throw this.#invalid(`${event.type} as the first event`);
    try {
      apply(this.#state, event);
    } catch (error) {
      if (!(error instanceof JournalError)) throw error;
      throw new JournalError(error.code, `${error.message} It is line ${this.#lines} of the export.`, { cause: error });
    }
    this.#hash.update(`${text}\n`);
    return event;
  }

  #finish(json: unknown, { events }: Header): undefined {
    const parsed = endSchema.safeParse(json);
    if (!parsed.success) throw this.#invalid(`an end that is none: ${shownText(z.prettifyError(parsed.error))}`);
    const { seq } = this.#state;
    if (seq !== events || parsed.data.events !== events)
      throw this.#invalid(`${seq} events, where its header tells of ${events} and its end of ${parsed.data.events}`);
    if (parsed.data.sha256 !== this.#hash.digest("hex")) throw this.#invalid("lines of events that its hash is not over");
    this.#isEnded = true;
  }

  #invalid(came: string, cause?: unknown): JournalError {
    const advice = "It is another file, or somebody changed it: export the run again.";
    return new JournalError(
      "EXPORT_INVALID",
      `Expected an export of a run, got ${came}, at line ${Math.max(1, this.#lines)}. ${advice}`,
      cause === undefined ? { data: { line: this.#lines } } : { data: { line: this.#lines }, cause },
    );
  }
}

/**
 * Writes an imported run into a journal. It owns the unwritten events, and the run that it created.
 *
 * RunImport.X5 (`RunWriter.add`): up to {@link MAX_HELD} characters, all events of a run are written in one append.
 * RunImport.X6 (`RunWriter.withdraw`): a run is removed when its import fails, unless another owner has taken it over.
 */
class RunWriter {
  readonly #journal: Journal;
  readonly #givenId: string | undefined;
  #runId: string | undefined;
  /** True when this import created or claimed the run in the journal. */
  #isCreated = false;
  #epoch = 0;
  #held: RunEvent[] = [];
  #characters = 0;
  #written = 0;

  constructor(journal: Journal, givenId: string | undefined) {
    this.#journal = journal;
    this.#givenId = givenId;
  }

  /** Refuses a taken id before any event is read. @throws JournalError `RUN_EXISTS` */
  async begin(exportedId: string): Promise<void> {
    if (this.#runId !== undefined) return;
    this.#runId = this.#givenId ?? exportedId;
    const known = await knownRun(this.#journal, this.#runId);
    if (known !== undefined && known.events > 0) throw taken(this.#runId);
  }

  async add(event: RunEvent, characters: number): Promise<void> {
    const runId = this.#runId ?? event.runId;
    this.#held.push(event.runId === runId ? event : deepFreeze({ ...event, runId }));
    this.#characters += characters;
    if (this.#characters >= MAX_HELD) await this.#write();
  }

  async end(): Promise<RunInfo> {
    await this.#write();
    const runId = this.#runId ?? "";
    await this.#journal.release(runId, this.#epoch);
    return { runId, events: this.#written };
  }

  /** Removes the written events, unless another owner has taken the run over. */
  async withdraw(because: unknown): Promise<void> {
    const runId = this.#runId;
    if (runId === undefined || !this.#isCreated || isTakenOver(because)) return;
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
    if (!this.#isCreated) await this.#create(runId);
    const held = this.#held;
    if (held.length === 0) return;
    this.#held = [];
    this.#characters = 0;
    await this.#journal.append(runId, this.#epoch, this.#written, held);
    this.#written += held.length;
  }

  async #create(runId: string): Promise<void> {
    try {
      await this.#journal.create(runId);
      this.#isCreated = true;
    } catch (error) {
      // A process that dies before its first append leaves a run without events.
      const isEmpty = error instanceof JournalError && error.code === "RUN_EXISTS" && (await knownRun(this.#journal, runId))?.events === 0;
      if (!isEmpty) throw error;
    }
    ({ epoch: this.#epoch } = await this.#journal.claim(runId));
    this.#isCreated = true;
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

function isEnd(json: unknown): boolean {
  return isObject(json) && Object.hasOwn(json, "troupe");
}

function tooLong(): JournalError {
  return new JournalError(
    "EXPORT_INVALID",
    `Expected lines of at most ${MAX_LINE} characters, got a longer one. This is no export of a run.`,
  );
}
