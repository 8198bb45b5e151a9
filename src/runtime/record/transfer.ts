import { parseEvent } from "./parse-event.ts";
import { createHash } from "node:crypto";
import { throwIfAborted } from "../../kernel/abort.ts";
import { aText, iterable, takes } from "../../kernel/argument.ts";
import { JournalError } from "../../kernel/errors.ts";
import { canonicalJson } from "../../kernel/json.ts";
import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { EVENT_VERSION } from "./event.ts";
import { aJournal, aReadableJournal, type Journal, type RunInfo, runInfo } from "./journal.ts";

/** Options of {@link exportRun}. */
export interface TransferOptions {
  /** Checked before each line. The caller stops the source or the target of the lines. */
  readonly signal?: AbortSignal;
}

const transferOptions: Known<TransferOptions> = { signal: kinds.signal };

/** Options of {@link importRun}. */
export interface ImportOptions extends TransferOptions {
  /** The id of the run in this journal. Default: its exported id. */
  readonly id?: string;
}

const importOptions: Known<ImportOptions> = { ...transferOptions, id: kinds.text };

/**
 * Yields a run as lines of text, for a file or another machine: a header, one line of canonical JSON for each event, and an end with their
 * count and the sha256 of their lines. The lines have no line breaks. Equal runs give equal lines. A run under way is exported up to the
 * last event at the beginning. Every event is checked, so that each export can be imported.
 *
 * @throws JournalError `RUN_UNKNOWN`, `RUN_FORGOTTEN`, `EVENT_INVALID`, `EVENT_NEWER`, `JOURNAL_GAP`
 * @throws ControlError when the signal aborts
 *
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
export function exportRun(journal: Journal, runId: string, o: TransferOptions = {}): AsyncIterable<string> {
  checkKnownOptions("exportRun", o, transferOptions);
  takes("exportRun", "journal", journal, aReadableJournal);
  takes("exportRun", "runId", runId, aText);
  return exported(journal, runId, o);
}

async function* exported(journal: Journal, runId: string, o: TransferOptions): AsyncIterable<string> {
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
 * Reads the lines of an export into a journal. Checks every line, and that every event fits the events before it. Writes the run when all
 * lines have come, in one append: the journal has the whole run or nothing, even when the process dies meanwhile. It may then have an empty
 * run of that id, which the next import fills. A run of more than 64 million characters is written in several appends. When such an import
 * fails, the written events are removed; when the process dies, they stay.
 *
 * @param lines with or without their line breaks
 * @throws JournalError `RUN_EXISTS` for an id that the journal has; `EXPORT_CUT` when the lines end too early; `EXPORT_INVALID` for lines
 * that are no export or were changed; `EVENT_INVALID`, `EVENT_NEWER`; `JOURNAL_GAP`, `JOURNAL_DAMAGED` for events that contradict each
 * other
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
  // Loaded here because most programs never import.
  const { importLines } = await import("./run-import.ts");
  return importLines(journal, lines, o);
}

function gap(runId: string, expected: number, came: number | undefined): JournalError {
  const what = came === undefined ? "the end" : String(came);
  return new JournalError("JOURNAL_GAP", `Expected event ${expected} of run ${runId} next, got ${what}. Events are missing or doubled.`);
}
