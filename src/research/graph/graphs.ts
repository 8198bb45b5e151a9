import { numberWith, type Shape, takes } from "../../kernel/argument.ts";
import { type Known, checkGivenOptions, checkKnownOptions } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { type Random, randomStream } from "../../kernel/random.ts";
import { type Topology, type TopologyEdge, checkCount, checkSize, edge, invalid, madeTopology, nodesOf } from "./topology.ts";

/* Graphs of chance: a function of their options and their seed. */

export interface ErdosRenyiOptions {
  /** The probability of each edge, from 0 to 1. */
  readonly probability: number;
  readonly seed: string | number;
}

const aProbability = numberWith("a probability from 0 to 1", (value) => value >= 0 && value <= 1);
const erdosRenyiOptions: Known<ErdosRenyiOptions> = { probability: aProbability, seed: kinds.seed };

/**
 * Makes a graph in which each pair of nodes has an edge with the same probability (Gilbert 1959; G(n, p) of Erdős and Rényi). Pairs without
 * an edge are skipped by geometric steps (Batagelj and Brandes 2005).
 *
 * @throws UsageError `TOPOLOGY_INVALID`; `TOPOLOGY_TOO_LARGE` for more than 5,000,000 expected edges
 */
export function erdosRenyi(nodes: number | Iterable<string>, o: ErdosRenyiOptions): Topology {
  checkGivenOptions("erdosRenyi", o, erdosRenyiOptions);
  const { probability } = o;
  takes("erdosRenyi", "probability", probability, aProbability);
  const names = nodesOf("erdosRenyi", nodes);
  const random = streamOf("erdosRenyi", o.seed);
  const pairs = (names.length * (names.length - 1)) / 2;
  checkSize("edges", Math.round(pairs * probability));
  const edges: TopologyEdge[] = [];
  // The pairs are numbered row by row: (1, 0), (2, 0), (2, 1), (3, 0) ...
  let [row, column] = [1, -1];
  while (probability > 0) {
    column += 1 + (probability === 1 ? 0 : Math.floor(Math.log(1 - random()) / Math.log1p(-probability)));
    while (column >= row && row < names.length) {
      column -= row;
      row += 1;
    }
    if (row >= names.length) break;
    edges.push(edge(names[column], names[row]));
  }
  return madeTopology(names, edges, false);
}

export interface WattsStrogatzOptions {
  /** Number of neighbours of each node before any edge is moved: even, and less than the number of nodes. */
  readonly degree: number;
  /** The probability that the end of an edge is moved to a random node, from 0 to 1. */
  readonly rewiring: number;
  readonly seed: string | number;
}

const wattsStrogatzOptions: Known<WattsStrogatzOptions> = { degree: kinds.checked, rewiring: aProbability, seed: kinds.seed };

/**
 * Makes a small world (Watts and Strogatz 1998): each node of a circle has edges to its `degree` nearest nodes, and each edge is then moved
 * with a probability, never to its own node or to a neighbour.
 *
 * @throws UsageError `TOPOLOGY_INVALID`, `TOPOLOGY_TOO_LARGE`
 */
export function wattsStrogatz(nodes: number | Iterable<string>, o: WattsStrogatzOptions): Topology {
  checkGivenOptions("wattsStrogatz", o, wattsStrogatzOptions);
  const { degree, rewiring } = o;
  takes("wattsStrogatz", "rewiring", rewiring, aProbability);
  checkCount("degree", degree, 0);
  const names = nodesOf("wattsStrogatz", nodes);
  if (degree % 2 !== 0 || degree >= names.length) throw invalid(`an even degree below ${names.length} nodes`, degree);
  checkSize("edges", (names.length * degree) / 2);
  const random = streamOf("wattsStrogatz", o.seed);
  const near = names.map(() => new Set<number>());
  const link = (one: number, other: number): void => void (near[one]?.add(other), near[other]?.add(one));
  const rings = Array.from({ length: degree / 2 }, (_, ring) => ring + 1);
  for (const ring of rings) names.forEach((_, index) => link(index, (index + ring) % names.length));
  const edges: (readonly [number, number])[] = [];
  for (const ring of rings) {
    for (let index = 0; index < names.length; index += 1) {
      const end = (index + ring) % names.length;
      const isFull = (near[index]?.size ?? 0) >= names.length - 1;
      if (random() >= rewiring || isFull) {
        edges.push([index, end]);
        continue;
      }
      let other = index;
      while (other === index || near[index]?.has(other) === true) other = Math.floor(random() * names.length);
      near[index]?.delete(end);
      near[end]?.delete(index);
      link(index, other);
      edges.push([index, other]);
    }
  }
  const named = edges.map(([from, to]) => edge(names[from], names[to]));
  return madeTopology(names, named, false);
}

