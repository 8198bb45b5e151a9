import { listOf, having, takes } from "../kernel/argument.ts";
import { type Clock, systemClock } from "../kernel/clock.ts";
import { JournalError, UsageError } from "../kernel/errors.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { freshSeed } from "../kernel/random.ts";
import { type ForgottenRun, forgetInStore } from "../memory/forget-in-store.ts";
import { checkScope, isWithin, type Scope, scopeParts } from "../memory/memory-scope.ts";
import type { MessageStore } from "../memory/message-store.ts";
import { storesOf } from "../memory/role-memory.ts";
import type { Role } from "../role/role.ts";
import { erasedEvent, eraser } from "../runtime/record/erased-event.ts";
import { EVENT_VERSION, type RunEvent } from "../runtime/record/event.ts";
import { aJournal, type Journal, newestRuns, type RunInfo } from "../runtime/record/journal.ts";
import { readTally } from "../runtime/record/read-summary.ts";
import type { RunSummary } from "../runtime/record/run-summary.ts";
import type { TeamParts } from "./drive.ts";
import { readEvents } from "./read-events.ts";

/** Options of {@link forget}. */
export interface ForgetOptions {
  /** Has the runs. */
  readonly journal: Journal;
  /** The stores of what roles remember. Default: none. */
  readonly stores?: readonly MessageStore[];
  /** Only runs whose id begins with this text are looked at. Default: all. */
  readonly prefix?: string;
  readonly clock?: Clock;
}

const forgetOptions: Known<ForgetOptions> = { journal: true, stores: true, prefix: true, clock: true };

/** What was erased. */
export interface Forgotten {
  /** Runs whose words were erased. */
  readonly runs: number;
  /** Strings in the events of these runs that were replaced. */
  readonly texts: number;
  /** Messages that were removed from stores. */
  readonly messages: number;
}

/** Runs in one page of a list. */
const PAGE = 500;

/**
 * Erases what a user, a conversation or a tenant has said, and what was answered: the messages in stores with their vectors and words, and the
 * strings in the events of their runs and of all forks of these. A string becomes a tombstone with a hash and the time; the record keeps its
 * form, its times and its costs, and ends with `run.erased`. An erased run cannot be resumed, replayed or forked: `TEXT_ERASED`. Files of
 * SQLite are written again, so that no byte of the words is in them. Exports, backups, project files and telemetry are not reached.
 *
 * A run of no scope is the conversation of its id. Called again after a failure, it completes what it began.
 *
 * @param scope at least one part; a run is meant that has all of them
 * @throws UsageError `OPTION_INVALID`, also for a scope without parts and for a journal that cannot rewrite runs; `OPTION_UNKNOWN`
 * @throws JournalError `RUN_OWNED` while one of the runs is under way: then nothing is erased; `JOURNAL_DAMAGED`, `JOURNAL_UNWRITABLE`
 * @throws MemoryError of a store
 * @example
 * import { defineAction, defineRole, forget, memoryJournal, Team } from "troupe";
 *
 * const Shout = defineAction({ name: "Shout", run: (ctx) => ctx.text.toUpperCase() });
 * const journal = memoryJournal();
 * const team = new Team({ roles: [defineRole({ name: "Sam", actions: [Shout] })], journal });
 * await team.run("hello", { scope: { user: "ann" } }).result;
 * console.log((await forget({ user: "ann" }, { journal })).runs); // 1
 */
