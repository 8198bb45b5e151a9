import { throwIfAborted } from "../../kernel/abort.ts";
import { JournalError, UsageError } from "../../kernel/errors.ts";
import type { Scope } from "../../kernel/scope.ts";
import { defined } from "../../kernel/value-kind.ts";
import { thrownText } from "../../kernel/value-text.ts";
import type { MessageStore } from "../../memory/message-store.ts";
import { formatUsd } from "../../model/money.ts";
import type { RunEvent } from "../../runtime/record/event.ts";
import { type Journal, newestRuns, readEvents, type RunInfo } from "../../runtime/record/journal.ts";
import { listedSummary, type RunSummary } from "../../runtime/record/run-summary.ts";
import { exportRun, importRun, linesOf } from "../../runtime/record/transfer.ts";
import { removeWarnings } from "../kept-warnings.ts";
import { invalidOption } from "../option-words.ts";
import type { Flags } from "../options.ts";
import { confirmRemoval } from "../prompt.ts";
import { ageText, counted, plural, shown } from "../screen/text.ts";
import { exportLines, printCompaction, printTable, report, type Session } from "../session.ts";
import { conflict } from "../settings.ts";
import { isStore, type Store, storePlace, withRuns, withStore } from "../store.ts";
import { shortIdIn, storedRun, withRun } from "../stored-run.ts";
import { streamOf } from "../text-file.ts";

const DEFAULT_LIMIT = 30;

export async function runsLs(session: Session, flags: Flags): Promise<void> {
  const { host } = session;
  const limit = flags.limit ?? DEFAULT_LIMIT;
  const place = storePlace(flags, host);
  if (!(await isStore(place.path))) {
    session.screen.say(`No runs are kept in ${shown(place.name, 300)} yet.`);
    return;
  }
  return withStore(session, flags, async (store) => {
    const { journal } = store;
    const after = flags.after === undefined ? undefined : await storedRun(journal, flags.after);
    await printPage(session, store, await runPage(journal, { limit, after, signal: session.interruptions.signal }), flags);
  });
}

type RunPage = Awaited<ReturnType<typeof runPage>>;

export async function runPage(
  journal: Journal,
  { limit, after, signal }: { readonly limit: number; readonly after: string | undefined; readonly signal: AbortSignal },
) {
  const found = await newestRuns(journal, { limit: limit + 1, tallies: true, ...defined({ before: after }) });
  const rows = await summariesOf(journal, found.slice(0, limit), signal);
  return { rows, next: found.length > limit ? rows.at(-1)?.id : undefined };
}

async function printPage(session: Session, { journal, option }: Store, { rows, next }: RunPage, flags: Flags): Promise<void> {
  const now = session.host.clock.now();
  const short = new Map<string, string>();
  if (session.json === undefined) for (const { id } of rows) short.set(id, shown(await shortIdIn(journal, id), 60));
  await printTable(session, {
    type: "run",
    rows,
    heads: ["RUN", "LAST", "STATUS", "EVENTS", "IDEA"],
    cells: ({ id, moved, status, told, events, idea, team, parent }) => [
      short.get(id) ?? id,
      moved === null ? "" : ageText(now - moved),
      told === undefined ? status : `${status}, told`,
      counted(events),
      `${shown(idea === "" ? team : idea, 200)}${parent === undefined ? "" : ` (fork of ${shown(parent.runId, 60)})`}`,
    ],
    empty: flags.after === undefined ? "No runs are kept here yet." : "No older runs are kept here.",
  });
  if (next === undefined) return;
  const limit = flags.limit === undefined ? "" : ` --limit ${flags.limit}`;
  const sentence = `Older runs: troupe runs ls --after ${short.get(next) ?? next}${limit}${option}`;
  await report(session, sentence, { type: "next", after: next });
}

async function summariesOf(journal: Journal, infos: readonly RunInfo[], signal: AbortSignal): Promise<readonly RunSummary[]> {
  const summaries: RunSummary[] = [];
  for (const info of infos) {
    throwIfAborted(signal);
    summaries.push(await listedSummary(journal, info));
  }
  return summaries;
}

