import { type Journal, type RunInfo, runInfo } from "../runtime/record/journal.ts";
import { plainQuestion, questionOf } from "../runtime/record/questions.ts";
import { askedIn, type RunSummary, listedSummary, readTally } from "../runtime/record/run-summary.ts";
import { SERVER_PAUSED } from "./driven-runs.ts";

/** The summaries of the runs of a journal, with the runs that this server drives. It keeps no summary. */
export class RunSummaries {
  readonly #journal: Journal;
  readonly #driven: (runId: string) => "running" | "paused" | undefined;

  constructor(journal: Journal, driven: (runId: string) => "running" | "paused" | undefined) {
    this.#journal = journal;
    this.#driven = driven;
  }

  async of(runId: string): Promise<RunSummary> {
    const tally = await readTally(this.#journal, await this.known(runId));
    const questions = askedIn(tally).map((started) => plainQuestion(questionOf(runId, started)));
    return { ...this.#standing(tally.summary), questions };
  }

  /** Reads no event. @throws JournalError `RUN_UNKNOWN`, `RUN_FORGOTTEN` */
  known(runId: string): Promise<RunInfo> {
    return runInfo(this.#journal, runId);
  }

  async standing(runId: string): Promise<Pick<RunSummary, "status" | "events">> {
    return (await readTally(this.#journal, await this.known(runId))).summary;
  }

  async listed(info: RunInfo): Promise<RunSummary> {
    return this.#standing(await listedSummary(this.#journal, info));
  }

  #standing(summary: RunSummary): RunSummary {
    const driven = this.#driven(summary.id);
    const isPaused = summary.status === "stopped" && summary.error?.code === SERVER_PAUSED;
    const status = driven ?? (isPaused ? "paused" : summary.status);
    return { ...summary, status };
  }
}
