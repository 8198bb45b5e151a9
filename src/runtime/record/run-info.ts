import { JournalError } from "../../kernel/errors.ts";
import type { Journal, RunInfo } from "./journal.ts";

/**
 * What the list of a journal's runs tells of one. Where the list lacks it the journal itself says why.
 *
 * @throws JournalError `RUN_UNKNOWN`, `RUN_FORGOTTEN`
 */
export async function runInfo(journal: Pick<Journal, "read" | "runs">, runId: string): Promise<RunInfo> {
  const info = (await journal.runs()).find((run) => run.runId === runId);
  if (info !== undefined) return info;
  for await (const _event of journal.read(runId, 0)) break;
  throw new JournalError("RUN_UNKNOWN", `Expected a run of this journal, got ${runId}, which it does not have.`);
}
