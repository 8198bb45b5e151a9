import { JournalError } from "../kernel/errors.ts";
import { deepFreeze } from "../kernel/json.ts";
import type { Message } from "../message/message.ts";
import { apply } from "../runtime/record/apply.ts";
import type { ForkPoint, HiredRole, RunEvent, RunResumed, Sent } from "../runtime/record/event.ts";
import { assertDistinct, assertUnread, changedMessage, forkedEvent, type MessageChange } from "../runtime/replay/fork-copy.ts";
import { ForkAnswers } from "../runtime/replay/fork-answers.ts";
import { type Journal, readEvents } from "../runtime/record/journal.ts";
import { assertNotErased } from "../runtime/record/erased-event.ts";
import { masking, rewritten } from "../runtime/record/rewritten-event.ts";
import { copyFiles } from "../runtime/record/run-files.ts";
import { RunState } from "../runtime/record/run-state.ts";
import type { RunResult } from "../runtime/run-result.ts";
import { boundsChange, continuing } from "./bounds.ts";
import { type Crew, crewWith, definedNow, hiredInOrder, assertHired, isNeeded } from "./crew.ts";
import { drive, type TeamRun } from "./drive.ts";
import type { ForkOptions } from "./team-options.ts";

const BATCH = 500;

const GONE: ReadonlySet<string> = new Set(["RUN_UNKNOWN", "RUN_FORGOTTEN", "JOURNAL_DAMAGED"]);

export interface ForkParts extends TeamRun {
  readonly parentId: string;
  readonly said: readonly (Message | string)[];
}

export async function forkRun(fork: ForkParts, o: ForkOptions): Promise<RunResult> {
  const { state, answers, bounds, crew } = await copyPast(fork, o)
    .then((copy) => ({ ...copy, ...continuing(copy.state, crewWith(copy.state.roles.values(), fork.crew), o, fork) }))
    .catch(async (error: unknown) => {
      await fork.journal.remove(fork.controls.id);
      throw error;
    });
  const isAfresh = o.reuse === "none";
  const afresh = isAfresh ? ({ afresh: true } as const) : {};
  const opening: RunResumed = { type: "run.resumed", uncertain: [], forked: true, ...afresh, ...boundsChange(state, bounds, crew) };
  return drive({
    ...fork,
    crew,
    state,
    stopWhen: bounds.stopWhen,
    opening: [opening],
    said: [],
    news: fork.said,
    past: isAfresh ? undefined : answers,
    waits: o.wait,
  });
}

async function copyPast(fork: ForkParts, o: ForkOptions): Promise<{ readonly state: RunState; readonly answers: ForkAnswers }> {
  const { journal, parentId, epoch, crew, mask, controls } = fork;
  const { id: runId, signal } = controls;
  const { change: changes = [], about } = o;
  const seed = o.seed === undefined ? undefined : String(o.seed);
  const read: RunEvent[] = [];
  for await (const event of readEvents(journal, parentId, { signal })) read.push(event);
  assertNotErased({ runId: parentId, erased: read.some(({ type }) => type === "run.erased") });
  const at = o.at ?? (changes.length > 0 ? Math.max(...changes.map(({ seq }) => seq)) : read.length - 1);
  if (!Number.isInteger(at) || at < 0 || at >= read.length) throw noSuchEvent(parentId, at, read.length);
  const past = read.slice(0, at + 1);
  if (changes.length > 0) assertChangeable(parentId, changes, past);
  const parent: ForkPoint = { runId: parentId, at, ...(o.again === undefined ? {} : { again: o.again }) };
  const answers = new ForkAnswers(parent.again);
  for (const event of read) answers.learn(event, at);
  const state = new RunState(runId);
  const later = new Set(past.flatMap((event) => (event.type === "role.hired" ? event.roles.map(({ name }) => name) : [])));
  const copies = past.map((event) => {
    // Only the first event of the fork has the roles added by a changed team.
    if (event.type === "run.resumed" && event.roles !== undefined) assertHired(parentId, event.roles, crew);
    const roles = rolesNow(event, crew, later);
    const forked = forkedEvent(event, { runId, parent, roles, budget: crew.budget, seed, about, changes });
    const copy = deepFreeze(rewritten(forked, masking(mask)));
    apply(state, copy);
    return copy;
  });
  // A missing role of the run may have messages.
  assertHired(parentId, [...state.roles.values()].filter(isNeeded), crewWith(state.roles.values(), crew));
  await copyFiles(journal, parentId, { runId, epoch }, copies);
  for (let from = 0; from < copies.length; from += BATCH) await journal.append(runId, epoch, from, copies.slice(from, from + BATCH));
  return { state, answers };
}

function rolesNow(event: RunEvent, crew: Crew, later: ReadonlySet<string>): readonly HiredRole[] {
  if (event.type === "run.started") return hiredInOrder(event.roles, crew, later);
  return event.type === "role.hired" ? definedNow(event.roles, crew) : [];
}

/** Checks changes against the unchanged parent, because later events may contradict a dropped message. */
function assertChangeable(runId: string, changes: readonly MessageChange[], past: readonly RunEvent[]): void {
  assertDistinct(changes);
  const sent = changes.map((change) => {
    const event = past[change.seq];
    if (event === undefined) throw noSuchEvent(runId, change.seq, past.length);
    return changedMessage(event, change);
  });
  const state = new RunState(runId);
  for (const event of past) apply(state, event);
  for (const [nth, change] of changes.entries()) assertUnread(change, sent[nth] as Sent, state);
}

export async function recalledAnswers(
  journal: Journal,
  { runId }: RunState,
  { runId: parentId, at, again }: ForkPoint,
  signal: AbortSignal,
): Promise<ForkAnswers | undefined> {
  const answers = new ForkAnswers(again);
  try {
    for await (const event of readEvents(journal, parentId, { signal })) {
      assertNotErased({ runId: parentId, erased: event.type === "run.erased" });
      answers.learn(event, at);
    }
    // The used answers matter only if an unused one is left.
    if (answers.hasAnswers) for await (const event of readEvents(journal, runId, { from: at + 1, signal })) answers.recall(event);
    return answers;
  } catch (error) {
    if (error instanceof JournalError && GONE.has(error.code)) return undefined;
    throw error;
  }
}

function noSuchEvent(runId: string, seq: number, events: number): JournalError {
  return new JournalError(
    "FORK_POINT",
    `Expected the number of an event that run ${runId} shares, 0 to ${events - 1}, got ${seq}. Look at its events.`,
  );
}
