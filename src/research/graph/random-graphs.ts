import { UsageError } from "../../kernel/errors.ts";
import { checkGivenOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { type Random, randomStream } from "../../kernel/random.ts";
import { valueText } from "../../kernel/value-text.ts";
import { checkCount } from "./shapes.ts";
import { checkSize, madeTopology, nodesOf, type Topology, type TopologyEdge } from "./topology.ts";

/*
 * Graphs of chance: a function of their options and their seed.
 */

/** Options of a graph whose edges are drawn one by one. */
export interface ErdosRenyiOptions {
  /** The probability of each edge, from 0 to 1. */
  readonly probability: number;
  readonly seed: string | number;
}

const erdosRenyiOptions: Known<ErdosRenyiOptions> = { probability: kinds.checked, seed: kinds.checked };

/**
 * Makes a graph in which each pair of nodes has an edge with the same probability, whatever the others have (Gilbert 1959; G(n, p) of Erdős
 * and Rényi). Pairs without an edge are skipped by geometric steps (Batagelj and Brandes 2005).
 *
 * @throws UsageError `TOPOLOGY_INVALID`; `TOPOLOGY_TOO_LARGE` for more than 5,000,000 expected edges; `OPTION_UNKNOWN`
 * @example
 * import { erdosRenyi } from "troupe/research";
 *
 * const graph = erdosRenyi(100, { probability: 0.1, seed: 1 });
 * console.log(graph.edges.length > 400 && graph.edges.length < 600); // true
 */
export function erdosRenyi(nodes: number | Iterable<string>, o: ErdosRenyiOptions): Topology {
  checkGivenOptions("erdosRenyi", o, erdosRenyiOptions);
  const { probability } = o;
  checkShare("probability", probability);
  const names = nodesOf("erdosRenyi", nodes);
  const random = streamOf(o.seed, "erdosRenyi");
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

/** Options of a small world. */
export interface WattsStrogatzOptions {
  /** Number of neighbours of each node before any edge is moved: even, and less than the number of nodes. */
  readonly degree: number;
  /** The probability that the end of an edge is moved to a random node, from 0 to 1. */
  readonly rewiring: number;
  readonly seed: string | number;
}

const wattsStrogatzOptions: Known<WattsStrogatzOptions> = { degree: kinds.checked, rewiring: kinds.checked, seed: kinds.checked };

/**
 * Makes a small world (Watts and Strogatz 1998): a circle in which each node has edges to its `degree` nearest nodes, and each edge is then
 * moved with a probability. An edge moves neither to its own node nor to one that has an edge with it.
 *
 * @throws UsageError `TOPOLOGY_INVALID`, `TOPOLOGY_TOO_LARGE`, `OPTION_UNKNOWN`
 * @example
 * import { topologyMetrics, wattsStrogatz } from "troupe/research";
 *
 * const lattice = wattsStrogatz(20, { degree: 4, rewiring: 0, seed: 1 });
 * console.log(topologyMetrics(lattice).clustering); // 0.5
 */
export function wattsStrogatz(nodes: number | Iterable<string>, o: WattsStrogatzOptions): Topology {
  checkGivenOptions("wattsStrogatz", o, wattsStrogatzOptions);
  const { degree, rewiring } = o;
  checkShare("rewiring", rewiring);
  checkCount("degree", degree, 0);
  const names = nodesOf("wattsStrogatz", nodes);
  if (degree % 2 !== 0 || degree >= names.length) throw invalid(`an even degree below ${names.length} nodes`, degree);
  checkSize("edges", (names.length * degree) / 2);
  const random = streamOf(o.seed, "wattsStrogatz");
  const near = names.map(() => new Set<number>());
  const link = (one: number, other: number): void => void (near[one]?.add(other), near[other]?.add(one));
  const rings = Array.from({ length: degree / 2 }, (_, ring) => ring + 1);
  for (const ring of rings) names.forEach((_, place) => link(place, (place + ring) % names.length));
  const edges: (readonly [number, number])[] = [];
  for (const ring of rings) {
    for (let place = 0; place < names.length; place += 1) {
      const end = (place + ring) % names.length;
      const isFull = (near[place]?.size ?? 0) >= names.length - 1;
      if (random() >= rewiring || isFull) {
        edges.push([place, end]);
        continue;
      }
      let other = place;
      while (other === place || near[place]?.has(other) === true) other = Math.floor(random() * names.length);
      near[place]?.delete(end);
      near[end]?.delete(place);
      link(place, other);
      edges.push([place, other]);
    }
  }
  return madeTopology(
    names,
    edges.map(([from, to]) => edge(names[from], names[to])),
    false,
  );
}

/** Options of a graph that grows. */
export interface BarabasiAlbertOptions {
  /** Number of edges of each new node: at least 1, and less than the number of nodes. */
  readonly links: number;
  readonly seed: string | number;
}

const barabasiAlbertOptions: Known<BarabasiAlbertOptions> = { links: kinds.checked, seed: kinds.checked };

/**
 * Makes a graph that grows node by node (Barabási and Albert 1999): a new node gets edges to `links` others, each found with a probability
 * proportional to its edges so far. It begins with a star of `links` + 1 nodes. The share of nodes with k edges falls like k to the power
 * of -3.
 *
 * @throws UsageError `TOPOLOGY_INVALID`, `TOPOLOGY_TOO_LARGE`, `OPTION_UNKNOWN`
 * @example
 * import { barabasiAlbert } from "troupe/research";
 *
 * console.log(barabasiAlbert(100, { links: 2, seed: 1 }).edges.length); // 196
 */
export function barabasiAlbert(nodes: number | Iterable<string>, o: BarabasiAlbertOptions): Topology {
  checkGivenOptions("barabasiAlbert", o, barabasiAlbertOptions);
  const { links } = o;
  checkCount("links", links, 1);
  const names = nodesOf("barabasiAlbert", nodes);
  if (links >= names.length) throw invalid(`fewer links of each new node than its ${names.length} nodes`, links);
  checkSize("edges", links * (names.length - links));
  const random = streamOf(o.seed, "barabasiAlbert");
  const edges: TopologyEdge[] = [];
  // Each node is in this list as often as it has edges, so that a random place is a node by its edges.
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

function edge(from: string | undefined, to: string | undefined): TopologyEdge {
  return Object.freeze([from ?? "", to ?? ""]);
}

function streamOf(seed: unknown, graph: string): Random {
  if (typeof seed === "string" || (typeof seed === "number" && Number.isFinite(seed))) return randomStream(String(seed), "topology", graph);
  throw invalid(`the seed of ${graph} to be a text or a number`, seed);
}

function checkShare(option: string, value: unknown): void {
  if (typeof value === "number" && value >= 0 && value <= 1) return;
  throw invalid(`the option ${option} of a topology to be a probability from 0 to 1`, value);
}

function invalid(expected: string, came: unknown): UsageError {
  return new UsageError("TOPOLOGY_INVALID", `Expected ${expected}, got ${valueText(came)}.`);
}
