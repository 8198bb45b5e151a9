import { UsageError } from "../../kernel/errors.ts";
import { optionalPackage } from "../../adapters/optional-package.ts";
import { aFunction, takes } from "../../kernel/argument.ts";
import { assertTopology, invalid, type Topology } from "./topology.ts";

export interface TopologyMetrics {
  readonly nodes: number;
  readonly edges: number;
  /** The share of all possible edges that it has; 0 for a single node. */
  readonly density: number;
  /** Number of parts without an edge between them, whatever the directions. */
  readonly components: number;
  /** The longest of the shortest paths between two nodes, along the directions. Undefined when some node cannot reach another. */
  readonly diameter: number | undefined;
  /** The mean length of the shortest paths between two nodes. Undefined as the diameter is, and for a single node. */
  readonly averageDistance: number | undefined;
  /** The mean share of pairs of neighbours that have an edge (Watts and Strogatz 1998), 0 for a node with fewer than two, whatever the directions. */
  readonly clustering: number;
  readonly degree: DegreeMetrics;
}

export interface DegreeMetrics {
  readonly least: number;
  readonly mean: number;
  readonly most: number;
  /** Number of nodes for each number of neighbours that occurs, in ascending order. */
  readonly distribution: readonly (readonly [degree: number, nodes: number])[];
}

/** Measures a graph: about a second for 5,000 nodes and 20,000 edges. @throws UsageError `TOPOLOGY_INVALID` */
export function topologyMetrics(topology: Topology): TopologyMetrics {
  assertTopology("topologyMetrics", topology);
  const { nodes, edges, directed } = topology;
  const { out, around } = adjacencyOf(topology);
  const n = nodes.length;
  const possible = directed ? n * (n - 1) : (n * (n - 1)) / 2;
  const paths = pathsOf(directed ? out : around);
  return {
    nodes: n,
    edges: edges.length,
    density: possible === 0 ? 0 : edges.length / possible,
    components: componentsOf(around),
    diameter: paths?.longest,
    averageDistance: paths === undefined || n === 1 ? undefined : paths.sum / (n * (n - 1)),
    clustering: clusteringOf(around),
    degree: degreesOf(around),
  };
}

/** Limit on the nodes whose algebraic connectivity is computed: 6 seconds of processor time for all, 45 for twice as many. */
const MAX_NODES = 1_000;

/**
 * Returns the second smallest eigenvalue of the Laplacian (Fiedler 1973), whatever the directions: 0 for a graph in parts, and the larger,
 * the faster averaging reaches consensus. It needs the package `ml-matrix`.
 *
 * @throws UsageError `TOPOLOGY_INVALID`; `TOPOLOGY_TOO_LARGE` for more than 1,000 nodes; `PACKAGE_MISSING`
 */
export async function algebraicConnectivity(topology: Topology): Promise<number> {
  assertTopology("algebraicConnectivity", topology);
  const n = topology.nodes.length;
  if (n > MAX_NODES)
    throw new UsageError(
      "TOPOLOGY_TOO_LARGE",
      `Expected at most ${MAX_NODES} nodes for algebraicConnectivity, got ${n}. Measure a smaller graph of the same kind.`,
    );
  const { around } = adjacencyOf(topology);
  if (n < 2 || componentsOf(around) > 1) return 0;
  const laplacian = around.map((near, row) => {
    const line = Array.from({ length: n }, () => 0);
    for (const column of near) line[column] = -1;
    line[row] = near.length;
    return line;
  });
  const { EigenvalueDecomposition } = await optionalPackage("ml-matrix", "6", () => import("ml-matrix"));
  const { realEigenvalues } = new EigenvalueDecomposition(laplacian, { assumeSymmetric: true });
  return Math.max(0, realEigenvalues.toSorted((a, b) => a - b)[1] ?? 0);
}

/**
 * Returns for each node the share of the shortest paths between two others that pass it, the mean over all pairs (Freeman 1977, by the
 * algorithm of Brandes 2001), along the directions. It takes about three times as long as {@link topologyMetrics}.
 *
 * @throws UsageError `TOPOLOGY_INVALID`; `TOPOLOGY_TOO_LARGE` for more shortest paths between two nodes than a number can count
 * @example
 * import { betweenness, starTopology } from "troupe/research";
 *
 * console.log(betweenness(starTopology(["hub", "a", "b"]))); // Map(3) { 'hub' => 1, 'a' => 0, 'b' => 0 }
 */
export function betweenness(topology: Topology): ReadonlyMap<string, number> {
  assertTopology("betweenness", topology);
  const { nodes, directed } = topology;
  const { out, around } = adjacencyOf(topology);
  const near = directed ? out : around;
  const [passing, ways, later] = [0, 1, 2].map(() => new Float64Array(nodes.length)) as [Float64Array, Float64Array, Float64Array];
  const distances = new Int32Array(nodes.length);
  for (const start of nodes.keys()) {
    const reached = reachedFrom(start, near, distances.fill(-1));
    ways.fill(0)[start] = 1;
    for (const node of reached) {
      const [own, after] = [ways[node] ?? 0, (distances[node] ?? 0) + 1];
      for (const next of near[node] ?? []) if (distances[next] === after) ways[next] = (ways[next] ?? 0) + own;
    }
    later.fill(0);
    for (const node of reached.reverse()) {
      const [own, after] = [ways[node] ?? 0, (distances[node] ?? 0) + 1];
      let sum = 0;
      for (const next of near[node] ?? []) if (distances[next] === after) sum += (own / (ways[next] ?? 1)) * (1 + (later[next] ?? 0));
      later[node] = sum;
      if (node !== start) passing[node] = (passing[node] ?? 0) + sum;
    }
  }
  if (!passing.every(Number.isFinite))
    throw new UsageError(
      "TOPOLOGY_TOO_LARGE",
      "Expected fewer shortest paths in betweenness. Measure a part of the graph, or a sparser one.",
    );
  const pairs = Math.max(1, (nodes.length - 1) * (nodes.length - 2));
  return new Map(nodes.map((node, index) => [node, (passing[index] ?? 0) / pairs]));
}

