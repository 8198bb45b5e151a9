import type { HiredRole } from "../../runtime/record/event.ts";
import type { RunState } from "../../runtime/record/run-state.ts";
import { firstAtLeast } from "./lanes.ts";
import type { RunTimeline } from "./run-timeline.ts";
import type { Memory } from "../../memory/memory.ts";
import type { Message } from "../../message/message.ts";
import type { RoleState } from "../../runtime/record/role-state.ts";

export type GraphNode = ReturnType<typeof nodesOf>[number];
export type RoleGraph = ReturnType<FlowTable["graphAt"]>;
export type GraphEdge = RoleGraph["edges"][number];

interface Edge extends Pick<Flow, "from" | "to"> {
  messages: number;
  lost: number;
  readonly causes: { readonly name: string; readonly messages: number }[];
}

interface Flow {
  readonly from: string;
  readonly to: string;
  readonly cause: string;
  readonly seqs: number[];
  readonly lost: number[];
}

/**
 * The messages of a run by sender, receiver and cause. It owns their sequence numbers, so a count up to an event is a search and not a walk.
 *
 * FlowTable.F1 (`#seen`) each delivery of the timeline is taken in once, also when the timeline has grown since the last question.
 * FlowTable.F2 (`graphAt`) the graph after an event is that of a run that ends there, whatever the timeline has got since.
 */
export class FlowTable {
  readonly #timeline: RunTimeline;
  readonly #flows = new Map<string, Flow>();
  #seen = 0;

  constructor(timeline: RunTimeline) {
    this.#timeline = timeline;
  }

  /**
   * The roles after an event, and the messages between them so far. `from` is empty for messages from outside; `isSubscribed` says that the
   * receiver watches one of the causes, or everything, and is false where all messages were addressed to it.
   */
  graphAt(seq: number) {
    this.#catchUp();
    const state = this.#timeline.stateAt(seq);
    const nodes = nodesOf(state);
    const known = new Map(nodes.map((node) => [node.name, node]));
    const edges = new Map<string, Edge>();
    const upTo = (seqs: readonly number[]): number => firstAtLeast(seqs.length, (index) => (seqs[index] ?? 0) > seq);
    for (const { from, to, cause, seqs, lost } of this.#flows.values()) {
      const messages = upTo(seqs);
      if (messages === 0) continue;
      const key = JSON.stringify([from, to]);
      const edge = edges.get(key) ?? { from, to, messages: 0, lost: 0, causes: [] };
      edges.set(key, edge);
      edge.messages += messages;
      edge.lost += upTo(lost);
      edge.causes.push({ name: cause, messages });
    }
    return {
      nodes,
      edges: [...edges.values()].map(({ causes, ...edge }) => {
        const hears = known.get(edge.to);
        const isSubscribed = hears !== undefined && (hears.observesAll || causes.some(({ name }) => hears.watch.includes(name)));
        return { ...edge, causes: causes.sort((a, b) => b.messages - a.messages), isSubscribed };
      }),
    };
  }

  #catchUp(): void {
    const { record } = this.#timeline;
    for (; this.#seen < record.deliveries.size; this.#seen += 1) {
      const delivery = record.deliveries.at(this.#seen);
      const sent = record.sent[delivery?.sent ?? -1];
      if (delivery === undefined || sent === undefined) continue;
      const from = sent.by === undefined ? "" : (record.activations[sent.by]?.role ?? "");
      const cause = sent.message.causeBy;
      const key = JSON.stringify([from, delivery.role, cause]);
      const flow = this.#flows.get(key) ?? { from, to: delivery.role, cause, seqs: [], lost: [] };
      this.#flows.set(key, flow);
      flow.seqs.push(sent.seq);
      if (delivery.isLost) flow.lost.push(sent.seq);
    }
  }
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

function textIn(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function textsIn(value: unknown): readonly string[] {
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
    .map(({ started: { act, key, request } }) => {
      const { question } = (typeof request === "object" ? (request ?? {}) : {}) as { readonly question?: unknown };
      return { act, key, text: typeof question === "string" ? question : "" };
    });
}
