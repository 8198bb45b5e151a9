import { type CellJob, jobName } from "./cell.ts";
import { access, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { sqlite } from "../../adapters/sqlite.ts";
import { takes } from "../../kernel/argument.ts";
import { systemClock } from "../../kernel/clock.ts";
import { JournalError, UsageError } from "../../kernel/errors.ts";
import { checkGivenOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { clauseText, shownText, valueText } from "../../kernel/value-text.ts";
import type { RunEvent } from "../../index.ts";
import { copyJournal, recordOf, removeLocks, type RecordRequest } from "./cell-record.ts";
import type { CellEnd } from "./cell-run.ts";
import type { WireRequest } from "./cell-process.ts";
import { folderJobs } from "./sweep-plan.ts";
import { succeeds } from "../../kernel/system-error.ts";
import { anExperiment, type AnyExperiment, type CellReply, isWhole } from "./experiment.ts";
import { cellRunner, checkProcessOptions, CONCURRENCY, processBounds, type ProcessBounds } from "./process-slot.ts";
import { readExperiment } from "./sweep-folder.ts";
import { errorText, type Row, rowOf } from "./tables.ts";

export interface ReplayCellOptions extends ProcessBounds {
  /** The cell, by its place from 0: the column `cell` of its rows. */
  readonly cell: number;
  /** The repetition. Default 0. */
  readonly rep?: number;
  /** The folder of a sweep, with whose row the run is compared. The record goes to `records/` in it. Default: neither. */
  readonly out?: string;
}

const replayOptions: Known<ReplayCellOptions> = { ...processBounds, cell: kinds.count, rep: kinds.count, out: kinds.text };

export interface CellReplay {
  readonly row: Row;
  readonly events: readonly RunEvent[];
  /** The file of its journal and the id of the run in it, for `troupe inspect` and `troupe runs show`; undefined without `out`. */
  readonly journal: { readonly path: string; readonly runId: string } | undefined;
  /** The file, line and column of the program at which it failed, where that is known. */
  readonly place: string | undefined;
  /** True if the run was read from the record that the sweep kept: no model was asked. */
  readonly isRecorded: boolean;
  /** The columns in which its row differs from the one in `out`; undefined where there is none to compare with. */
  readonly changed: readonly string[] | undefined;
}

/**
 * Runs one repetition of one cell again, with its whole record from `begin` on, and compares its row with that of the sweep. If the sweep kept
 * the record of a run that has ended, the run is read from it, and only what is collected and measured is computed again.
 *
 * @throws UsageError `EXPERIMENT_CELL` for an unknown cell; `EXPERIMENT_RECORD` where the record is not whole, or has not all steps of a changed program; the errors of {@link
 * readExperiment}
 * @throws JournalError where the journal cannot be written
 * @throws ControlError when the signal aborts
 */
export async function replayCell(experiment: AnyExperiment, o: ReplayCellOptions): Promise<CellReplay> {
  takes("replayCell", "experiment", experiment, anExperiment);
  checkGivenOptions("replayCell", o, replayOptions);
  checkProcessOptions("replayCell", o);
  const { cell, rep = 0, out } = o;
  const kept = out === undefined ? undefined : await readExperiment(out);
  const jobs = kept === undefined ? experiment.jobs : folderJobs(kept.manifest);
  const job = jobs.find((one) => one.cell === cell && one.rep === rep);
  if (job === undefined) {
    const { cells, reps } = kept?.manifest.experiment ?? experiment.plan;
    const has = `cells 0 to ${cells.length - 1} with repetitions 0 to ${reps - 1}`;
    throw new UsageError(
      "EXPERIMENT_CELL",
      `Expected a run of ${experiment.name}, which has ${has}, got cell ${valueText(cell)}, repetition ${valueText(rep)}.`,
    );
  }
  const known = kept?.rows.find((one) => one["cell"] === cell && one["rep"] === rep);
  const record = out === undefined ? undefined : recordOf(resolve(out), experiment.name, job);
  const recorded = known?.["status"] === "done" && record !== undefined ? await recordedReply(experiment, { job, record, o }) : undefined;
  const { end, events = [] } = recorded ?? (await replied(experiment, { job, record: "events" }, o));
  if (recorded === undefined) assertWhole(events, end);
  const row = rowOf(job, end);
  const whole = recorded === undefined ? withEnd(events, record?.id ?? `${experiment.name}-${jobName(job)}`, end) : events;
  if (recorded === undefined && record !== undefined) await writeJournal(record.path, record.id, whole);
  const journal = record && { path: record.path, runId: record.id };
  const isRecorded = recorded !== undefined;
  const place = end.kind === "failed" ? end.place : undefined;
  return { row, events: whole, journal, place, isRecorded, changed: known && changedIn(known, row) };
}

interface RecordedCell {
  readonly job: CellJob;
  readonly record: Pick<RecordRequest, "path" | "id">;
  readonly o: ReplayCellOptions;
}

/** Reads a run from a copy of the record that the sweep kept. Undefined where it kept none. */
async function recordedReply(experiment: AnyExperiment, { job, record: { path, id }, o }: RecordedCell): Promise<CellReply | undefined> {
  if (!(await succeeds(access(path)))) return undefined;
  const folder = await mkdtemp(join(tmpdir(), "troupe-replay-"));
  try {
    const copy = join(folder, "record.db");
    await copyJournal(path, copy);
    const events = await eventsIn(copy, id).catch((error: unknown) => {
      throw error instanceof JournalError ? new JournalError(error.code, error.message.replaceAll(copy, path), { cause: error }) : error;
    });
    if (!events.some(({ type }) => type === "step.started")) return undefined;
    const reply = await replied(experiment, { job, keeps: { path: copy, id, keeps: "read" } }, o);
    if (reply.end.kind === "failed" && reply.end.code === "EXPERIMENT_RECORD") throw new UsageError(reply.end.code, reply.end.message);
    return { ...reply, events };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function eventsIn(path: string, runId: string): Promise<readonly RunEvent[]> {
  const journal = sqlite({ path });
  const events: RunEvent[] = [];
  try {
    for await (const event of journal.read(runId, 0)) events.push(event);
  } finally {
    await journal.close();
  }
  return events;
}

async function replied(
  experiment: AnyExperiment,
  request: Pick<WireRequest, "job" | "record" | "keeps">,
  o: ReplayCellOptions,
): Promise<CellReply> {
  const { clock = systemClock, signal = new AbortController().signal } = o;
  const runner = cellRunner(experiment, o, { clock, signal });
  return runner.run({ ...request, concurrency: CONCURRENCY }).finally(() => runner.close());
}

function assertWhole(events: readonly RunEvent[], end: CellEnd): void {
  if (isWhole(events)) return;
  if (end.kind === "failed")
    throw new UsageError(
      "EXPERIMENT_RECORD",
      `Expected a run that leaves a record, but it failed${end.place === undefined ? "" : ` at ${shownText(end.place)}`} and left none: ${clauseText(errorText(end))}. Correct that first.`,
    );
  throw new UsageError(
    "EXPERIMENT_RECORD",
    `Expected a record that begins with the start of the run, got ${events[0] === undefined ? "none" : `event ${events[0].seq}, ${events[0].type}`}. Publish the first messages in begin, and not in world; give a world of your own the method on.`,
  );
}

/** An environment records no end of its own: it could always go on. */
function withEnd(events: readonly RunEvent[], runId: string, end: CellEnd): readonly RunEvent[] {
  const named = events.map((event) => ({ ...event, runId }));
  const last = named.at(-1);
  if (last === undefined || last.type === "run.ended") return named;
  const { v, seq, time } = last;
  const envelope = { v, runId, seq: seq + 1, time, type: "run.ended" } as const;
  if (end.kind === "failed")
    return [...named, { ...envelope, status: "failed", error: { name: "Error", code: end.code, message: end.message } }];
  return [...named, { ...envelope, status: end.ended === "idle" ? "finished" : end.ended === "rounds" ? "rounds" : "stopped" }];
}

async function writeJournal(path: string, runId: string, events: readonly RunEvent[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const journal = sqlite({ path });
  try {
    await journal.remove(runId);
    await journal.create(runId);
    const { epoch } = await journal.claim(runId);
    await journal.append(runId, epoch, 0, events);
    await journal.release(runId, epoch);
  } finally {
    await journal.close();
    await removeLocks(path);
  }
}

function changedIn(known: Row, now: Row): readonly string[] {
  return [...new Set([...Object.keys(known), ...Object.keys(now)])].filter((column) => known[column] !== now[column]);
}
