import { JournalError, UsageError } from "../kernel/errors.ts";
import { deepFreeze } from "../kernel/json.ts";
import { maskSecrets } from "../kernel/mask.ts";
import { listed } from "../kernel/value-text.ts";
import type { Message } from "../message/message.ts";
import { apply } from "../runtime/record/apply.ts";
import type { RunEvent } from "../runtime/record/event.ts";
import { type Journal, knownRun, newestRuns, readEvents, type RunInfo } from "../runtime/record/journal.ts";
import { RunState } from "../runtime/record/run-state.ts";
import { type RunResult, runResult } from "../runtime/run-result.ts";
import { RecordedFiles } from "../workspace/recorded-files.ts";
import { readAbout } from "./about.ts";
import type { Flags } from "./options.ts";
import { Progress } from "./screen/progress.ts";
import { shortId, shown } from "./screen/text.ts";
import type { Session } from "./session.ts";
import { type Store, withRuns } from "./store.ts";
import type { PendingQuestion } from "../runtime/record/questions.ts";

const NAMED = 6;

export function findRun(ids: readonly string[], given: string): string {
  const known = ids.length === 0 ? "There is none yet." : thereAre(ids.toReversed());
  const unknown = "the id of a run, or its beginning";
  const advice = `${known} See: troupe runs ls`;
  return findOne(ids.toReversed(), given, { code: "RUN", one: "run", unknown, advice, idOf: (id) => id });
}

export function thereAre(ids: readonly string[]): string {
  return `There ${ids.length === 1 ? "is" : "are"} ${idList(ids)}.`;
}

interface Wanted<T> {
  readonly code: "RUN" | "ROLE" | "MESSAGE";
  readonly one: string;
  /** The expectation and the advice for an error if none fits. */
  readonly unknown: string;
  readonly advice: string;
  readonly idOf: (item: T) => string;
  /** Default: the id. */
  readonly nameOf?: (item: T) => string;
  /** The other way to name one of several. */
  readonly more?: string;
}

/** The item with exactly this id, else the only one whose id begins with it. */
export function findOne<T>(all: readonly T[], given: string, { code, one, unknown, advice, idOf, nameOf = idOf, more }: Wanted<T>): T {
  const exact = all.filter((item) => idOf(item) === given);
  const matches = exact.length > 0 || given === "" ? exact : all.filter((item) => idOf(item).startsWith(given));
  const [found, ...others] = matches;
  if (found !== undefined && others.length === 0) return found;
  const got = `got "${shown(given, 80)}"`;
  if (found === undefined) throw new UsageError(`${code}_UNKNOWN`, `Expected ${unknown}, ${got}. ${advice}`);
  const expected = `Expected the beginning of one ${one}'s id, ${got}, which ${idList(matches.map(nameOf))} have`;
  throw new UsageError(`${code}_AMBIGUOUS`, `${expected}. Say more of it${more === undefined ? "" : `, or ${more}`}.`);
}

export function idList(ids: readonly string[], limit: number = NAMED): string {
  const names = ids.map((id) => shown(id, 60));
  return listed(names, limit);
}

/** Returns the run of a journal that an id, or its beginning, names. Only an unknown or ambiguous id costs a list of all runs. */
export async function storedRun(journal: Journal, given: string): Promise<string> {
  if (given !== "") {
    const [found, ...others] = await newestRuns(journal, { limit: 2, prefix: given });
    if (found !== undefined && others.length === 0) return found.runId;
    if ((await knownRun(journal, given)) !== undefined) return given;
  }
  const ids = (await journal.runs()).map(({ runId }) => runId);
  return findRun(ids, given);
}

const MAX_ALIKE = 100;

export async function shortIdIn(journal: Journal, runId: string): Promise<string> {
  const alike = (await newestRuns(journal, { limit: MAX_ALIKE, prefix: shortId(runId, []) })).map((info) => info.runId);
  return alike.length === MAX_ALIKE ? runId : shortId(runId, alike);
}

export function withRun<T>(session: Session, flags: Flags, given: string, work: (store: Store, runId: string) => Promise<T>): Promise<T> {
  return withRuns(session, flags, async (store) => work(store, await storedRun(store.journal, given)));
}

/** Works with a run that is claimed meanwhile; without an id with the newest that is not finished and that no other process has. */
export function withHeldRun<T>(
  session: Session,
  flags: Flags,
  given: string | undefined,
  work: (store: Store, run: LoadedRun) => Promise<T>,
): Promise<T> {
  return withRuns(session, flags, async (store) => {
    const { journal } = store;
    const [runId, epoch] = await claimedRun(store, given);
    try {
      const run = await loadRun(journal, runId, { signal: session.interruptions.signal });
      if (run.state.seq > 0) return await work(store, run);
      const id = shown(runId, 100);
      const expected = `Expected a run that had begun, but ${id} was cut off before its first event`;
      throw new UsageError("RUN_EMPTY", `${expected}. Remove it: troupe runs rm ${id}`);
    } finally {
      await journal.release(runId, epoch);
    }
  });
}

export function isOwned(error: unknown): error is JournalError {
  return error instanceof JournalError && error.code === "RUN_OWNED";
}

