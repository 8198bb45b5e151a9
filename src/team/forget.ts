import { takes } from "../kernel/argument.ts";
import { type Clock, systemClock } from "../kernel/clock.ts";
import { JournalError, UsageError } from "../kernel/errors.ts";
import { checkGivenOptions, checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { freshSeed } from "../kernel/random.ts";
import { isList, isRecord } from "../kernel/value-kind.ts";
import type { Cache } from "../memory/cache.ts";
import { checkForgetful, forgetInCache, forgetInStore, type ForgottenRun } from "../memory/forget.ts";
import type { Scope } from "../kernel/scope.ts";
import { checkScope, isWithin, scopeOfKey, scopeParts } from "../memory/memory-scope.ts";
import type { Recalled } from "../memory/recollection.ts";
import type { MessageStore } from "../memory/message-store.ts";
import { storesOf } from "../memory/role-memory.ts";
import type { Role } from "../role/role.ts";
import { type Eraser, eraserOf, type Erasure, erasing, namesIn } from "../runtime/record/erased-event.ts";
import { EVENT_VERSION, type RunEvent } from "../runtime/record/event.ts";
import { aJournal, type Journal, runInfo, readEvents } from "../runtime/record/journal.ts";
import { type RunSummary, readTally } from "../runtime/record/run-summary.ts";
import type { TeamParts } from "./drive.ts";

/** Options of {@link forget}. */
export interface ForgetOptions {
  /** Has the runs. */
  readonly journal: Journal;
  /** The stores of what roles remember. Default: none. */
  readonly stores?: readonly MessageStore[];
  /** The caches of brain memories that have a scope as their key. Default: none. */
  readonly caches?: readonly Cache[];
  /** True for the id of a run that may be read. Default: all. */
  readonly runs?: (runId: string) => boolean;
  readonly clock?: Clock;
}

/** Options of {@link Team.forget}. */
export type TeamForgetOptions = Pick<ForgetOptions, "stores" | "caches" | "runs">;

const teamForgetOptions: Known<TeamForgetOptions> = {
  stores: kinds.list(kinds.messageStore),
  caches: kinds.list(kinds.cache),
  runs: kinds.function,
};

const forgetOptions: Known<ForgetOptions> = { ...teamForgetOptions, journal: kinds.journal, clock: kinds.clock };

/** The erased data. */
export interface Forgotten {
  /** Runs whose words were erased. */
  readonly runs: number;
  /** Strings in the events of these runs that were replaced. */
  readonly texts: number;
  /** Messages that were removed from stores, and brain memories in caches. */
  readonly messages: number;
}

type DoomedRun = ForgottenRun<Erasure>;

/**
 * Erases the words of a user, a conversation or a tenant, and the answers: the messages in stores with their vectors and words, and the strings in
 * the events of their runs and of all forks of these runs. A string becomes a tombstone with a hash and the time; the record keeps its
 * form, its times and its costs, and has `run.erased`. An erased run cannot be resumed, replayed or forked: `TEXT_ERASED`. A run that recalled
 * erased words loses the strings that repeat them, and cannot be replayed or forked. Exports, backups, project files and telemetry are not
 * changed. A run without a scope is the conversation of its id. After a failure, call it again to complete it.
 *
 * @param scope at least one part; it selects the runs that have all of them
 * @throws UsageError `OPTION_INVALID`, also for a journal that cannot rewrite runs; `OPTION_UNKNOWN`; `ARGUMENT_INVALID`
 * @throws JournalError `RUN_OWNED` while one of the runs is under way: its `data` counts what was erased; MemoryError of a store
 */
export async function forget(scope: Scope, options: ForgetOptions): Promise<Forgotten> {
  checkGivenOptions("forget", options, forgetOptions);
  const { journal, stores = [], caches = [], runs: isLookedAt = () => true, clock = systemClock } = options;
  takes("forget", "journal", journal, aJournal);
  checkForgetful("forget", { stores, caches });
  checkScope("forget", scope);
  if (Object.keys(scopeParts).every((part) => scope?.[part as keyof Scope] === undefined))
    throw new UsageError("OPTION_INVALID", "Expected a user, a conversation or a tenant to forget, got none of them. Name one: { user }.");
  const { rewrite } = journal;
  if (rewrite === undefined) {
    const expected = "Expected a journal that can rewrite its runs, got one without";
    throw new UsageError("OPTION_INVALID", `${expected}. Remove the runs: journal.remove(id).`);
  }
  const all: RunSummary[] = [];
  for (const { runId } of await journal.runs())
    if (isLookedAt(runId)) all.push((await readTally(journal, await runInfo(journal, runId))).summary);
  const eraser = eraserOf(freshSeed() + freshSeed(), clock.now());
  const whole = runsOf(all, scope).map((run): DoomedRun => ({ ...run, erasure: eraser.all }));
  // A second call finds the repeating runs by the runs that they repeat.
  const runs = [...(await repeatsOf(journal, whole, await candidatesOf(all, whole, stores), eraser)), ...whole];
  let messages = 0;
  let erased = 0;
  const done = (): Forgotten => ({ runs: erased, texts: eraser.count(), messages });
  for (const { runId } of runs) await owning(journal, runId, done);
  for (const cache of new Set(caches)) messages += await forgetInCache(cache, scope, clock.now());
  for (const store of new Set(stores)) {
    const removed = await forgetInStore(store, scope, runs);
    messages += removed;
    await purge(store, removed > 0);
  }
  for (const { runId, erasure } of runs) {
    await owning(journal, runId, done, async (epoch) => {
      const before = eraser.count();
      const read: RunEvent[] = [];
      for await (const event of readEvents(journal, runId)) read.push(event);
      const events = read.map(erasing(erasure, namesIn(read)));
      const texts = eraser.count() - before;
      const end = { v: EVENT_VERSION, runId, seq: events.length, time: clock.now(), type: "run.erased", texts } as const;
      await rewrite.call(journal, runId, epoch, [...events, erasure.isWhole ? end : { ...end, partly: true }]);
    });
    if (erasure.isWhole) erased += 1;
    unpurged.add(journal);
  }
  await purge(journal, false);
  return done();
}

const unpurged = new WeakSet<object>();

async function purge(kept: Journal | MessageStore, isErased: boolean): Promise<void> {
  if (isErased) unpurged.add(kept);
  if (!unpurged.has(kept)) return;
  await kept.purge?.();
  unpurged.delete(kept);
}

async function candidatesOf(
  all: readonly RunSummary[],
  runs: readonly DoomedRun[],
  stores: readonly MessageStore[],
): Promise<readonly RunSummary[]> {
  const keys = await Promise.all(stores.map(async (store) => (await store.scopes?.()) ?? []));
  const kept = keys.flat().map((key): Scope => scopeOfKey(key));
  const ofUsers = runs.flatMap(({ scope: { tenant, user } }): readonly Scope[] => {
    return user === undefined ? [] : [{ ...(tenant === undefined ? {} : { tenant }), user }];
  });
  const shared = [...kept.filter((memory) => runs.some(({ scope }) => isWithin(scope, memory))), ...ofUsers];
  const meant = new Set(runs.map(({ runId }) => runId));
  return all.filter(({ id, scope, erased, events }) => {
    const isOther = !meant.has(id) && erased === undefined && events > 0;
    return isOther && shared.some((memory) => isWithin(scopeOf(id, scope), memory));
  });
}

async function repeatsOf(
  journal: Journal,
  runs: readonly DoomedRun[],
  candidates: readonly RunSummary[],
  eraser: Eraser,
): Promise<readonly DoomedRun[]> {
  const meant = new Set(runs.map(({ runId }) => runId));
  const found: DoomedRun[] = [];
  for (const { id, scope } of candidates) {
    const texts = new Set<string>();
    for await (const event of readEvents(journal, id)) for (const text of recalledIn(event, meant)) texts.add(text);
    if (texts.size > 0) found.push({ runId: id, scope: scopeOf(id, scope), erasure: eraser.repeating([...texts]) });
  }
  return found;
}

function recalledIn(event: RunEvent, runs: ReadonlySet<string>): readonly string[] {
  const value = event.type === "step.ended" && isRecord(event.value) ? event.value : {};
  const { related } = value as { readonly related?: Partial<Recalled["related"]> };
  if (!isRecord(related) || !isList(related.messages)) return [];
  return related.messages.flatMap(({ runId, text }) => (runId !== undefined && runs.has(runId) && text !== "" ? [text] : []));
}

export function forgetOf(
  { journal, options: { memory, clock }, roles }: Pick<TeamParts, "journal" | "options"> & { readonly roles: readonly Role[] },
  scope: Scope,
  o: TeamForgetOptions,
): Promise<Forgotten> {
  checkKnownOptions("forget", o, teamForgetOptions);
  const known = storesOf(roles, memory);
  return forget(scope, { ...o, journal, stores: [...known, ...(o.stores ?? [])], ...(clock === undefined ? {} : { clock }) });
}

function runsOf(all: readonly RunSummary[], whole: Scope): readonly Omit<DoomedRun, "erasure">[] {
  const meant = new Map<string, Omit<DoomedRun, "erasure">>();
  const forks = new Map<string, RunSummary[]>();
  const take = ({ id, scope, erased }: RunSummary): void => {
    if (meant.has(id) || erased !== undefined) return;
    meant.set(id, { runId: id, scope: scopeOf(id, scope) });
    for (const fork of forks.get(id) ?? []) take(fork);
  };
  for (const summary of all) {
    const { parent } = summary;
    if (parent !== undefined) forks.set(parent.runId, [...(forks.get(parent.runId) ?? []), summary]);
  }
  for (const summary of all) if (summary.events > 0 && isWithin(scopeOf(summary.id, summary.scope), whole)) take(summary);
  return [...meant.values()];
}

function scopeOf(runId: string, scope: Scope | undefined): Scope {
  return { conversation: runId, ...scope };
}

/** Claims a run at rest for the time of the work. The next owner learns how the previous owner left the run. */
async function owning(journal: Journal, runId: string, done: () => Forgotten, work?: (epoch: number) => Promise<void>): Promise<void> {
  try {
    const { epoch, former } = await journal.claim(runId, { ifFree: true });
    try {
      await work?.(epoch);
    } finally {
      await journal.release(runId, epoch, { former });
    }
  } catch (error) {
    if (!(error instanceof JournalError && (error.code === "RUN_OWNED" || error.code === "EPOCH_STALE"))) throw error;
    const { runs, messages } = done();
    const what = runs + messages === 0 ? "nothing was erased" : `only ${runs} runs and ${messages} messages were erased`;
    const text = `Expected to forget run ${runId}, but it is under way. Stop it, then forget it: ${what}.`;
    throw new JournalError("RUN_OWNED", text, { cause: error, data: { runId, runs, messages } });
  }
}
