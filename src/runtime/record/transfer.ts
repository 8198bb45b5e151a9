import { createHash } from "node:crypto";
import { z } from "zod";
import { throwIfAborted } from "../../kernel/abort.ts";
import { aText, iterable, takes } from "../../kernel/argument.ts";
import { JournalError } from "../../kernel/errors.ts";
import { canonicalJson, deepFreeze, parsedJson } from "../../kernel/json.ts";
import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { isRecord } from "../../kernel/value-kind.ts";
import { clauseText, shownText, thrownText } from "../../kernel/value-text.ts";
import { hashOf } from "../../message/given-files.ts";
import { apply } from "./apply.ts";
import { EVENT_VERSION, type RunEvent } from "./event.ts";
import { aJournal, aReadableJournal, type Journal, knownRun, type RunInfo, runInfo } from "./journal.ts";
import { parseEvent } from "./parse-event.ts";
import { filesIn, keptFile } from "./run-files.ts";
import { RunState } from "./run-state.ts";

/** Limit on the characters of a line, and of one append. The longest answer of a model fits in half of it. */
const MAX_CHARACTERS = 64 * 1024 * 1024;

/** Options of {@link exportRun}. */
export interface TransferOptions {
  /** Checked before each line, and after each append of an import. */
  readonly signal?: AbortSignal;
}

/** Options of {@link importRun}. */
export interface ImportOptions extends TransferOptions {
  /** The id of the run in this journal. Default: its exported id. */
  readonly id?: string;
}

const transferOptions: Known<TransferOptions> = { signal: kinds.signal };
const importOptions: Known<ImportOptions> = { ...transferOptions, id: kinds.text };

/**
 * Yields a run as lines without line breaks: a header, one line of canonical JSON for each event, one for each file of its messages, and an end
 * with their counts and the sha256 of the lines of events. A run under way is exported up to the event that was its last one at the beginning. Every event is checked, so that each export
 * can be imported.
 *
 * @throws JournalError `RUN_UNKNOWN`, `RUN_FORGOTTEN`, `EVENT_INVALID`, `EVENT_NEWER`, `JOURNAL_GAP`
 * @throws ControlError when the signal aborts
 *
 * @example
 * import { writeFile } from "node:fs/promises";
 * import { exportRun } from "troupe";
 * import type { Journal } from "troupe/ports";
 *
 * export async function backup(journal: Journal, runId: string): Promise<void> {
 *   const lines: string[] = [];
 *   for await (const line of exportRun(journal, runId)) lines.push(line);
 *   await writeFile(`${runId}.jsonl`, lines.join("\n"));
 * }
 */
export function exportRun(journal: Journal, runId: string, o: TransferOptions = {}): AsyncIterable<string> {
  checkKnownOptions("exportRun", o, transferOptions);
  takes("exportRun", "journal", journal, aReadableJournal);
  takes("exportRun", "runId", runId, aText);
  return exported(journal, runId, o);
}

async function* exported(journal: Journal, runId: string, { signal }: TransferOptions): AsyncIterable<string> {
  const info = await runInfo(journal, runId);
  yield JSON.stringify({ troupe: "run", v: EVENT_VERSION, runId, events: info.events });
  const hash = createHash("sha256");
  let events = 0;
  const named = new Set<string>();
  for await (const event of info.events > 0 ? journal.read(runId, 0) : []) {
    throwIfAborted(signal);
    const line = canonicalJson(event);
    if (parseEvent(JSON.parse(line)).seq !== events) throw gap(runId, events, String(event.seq));
    hash.update(`${line}\n`);
    yield line;
    for (const file of filesIn(event)) named.add(file.hash);
    events += 1;
    if (events === info.events) break;
  }
  if (events < info.events) throw gap(runId, events, "the end");
  let files = 0;
  for (const one of named) {
    throwIfAborted(signal);
    const bytes = await keptFile(journal, runId, one);
    if (bytes === undefined) continue;
    yield JSON.stringify({ troupe: "file", sha256: one, data: Buffer.from(bytes).toString("base64") });
    files += 1;
  }
  yield JSON.stringify({ troupe: "end", events, sha256: hash.digest("hex"), ...(files === 0 ? {} : { files }) });
}

function gap(runId: string, expected: number, came: string): JournalError {
  return new JournalError("JOURNAL_GAP", `Expected event ${expected} of run ${runId} next, got ${came}. Events are missing or doubled.`);
}

