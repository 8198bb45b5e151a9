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
  /** Also those without a recipient. */
  readonly sent: number;
  readonly received: number;
}

/** The messages from one node to another. */
export interface FlowEdge {
  readonly from: string;
  readonly to: string;
  readonly messages: number;
  readonly broadcasts: number;
  /** Their causes, the most frequent first. */
  readonly causes: readonly { readonly name: string; readonly messages: number }[];
}

/** A graph of the messages between senders and receivers, both in order of appearance. */
export interface MessageFlow {
  readonly messages: number;
  readonly nodes: readonly FlowNode[];
  readonly edges: readonly FlowEdge[];
}

interface OpenEdge extends Omit<FlowEdge, "causes"> {
  messages: number;
  broadcasts: number;
  readonly causes: Map<string, number>;
}

/** The parts of a {@link messageFlow} that drawings read. @internal */
export const aFlow: Shape = object("a flow that messageFlow made", {
  nodes: listOf(object("a node")),
  edges: listOf(object("an edge", { causes: listOf(object("a cause")) })),
});
const aFlowEvent: Shape = object("an event");

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
  const drawing = new FlowDrawing();
  const known = new Set<string>();
  for (const one of source) {
    if (!isMessage(one)) {
      takes("messageFlow", "what is in source", one, aFlowEvent);
      for (const sent of sentIn(one)) drawing.add(sent.message, hearersOf(sent));
    } else if (!known.has(one.id)) {
      known.add(one.id);
      drawing.add(one, addresseesOf(one));
    }
  }
  return drawing.flow();
}

interface Target {
  readonly kind: FlowNode["kind"];
  readonly name: string;
  readonly isBroadcast: boolean;
}

function sentIn({ message, to, dead, said = [] }: FlowEvent): readonly FlowSent[] {
  return message === undefined || to === undefined ? said : [{ message, to, ...(dead === undefined ? {} : { dead }) }];
}

function hearersOf({ message: { sendTo }, to, dead = [] }: FlowSent): readonly Target[] {
  const isForAll = sendTo.includes(ROUTE_TO_ALL);
  const missing = dead.map((name): Target => ({ kind: "missing", name, isBroadcast: false }));
  if (to.length === 0 && isForAll) return [{ kind: "all", name: "", isBroadcast: true }, ...missing];
  const hearers = to.map((name): Target => ({ kind: "role", name, isBroadcast: isForAll && !sendTo.includes(name) }));
  return [...hearers, ...missing];
}

function addresseesOf({ sendTo, sentFrom }: Message): readonly Target[] {
  return sendTo.flatMap((name): readonly Target[] => {
    switch (name) {
      case ROUTE_TO_ALL:
        return [{ kind: "all", name: "", isBroadcast: true }];
      case ROUTE_TO_NONE:
        return [];
      case ROUTE_TO_SELF:
        return [{ ...senderNamed(sentFrom), isBroadcast: false }];
      default:
        return [{ kind: "role", name, isBroadcast: false }];
    }
  });
}

function senderNamed(name: string): Pick<Target, "kind" | "name"> {
  return { kind: name === "" ? "outside" : "role", name };
}

/**
 * Collects nodes and edges message by message. It owns both, and the number of messages.
 *
 * FlowDrawing.D1 (`#node`) there is one node for each kind and name, so a role is never taken for another kind of node.
 * FlowDrawing.D2 (`add`) a message counts once for its sender, and once for each of its targets and for the edge that leads there.
 */
class FlowDrawing {
  readonly #nodes = new Map<string, OpenNode>();
  readonly #edges = new Map<string, OpenEdge>();
  #messages = 0;

  add(message: Message, targets: readonly Target[]): void {
    this.#messages++;
    const sender = this.#node(senderNamed(message.sentFrom));
    sender.sent++;
    for (const target of targets) {
      const receiver = this.#node(target);
      receiver.received++;
      const edge = this.#edge(sender.id, receiver.id);
      edge.messages++;
      if (target.isBroadcast) edge.broadcasts++;
      edge.causes.set(message.causeBy, (edge.causes.get(message.causeBy) ?? 0) + 1);
    }
  }

  flow(): MessageFlow {
    const edges = [...this.#edges.values()].map((edge): FlowEdge => {
      const causes = [...edge.causes].map(([name, messages]) => ({ name, messages }));
      return { ...edge, causes: causes.sort((a, b) => b.messages - a.messages) };
    });
    return { messages: this.#messages, nodes: [...this.#nodes.values()], edges };
  }

  #node({ kind, name }: Pick<Target, "kind" | "name">): OpenNode {
    return made(this.#nodes, `${kind} ${name}`, () => ({ id: `n${this.#nodes.size}`, kind, name, sent: 0, received: 0 }));
  }

  #edge(from: string, to: string): OpenEdge {
    return made(this.#edges, `${from} ${to}`, () => ({ from, to, messages: 0, broadcasts: 0, causes: new Map() }));
  }
}

type OpenNode = { -readonly [Key in keyof FlowNode]: FlowNode[Key] };

function made<T>(table: Map<string, T>, key: string, make: () => T): T {
  const entry = table.get(key) ?? make();
  table.set(key, entry);
  return entry;
}