async function claimedRun({ journal, name }: Store, given: string | undefined): Promise<readonly [runId: string, epoch: number]> {
  const claim = async (runId: string): Promise<readonly [string, number]> => [runId, (await journal.claim(runId)).epoch];
  if (given !== undefined) return claim(await storedRun(journal, given));
  const runs = await journal.runs();
  let refusal: JournalError | undefined;
  for (const info of runs.toReversed()) {
    if (!(await isUnfinished(journal, info))) continue;
    try {
      return await claim(info.runId);
    } catch (error) {
      if (!isOwned(error)) throw error;
      refusal ??= error;
    }
  }
  if (refusal !== undefined) throw refusal;
  const newest = runs.at(-1);
  const isOpen = newest !== undefined && (await openWork((await loadRun(journal, newest.runId)).state)) !== undefined;
  if (isOpen) return claim(newest.runId);
  const why = runs.length === 0 ? "there is none yet" : "all that this command began are finished";
  const expected = `Expected a run in ${shown(name, 200)} to continue, but ${why}`;
  throw new UsageError("RUN_NONE", `${expected}. Begin one: troupe "Create a 2048 game"`);
}

/** The evidence with which a company continues a run that ended before its product was done. */
export async function openWork(state: RunState): Promise<Message | undefined> {
  const about = readAbout(state.about ?? null);
  if (about === undefined) return undefined;
  // Commands that only list runs load no company.
  const [{ provesProduct }, { continuedWork }] = await Promise.all([
    import("./company.ts"),
    import("../../roles/company/software-company.ts"),
  ]);
  return provesProduct(about) ? continuedWork(resultOf(state).messages) : undefined;
}

export function resultOf(state: RunState): RunResult {
  return runResult(state, { reason: "idle", failure: undefined, control: undefined }, maskSecrets([]));
}

async function isUnfinished(journal: Journal, info: RunInfo): Promise<boolean> {
  const first = await eventAt(journal, info, 0);
  if (first?.type !== "run.started" || readAbout(first.about ?? null) === undefined) return false;
  const last = await eventAt(journal, info, info.events - 1);
  return last?.type !== "run.ended" || last.status !== "finished";
}

export async function eventAt(journal: Journal, { runId, events }: RunInfo, seq: number): Promise<RunEvent | undefined> {
  if (seq < 0 || seq >= events) return undefined;
  for await (const event of journal.read(runId, seq)) return event;
  return undefined;
}

export type LoadedRun = Awaited<ReturnType<typeof loadRun>>;

/** `held` has the micro-dollars of calls with unknown cost; a fork's `began` is the time of its first own event. @param o.at the last event */
export async function loadRun(
  journal: Journal,
  runId: string,
  { at = Infinity, visit, ...o }: { signal?: AbortSignal; at?: number | undefined; visit?: (event: RunEvent) => void } = {},
) {
  const state = new RunState(runId);
  const files = new RecordedFiles();
  const progress = new Progress();
  let [held, began, moved] = [0, 0, 0];
  for await (const event of readEvents(journal, runId, o)) {
    apply(state, deepFreeze(event));
    files.add(event);
    progress.add(event);
    if (event.type === "step.ended" && event.basis === "hold") held += event.cost ?? 0;
    if (event.seq === 0 || (event.type === "run.resumed" && event.forked === true)) began = event.time;
    moved = event.time;
    visit?.(event);
    if (event.seq >= at) break;
  }
  return { runId, state, files, progress, held, began, moved };
}

export async function eventsOf(journal: Journal, runId: string, signal: AbortSignal): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  await loadRun(journal, runId, { signal, visit: (event) => events.push(event) });
  return events;
}

/** The form of a question's id, which is not taken for an answer. */
const ID_LETTERS = /^[0-9a-f]{4,}$/;

/** @param asks true where a person can be asked for a missing text */
export function chosenQuestion(words: readonly string[], pending: readonly PendingQuestion[], runId: string, asks = false) {
  const [first, second] = words;
  const isId = first !== undefined && pending.some(({ id }) => ID_LETTERS.test(first) && id.startsWith(first));
  const text = second ?? (isId ? undefined : first);
  const question = isId || second !== undefined ? (first ?? "") : onlyQuestion(pending, runId, "before the answer");
  if (text !== undefined || asks) return { question, text };
  const command = `troupe answer ${shown(runId, 60)}${isId ? ` ${first}` : ""} "..."`;
  throw new UsageError("ANSWER_MISSING", `Expected an answer, got ${isId ? "the id of the question alone" : "none"}. Say: ${command}`);
}

/** The question that waits, where it is the only one. @param where its id goes otherwise */
export function onlyQuestion(pending: readonly PendingQuestion[], runId: string, where: string): string {
  const id = shown(runId, 60);
  const [only, ...others] = pending;
  if (only !== undefined && others.length === 0) return only.id;
  if (only === undefined) {
    const expected = `Expected a run with a question that waits, but run ${id} has none`;
    throw new UsageError("QUESTION_MISSING", `${expected}. See: troupe runs show ${id}`);
  }
  const waiting = pending.map((question) => `${question.id} (${shown(question.role, 60)}: ${shown(question.text, 80)})`).join(", ");
  throw new UsageError("QUESTION_MISSING", `Expected the id of a question of run ${id} ${where}. Waiting: ${waiting}.`);
}
