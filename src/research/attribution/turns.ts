import { fold, type Message, type Role, type RunEvent } from "../../index.ts";
import { apply } from "../../runtime/record/apply.ts";
import { isFixed } from "./chance.ts";

/** One ended activation of a recorded run. */
export interface RecordedTurn {
  /** The id of the activation, as `Ann#3`. */
  readonly act: string;
  readonly role: string;
  /** The last event before it: the point at which a fork does it again. */
  readonly before: number;
  /** The event that ended it. */
  readonly seq: number;
  readonly said: readonly Message[];
  /** Micro-dollars. */
  readonly cost: number;
  /** True if it would end in the same way once more. */
  readonly isFixed: boolean;
  /** Indexes of the turns that read what it said. */
  readonly readers: readonly number[];
}

/** Lists the turns of a run in the order of their ends. */
export function turnsOf(events: readonly RunEvent[], roles: ReadonlyMap<string, Role>): readonly RecordedTurn[] {
  const begun = new Map<string, number>();
  const costs = new Map<string, number>();
  const turns: (RecordedTurn & { readonly readers: number[] })[] = [];
  const speakers = new Map<string, number>();
  const state = fold([]);
  for (const event of events) {
    // A turn that read something and said nothing has it in its mailbox alone; a role that read it in silence before has it in its messages' parents.
    const news = event.type === "act.ended" ? (state.roles.get(event.role)?.news(event.take) ?? []) : [];
    const isSame = event.type === "act.ended" && isFixed(roles.get(event.role), state, event);
    apply(state, event);
    if (!("act" in event) || typeof event.act !== "string") continue;
    const act = event.act.replace(/~\d+$/, "");
    if (!begun.has(act)) begun.set(act, event.seq - 1);
    if (event.type === "step.ended") costs.set(act, (costs.get(act) ?? 0) + (event.cost ?? 0));
    if (event.type !== "act.ended") continue;
    const index = turns.length;
    const said = event.said.map(({ message }) => message);
    const read = [...news.map(({ id }) => id), ...said.flatMap(({ parents }) => parents)];
    for (const speaker of new Set(read.map((id) => speakers.get(id)))) if (speaker !== undefined) turns[speaker]?.readers.push(index);
    for (const { id } of said) speakers.set(id, index);
    const before = Math.max(0, begun.get(act) ?? event.seq - 1);
    turns.push({ act, role: event.role, before, seq: event.seq, said, cost: costs.get(act) ?? 0, isFixed: isSame, readers: [] });
  }
  return turns;
}
