import { JournalError } from "../kernel/errors.ts";
import { deepFreeze, type Json } from "../kernel/json.ts";
import type { Mask } from "../kernel/mask.ts";
import { apply } from "../run/apply.ts";
import type { RunEvent, Sent } from "../run/event.ts";
import { assertUnread, changedMessage, forkedEvent, type MessageChange } from "../run/fork-copy.ts";
import { ForkPast } from "../run/fork-past.ts";
import type { Journal } from "../run/journal.ts";
import { maskedBody } from "../run/masking.ts";
import { emptyRunState, type RunState } from "../run/run-state.ts";
import { assertSameNames, type Crew, hiredInOrder } from "./crew.ts";

/** How many events are copied at once. */
const BATCH = 500;

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
  readonly mask: Mask;
}

/**
 * Copies the past that a fork shares with its parent, and learns what else the parent knows.
 *
 * @throws JournalError `RUN_UNKNOWN`, `FORK_POINT` when the parent has no such event; `TEAM_CHANGED` when a role of the parent is not hired
 * @throws UsageError `FORK_CHANGE`
 */
export async function copyPast(parts: CopyParts): Promise<{ readonly state: RunState; readonly past: ForkPast }> {
  const { journal, parentId, runId, epoch, crew, changes, about, mask } = parts;
  const events = await count(journal, parentId);
  const at = parts.at ?? events - 1;
  if (!Number.isInteger(at) || at < 0 || at >= events) throw noSuchEvent(parentId, at, events);
  if (changes.length > 0) await assertChangeable(parts, at);
  const state = emptyRunState(runId);
  const past = new ForkPast();
  let batch: RunEvent[] = [];
  const flush = async (): Promise<void> => {
    if (batch.length > 0) await journal.append(runId, epoch, batch[0]?.seq ?? 0, batch);
    batch = [];
  };
  const parent = { runId: parentId, at };
  for await (const event of journal.read(parentId, 0)) {
    past.learn(event, at);
    if (event.seq > at) continue;
    const roles = event.type === "run.started" ? hiredInOrder(event.roles, crew) : [];
    const forked = forkedEvent(event, { runId, parent, roles, budget: crew.budget, about, changes });
    const copy = deepFreeze({ ...forked, ...maskedBody(mask, forked) } as RunEvent);
    apply(state, copy);
    batch.push(copy);
    if (batch.length >= BATCH) await flush();
  }
  assertSameNames(state, crew);
  await flush();
  return { state, past };
}

/** Looks at the parent as it was, because a past in which a message is missing may not even fit together. */
async function assertChangeable({ journal, parentId, changes }: CopyParts, at: number): Promise<void> {
  const state = emptyRunState(parentId);
  const sent = new Map<MessageChange, Sent>();
  for await (const event of journal.read(parentId, 0)) {
    if (event.seq > at) break;
    for (const change of changes) if (change.seq === event.seq) sent.set(change, changedMessage(event, change));
    apply(state, event);
  }
  for (const change of changes) {
    const message = sent.get(change);
    if (message === undefined) throw noSuchEvent(parentId, change.seq, at + 1);
    assertUnread(change, message, state);
  }
}

/** What the parent of a fork can still answer, for a fork that goes on after a stop. The parent may be gone: then nothing. */
export async function recalledPast(journal: Journal, state: RunState): Promise<ForkPast | undefined> {
  const { parent, runId } = state;
  if (parent === undefined) return undefined;
  const past = new ForkPast();
  try {
    for await (const event of journal.read(parent.runId, 0)) past.learn(event, parent.at);
  } catch (error) {
    if (error instanceof JournalError && error.code === "RUN_UNKNOWN") return undefined;
    throw error;
  }
  for await (const event of journal.read(runId, parent.at + 1)) past.recall(event);
  return past;
}

async function count(journal: Journal, runId: string): Promise<number> {
  const info = (await journal.runs()).find((run) => run.runId === runId);
  if (info !== undefined) return info.events;
  throw new JournalError("RUN_UNKNOWN", `Expected a run of this journal, got ${runId}, which it does not have.`);
}

function noSuchEvent(runId: string, seq: number, events: number): JournalError {
  return new JournalError(
    "FORK_POINT",
    `Expected the number of an event that run ${runId} shares, 0 to ${events - 1}, got ${seq}. Look at its events.`,
  );
}