/**
 * Returns how much more of the edges is within groups than in a random graph with the same degrees (Newman and Girvan 2004; with directions,
 * Leicht and Newman 2008): at most 1, and 0 for one group.
 *
 * @param groupOf the group of a node, such as the opinion of its role
 * @throws UsageError `TOPOLOGY_INVALID`, also without edges
 * @example
 * import { modularity, ringTopology } from "troupe/research";
 *
 * console.log(modularity(ringTopology(["a", "b", "c", "d"]), (node) => node < "c")); // 0
 */
export function modularity(topology: Topology, groupOf: (node: string) => string | number | boolean): number {
  assertTopology("modularity", topology);
  takes("modularity", "groupOf", groupOf, aFunction);
  const { nodes, edges, directed } = topology;
  if (edges.length === 0) throw invalid("at least one edge for modularity", edges.length);
  const groups = new Map(nodes.map((node) => [node, groupOf(node)]));
  const ends = new Map([...groups.values()].map((group): [typeof group, Ends] => [group, { from: 0, to: 0 }]));
  let within = 0;
  for (const [from, to] of directed ? edges : edges.flatMap(([one, other]) => [[one, other] as const, [other, one] as const])) {
    const [first, second] = [from, to].map((node) => ends.get(groups.get(node) as string) as Ends) as [Ends, Ends];
    first.from += 1;
    second.to += 1;
    if (first === second) within += 1;
  }
  const arcs = directed ? edges.length : 2 * edges.length;
  return within / arcs - [...ends.values()].reduce((sum, { from, to }) => sum + (from / arcs) * (to / arcs), 0);
}

interface Ends {
  from: number;
  to: number;
}

interface Adjacency {
  /** Along the directions. */
  readonly out: readonly (readonly number[])[];
  /** The neighbors of each node, whatever the directions, each once. */
  readonly around: readonly (readonly number[])[];
}

function adjacencyOf({ nodes, edges }: Topology): Adjacency {
  const places = new Map(nodes.map((node, place) => [node, place]));
  const out = nodes.map((): number[] => []);
  const around = nodes.map(() => new Set<number>());
  for (const [from, to] of edges) {
    const [start, end] = [places.get(from), places.get(to)];
    if (start === undefined || end === undefined) continue;
    out[start]?.push(end);
    around[start]?.add(end);
    around[end]?.add(start);
  }
  return { out, around: around.map((near) => [...near]) };
}

/** Writes the length of the shortest path from a node to each that it reaches and that has none (-1), and returns those, the nearest first. */
function reachedFrom(start: number, near: readonly (readonly number[])[], distances: Int32Array): number[] {
  distances[start] = 0;
  const reached = [start];
  for (const node of reached) {
    for (const next of near[node] ?? []) {
      if (distances[next] !== -1) continue;
      distances[next] = (distances[node] ?? 0) + 1;
      reached.push(next);
    }
  }
  return reached;
}

function pathsOf(near: readonly (readonly number[])[]): { readonly longest: number; readonly sum: number } | undefined {
  const distances = new Int32Array(near.length);
  let [longest, sum] = [0, 0];
  for (let start = 0; start < near.length; start += 1) {
    if (reachedFrom(start, near, distances.fill(-1)).length < near.length) return undefined;
    for (const distance of distances) {
      longest = Math.max(longest, distance);
      sum += distance;
    }
  }
  return { longest, sum };
}

function componentsOf(around: readonly (readonly number[])[]): number {
  const distances = new Int32Array(around.length).fill(-1);
  return around.filter((_, start) => distances[start] === -1 && reachedFrom(start, around, distances).length > 0).length;
}

function clusteringOf(around: readonly (readonly number[])[]): number {
  const sets = around.map((near) => new Set(near));
  let sum = 0;
  for (const near of around) {
    const pairs = (near.length * (near.length - 1)) / 2;
    if (pairs === 0) continue;
    let joined = 0;
    near.forEach((one, place) => {
      for (const other of near.slice(place + 1)) if (sets[one]?.has(other) === true) joined += 1;
    });
    sum += joined / pairs;
  }
  return sum / around.length;
}

function degreesOf(around: readonly (readonly number[])[]): DegreeMetrics {
  const counts = new Map<number, number>();
  for (const { length } of around) counts.set(length, (counts.get(length) ?? 0) + 1);
  const distribution = [...counts].toSorted(([a], [b]) => a - b);
  const sum = distribution.reduce((total, [degree, nodes]) => total + degree * nodes, 0);
  return { least: distribution[0]?.[0] ?? 0, mean: sum / around.length, most: distribution.at(-1)?.[0] ?? 0, distribution };
}
