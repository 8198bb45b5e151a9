import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { checkCount, checkSize, edge, invalid, madeTopology, nodesOf, type Topology, type TopologyEdge } from "./topology.ts";

/*
 * Graphs without chance. Each takes a number of nodes, named p1, p2 and so on, or their names.
 */

/**
 * Makes a graph in which every pair of nodes has an edge. @throws UsageError `TOPOLOGY_INVALID`; `TOPOLOGY_TOO_LARGE` from 3,163 nodes on
 */
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
}

const gridOptions: Known<GridOptions> = { torus: kinds.boolean };

/** Makes a grid, row by row. @throws UsageError `TOPOLOGY_INVALID`, `TOPOLOGY_TOO_LARGE` */
export function gridTopology(rows: number, columns: number, o: GridOptions = {}): Topology {
  checkKnownOptions("gridTopology", o, gridOptions);
  checkCount("rows", rows, 1);
  checkCount("columns", columns, 1);
  const names = nodesOf("gridTopology", rows * columns);
  const at = (row: number, column: number): string => names[(row % rows) * columns + (column % columns)] ?? "";
  // Around a border of two, the way over it leads to the same neighbour.
  const [mostRow, mostColumn] = [o.torus === true && rows > 2 ? rows : rows - 1, o.torus === true && columns > 2 ? columns : columns - 1];
  const edges: TopologyEdge[] = [];
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      if (column < mostColumn) edges.push(edge(at(row, column), at(row, column + 1)));
      if (row < mostRow) edges.push(edge(at(row, column), at(row + 1, column)));
    }
  }
  return madeTopology(names, edges, false);
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
