import { throwIfAborted } from "../../kernel/abort.ts";
import { JournalError } from "../../kernel/errors.ts";
import type { RunStatus } from "../../runtime/record/event.ts";
import type { Journal, RunInfo } from "../../runtime/record/journal.ts";
import { readAbout } from "../about.ts";
import type { ExitCode } from "../errors.ts";
import type { Host } from "../host.ts";
import { refuseWords } from "../idea.ts";
import { printLines, resultStyle } from "../output.ts";
import { ageText, counted, shortId, shown, tableLines } from "../screen/text.ts";
import { inSession, type Session } from "../session.ts";
import type { Flags } from "../settings.ts";
import { isStore, storePlace, withStore } from "../store.ts";
import { eventAt } from "../stored-run.ts";

/** The commands of `troupe runs`. */
export const RUNS_COMMANDS: readonly string[] = ["ls", "show", "events", "flow", "diff", "export", "import", "rm", "gc"];

/** `troupe runs ls`: the runs of the store, the newest first. @param words other arguments: none may be given */
export function runsLsCommand(host: Host, words: readonly string[], flags: Flags): Promise<ExitCode> {
  return inSession(host, flags, async (session) => {
    refuseWords(words, "runs", RUNS_COMMANDS);
    const place = storePlace(flags, host);
    if (!(await isStore(place.path))) {
      session.screen.say(`No runs are kept in ${shown(place.name, 300)} yet.`);
      return 0;
    }
    return withStore<ExitCode>(session, flags, async ({ journal }) => {
      await print(session, (await runRows(journal, session.interruptions.signal)).toReversed());
      return 0;
    });
  });
}

async function print(session: Session, rows: readonly RunRow[]): Promise<void> {
  const { json, screen, host } = session;
  if (json !== undefined) {
    for (const row of rows) await json.write({ type: "run", ...row });
    return;
  }
  if (rows.length === 0) return screen.say("No runs are kept here yet.");
  const now = host.clock.now();
  const ids = rows.map(({ runId }) => runId);
  const cells = rows.map(({ runId, moved, status, events, idea, parent }) => [
    shown(shortId(runId, ids), 60),
    moved === null ? "" : ageText(now - moved),
    status,
    counted(events),
    `${shown(idea, 200)}${parent === undefined ? "" : ` (fork of ${shown(parent.runId, 60)})`}`,
  ]);
  await printLines(session, tableLines(["RUN", "LAST", "STATUS", "EVENTS", "IDEA"], cells, resultStyle(session)));
}

/** A run in a list, from its first and its last event. */
export interface RunRow {
  readonly runId: string;
  readonly events: number;
  /** `open`: its record has no end, so it is in progress, or its process died. `empty`: it has no events. `damaged`: it cannot be read. */
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