/**
 * Reads the lines of an export into a journal. Checks every line, and that every event fits the events before it. Writes the run when all
 * lines have come, in one append up to 64 million characters: then the journal has the whole run or nothing, even when the process dies. It may
 * have an empty run of that id, which the next import fills.
 *
 * @param lines with or without their line breaks
 * @throws JournalError `RUN_EXISTS` for an id that the journal has; `EXPORT_CUT` when the lines end too early; `EXPORT_INVALID` for lines
 * that are no export or were changed; `EVENT_INVALID`, `EVENT_NEWER`; `JOURNAL_GAP`, `JOURNAL_DAMAGED` for events that contradict each
 * other; `IMPORT_LEFT_OVER` when an import failed and its part could not be removed
 * @throws ControlError when the signal aborts
 *
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
  const reader = new ExportReader();
  const read: ReadEvent[] = [];
  let runId: string | undefined;
  for await (const line of lines) {
    takes("importRun", "a line", line, aText);
    throwIfAborted(o.signal);
    const event = reader.read(line);
    if (runId === undefined && reader.runId !== undefined) {
      runId = o.id ?? reader.runId;
      await assertFree(journal, runId);
    }
    if (event !== undefined) read.push({ event, size: line.length });
  }
  reader.end();
  await write(journal, runId ?? "", { read, files: reader.files }, o.signal);
  return { runId: runId ?? "", events: read.length };
}

interface ReadRun {
  readonly read: readonly ReadEvent[];
  readonly files: ReadonlyMap<string, Uint8Array>;
}

interface ReadEvent {
  readonly event: RunEvent;
  readonly size: number;
}

async function assertFree(journal: Journal, runId: string): Promise<void> {
  if (((await knownRun(journal, runId))?.events ?? 0) === 0) return;
  const text = `Expected a run that is not in the journal, got ${runId}. Remove it, or import under another id.`;
  throw new JournalError("RUN_EXISTS", text);
}

/** Writes a run into a journal. A part of it is removed when that fails, unless another owner has the run. */
async function write(journal: Journal, runId: string, { read, files }: ReadRun, signal: AbortSignal | undefined): Promise<void> {
  throwIfAborted(signal);
  // A process that dies before its first append leaves a run without events.
  let isOurs = (await knownRun(journal, runId)) === undefined;
  if (isOurs) await journal.create(runId);
  try {
    const { epoch } = await journal.claim(runId);
    isOurs = true;
    for (const [hash, bytes] of files) await journal.keepFile?.(runId, epoch, hash, bytes);
    for (let next = 0; next < read.length;) {
      const from = next;
      const batch: RunEvent[] = [];
      for (let size = 0; next < read.length && size < MAX_CHARACTERS; next += 1) {
        const { event, size: more } = read[next] as ReadEvent;
        batch.push(event.runId === runId ? event : deepFreeze({ ...event, runId }));
        size += more;
      }
      await journal.append(runId, epoch, from, batch);
      throwIfAborted(signal);
    }
    await journal.release(runId, epoch);
  } catch (error) {
    const isTaken = error instanceof JournalError && /^(EPOCH_STALE|RUN_OWNED|SEQ_MISMATCH)$/.test(error.code);
    if (isOurs && !isTaken) await journal.remove(runId).catch((left: unknown) => throwLeftOver(runId, error, left));
    throw error;
  }
}

function throwLeftOver(runId: string, cause: unknown, left: unknown): never {
  const why = `the import failed (${thrownText(cause)}), and removing failed too: ${clauseText(thrownText(left))}`;
  const text = `Expected to remove what was imported of run ${runId}, but ${why}. Remove the run before you import it again.`;
  throw new JournalError("IMPORT_LEFT_OVER", text, { cause });
}

/** Yields the lines of a text in pieces. @throws JournalError `EXPORT_INVALID` for one that is too long, before all of it is in memory */
export async function* linesOf(pieces: AsyncIterable<string> | Iterable<string>): AsyncIterable<string> {
  let open: string[] = [];
  let length = 0;
  for await (const piece of pieces) {
    const [first = "", ...others] = piece.split("\n");
    open.push(first);
    length += first.length;
    for (const next of others) {
      yield open.join("");
      open = [next];
      length = next.length;
    }
    if (length > MAX_CHARACTERS) throw tooLong();
  }
  if (length > 0) yield open.join("");
}

const headerSchema = z.object({
  troupe: z.literal("run"),
  v: z.int().positive(),
  runId: z.string().min(1).max(1_000),
  events: z.int().nonnegative(),
});
const sha256 = z.string().length(64);
const endSchema = z.strictObject({
  ...{ troupe: z.literal("end"), events: z.int().nonnegative(), sha256 },
  files: z.int().positive().exactOptional(),
});
const fileSchema = z.strictObject({ troupe: z.literal("file"), sha256, data: z.string() });

