import { aFunction, either, having, takes } from "../../kernel/argument.ts";
import { UsageError } from "../../kernel/errors.ts";
import { contentHash } from "../../kernel/json.ts";
import { isRecord } from "../../kernel/value-kind.ts";
import { valueText } from "../../kernel/value-text.ts";
import { createMessage, type Environment, type Message, type Role } from "../../index.ts";
import type { EdgePolicy } from "../../ports.ts";
import { assertTopology, neighboursOf, type Topology } from "./topology.ts";

/* Roles on a graph. The run records who may reach whom: by a policy of edges, and by messages that tell a role its neighbours. */

export interface TopologyNode {
  readonly name: string;
  readonly neighbours: readonly string[];
}

/**
 * Hires a role for each node of a graph, under the name of the node, in their order.
 *
 * @param role one definition for all, or a function that makes one for a node
 * @throws UsageError `TOPOLOGY_INVALID`, `ROLE_DUPLICATE`, `ROLE_INVALID`
 */
export function hireOn(environment: Environment, topology: Topology, role: Role | ((node: TopologyNode) => Role)): void {
  takes("hireOn", "environment", environment, having("an environment", "addRole", "publishMessage"));
  assertTopology("hireOn", topology);
  takes("hireOn", "role", role, either(aFunction, having("a role", "react")));
  const neighbours = neighboursOf(topology);
  for (const name of topology.nodes)
    environment.addRole(typeof role === "function" ? role({ name, neighbours: neighbours.get(name) ?? [] }) : role, { name });
}

/**
 * Makes a policy of edges that drops every message between two nodes that no edge joins. Messages from and to roles outside the graph pass.
 * The run records a hash of the graph, and each dropped message. For a graph that changes, limit policies to ticks:
 * `edge(alongEdges(ring)).during(0, 10)`, with `edge` of `troupe/edges`. @throws UsageError `TOPOLOGY_INVALID`
 */
export function alongEdges(topology: Topology): EdgePolicy {
  assertTopology("alongEdges", topology);
  const { nodes, edges, directed } = topology;
  const reachable = new Map([...neighboursOf(topology)].map(([node, near]) => [node, new Set(near)]));
  return {
    name: "along-edges",
    parameters: { nodes: nodes.length, edges: edges.length, directed, sha256: contentHash([[...nodes], edges.map((pair) => [...pair])]) },
    decide: ({ from, to }) => {
      const near = reachable.get(from);
      return near === undefined || near.has(to) || !reachable.has(to) ? undefined : { kind: "drop" };
    },
  };
}

const CAUSE = "Rewire";

/**
 * Returns a message for each node whose neighbours differ. Publish them before or during a run: a replay then has the same graphs at the
 * same times. A role reads them with {@link neighboursTold}.
 *
 * @param before the graph so far; undefined at the start
 * @throws UsageError `TOPOLOGY_INVALID`, also for graphs with different nodes
 */
export function rewiring(before: Topology | undefined, after: Topology): readonly Message[] {
  assertTopology("rewiring", after);
  const then = before === undefined ? undefined : neighboursOf(before);
  const now = neighboursOf(after);
  const gone = then === undefined ? undefined : [...then.keys()].find((node) => !now.has(node));
  const come = then === undefined ? undefined : [...now.keys()].find((node) => !then.has(node));
  if (gone !== undefined || come !== undefined)
    throw new UsageError(
      "TOPOLOGY_INVALID",
      `Expected graphs of the same nodes in rewiring, got ${valueText(gone ?? come)} in one alone. Hire or retire its role, and keep it in both graphs without edges.`,
    );
  return [...now].flatMap(([node, neighbours]) => {
    const old = then?.get(node);
    if (old !== undefined && old.length === neighbours.length && new Set([...old, ...neighbours]).size === old.length) return [];
    return [createMessage(`You have ${neighbours.length} neighbours.`, { sendTo: node, causeBy: CAUSE, instructContent: { neighbours } })];
  });
}

/** Returns the neighbours in a message of {@link rewiring}; undefined for any other message. */
export function neighboursTold(message: Message): readonly string[] | undefined {
  takes("neighboursTold", "message", message, {
    says: "a message",
    fits: (given) => isRecord(given) && typeof given["content"] === "string",
  });
  const { causeBy, instructContent } = message;
  if (causeBy !== CAUSE || !isRecord(instructContent)) return undefined;
  const { neighbours } = instructContent;
  return Array.isArray(neighbours) && neighbours.every((name) => typeof name === "string") ? (neighbours as readonly string[]) : undefined;
}
