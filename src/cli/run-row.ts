import { throwIfAborted } from "../kernel/abort.ts";
import { JournalError } from "../kernel/errors.ts";
import type { RunStatus } from "../runtime/record/event.ts";
import type { Journal, RunInfo } from "../runtime/record/journal.ts";
import { readAbout } from "./about.ts";
import { eventAt } from "./pick-run.ts";

/** A run in a list: what its first and its last event tell. */
export interface RunRow {
  readonly runId: string;
  readonly events: number;
  /** `open`: its record has no end, so it is under way, or its process died. `empty`: it has none. `damaged`: it cannot be read. */
  readonly status: RunStatus | "open" | "empty" | "damaged";
  /** Milliseconds since 1970 of the first and the last event; null where there is none. */
  readonly began: number | null;
  readonly moved: number | null;
  /** The idea, or the name of the team that a program made. */
  readonly idea: string;
  /** The project's folder; null for the run of a program. */
  readonly out: string | null;
  readonly model: string | null;
  /** The run it was forked from. */
  readonly parent?: { readonly runId: string; readonly at: number };
}

/** All runs of a journal, the oldest first. @throws ControlError when the signal aborts */
export async function runRows(journal: Journal, signal: AbortSignal): Promise<readonly RunRow[]> {
  const rows: RunRow[] = [];
  for (const info of await journal.runs()) {
    throwIfAborted(signal);
    rows.push(await rowOf(journal, info));
  }
  return rows;
}

async function rowOf(journal: Journal, info: RunInfo): Promise<RunRow> {
  const { runId, events } = info;
  const row: RunRow = { runId, events, status: "empty", began: null, moved: null, idea: "", out: null, model: null };
  try {
    const [first, last] = [await eventAt(journal, info, 0), await eventAt(journal, info, events - 1)];
    if (first?.type !== "run.started" || last === undefined) return row;
    const about = readAbout(first.about ?? null);
    return {
      ...row,
      status: last.type === "run.ended" ? last.status : "open",
      began: first.time,
      moved: last.time,
      idea: about?.idea ?? first.team,
      out: about?.out ?? null,
      model: about?.model.id ?? null,
      ...(first.parent === undefined ? {} : { parent: first.parent }),
    };
  } catch (error) {
    if (error instanceof JournalError) return { ...row, status: "damaged" };
    throw error;
  }
}