export async function forget(scope: Scope, options: ForgetOptions): Promise<Forgotten> {
  checkGivenOptions("forget", options, forgetOptions);
  const { journal, stores = [], prefix, clock = systemClock } = options;
  takes("forget", "journal", journal, aJournal);
  takes("forget", "stores", stores, listOf(having("a message store", "add", "remove")));
  checkScope("forget", scope);
  if (!Object.keys(scopeParts).some((part) => scope?.[part as keyof Scope] !== undefined)) {
    throw new UsageError("OPTION_INVALID", "Expected a user, a conversation or a tenant to forget, got none of them. Name one: { user }.");
  }
  const { rewrite } = journal;
  if (rewrite === undefined) {
    throw new UsageError(
      "OPTION_INVALID",
      "Expected a journal that can rewrite its runs, got one without. Remove the runs: journal.remove(id).",
    );
  }
  const runs = await runsOf(journal, scope, prefix);
  for (const { runId } of runs) await assertFree(journal, runId);
  let messages = 0;
  for (const store of new Set(stores)) messages += await forgetInStore(store, scope, runs);
  const { erase, count } = eraser(freshSeed() + freshSeed(), clock.now());
  for (const { runId } of runs) {
    await owning(journal, runId, async (epoch) => {
      const before = count();
      const events: RunEvent[] = [];
      for await (const event of readEvents(journal, runId)) events.push(erasedEvent(event, erase));
      const end = { v: EVENT_VERSION, runId, seq: events.length, time: clock.now(), type: "run.erased", texts: count() - before } as const;
      await rewrite.call(journal, runId, epoch, [...events, end]);
    });
  }
  await journal.purge?.();
  return { runs: runs.length, texts: count(), messages };
}

/** See {@link Team.forget}. */
export function forgetOf(
  { journal, options: { memory, clock }, roles }: Pick<TeamParts, "journal" | "options"> & { readonly roles: readonly Role[] },
  scope: Scope,
  stores: readonly MessageStore[],
): Promise<Forgotten> {
  const known = storesOf(roles, memory);
  return forget(scope, { journal, stores: [...known, ...stores], ...(clock === undefined ? {} : { clock }) });
}

/** Returns the runs of a scope and all their forks, without those that were erased before. */
async function runsOf(journal: Journal, whole: Scope, prefix: string | undefined): Promise<readonly ForgottenRun[]> {
  const meant = new Map<string, ForgottenRun>();
  const forks = new Map<string, RunSummary[]>();
  const take = ({ id, scope, erased }: RunSummary): void => {
    if (meant.has(id) || erased !== undefined) return;
    meant.set(id, { runId: id, scope: scopeOf(id, scope) });
    for (const fork of forks.get(id) ?? []) take(fork);
  };
  const found: RunSummary[] = [];
  for await (const info of allRuns(journal, prefix)) {
    const { summary } = await readTally(journal, info);
    found.push(summary);
    const { parent } = summary;
    if (parent !== undefined) forks.set(parent.runId, [...(forks.get(parent.runId) ?? []), summary]);
  }
  for (const summary of found) if (summary.events > 0 && isWithin(scopeOf(summary.id, summary.scope), whole)) take(summary);
  return [...meant.values()];
}

function scopeOf(runId: string, scope: Scope | undefined): Scope {
  return { conversation: runId, ...scope };
}

async function* allRuns(journal: Journal, prefix: string | undefined): AsyncGenerator<RunInfo, void> {
  let before: string | undefined;
  for (;;) {
    const page = await newestRuns(journal, {
      limit: PAGE,
      tallies: true,
      ...(before === undefined ? {} : { before }),
      ...(prefix === undefined ? {} : { prefix }),
    });
    yield* page;
    before = page.at(-1)?.runId;
    if (page.length < PAGE) return;
  }
}

/** @throws JournalError `RUN_OWNED` */
function assertFree(journal: Journal, runId: string): Promise<void> {
  return owning(journal, runId, () => Promise.resolve());
}

/** Claims a run that nobody works on, for the time of the work. How the owner before left it is told to the next one. */
async function owning(journal: Journal, runId: string, work: (epoch: number) => Promise<void>): Promise<void> {
  const { epoch, former } = await journal.claim(runId, { ifFree: true }).catch((error: unknown) => {
    if (!(error instanceof JournalError && error.code === "RUN_OWNED")) throw error;
    throw new JournalError(
      "RUN_OWNED",
      `Expected to forget run ${runId}, but it is under way. Stop it, then forget it: nothing was erased.`,
      {
        cause: error,
        data: { runId },
      },
    );
  });
  try {
    await work(epoch);
  } finally {
    await journal.release(runId, epoch, { former });
  }
}
