import { JournalError } from "../kernel/errors.ts";
import { deepFreeze, type Json } from "../kernel/json.ts";
import type { Mask } from "../kernel/mask.ts";
import { apply } from "../runtime/record/apply.ts";
import type { ForkPoint, RunEvent, Sent } from "../runtime/record/event.ts";
import { assertDistinct, assertUnread, changedMessage, forkedEvent, type MessageChange } from "../runtime/replay/fork-copy.ts";
import { ForkAnswers } from "../runtime/replay/fork-answers.ts";
import { type Journal, runInfo } from "../runtime/record/journal.ts";
import { maskedBody } from "../runtime/record/masking.ts";
import { RunState } from "../runtime/record/run-state.ts";
import { assertHired, assertSameNames, type Crew, hiredInOrder } from "./crew.ts";
import { heard } from "./heard.ts";

/** How many events are copied at once. */
const BATCH = 500;

/** Codes of a journal that has a run no more. */
const GONE: ReadonlySet<string> = new Set(["RUN_UNKNOWN", "RUN_FORGOTTEN"]);

/** What a fork is made of. */
export interface CopyParts {
  readonly journal: Journal;
  readonly parentId: string;
  readonly runId: string;
  readonly epoch: number;
  readonly crew: Crew;
  /** Sequence number of the last event that is shared; undefined: the last of all. */
  readonly at: number | undefined;
  /** Instead of what the parent keeps. */
  readonly about: Json | undefined;
  readonly changes: readonly MessageChange[];
  /** Of the fork, instead of the parent's. */
  readonly seed: string | undefined;
  readonly mask: Mask;
  /** Asks to stop: the copy is then not whole. */
  readonly signal: AbortSignal;
}

/** What a fork knows of its parent. */
export interface SharedPast {
  /** Undefined: the parent is gone. */
  readonly past: ForkAnswers | undefined;
  /** Why not all of the parent could be read, for a person. */
  readonly lost: string | undefined;
}

/**
 * Copies the past that a fork shares with its parent, and learns what else the parent knows. Damage behind the shared past only makes that
 * less.
 *
 * @throws JournalError `RUN_UNKNOWN`, `RUN_FORGOTTEN`; `FORK_POINT` when the parent has no such event; `TEAM_CHANGED` when a role of the parent is not
 * hired; `JOURNAL_DAMAGED` when the parent is damaged before `at`
 * @throws UsageError `FORK_CHANGE`
 * @throws ControlError when the signal aborts
 */
export async function copyPast(parts: CopyParts): Promise<SharedPast & { readonly state: RunState }> {
  const { journal, parentId, runId, epoch, crew, changes, about, seed, mask, signal } = parts;
  const { events } = await runInfo(journal, parentId);
  const at = parts.at ?? events - 1;
  if (!Number.isInteger(at) || at < 0 || at >= events) throw noSuchEvent(parentId, at, events);
  if (changes.length > 0) await assertChangeable(parts, at);
  const state = new RunState(runId);
  const past = new ForkAnswers();
  let batch: RunEvent[] = [];
  const flush = async (): Promise<void> => {
    if (batch.length > 0) await journal.append(runId, epoch, batch[0]?.seq ?? 0, batch);
    batch = [];
  };
  const parent = { runId: parentId, at };
  const lost = await learned(heard(journal, parentId, { from: 0, signal }), parent, async (event) => {
    past.learn(event, at);
    if (event.seq > at) return;
    // Whoever was hired by force on the way stands in no event of the fork but the first.
    if (event.type === "run.resumed" && event.roles !== undefined) assertHired(parentId, event.roles, crew);
    const roles = event.type === "run.started" ? hiredInOrder(event.roles, crew) : [];
    const forked = forkedEvent(event, { runId, parent, roles, budget: crew.budget, seed, about, changes });
    const copy = deepFreeze(maskedBody(mask, forked));
    apply(state, copy);
    batch.push(copy);
    if (batch.length >= BATCH) await flush();
  });
  assertSameNames(state, crew);
  await flush();
  return { state, past, lost };
}

/** Visits the events of a parent, and says what was lost where it is damaged behind what is shared. */
async function learned(
  events: AsyncIterable<RunEvent>,
  { runId, at }: ForkPoint,
  visit: (event: RunEvent) => Promise<void> | void,
): Promise<string | undefined> {
  let next = 0;
  try {
    for await (const event of events) {
      await visit(event);
      next = event.seq + 1;
    }
    return undefined;
  } catch (error) {
    if (!(error instanceof JournalError && error.code === "JOURNAL_DAMAGED") || next <= at) throw error;
    return `The record of run ${runId} is damaged after event ${next - 1}: what it would have answered from there on is asked and paid again. ${error.message}`;
  }
}

/** Looks at the parent as it was, because a past in which a message is missing may not even fit together. */
async function assertChangeable({ journal, parentId, changes, signal }: CopyParts, at: number): Promise<void> {
  assertDistinct(changes);
  const state = new RunState(parentId);
  const sent = new Map<MessageChange, Sent>();
  for await (const event of heard(journal, parentId, { from: 0, signal })) {
    for (const change of changes) if (change.seq === event.seq) sent.set(change, changedMessage(event, change));
    apply(state, event);
    if (event.seq === at) break;
  }
  for (const change of changes) {
    const message = sent.get(change);
    if (message === undefined) throw noSuchEvent(parentId, change.seq, at + 1);
    assertUnread(change, message, state);
  }
}

/** What the parent of a fork can still answer, for a fork that goes on after a stop. The parent may be gone: then nothing. */
export async function recalledPast(journal: Journal, state: RunState, parent: ForkPoint, signal: AbortSignal): Promise<SharedPast> {
  const { runId } = state;
  const past = new ForkAnswers();
  let lost: string | undefined;
  try {
    lost = await learned(heard(journal, parent.runId, { from: 0, signal }), parent, (event) => past.learn(event, parent.at));
  } catch (error) {
    if (error instanceof JournalError && GONE.has(error.code)) return { past: undefined, lost: goneText(state, parent) };
    throw error;
  }
  for await (const event of heard(journal, runId, { from: parent.at + 1, signal })) past.recall(event);
  return { past, lost };
}

function goneText({ runId }: RunState, parent: ForkPoint): string {
  return `Run ${parent.runId}, from which ${runId} was forked, is gone: what it would have answered is asked and paid again.`;
}

function noSuchEvent(runId: string, seq: number, events: number): JournalError {
  return new JournalError(
    "FORK_POINT",
    `Expected the number of an event that run ${runId} shares, 0 to ${events - 1}, got ${seq}. Look at its events.`,
  );
}