export interface BarabasiAlbertOptions {
  /** Number of edges of each new node: at least 1, and less than the number of nodes. */
  readonly links: number;
  readonly seed: string | number;
}

const barabasiAlbertOptions: Known<BarabasiAlbertOptions> = { links: kinds.checked, seed: kinds.seed };

/**
 * Makes a graph that grows from a star of `links` + 1 nodes (Barabási and Albert 1999): a new node gets edges to `links` others, each drawn
 * with a probability proportional to its edges so far.
 *
 * @throws UsageError `TOPOLOGY_INVALID`, `TOPOLOGY_TOO_LARGE`
 */
export function barabasiAlbert(nodes: number | Iterable<string>, o: BarabasiAlbertOptions): Topology {
  checkGivenOptions("barabasiAlbert", o, barabasiAlbertOptions);
  const { links } = o;
  checkCount("links", links, 1);
  const names = nodesOf("barabasiAlbert", nodes);
  if (links >= names.length) throw invalid(`fewer links of each new node than its ${names.length} nodes`, links);
  checkSize("edges", links * (names.length - links));
  const random = streamOf("barabasiAlbert", o.seed);
  const edges: TopologyEdge[] = [];
  // Each node is in this list as often as it has edges, so that a random index is a node by its edges.
  const ends: number[] = [];
  const link = (from: number, to: number): void => {
    edges.push(edge(names[from], names[to]));
    ends.push(from, to);
  };
  for (let ray = 1; ray <= links; ray += 1) link(0, ray);
  for (let node = links + 1; node < names.length; node += 1) {
    const found = new Set<number>();
    while (found.size < links) found.add(ends[Math.floor(random() * ends.length)] ?? 0);
    for (const other of found) link(node, other);
  }
  return madeTopology(names, edges, false);
}

export function streamOf(graph: string, seed: string | number): Random {
  takes(graph, "seed", seed, kinds.seed);
  return randomStream(String(seed), "topology", graph);
}

/* Graphs without chance. Each takes a number of nodes, named p1, p2 and so on, or their names. */

/** Makes a graph in which every pair of nodes has an edge. @throws UsageError `TOPOLOGY_INVALID`; `TOPOLOGY_TOO_LARGE` from 3,163 nodes on */
export function completeTopology(nodes: number | Iterable<string>): Topology {
  const names = nodesOf("completeTopology", nodes);
  checkSize("edges", (names.length * (names.length - 1)) / 2);
  const edges = names.flatMap((from, index) => names.slice(index + 1).map((to) => edge(from, to)));
  return madeTopology(names, edges, false);
}

/** Makes a circle. @throws UsageError `TOPOLOGY_INVALID`, `TOPOLOGY_TOO_LARGE` */
export function ringTopology(nodes: number | Iterable<string>): Topology {
  const names = nodesOf("ringTopology", nodes);
  const chain = names.slice(1).map((to, index) => edge(names[index] ?? to, to));
  const [first, last] = [names[0] ?? "", names.at(-1) ?? ""];
  return madeTopology(names, names.length > 2 ? [...chain, edge(last, first)] : chain, false);
}

/** Makes a star: the first node has an edge to each other one. @throws UsageError `TOPOLOGY_INVALID`, `TOPOLOGY_TOO_LARGE` */
export function starTopology(nodes: number | Iterable<string>): Topology {
  const names = nodesOf("starTopology", nodes);
  const [hub = "", ...rays] = names;
  const edges = rays.map((ray) => edge(hub, ray));
  return madeTopology(names, edges, false);
}

