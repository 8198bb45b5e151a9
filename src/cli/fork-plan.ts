import { JournalError, UsageError } from "../kernel/errors.ts";
import type { Action } from "../role/action.ts";
import { roleSpec } from "../role/role-spec.ts";
import type { RunEvent } from "../runtime/record/event.ts";
import { assertUnread, changedMessage, type MessageChange } from "../runtime/replay/fork-copy.ts";
import type { Journal } from "../runtime/record/journal.ts";
import type { RunState } from "../runtime/record/run-state.ts";
import type { Host } from "./host.ts";
import { editedMessage, type WantedEdit, wantedDrop, wantedEdit } from "./message-change.ts";
import { eventAt } from "./pick-run.ts";
import { shown } from "./screen/text.ts";
import type { Flags } from "./settings.ts";
import { readText } from "./text-file.ts";

/** The options of `troupe fork`. */
export interface ForkFlags extends Flags {
  readonly at?: string;
  readonly edit?: readonly string[];
  readonly drop?: readonly string[];
  readonly add?: readonly string[];
}

/** What the options ask of a fork, with the files they name. */
export interface ForkWishes {
  /** Sequence number of the last event that is shared. */
  readonly at: number;
  readonly drops: readonly Wish<MessageChange>[];
  readonly edits: readonly Wish<WantedEdit & { readonly text: string }>[];
  readonly add: readonly string[];
}

/** A change, and the event that tells of the message. */
interface Wish<T> {
  readonly wish: T;
  readonly event: RunEvent;
}

/** Where a fork leaves its parent, and in what. */
export interface ForkPlan extends Pick<ForkWishes, "at" | "add"> {
  readonly changes: readonly MessageChange[];
}

/** @throws UsageError `OPTION_INVALID`, `FILE_UNREADABLE`; JournalError `FORK_POINT` when the run has no such event */
export async function forkWishes(host: Host, journal: Journal, runId: string, flags: ForkFlags): Promise<ForkWishes> {
  const info = (await journal.runs()).find((run) => run.runId === runId) ?? { runId, events: 0 };
  const drops = (flags.drop ?? []).map(wantedDrop);
  const wanted = (flags.edit ?? []).map(wantedEdit);
  const last = Math.max(...[...drops, ...wanted].map(({ seq }) => seq));
  const at = flags.at === undefined ? (Number.isFinite(last) ? last : info.events - 1) : eventNumber(flags.at);
  const found = async <T extends { readonly seq: number }>(wish: T): Promise<Wish<T>> => {
    const event = wish.seq > at ? undefined : await eventAt(journal, info, wish.seq);
    if (event === undefined) throw noSuchEvent(runId, wish.seq, Math.min(at, info.events - 1));
    return { wish, event };
  };
  await found({ seq: at });
  const edits: Wish<WantedEdit & { readonly text: string }>[] = [];
  for (const edit of wanted) edits.push(await found({ ...edit, text: await readText(host, edit.file, "--edit") }));
  const add: string[] = [];
  for (const file of flags.add ?? []) add.push(await added(host, file));
  return { at, drops: await Promise.all(drops.map(found)), edits, add };
}

/**
 * The changes of messages, which nobody may have read by then.
 *
 * @param state of the run at the last event that is shared
 * @throws UsageError `EDIT_INVALID`, `FORK_CHANGE`
 */
export async function forkPlan({ at, drops, edits, add }: ForkWishes, state: RunState): Promise<ForkPlan> {
  const actions = edits.length === 0 ? [] : await companyActions();
  const changes = [
    ...drops.map(({ wish, event }) => ({ change: wish, event })),
    ...edits.map(({ wish, event }) => ({ change: editedMessage(wish, wish.text, event, actions), event })),
  ];
  for (const { change, event } of changes) assertUnread(change, changedMessage(event, change), state);
  return { at, add, changes: changes.map(({ change }) => change) };
}

/** What the company's roles can do: it says how what they say is made of data. */
async function companyActions(): Promise<readonly Action[]> {
  const [{ softwareCompany }, { memoryWorkspace }, { refusedSandbox }] = await Promise.all([
    import("../../roles/index.ts"),
    import("../workspace/memory-workspace.ts"),
    import("../workspace/sandbox.ts"),
  ]);
  const roles = softwareCompany({ workspace: memoryWorkspace(), sandbox: refusedSandbox("nothing is run", "") });
  return roles.flatMap((role) => roleSpec(role).actions);
}

async function added(host: Host, file: string): Promise<string> {
  const text = (await readText(host, file, "--add")).trim();
  if (text !== "") return text;
  throw new UsageError("OPTION_INVALID", `Expected a message in ${shown(file, 100)}, got an empty file.`);
}

function eventNumber(text: string): number {
  if (/^\d{1,10}$/.test(text.trim())) return Number(text);
  throw new UsageError("OPTION_INVALID", `Expected --at to be the number of an event, such as 12, got "${shown(text, 60)}".`);
}

function noSuchEvent(runId: string, seq: number, last: number): JournalError {
  const id = shown(runId, 60);
  return new JournalError(
    "FORK_POINT",
    `Expected the number of an event that is shared with run ${id}, 0 to ${last}, got ${seq}. See them: troupe runs events ${id}`,
  );
}
