import { throwIfAborted } from "../../kernel/abort.ts";
import { type Journal, newestRuns, type RunInfo } from "../../runtime/record/journal.ts";
import { type RunSummary, listedSummary } from "../../runtime/record/run-summary.ts";
import { refuseWords } from "../idea.ts";
import type { Flags } from "../options.ts";
import { ageText, counted } from "../screen/amounts.ts";
import { tableLines } from "../screen/layout.ts";
import { shown } from "../screen/text.ts";
import { printLines, resultStyle, type Session } from "../session.ts";
import { isStore, type Store, storePlace, withStore } from "../store.ts";
import { shortIdIn, storedRun } from "../stored-run.ts";

const DEFAULT_LIMIT = 30;

export async function runsLs(session: Session, flags: Flags, ...words: string[]): Promise<void> {
  const { host } = session;
  refuseWords(words, "runs");
  const limit = flags.limit ?? DEFAULT_LIMIT;
  const place = storePlace(flags, host);
  if (!(await isStore(place.path))) {
    session.screen.say(`No runs are kept in ${shown(place.name, 300)} yet.`);
    return;
  }
  return withStore(session, flags, async (store) => {
    const { journal } = store;
    const after = flags.after === undefined ? undefined : await storedRun(journal, flags.after);
    await print(session, store, await runPage(journal, { limit, after, signal: session.interruptions.signal }), flags);
  });
}

interface PageOptions {
  readonly limit: number;
  readonly after: string | undefined;
  readonly signal: AbortSignal;
}

export type RunPage = Awaited<ReturnType<typeof runPage>>;

/** Reads a page of a journal, and no other run. */
export async function runPage(journal: Journal, { limit, after, signal }: PageOptions) {
  const found = await newestRuns(journal, { limit: limit + 1, tallies: true, ...(after === undefined ? {} : { before: after }) });
  const rows = await summariesOf(journal, found.slice(0, limit), signal);
  return { rows, next: found.length > limit ? rows.at(-1)?.id : undefined };
}

async function print(session: Session, { journal, option }: Store, { rows, next }: RunPage, flags: Flags): Promise<void> {
  const { json, screen, host } = session;
  if (json !== undefined) {
    for (const row of rows) await json.write({ type: "run", ...row });
    if (next !== undefined) await json.write({ type: "next", after: next });
    return;
  }
  if (rows.length === 0) return screen.say(flags.after === undefined ? "No runs are kept here yet." : "No older runs are kept here.");
  const now = host.clock.now();
  const cells: (readonly string[])[] = [];
  for (const { id, moved, status, told, events, idea, team, parent } of rows) {
    cells.push([
      shown(await shortIdIn(journal, id), 60),
      moved === null ? "" : ageText(now - moved),
      told === undefined ? status : `${status}, told`,
      counted(events),
      `${shown(idea === "" ? team : idea, 200)}${parent === undefined ? "" : ` (fork of ${shown(parent.runId, 60)})`}`,
    ]);
  }
  await printLines(session, tableLines(["RUN", "LAST", "STATUS", "EVENTS", "IDEA"], cells, resultStyle(session)));
  if (next === undefined) return;
  const limit = flags.limit === undefined ? "" : ` --limit ${flags.limit}`;
  screen.say(`Older runs: troupe runs ls --after ${shown(await shortIdIn(journal, next), 60)}${limit}${option}`);
}

export async function allSummaries(journal: Journal, signal: AbortSignal): Promise<readonly RunSummary[]> {
  return summariesOf(journal, await newestRuns(journal, { limit: Number.MAX_SAFE_INTEGER, tallies: true }), signal);
}

export async function summariesOf(journal: Journal, infos: readonly RunInfo[], signal: AbortSignal): Promise<readonly RunSummary[]> {
  const summaries: RunSummary[] = [];
  for (const info of infos) {
    throwIfAborted(signal);
    summaries.push(await listedSummary(journal, info));
  }
  return summaries;
}
