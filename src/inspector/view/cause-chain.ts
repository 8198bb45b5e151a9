import type { RunTimeline } from "./run-timeline.ts";

/**
 * The proof of a link in the record. `said`: the event that ended the activation has the message. `took`: the activation took the message
 * alone. `took with others`: it took several at once, and the record does not say which of them led to what it said. `answers`: the same, and
 * what it said names the message as one of its parents.
 */
export type CauseProof = "said" | "took" | "took with others" | "answers";

/** A message or an activation in a chain of causes, by its index in its table. `steps` is negative before the start. */
export interface CauseNode {
  readonly kind: "message" | "activation";
  readonly index: number;
  readonly steps: number;
}

/** A link between two entries of a chain. `in`: the message went into the activation. `out`: it came out of it. */
export interface CauseLink {
  readonly message: number;
  readonly activation: number;
  readonly direction: "in" | "out";
  readonly proof: CauseProof;
}

export type CauseChain = ReturnType<typeof causeChain>;

/** The start of a chain: an index in the table of messages or of activations. */
export type CauseStart = { readonly message: number } | { readonly activation: number };

/** Entries before, and entries after the start. */
const MOST = 200;

/**
 * Returns the chain of causes through a message or an activation, as far as the record proves it.
 *
 * @param shown the event that the run is shown after: later effects are left out. Default: the last one.
 */
export function causeChain(timeline: RunTimeline, start: CauseStart, shown: number = timeline.length - 1) {
  const [kind, index] = "message" in start ? (["message", start.message] as const) : (["activation", start.activation] as const);
  return new ChainWalk(timeline, shown).chain({ kind, index, steps: 0 });
}

/**
 * Walks from message to activation and on, first against time and then with it. It owns what it has found.
 *
 * ChainWalk.W1 (`#walk`) a message or an activation is in the chain once, also where several paths lead to it, and at most 200 before and
 * 200 after the start. A link has both its ends in the chain.
 * ChainWalk.W2 (`#after`) no effect is later than the event that the run is shown after.
 */
class ChainWalk {
  readonly #timeline: RunTimeline;
  readonly #shown: number;
  readonly #messages = new Map<number, CauseNode>();
  readonly #activations = new Map<number, CauseNode>();
  readonly #links = new Map<string, CauseLink>();
  #isCut = false;

  constructor(timeline: RunTimeline, shown: number) {
    this.#timeline = timeline;
    this.#shown = shown;
  }

  /** From the first cause to the last effect. `isCut`: more entries belong to the chain. */
  chain(start: CauseNode) {
    this.#walk(start, -1);
    this.#walk(start, 1);
    const nodes = [...this.#messages.values(), ...this.#activations.values()].sort((a, b) => a.steps - b.steps);
    return {
      nodes,
      links: [...this.#links.values()].filter((link) => this.#messages.has(link.message) && this.#activations.has(link.activation)),
      messages: new Set(this.#messages.keys()),
      activations: new Set(this.#activations.keys()),
      isCut: this.#isCut,
    };
  }

  #walk(start: CauseNode, way: 1 | -1): void {
    this.#note(start);
    const open = [start];
    for (let nth = 0; nth < open.length; nth += 1) {
      const node = open[nth] as CauseNode;
      for (const next of way === -1 ? this.#before(node) : this.#after(node)) {
        if (this.#tableOf(next).has(next.index)) continue;
        if (open.length <= MOST) open.push(this.#note(next));
        else this.#isCut = true;
      }
    }
  }

  #tableOf({ kind }: CauseNode): Map<number, CauseNode> {
    return kind === "message" ? this.#messages : this.#activations;
  }

  #note(node: CauseNode): CauseNode {
    this.#tableOf(node).set(node.index, node);
    return node;
  }

  #before({ kind, index, steps }: CauseNode): readonly CauseNode[] {
    const { record } = this.#timeline;
    if (kind === "activation") {
      const took = record.activations[index]?.took ?? [];
      for (const message of took) this.#link({ message, activation: index, direction: "in", proof: this.#proofOf(message, index) });
      return took.map((message) => ({ kind: "message", index: message, steps: steps - 1 }));
    }
    const by = record.sent[index]?.by;
    if (by === undefined) return [];
    this.#link({ message: index, activation: by, direction: "out", proof: "said" });
    return [{ kind: "activation", index: by, steps: steps - 1 }];
  }

  #after({ kind, index, steps }: CauseNode): readonly CauseNode[] {
    const { record } = this.#timeline;
    if (kind === "activation") {
      const said = (record.activations[index]?.said ?? []).filter((message) => (record.sent[message]?.seq ?? 0) <= this.#shown);
      for (const message of said) this.#link({ message, activation: index, direction: "out", proof: "said" });
      return said.map((message) => ({ kind: "message", index: message, steps: steps + 1 }));
    }
    const takers = new Set<number>();
    for (const way of record.sent[index]?.ways ?? []) {
      const { opener, consumer } = record.ways.at(way) ?? {};
      for (const taker of [opener, consumer]) {
        if (taker !== undefined && (record.activations[taker]?.from ?? Infinity) <= this.#shown) takers.add(taker);
      }
    }
    for (const activation of takers) this.#link({ message: index, activation, direction: "in", proof: this.#proofOf(index, activation) });
    return [...takers].map((taker) => ({ kind: "activation", index: taker, steps: steps + 1 }));
  }

  #proofOf(message: number, activation: number): CauseProof {
    const { sent, activations } = this.#timeline.record;
    const { took = [], said = [] } = activations[activation] ?? {};
    // Copies of one message are no others.
    if (new Set(took).size < 2) return "took";
    const id = sent[message]?.message.id ?? "";
    return said.some((index) => sent[index]?.message.parents.includes(id)) ? "answers" : "took with others";
  }

  #link(link: CauseLink): void {
    this.#links.set(`${link.direction} ${link.message} ${link.activation}`, link);
  }
}
