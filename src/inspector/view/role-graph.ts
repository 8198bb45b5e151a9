import type { HiredRole } from "../../runtime/record/event.ts";
import type { RunState } from "../../runtime/record/run-state.ts";
import { firstAtLeast } from "./lanes.ts";
import type { RunTimeline } from "./run-timeline.ts";

/** A role in the graph, as it is after an event. */
export interface GraphNode {
  readonly name: string;
  readonly profile: string;
  /** Causes whose broadcasts it hears. */
  readonly watch: readonly string[];
  /** It hears every broadcast. */
  readonly observesAll: boolean;
  /** Messages in its mailbox: the depth of its queue. */
  readonly waiting: number;
  /** Messages that wait for room in its mailbox. */
  readonly held: number;
  /** Activations that have ended. */
  readonly activations: number;
  readonly isActing: boolean;
  /** False once it is retired. */
  readonly isHired: boolean;
}

/** The messages from one role to another, up to an event. */
export interface GraphEdge {
  /** Empty for messages from outside. */
  readonly from: string;
  readonly to: string;
  readonly messages: number;
  /** Those of them that the edges lost. */
  readonly lost: number;
  /** By cause, the most frequent first. */
  readonly causes: readonly { readonly name: string; readonly messages: number }[];
  /** The receiver watches one of the causes, or everything; false where all messages were addressed to it. */
  readonly isSubscribed: boolean;
}

/** Roles, and the messages between them. */
export interface RoleGraph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** Sequence numbers of the messages of one sender, receiver and cause, in order. */
interface Flow {
  readonly from: string;
  readonly to: string;
  readonly cause: string;
  readonly seqs: number[];
  /** Of the messages that the edges lost. */
  readonly lost: number[];
}

type EdgeDraft = { -readonly [Key in Exclude<keyof GraphEdge, "isSubscribed" | "causes">]: GraphEdge[Key] } & {
  readonly causes: { readonly name: string; readonly messages: number }[];
};

/**
 * The messages of a run by sender, receiver and cause. It owns their sequence numbers, so a count up to an event is a search and not a walk.
 *
 * FlowTable.F1 (`#seen`) each way of the timeline is taken in once, also when the timeline has grown since the last question.
 * FlowTable.F2 (`graphAt`) the graph after an event is that of a run that ends there, whatever the timeline has got since.
 */
export class FlowTable {
  readonly #timeline: RunTimeline;
  readonly #flows = new Map<string, Flow>();
  #seen = 0;

  constructor(timeline: RunTimeline) {
    this.#timeline = timeline;
  }

  /** The graph after the event of a number. */
  graphAt(seq: number): RoleGraph {
    this.#catchUp();
    const state = this.#timeline.stateAt(seq);
    const nodes = nodesOf(state);
    const known = new Map(nodes.map((node) => [node.name, node]));
    const edges = new Map<string, EdgeDraft>();
    const upTo = (seqs: readonly number[]): number => firstAtLeast(seqs.length, (place) => (seqs[place] ?? 0) > seq);
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
    for (; this.#seen < record.ways.size; this.#seen += 1) {
      const way = record.ways.at(this.#seen);
      const sent = record.sent[way?.sent ?? -1];
      if (way === undefined || sent === undefined) continue;
      const from = sent.by === undefined ? "" : (record.activations[sent.by]?.role ?? "");
      const cause = sent.message.causeBy;
      const key = JSON.stringify([from, way.role, cause]);
      const flow = this.#flows.get(key) ?? { from, to: way.role, cause, seqs: [], lost: [] };
      this.#flows.set(key, flow);
      flow.seqs.push(sent.seq);
      if (way.isLost) flow.lost.push(sent.seq);
    }
  }
}

function nodesOf({ roles, open, held }: RunState): readonly GraphNode[] {
  const heldFor = new Map<string, number>();
  for (const { role } of held) heldFor.set(role.name, (heldFor.get(role.name) ?? 0) + 1);
  return [...roles.values()].map(({ name, traits, waiting, n, isHired }) => {
    const { watch, observesAll, profile } = traitsOf(traits);
    return { name, profile, watch, observesAll, waiting, held: heldFor.get(name) ?? 0, activations: n, isActing: open.has(name), isHired };
  });
}

/** The card and the subscriptions in the traits of a role. Traits are data of a record: any member may be missing. */
export interface RoleTraits {
  readonly profile: string;
  readonly goal: string;
  readonly watch: readonly string[];
  readonly observesAll: boolean;
  readonly mode: string;
  readonly actions: readonly string[];
}

/** Reads the traits of a role from a record. */
export function traitsOf({ card, watch, observeAll, mode, actions }: HiredRole["traits"]): RoleTraits {
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
