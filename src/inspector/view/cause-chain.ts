import type { RunRecord } from "./run-record.ts";
import type { RunTimeline } from "./run-timeline.ts";

/** A message or an activation in a chain of causes, by its index in its table. `steps` is negative before the start. */
export interface CauseNode {
  readonly kind: "message" | "activation";
  readonly index: number;
  readonly steps: number;
}

export type CauseChain = ReturnType<typeof causeChain>;

const MAX_ENTRIES = 200;
const OTHER = { message: "activation", activation: "message" } as const;

/**
 * Returns the chain of causes through a message or an activation, as far as the record proves it: at most 200 entries before and 200 after it.
 * `uncertain` has the messages of which the record does not say whether they led to the answer, because they were taken together with others.
 */
export function causeChain({ record, length }: RunTimeline, start: Pick<CauseNode, "kind" | "index">, shown: number = length - 1) {
  const first: CauseNode = { ...start, steps: 0 };
  const found = { message: new Map<number, CauseNode>(), activation: new Map<number, CauseNode>() };
  found[first.kind].set(first.index, first);
  let isCut = false;
  const walk = (direction: 1 | -1, neighbours: (node: CauseNode) => readonly number[]): void => {
    const entries = [first];
    for (const node of entries) {
      const kind = OTHER[node.kind];
      for (const index of neighbours(node)) {
        if (found[kind].has(index)) continue;
        if (entries.length > MAX_ENTRIES) isCut = true;
        else {
          const next: CauseNode = { kind, index, steps: node.steps + direction };
          found[kind].set(index, next);
          entries.push(next);
        }
      }
    }
  };
  walk(-1, (node) => causesOf(record, node));
  walk(1, (node) => effectsOf(record, node, shown));
  const nodes = [...found.message.values(), ...found.activation.values()].sort((a, b) => a.steps - b.steps);
  const uncertain = new Set([...found.activation.keys()].flatMap((activation) => uncertainIn(record, activation)));
  return { nodes, messages: found.message, activations: found.activation, uncertain, isCut };
}

function causesOf({ activations, sent }: RunRecord, { kind, index }: CauseNode): readonly number[] {
  if (kind === "activation") return activations[index]?.took ?? [];
  const by = sent[index]?.by;
  return by === undefined ? [] : [by];
}

function effectsOf({ activations, sent, deliveries }: RunRecord, { kind, index }: CauseNode, shown: number): readonly number[] {
  if (kind === "activation") return (activations[index]?.said ?? []).filter((message) => (sent[message]?.seq ?? 0) <= shown);
  return (sent[index]?.deliveries ?? []).flatMap((delivery) => {
    const { opener, consumer } = deliveries.at(delivery) ?? {};
    return [opener, consumer].filter((taker) => taker !== undefined).filter((taker) => (activations[taker]?.from ?? Infinity) <= shown);
  });
}

/** The messages of which the record does not say whether they led to what an activation said. */
function uncertainIn({ activations, sent }: RunRecord, activation: number): readonly number[] {
  const { took = [], said = [] } = activations[activation] ?? {};
  // Copies of one message are one cause.
  if (new Set(took).size < 2) return [];
  const parents = new Set(said.flatMap((index) => sent[index]?.message.parents ?? []));
  return took.filter((index) => !parents.has(sent[index]?.message.id ?? ""));
}
