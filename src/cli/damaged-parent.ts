import { JournalError } from "../kernel/errors.ts";
import type { Journal } from "../runtime/record/journal.ts";
import { shown } from "./screen/text.ts";

/** What a journal tells of damage. */
interface Damage {
  /** Events before it. */
  readonly intact: number;
}

/**
 * Why a run that is forked cannot answer all it had answered: its record is damaged behind the events that are shared.
 *
 * @throws JournalError what reading throws besides
 */
export async function lostBehind(journal: Journal, runId: string, at: number, signal: AbortSignal): Promise<readonly string[]> {
  try {
    for await (const _event of journal.read(runId, at + 1)) if (signal.aborted) break;
    return [];
  } catch (error) {
    const damage = damageIn(error);
    if (damage === undefined) throw error;
    const after = `Its record is damaged after event ${damage.intact - 1}: what it had been answered from there on is asked and paid again.`;
    return [`Of run ${shown(runId, 100)} not all can be read. ${after}`];
  }
}

/** The same error, with the place where the run can be forked still. */
export function withWholePlace(error: unknown): unknown {
  const damage = damageIn(error);
  if (damage === undefined || damage.intact < 2 || !(error instanceof JournalError)) return error;
  const advice = `It can be forked where it is whole: --at ${damage.intact - 1}, or before.`;
  return new JournalError(error.code, `${error.message} ${advice}`, { data: error.data, cause: error });
}

function damageIn(error: unknown): Damage | undefined {
  if (!(error instanceof JournalError && error.code === "JOURNAL_DAMAGED")) return undefined;
  const { intact } = (error.data ?? {}) as Partial<Damage>;
  return typeof intact === "number" ? { intact } : undefined;
}
