import { iterable, listOf, object, type Shape, takes } from "../kernel/argument.ts";
import { ROUTE_TO_ALL, ROUTE_TO_NONE, ROUTE_TO_SELF } from "../message/address.ts";
import { isMessage, type Message } from "../message/message.ts";

/** A delivered message of an event: its recipients, and the addresses that no role had. */
export interface FlowSent {
  readonly message: Message;
  readonly to: readonly string[];
  readonly dead?: readonly string[];
}

/** An event of a run. Only events that carry messages are read. */
export interface FlowEvent extends Partial<FlowSent> {
  readonly type: string;
  readonly said?: readonly FlowSent[];
}

/**
 * A sender or a receiver. `outside` is the sender of messages without a sender. `all` is the recipients of a broadcast where they are unknown,
 * or where there were none. `missing` is an address that no role had.
 */
export interface FlowNode {
  /** `n0`, `n1`, in order of appearance. Drawings use it as the identifier and show the name. */
  readonly id: string;
  readonly kind: "role" | "outside" | "all" | "missing";
  /** Empty for `outside` and `all`. */
  readonly name: string;
}

/** The messages from one node to another. */
export interface FlowEdge {
  readonly from: string;
  readonly to: string;
  readonly messages: number;
  readonly broadcasts: number;
  /** The most frequent first. */
  readonly causes: readonly { readonly name: string; readonly messages: number }[];
}

/** A graph of the messages between senders and receivers, both in order of appearance. */
export interface MessageFlow {
  readonly messages: number;
  readonly nodes: readonly FlowNode[];
  readonly edges: readonly FlowEdge[];
}

/** The parts of a {@link messageFlow} that drawings read. @internal */
export const aFlow: Shape = object("a flow that messageFlow made", {
  nodes: listOf(object("a node")),
  edges: listOf(object("an edge", { causes: listOf(object("a cause")) })),
});
const aFlowEvent: Shape = object("an event");

type Target = Pick<FlowNode, "kind" | "name"> & { readonly isBroadcast?: boolean };

/**
 * Builds the graph of the messages between senders and receivers.
 *
 * From messages of one run it shows the addressees; a message that comes from several memories counts once. From the events of the run it
 * shows the actual recipients, so the edges of a broadcast lead to the roles that received it.
 *
 * @example
 * import { createMessage } from "troupe";
 * import { flowMermaid, messageFlow } from "troupe/inspector";
 *
 * const flow = messageFlow([createMessage("Hello", { sentFrom: "Ada", sendTo: ["Ben"], causeBy: "Greet" })]);
 * console.log(flowMermaid(flow).includes("Greet")); // true
 */
export function messageFlow(source: Iterable<Message> | Iterable<FlowEvent>): MessageFlow {
  takes("messageFlow", "source", source, iterable("messages, or events of a run"));
  const nodes = new Map<string, FlowNode>();
  const edges = new Map<string, FlowEdge & { messages: number; broadcasts: number; readonly counts: Map<string, number> }>();
  const known = new Set<string>();
  let messages = 0;
  // The kind is part of the key, so a role is never taken for another kind of node.
  const idOf = ({ kind, name }: Target): string => {
    const key = `${kind} ${name}`;
    const node = nodes.get(key) ?? { id: `n${nodes.size}`, kind, name };
    nodes.set(key, node);
    return node.id;
  };
  const add = ({ sentFrom, causeBy }: Message, targets: readonly Target[]): void => {
    messages += 1;
    const from = idOf(senderNamed(sentFrom));
    for (const target of targets) {
      const to = idOf(target);
      const edge = edges.get(`${from} ${to}`) ?? { from, to, messages: 0, broadcasts: 0, causes: [], counts: new Map<string, number>() };
      edges.set(`${from} ${to}`, edge);
      edge.messages += 1;
      if (target.isBroadcast === true) edge.broadcasts += 1;
      edge.counts.set(causeBy, (edge.counts.get(causeBy) ?? 0) + 1);
    }
  };
  for (const one of source) {
    if (!isMessage(one)) {
      takes("messageFlow", "what is in source", one, aFlowEvent);
      for (const sent of sentIn(one)) add(sent.message, recipientsOf(sent));
    } else if (!known.has(one.id)) {
      known.add(one.id);
      add(one, addresseesOf(one));
    }
  }
  return {
    messages,
    nodes: [...nodes.values()],
    edges: [...edges.values()].map(({ counts, ...edge }) => {
      const causes = [...counts].map(([name, count]) => ({ name, messages: count }));
      return { ...edge, causes: causes.sort((a, b) => b.messages - a.messages) };
    }),
  };
}

function sentIn({ message, to, dead, said = [] }: FlowEvent): readonly FlowSent[] {
  return message === undefined || to === undefined ? said : [{ message, to, ...(dead === undefined ? {} : { dead }) }];
}

function recipientsOf({ message: { sendTo }, to, dead = [] }: FlowSent): readonly Target[] {
  const isForAll = sendTo.includes(ROUTE_TO_ALL);
  const missing = dead.map((name): Target => ({ kind: "missing", name }));
  if (to.length === 0 && isForAll) return [{ kind: "all", name: "", isBroadcast: true }, ...missing];
  return [...to.map((name): Target => ({ kind: "role", name, isBroadcast: isForAll && !sendTo.includes(name) })), ...missing];
}

function addresseesOf({ sendTo, sentFrom }: Message): readonly Target[] {
  return sendTo.flatMap((name): readonly Target[] => {
    if (name === ROUTE_TO_NONE) return [];
    if (name === ROUTE_TO_ALL) return [{ kind: "all", name: "", isBroadcast: true }];
    return [name === ROUTE_TO_SELF ? senderNamed(sentFrom) : { kind: "role", name }];
  });
}

function senderNamed(name: string): Target {
  return { kind: name === "" ? "outside" : "role", name };
}
