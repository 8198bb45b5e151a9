import { JournalError } from "../kernel/errors.ts";
import type { Journal, RunInfo } from "../runtime/record/journal.ts";
import { plainQuestion, questionOf } from "../runtime/record/questions.ts";
import { type RunSummary, RunTally } from "../runtime/record/run-summary.ts";

/** Most runs whose tallies are kept. */
const MOST_RUNS = 10_000;

/**
 * The summaries of the runs of a journal. It owns a tally for each run that was asked for of late, and reads on where that ended: a run that is
 * listed again costs its new events.
 *
 * RunSummaries.M1 (`#tally`) a tally is read on by one reader at a time.
 * RunSummaries.M2 (`#kept`) at most 10,000 tallies are kept; the one that was asked for longest ago goes first.
 */
export class RunSummaries {
  readonly #journal: Journal;
  readonly #kept = new Map<string, RunTally>();
  readonly #reading = new Map<string, Promise<RunTally>>();
  /** The status of a run that this server drives. */
  readonly #driven: (runId: string) => "running" | "paused" | undefined;

  constructor(journal: Journal, driven: (runId: string) => "running" | "paused" | undefined) {
    this.#journal = journal;
    this.#driven = driven;
  }

  /** Returns the summary of a run, with the questions that wait. @throws JournalError `RUN_UNKNOWN`, `RUN_FORGOTTEN` */
  async of(runId: string): Promise<RunSummary> {
    const tally = await this.#tally(runId);
    const questions = tally.asked.map((started) => plainQuestion(questionOf(runId, started)));
    return { ...this.#standing(tally.summary), questions };
  }

  /** Reads nothing of a run that is known. @throws JournalError `RUN_UNKNOWN`, `RUN_FORGOTTEN` */
  async known(runId: string): Promise<void> {
    if (!this.#kept.has(runId)) await this.#tally(runId);
  }

  /** Returns where the record of a run ends. */
  async standing(runId: string): Promise<Pick<RunSummary, "status" | "events">> {
    const { status, events } = (await this.#tally(runId)).summary;
    return { status, events };
  }

  /** Returns the summary of a run in a list, without its questions. */
  async listed({ runId }: RunInfo): Promise<RunSummary> {
    try {
      return this.#standing((await this.#tally(runId)).summary);
    } catch (error) {
      if (!(error instanceof JournalError)) throw error;
      return { ...new RunTally(runId).summary, status: "damaged" };
    }
  }

  #standing(summary: RunSummary): RunSummary {
    const driven = this.#driven(summary.id);
    return driven === undefined ? summary : { ...summary, status: driven };
  }

  async #tally(runId: string): Promise<RunTally> {
    // A reader that began before may have passed the newest events by, so its result is read on.
    await this.#reading.get(runId)?.catch(() => undefined);
    const reading = this.#reading.get(runId) ?? this.#read(runId);
    this.#reading.set(runId, reading);
    try {
      return await reading;
    } finally {
      if (this.#reading.get(runId) === reading) this.#reading.delete(runId);
    }
  }

  async #read(runId: string): Promise<RunTally> {
    const tally = this.#kept.get(runId) ?? new RunTally(runId);
    for await (const event of this.#journal.read(runId, tally.next)) tally.add(event);
    this.#kept.delete(runId);
    this.#kept.set(runId, tally);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MOST_RUNS && oldest !== undefined) this.#kept.delete(oldest);
    return tally;
  }
}