export async function runsExport(session: Session, flags: Flags, id: string, file?: string): Promise<void> {
  if (flags.html !== undefined) return runsHtml(session, flags, id, file);
  if (flags.otlp !== undefined) return (await import("./runs-otlp.ts")).runsOtlp(session, flags, id, file);
  if (flags.content === true) throw conflict("Expected --content with --otlp: an export without it has all contents.");
  return withRun(session, flags, id, async ({ journal }, runId) => {
    const name = shown(runId, 60);
    const lines = exportRun(journal, runId, { signal: session.interruptions.signal });
    const done = (count: number): [string, object] => {
      // The first and the last line are no events.
      const events = count - 2;
      return [`Exported run ${name}, ${plural(events, "event")}, to ${shown(file ?? "", 200)}.`, { runId, events }];
    };
    await exportLines(session, { file, example: `troupe runs export ${name} ${name}.ndjson`, lines, done });
  });
}

function runsHtml(session: Session, flags: Flags, id: string, file?: string): Promise<void> {
  const { html = "" } = flags;
  if (file !== undefined || flags.otlp !== undefined)
    throw conflict(`Expected --html alone, got another target besides. Write --html ${shown(html, 100)}`);
  return withRun(session, flags, id, async ({ journal }, runId) => {
    const { offlinePage, readPage } = await import("../../inspector/page-file.ts");
    const read = { events: 0 };
    const lines = offlinePage(await readPage(), [countingEvents(readEvents(journal, runId, session.interruptions), read)]);
    const done = (): [string, object] => [
      `Exported run ${shown(runId, 100)}, ${plural(read.events, "event")}, to ${shown(html, 200)}. Open it in a browser.`,
      { runId, events: read.events },
    ];
    await exportLines(session, { file: html, example: `troupe runs export ${shown(runId, 60)} --html run.html`, lines, done });
  });
}

async function* countingEvents(events: AsyncIterable<RunEvent>, read: { events: number }): AsyncGenerator<RunEvent, void> {
  for await (const event of events) {
    read.events += 1;
    yield event;
  }
}

export async function runsImport(session: Session, flags: Flags, file: string): Promise<void> {
  const { host } = session;
  const id = flags.as === undefined ? undefined : plainId(flags.as);
  const pieces = await streamOf(host, file).catch((cause: unknown) => {
    const text = `Expected to read a run from "${shown(file, 200)}", but ${shown(thrownText(cause), 200)}.`;
    throw new UsageError("FILE_UNREADABLE", text, { cause });
  });
  return withStore(session, flags, async ({ journal, ready }) => {
    await ready();
    const { signal } = session.interruptions;
    const { runId, events } = await importRun(journal, linesOf(pieces.setEncoding("utf8") as AsyncIterable<string>), {
      signal,
      ...defined({ id }),
    }).catch(adviseOnTaken);
    const text = `Imported run ${shown(runId, 100)}, ${plural(events, "event")}.`;
    await report(session, text, { type: "imported", runId, events });
  });
}

function adviseOnTaken(error: unknown): never {
  if (!(error instanceof JournalError && error.code === "RUN_EXISTS")) throw error;
  const expected = "Expected a run that is not here yet, got one whose id is taken";
  const advice = "Give it another: --as <id>, or forget the one that is here: troupe runs rm <id>.";
  throw new JournalError(error.code, `${expected}. ${advice}`, { cause: error });
}

/** Ids are typed and printed: new ones are plain. */
function plainId(given: string): string {
  if (/^[\w.-]{1,100}$/.test(given)) return given;
  throw invalidOption("--as", 'an id of letters, digits, ".", "_" and "-"', given);
}

export function runsSettle(session: Session, flags: Flags, id: string): Promise<void> {
  const { clock } = session.host;
  return withRun(session, flags, id, async ({ journal }, runId) => {
    const { Team } = await import("../../team/team.ts");
    const settled = await new Team({ journal, clock }).settle(runId, {
      ...defined({ cost: flags.cost }),
      signal: session.interruptions.signal,
    });
    const text = `Settled ${plural(settled.calls, "call")} of run ${shown(runId, 100)} at ${formatUsd(settled.cost)}; ${formatUsd(settled.kept)} had been kept for them.`;
    await report(session, text, { type: "settled", ...settled });
  });
}

const DEFAULT_AGE = 30 * 86_400_000;

