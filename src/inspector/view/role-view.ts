import type { Memory } from "../../memory/memory.ts";
import type { Message } from "../../message/message.ts";
import type { RoleState } from "../../runtime/record/role-state.ts";
import type { RunState } from "../../runtime/record/run-state.ts";
import { traitsOf } from "./role-graph.ts";

/** Messages of a memory or a mailbox, of which a reader takes parts. It is valid as long as the state that it was made from. */
export interface MessageList {
  readonly count: number;
  /** The messages `first` to `last`, both included and counted from 0. The cost grows with `last`. */
  readonly part: (first: number, last: number) => readonly Message[];
}

export type RoleView = NonNullable<ReturnType<typeof roleView>>;

/** Returns what a role has in a state; undefined for a name that the run has not hired yet. */
export function roleView(state: RunState, name: string) {
  const role = state.roles.get(name);
  if (role === undefined) return undefined;
  const { open, plan, memory, workingMemory } = role;
  return {
    name,
    traits: traitsOf(role.traits),
    isHired: role.isHired,
    activations: role.n,
    open: open && { act: open.act, take: open.take },
    failures: role.retry.failures,
    questions: questionsOf(role),
    mailbox: { count: role.waiting, part: (first: number, last: number) => role.news(Math.min(last + 1, role.waiting)).slice(first) },
    delayed: delayedTo(state, name),
    memory: newestFirst(memory),
    working: newestFirst(workingMemory),
    plan: plan.tasks.length === 0 && plan.goal === "" ? undefined : { goal: plan.goal, tasks: plan.tasks },
    state: role.custom,
    joins: role.joins,
    summary: role.summary,
  };
}

const MOST_DELAYED = 1_000;

function delayedTo({ delayed }: RunState, name: string) {
  const waiting = delayed
    .inOrder()
    .slice(0, MOST_DELAYED)
    .filter(({ sent }) => sent.to.includes(name));
  return { count: waiting.length, next: waiting[0]?.due };
}

function newestFirst(memory: Memory): MessageList {
  // A memory gives all messages for 0.
  const part: MessageList["part"] = (first, last) =>
    last < first
      ? []
      : memory
          .get(last + 1)
          .reverse()
          .slice(first);
  return { count: memory.size, part };
}

function questionsOf({ open }: RoleState) {
  return [...(open?.steps.values() ?? [])]
    .filter(({ started, outcome }) => started.kind === "human" && outcome === undefined)
    .map(({ started: { act, key, request } }) => {
      const { question } = (typeof request === "object" ? (request ?? {}) : {}) as { readonly question?: unknown };
      return { act, key, text: typeof question === "string" ? question : "" };
    });
}