/**
 * Checks an export line by line. It owns the number of lines read, their hash, and the state that the events lead to.
 *
 * RunImport.X1 (`read`): the header comes first, then as many events as it says, then the files that the end counts, then the end.
 * RunImport.X2 (`#event`): every event has its schema, belongs to the run of the header and fits the events before it.
 * RunImport.X3 (`#finish`): the hash in the end is the hash of the lines of events.
 * RunImport.X5 (`#file`): a file has the bytes that its hash names.
 * RunImport.X4 (`end`): only a last line can be cut; any other line that is no JSON makes the export invalid.
 */
class ExportReader {
  readonly files = new Map<string, Uint8Array>();
  readonly #hash = createHash("sha256");
  #header: z.infer<typeof headerSchema> | undefined;
  #state = new RunState("");
  #lines = 0;
  #isEnded = false;
  /** The last line is no JSON: the export was cut there, unless another line follows. */
  #isBroken = false;

  get runId(): string | undefined {
    return this.#header?.runId;
  }

  read(line: string): RunEvent | undefined {
    const text = line.replace(/\r?\n$/, "");
    if (text.trim() === "") return undefined;
    if (text.length > MAX_CHARACTERS) throw tooLong();
    if (this.#isBroken) throw this.#invalid("a line that is no JSON");
    this.#lines += 1;
    if (this.#isEnded) throw this.#invalid("more after its end");
    const json = parsedJson(text);
    this.#isBroken = json === undefined;
    if (json === undefined) return undefined;
    if (this.#header === undefined) return this.#begin(json);
    if (!isRecord(json) || !Object.hasOwn(json, "troupe")) return this.#event(json, text);
    return json["troupe"] === "file" ? this.#file(json) : this.#finish(json, this.#header.events);
  }

  end(): void {
    if (this.#isEnded) return;
    if (this.#header === undefined) throw this.#invalid(this.#lines === 0 ? "nothing" : "a first line that is no JSON");
    const { seq } = this.#state;
    const { events } = this.#header;
    const intact = seq === 0 ? "no event is whole" : `events 0 to ${seq - 1} are whole`;
    throw new JournalError(
      "EXPORT_CUT",
      `Expected an export of ${events} events and its end, got one that was cut: ${intact}. Export the run again.`,
      { data: { intact: seq, events } },
    );
  }

  #begin(json: unknown): undefined {
    const { data: header, error } = headerSchema.safeParse(json);
    if (header === undefined) throw this.#invalid(`a first line that is no header: ${shownText(z.prettifyError(error))}`);
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

  #event(json: unknown, text: string): RunEvent {
    const event = deepFreeze(parseEvent(json));
    const { seq } = this.#state;
    if (seq === this.#header?.events) throw this.#invalid(`more than the ${seq} events of its header`);
    if (seq === 0 && event.type !== "run.started") throw this.#invalid(`${event.type} as the first event`);
    apply(this.#state, event);
    this.#hash.update(`${text}\n`);
    return event;
  }

  #file(json: unknown): undefined {
    const { data: file, error } = fileSchema.safeParse(json);
    if (file === undefined) throw this.#invalid(`an invalid file: ${shownText(z.prettifyError(error))}`);
    const bytes = new Uint8Array(Buffer.from(file.data, "base64"));
    if (hashOf(bytes) !== file.sha256) throw this.#invalid("a file that does not match its hash");
    this.files.set(file.sha256, bytes);
  }

  #finish(json: unknown, events: number): undefined {
    const { data: end, error } = endSchema.safeParse(json);
    if (end === undefined) throw this.#invalid(`an invalid end: ${shownText(z.prettifyError(error))}`);
    const { seq } = this.#state;
    if (seq !== events || end.events !== events)
      throw this.#invalid(`${seq} events, but its header names ${events} and its end ${end.events}`);
    if ((end.files ?? 0) !== this.files.size) throw this.#invalid(`${this.files.size} files, but its end names ${end.files ?? 0}`);
    if (end.sha256 !== this.#hash.digest("hex")) throw this.#invalid("events that do not match the hash in its end");
    this.#isEnded = true;
  }

  #invalid(came: string): JournalError {
    const advice = "It is another file, or it was changed: export the run again.";
    const text = `Expected an export of a run, got ${came}, at line ${Math.max(1, this.#lines)}. ${advice}`;
    return new JournalError("EXPORT_INVALID", text, { data: { line: this.#lines } });
  }
}

function tooLong(): JournalError {
  const text = `Expected lines of at most ${MAX_CHARACTERS} characters, got a longer one. This is no export of a run.`;
  return new JournalError("EXPORT_INVALID", text);
}
