import type { HiredRole } from "../../runtime/record/event.ts";
import type { RunState } from "../../runtime/record/run-state.ts";
import type { RunTimeline } from "./run-timeline.ts";
import type { Memory } from "../../memory/memory.ts";
import type { Message } from "../../message/message.ts";
import { questionIn } from "../../runtime/record/questions.ts";
import type { RoleState } from "../../runtime/record/role-state.ts";

export type GraphNode = ReturnType<typeof nodesOf>[number];
export type RoleGraph = ReturnType<typeof roleGraph>;
export type GraphEdge = RoleGraph["edges"][number];

/** `from` is empty for messages from outside; `isSubscribed` is false where the receiver watches none of the causes: all were addressed to it. */
export function roleGraph(timeline: RunTimeline, seq: number) {
  const { record } = timeline;
  const nodes = nodesOf(timeline.stateAt(seq));
  const known = new Map(nodes.map((node) => [node.name, node]));
  const edges = new Map<string, { from: string; to: string; messages: number; lost: number; causes: Map<string, number> }>();
  for (const { seq: sentAt, by = -1, message, deliveries } of record.sent) {
    if (sentAt > seq) break;
    const from = record.activations[by]?.role ?? "";
    for (const { role: to, isLost } of deliveries.flatMap((index) => record.deliveries.at(index) ?? [])) {
      const key = `${from.length} ${from}${to}`;
      const edge = edges.get(key) ?? { from, to, messages: 0, lost: 0, causes: new Map<string, number>() };
      edges.set(key, edge);
      edge.messages += 1;
      if (isLost) edge.lost += 1;
      edge.causes.set(message.causeBy, (edge.causes.get(message.causeBy) ?? 0) + 1);
    }
  }
  return {
    nodes,
    edges: [...edges.values()].map(({ causes, ...edge }) => {
      const hears = known.get(edge.to);
      const isSubscribed = hears !== undefined && (hears.observesAll || hears.watch.some((cause) => causes.has(cause)));
      const counts = [...causes].map(([name, messages]) => ({ name, messages }));
      return { ...edge, causes: counts.sort((a, b) => b.messages - a.messages), isSubscribed };
    }),
  };
}

function nodesOf({ roles, open }: RunState) {
  return [...roles.values()].map(({ name, traits, waiting, n, isHired }) => {
    const { watch, observesAll, profile } = traitsOf(traits);
    return { name, profile, watch, observesAll, waiting, activations: n, isActing: open.has(name), isHired };
  });
}

/** Reads the card and the subscriptions of a role from a record, where any member may be missing. */
export function traitsOf({ card, watch, observeAll, mode, actions }: HiredRole["traits"]) {
  const { profile, goal } = (typeof card === "object" ? (card ?? {}) : {}) as { readonly profile?: unknown; readonly goal?: unknown };
  return {
    profile: textIn(profile),
    goal: textIn(goal),
    watch: textsIn(watch),
    observesAll: observeAll === true,
    mode: textIn(mode),
    actions: textsIn(actions),
  };
}

export function textIn(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

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
    .map(({ started }) => ({ act: started.act, key: started.key, text: questionIn(started).text }));
}
