import { isList } from "../../kernel/value-kind.ts";
import { fits, type Shape, iterable, readable, takes } from "../../kernel/argument.ts";
import { UsageError } from "../../kernel/errors.ts";
import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { valueText } from "../../kernel/value-text.ts";

/** A graph of names: who can reach whom. Plain data, frozen. */
export interface Topology {
  readonly nodes: readonly string[];
  /** Pairs of nodes, each once. Without `directed` an edge leads both ways. No edge leads from a node to itself. */
  readonly edges: readonly TopologyEdge[];
  readonly directed: boolean;
}

/** An edge: the nodes that it joins, the first one first where it has a direction. */
export type TopologyEdge = readonly [from: string, to: string];

export interface TopologyOptions {
  /** The nodes, also those without an edge, in their order. Default: the ends of the edges, in order of appearance. */
  readonly nodes?: Iterable<string>;
  readonly directed?: boolean;
}

const topologyOptions: Known<TopologyOptions> = { nodes: kinds.iterable("names"), directed: kinds.boolean };

const MAX_NODES = 1_000_000;
const MAX_EDGES = 5_000_000;

/**
 * Makes a graph from a list of edges, each counted once.
 *
 * @throws UsageError `TOPOLOGY_INVALID` for an edge that is no pair of different known names; `TOPOLOGY_TOO_LARGE` for more than 1,000,000
 * nodes or 5,000,000 edges
 */
export function topologyOf(edges: Iterable<TopologyEdge>, o: TopologyOptions = {}): Topology {
  takes("topologyOf", "edges", edges, iterable("pairs of names"));
  checkKnownOptions("topologyOf", o, topologyOptions);
  const { directed = false } = o;
  const nodes = o.nodes === undefined ? undefined : nodesOf("topologyOf", o.nodes);
  const known = nodes === undefined ? undefined : new Set(nodes);
  const ends = new Set<string>();
  const kept = new Map<string, TopologyEdge>();
  for (const pair of edges) {
    const [from, to] = pairOf(pair);
    for (const end of [from, to]) {
      if (known !== undefined && !known.has(end)) throw invalid(`edges between the given nodes`, end);
      ends.add(end);
    }
    const key = directed || from < to ? JSON.stringify([from, to]) : JSON.stringify([to, from]);
    if (!kept.has(key)) kept.set(key, edge(from, to));
    checkSize("edges", kept.size);
  }
  return madeTopology(nodes ?? checkedNames([...ends]), [...kept.values()], directed);
}

export function madeTopology(nodes: readonly string[], edges: readonly TopologyEdge[], directed: boolean): Topology {
  const topology = Object.freeze({ nodes: Object.freeze(nodes), edges: Object.freeze(edges), directed });
  made.add(topology);
  return topology;
}

/** The graphs that are known to be right. Others, such as those from JSON, are checked whenever they are used. */
const made = new WeakSet<object>();

/** Returns the given names, or `p1`, `p2` and so on for a number. @throws UsageError `TOPOLOGY_INVALID`, `TOPOLOGY_TOO_LARGE` */
export function nodesOf(caller: string, nodes: number | Iterable<string>): readonly string[] {
  if (typeof nodes === "number") {
    checkCount("number of nodes", nodes, 1);
    checkSize("nodes", nodes);
    return Array.from({ length: nodes }, (_, place) => `p${place + 1}`);
  }
  takes(caller, "nodes", nodes, iterable("a number of nodes, or their names"));
  const names: string[] = [];
  for (const name of nodes) checkSize("nodes", names.push(name));
  return checkedNames(names);
}

function checkedNames(names: readonly unknown[]): readonly string[] {
  if (names.length === 0) throw invalid("at least one node", names);
  const known = new Set<string>();
  for (const name of names) {
    if (typeof name !== "string" || name === "") throw invalid("the name of a node to be a string that is not empty", name);
    if (known.has(name)) throw invalid("each node once", name);
    known.add(name);
  }
  return [...known];
}

const aPair: Shape = { says: "a pair of names", fits: (value) => isList(value) && value.length === 2 && kinds.texts.fits(value) };

function pairOf(pair: unknown): TopologyEdge {
  if (!fits(pair, aPair)) throw invalid("an edge to be a pair of names", pair);
  const [from, to] = pair as TopologyEdge;
  if (from !== to) return [from, to];
  throw invalid("edges between different nodes", from);
}

export function checkSize(what: "nodes" | "edges", size: number): void {
  const most = what === "nodes" ? MAX_NODES : MAX_EDGES;
  if (size <= most) return;
  throw new UsageError("TOPOLOGY_TOO_LARGE", `Expected at most ${most} ${what} of a topology, got ${size}. Take a sparser or smaller one.`);
}

export function assertTopology(caller: string, topology: unknown): asserts topology is Topology {
  takes(caller, "topology", topology, readable);
  if (typeof topology === "object" && topology !== null && made.has(topology)) return;
  const { nodes, edges, directed } = (topology ?? {}) as Partial<Topology>;
  if (!isList(nodes) || !isList(edges) || typeof directed !== "boolean" || nodes.length === 0)
    throw invalid(`the topology of ${caller} to have nodes, edges and directed, as topologyOf makes it`, topology);
  const whole = topologyOf(edges, { nodes, directed });
  if (whole.edges.length !== edges.length) throw invalid(`each edge once in the topology of ${caller}`, edges.length - whole.edges.length);
}

export type Neighbours = ReadonlyMap<string, readonly string[]>;

/**
 * Returns the nodes that each node can reach along one edge, in the order of the edges.
 *
 * @throws UsageError `TOPOLOGY_INVALID`
 * @example
 * import { neighboursOf, starTopology } from "troupe/research";
 *
 * console.log(neighboursOf(starTopology(["hub", "a", "b"])).get("hub")); // [ 'a', 'b' ]
 */
export function neighboursOf(topology: Topology): Neighbours {
  assertTopology("neighboursOf", topology);
  const neighbours = new Map<string, string[]>(topology.nodes.map((node) => [node, []]));
  for (const [from, to] of topology.edges) {
    neighbours.get(from)?.push(to);
    if (!topology.directed) neighbours.get(to)?.push(from);
  }
  return neighbours;
}

export function checkCount(what: string, value: unknown, least: number): void {
  if (Number.isInteger(value) && Number(value) >= least) return;
  throw invalid(`the ${what} of a topology to be a whole number of at least ${least}`, value);
}

export function edge(from: string = "", to: string = ""): TopologyEdge {
  return Object.freeze([from, to]);
}

export function invalid(expected: string, came: unknown): UsageError {
  return new UsageError("TOPOLOGY_INVALID", `Expected ${expected}, got ${valueText(came)}.`);
}
