import type { Json } from "../../kernel/json.ts";
import type { Memory } from "../../memory/memory.ts";
import type { Message } from "../../message/message.ts";
import type { Task } from "../../agent/task.ts";
import type { RoleState } from "../../runtime/record/role-state.ts";
import type { RunState } from "../../runtime/record/run-state.ts";
import { type RoleTraits, traitsOf } from "./role-graph.ts";

/** Messages of a memory or a mailbox, of which a reader takes parts. It is valid as long as the state that it was made from. */
export interface MessageList {
  readonly count: number;
  /** The messages `first` to `last`, both included and counted from 0. The cost grows with `last`. */
  readonly part: (first: number, last: number) => readonly Message[];
}

/** A question of a role to a person that waits for an answer. */
export interface OpenQuestion {
  readonly act: string;
  readonly key: string;
  readonly text: string;
}

/** Everything that a role has in a run, after an event. */
export interface RoleView {
  readonly name: string;
  readonly traits: RoleTraits;
  /** False once it is retired. */
  readonly isHired: boolean;
  /** Activations that have ended. */
  readonly activations: number;
  /** The activation under way: its name, and how many messages it took. */
  readonly open: { readonly act: string; readonly take: number } | undefined;
  /** Failed attempts of the present activation. */
  readonly failures: number;
  readonly questions: readonly OpenQuestion[];
  /** The oldest first. */
  readonly mailbox: MessageList;
  /** Messages to it that wait for a tick, as far as they are among the thousand that are due first, and the first of those ticks. */
  readonly delayed: { readonly count: number; readonly next: number | undefined };
  /** The newest first. */
  readonly memory: MessageList;
  /** The newest first. */
  readonly working: MessageList;
  readonly plan: { readonly goal: string; readonly tasks: readonly Task[] } | undefined;
  readonly state: { readonly [key: string]: Json };
  /** The messages that each reaction consumed last, by reaction and cause. */
  readonly joins: RoleState["joins"];
  /** The summary of its memory, where it has one. */
  readonly summary: RoleState["summary"];
}

/** Returns what a role has in a state; undefined for a name that the run has not hired yet. */
export function roleView(state: RunState, name: string): RoleView | undefined {
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
    mailbox: { count: role.waiting, part: (first, last) => role.news(Math.min(last + 1, role.waiting)).slice(first) },
    delayed: delayedTo(state, name),
    memory: newestFirst(memory),
    working: newestFirst(workingMemory),
    plan: plan.tasks.length === 0 && plan.goal === "" ? undefined : { goal: plan.goal, tasks: plan.tasks },
    state: role.custom,
    joins: role.joins,
    summary: role.summary,
  };
}

/** Delayed messages that are looked at. */
const MOST_DELAYED = 1_000;

function delayedTo({ delayed }: RunState, name: string): RoleView["delayed"] {
  const waiting = delayed
    .inOrder()
    .slice(0, MOST_DELAYED)
    .filter(({ sent }) => sent.to.includes(name));
  return { count: waiting.length, next: waiting[0]?.due };
}

function newestFirst(memory: Memory): MessageList {
  // All messages are what a memory gives for 0.
  return {
    count: memory.size,
    part: (first, last) =>
      last < first
        ? []
        : memory
            .get(last + 1)
            .reverse()
            .slice(first),
  };
}

function questionsOf({ open }: RoleState): readonly OpenQuestion[] {
  return [...(open?.steps.values() ?? [])]
    .filter(({ started, outcome }) => started.kind === "human" && outcome === undefined)
    .map(({ started: { act, key, request } }) => {
      const { question } = (typeof request === "object" ? (request ?? {}) : {}) as { readonly question?: unknown };
      return { act, key, text: typeof question === "string" ? question : "" };
    });
}