export function runsRm(session: Session, flags: Flags, ...given: string[]): Promise<void> {
  return withRuns(session, flags, async (store) => {
    const { journal } = store;
    const chosen = [...new Set(await Promise.all(given.map((id) => storedRun(journal, id))))];
    await assertFree(journal, chosen);
    await confirmRemoval(session, `Forget ${chosen.map((id) => shown(id, 60)).join(", ")}? Their projects stay.`, flags.yes === true);
    await removeRuns(session, store, chosen);
    if (session.json === undefined) session.screen.say(`Forgot ${plural(chosen.length, "run")}.`);
  });
}

export async function runsGc(session: Session, flags: Flags): Promise<void> {
  const { host } = session;
  const before = host.clock.now() - (flags.olderThan ?? DEFAULT_AGE);
  const { path, removed } = await withRuns(session, flags, async (store) => {
    const { journal, path: file } = store;
    const infos = await newestRuns(journal, { limit: Number.MAX_SAFE_INTEGER, tallies: true });
    const runs = await summariesOf(journal, infos, session.interruptions.signal);
    const isOld = (moved: number | null): boolean => moved !== null && moved < before;
    const old = runs.filter(({ status, told, moved }) => status === "finished" && told === undefined && isOld(moved)).map(({ id }) => id);
    const question = `Forget ${plural(old.length, "finished run")}? Their projects stay.`;
    await confirmRemoval(session, question, flags.yes === true || old.length === 0);
    await removeRuns(session, store, old);
    return { path: file, removed: old.length };
  });
  const { compactFile, JOURNAL } = await import("../../adapters/sqlite-file.ts");
  await printCompaction(session, () => compactFile(path, JOURNAL), { removed }, `Forgot ${plural(removed, "run")}`);
}

async function removeRuns({ json }: Session, { journal, path }: Store, ids: readonly string[]): Promise<void> {
  for (const runId of ids) {
    await journal.remove(runId);
    await removeWarnings(path, runId);
    await json?.write({ type: "removed", runId });
  }
}

/** Of several runs all are removed, or none. */
async function assertFree(journal: Journal, ids: readonly string[]): Promise<void> {
  for (const runId of ids) {
    try {
      const { epoch } = await journal.claim(runId);
      await journal.release(runId, epoch);
    } catch (error) {
      // A damaged run can still be removed.
      if (error instanceof JournalError && error.code === "RUN_OWNED") throw error;
    }
  }
}

export function runsForget(session: Session, flags: Flags): Promise<void> {
  const { user, tenant } = flags;
  return withRuns(session, flags, async ({ journal, path }) => {
    const conversation = flags.conversation === undefined ? undefined : await storedRun(journal, flags.conversation);
    const scope: Scope = defined({ user, tenant, conversation });
    const whose = Object.entries(scope).map(([part, name]) => `${part} ${shown(String(name), 60)}`);
    if (whose.length === 0)
      throw new UsageError("OPTION_INVALID", "Expected whose words to forget, got none. Say --user, --conversation or --tenant.");
    const { forget } = await import("../../team/forget.ts");
    const memories = await memoriesOf(session, flags);
    try {
      const question = `Erase what was said for ${whose.join(", ")}, in runs and memories? It is gone for good.`;
      await confirmRemoval(session, question, flags.yes === true);
      const forgotten = await forget(scope, { journal, stores: memories, clock: session.host.clock });
      const { runs, texts, messages } = forgotten;
      // They may quote anybody.
      await removeWarnings(path);
      // An earlier call may have been killed before it rewrote the files.
      for (const kept of runs + messages === 0 ? [journal, ...memories] : []) await kept.purge?.();
      const text = `Forgot ${plural(runs, "run")} with ${plural(texts, "text")}, and ${plural(messages, "message")} of memories.`;
      await report(session, text, { type: "forgotten", ...forgotten });
    } finally {
      for (const store of memories) await store.close();
    }
  });
}

async function memoriesOf(session: Session, { memory }: Flags): Promise<readonly MessageStore[]> {
  const { assertMemories, memoryPlace } = await import("../memory-store.ts");
  const place = memoryPlace(memory === undefined ? {} : { store: memory }, session);
  if (place.isDefault && !(await isStore(place.path))) return [];
  await assertMemories(place, "--memory");
  const { sqliteStore } = await import("../../adapters/sqlite-store.ts");
  return [sqliteStore({ path: place.path })];
}
