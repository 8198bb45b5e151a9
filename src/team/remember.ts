import type { Environment } from "../runtime/environment.ts";
import { JournalError } from "../kernel/errors.ts";
import type { ForkPoint, RunEvent } from "../runtime/record/event.ts";
import type { Journal } from "../runtime/record/journal.ts";
import { heard } from "./heard.ts";

/** A record as far as it has come. */
export interface RecordSoFar {
  readonly journal: Journal;
  readonly runId: string;
  readonly parent: ForkPoint | undefined;
  /** Sequence number behind its last event. */
  readonly seq: number;
  readonly signal: AbortSignal;
}

/**
 * Tells the memories of an environment what the record of its run gave each role: what the process died before storing is stored now, and
 * what is stored already is not stored again. When the signal aborts, the rest is left for the next time: the environment then asks nothing.
 *
 * @throws JournalError
 */
export async function rememberRecord(environment: Environment, { journal, runId, parent, seq, signal }: RecordSoFar): Promise<void> {
  const { memories } = environment;
  if (!memories.isUsed || seq === 0) return;
  memories.descendsFrom(await ancestorsOf(journal, parent));
  for await (const event of heard(journal, runId, { from: 0, signal: undefined })) {
    if (event.seq >= seq || signal.aborted) return;
    memories.learn(event);
  }
}

/** The runs behind a fork and where each was left, from its parent on, as far as the journal has them. */
async function ancestorsOf(journal: Journal, parent: ForkPoint | undefined): Promise<readonly ForkPoint[]> {
  const ancestors: ForkPoint[] = [];
  for (let next = parent; next !== undefined && !ancestors.some(({ runId }) => runId === next?.runId);) {
    ancestors.push(next);
    const first = await firstEvent(journal, next.runId);
    next = first?.type === "run.started" ? first.parent : undefined;
  }
  return ancestors;
}

/** Undefined where a run is gone or damaged: then nobody knows what was before it. */
async function firstEvent(journal: Journal, runId: string): Promise<RunEvent | undefined> {
  try {
    for await (const event of journal.read(runId, 0)) return event;
  } catch (error) {
    if (!(error instanceof JournalError)) throw error;
  }
  return undefined;
}