export interface TreeOptions {
  /** Number of children of each node, from 1, which is a chain. Default 2. */
  readonly branching?: number;
}

const treeOptions: Known<TreeOptions> = { branching: kinds.checked };

/** Makes a tree that is filled level by level: the first node is the root. @throws UsageError `TOPOLOGY_INVALID`, `TOPOLOGY_TOO_LARGE` */
export function treeTopology(nodes: number | Iterable<string>, o: TreeOptions = {}): Topology {
  checkKnownOptions("treeTopology", o, treeOptions);
  const { branching = 2 } = o;
  checkCount("branching", branching, 1);
  const names = nodesOf("treeTopology", nodes);
  const edges = names.slice(1).map((child, index) => edge(names[Math.floor(index / branching)] ?? "", child));
  return madeTopology(names, edges, false);
}

export interface GridOptions {
  /** True joins opposite borders. Default false. */
  readonly torus?: boolean;
  /** The cells that share a side with a cell, or all eight around it. Default `vonNeumann`. */
  readonly neighbours?: Neighbourhood;
}

export type Neighbourhood = "vonNeumann" | "moore";
export const aNeighbourhood: Shape = kinds.oneOf("vonNeumann", "moore");
const gridOptions: Known<GridOptions> = { torus: kinds.boolean, neighbours: aNeighbourhood };
const SIDES = [
  [0, 1],
  [1, 0],
] as const;
const CORNERS = [
  [1, 1],
  [1, -1],
] as const;

/** Makes a grid, row by row. @throws UsageError `TOPOLOGY_INVALID`, `TOPOLOGY_TOO_LARGE` */
export function gridTopology(rows: number, columns: number, o: GridOptions = {}): Topology {
  checkKnownOptions("gridTopology", o, gridOptions);
  const { torus = false, neighbours = "vonNeumann" } = o;
  checkCount("rows", rows, 1);
  checkCount("columns", columns, 1);
  const names = nodesOf("gridTopology", rows * columns);
  // Around a border of two, the way over it leads to the same neighbour: each pair counts once.
  const pairs = new Map<number, TopologyEdge>();
  for (let cell = 0; cell < names.length; cell += 1) {
    for (const [down, right] of neighbours === "moore" ? [...SIDES, ...CORNERS] : SIDES) {
      const [row, column] = [Math.floor(cell / columns) + down, (cell % columns) + right];
      if (!torus && (row >= rows || column < 0 || column >= columns)) continue;
      const other = (row % rows) * columns + ((column + columns) % columns);
      const key = Math.min(cell, other) * names.length + Math.max(cell, other);
      if (other !== cell && !pairs.has(key)) pairs.set(key, edge(names[cell], names[other]));
    }
    checkSize("edges", pairs.size);
  }
  return madeTopology(names, [...pairs.values()], false);
}

/**
 * Makes layers, given by sizes or names: each node has an edge, with a direction, to every node of the next layer.
 *
 * @throws UsageError `TOPOLOGY_INVALID`, `TOPOLOGY_TOO_LARGE`
 */
export function layeredTopology(sizes: readonly number[] | readonly (readonly string[])[]): Topology {
  const layers = layersOf(sizes);
  const names = nodesOf("layeredTopology", layers.flat());
  const size = layers.reduce((sum, layer, index) => sum + layer.length * (layers[index + 1]?.length ?? 0), 0);
  checkSize("edges", size);
  const edges = layers.flatMap((layer, index) => layer.flatMap((from) => (layers[index + 1] ?? []).map((to) => edge(from, to))));
  return madeTopology(names, edges, true);
}

function layersOf(sizes: unknown): readonly (readonly string[])[] {
  if (!Array.isArray(sizes) || sizes.length === 0) throw invalid("the layers of layeredTopology to be a list of sizes", sizes);
  const given: readonly unknown[] = sizes;
  if (given.every((layer) => Array.isArray(layer))) return given as readonly (readonly string[])[];
  for (const size of given) checkCount("size of a layer", size, 1);
  const all = given as readonly number[];
  const count = all.reduce((sum, size) => sum + size, 0);
  const names = nodesOf("layeredTopology", count);
  let start = 0;
  return all.map((size) => names.slice(start, (start += size)));
}
