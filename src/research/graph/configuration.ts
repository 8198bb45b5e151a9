import { iterable, takes } from "../../kernel/argument.ts";
import { checkGivenOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import type { Random } from "../../kernel/random.ts";
import { streamOf } from "./graphs.ts";
import { checkCount, checkSize, edge, invalid, madeTopology, nodesOf, type Topology } from "./topology.ts";

export interface ConfigurationOptions {
  /** The number of edges of each node, or one number for all: a random regular graph. */
  readonly degrees: number | Iterable<number>;
  readonly seed: string | number;
}

const configurationOptions: Known<ConfigurationOptions> = { degrees: kinds.checked, seed: kinds.seed };

/**
 * Makes a random graph with given degrees, as the configuration model restricted to graphs without loops and double edges: a graph with
 * these degrees (Havel 1955; Hakimi 1962), whose edges then exchange ends at random (Milo et al. 2003).
 *
 * @throws UsageError `TOPOLOGY_INVALID` for degrees that no such graph has, `TOPOLOGY_TOO_LARGE`
 * @example
 * import { configurationModel, topologyMetrics } from "troupe/research";
 *
 * console.log(topologyMetrics(configurationModel(20, { degrees: 3, seed: 1 })).degree.distribution); // [ [ 3, 20 ] ]
 */
export function configurationModel(nodes: number | Iterable<string>, o: ConfigurationOptions): Topology {
  checkGivenOptions("configurationModel", o, configurationOptions);
  const names = nodesOf("configurationModel", nodes);
  const { degrees: given } = o;
  if (typeof given !== "number") takes("configurationModel", "degrees", given, iterable("a number, or numbers"));
  const degrees = typeof given === "number" ? names.map(() => given) : [...given];
  if (degrees.length !== names.length) throw invalid(`a degree for each of ${names.length} nodes`, degrees.length);
  for (const degree of degrees) checkCount("degrees", degree, 0);
  checkSize("edges", degrees.reduce((sum, degree) => sum + degree, 0) / 2);
  const edges = realized(degrees);
  if (edges === undefined) throw invalid("degrees with an even sum that a graph without double edges can have", given);
  exchange(edges, names.length, streamOf("configurationModel", o.seed));
  const named = edges.map(([from, to]) => edge(names[from], names[to]));
  return madeTopology(names, named, false);
}

type Pair = readonly [number, number];

/** Returns a graph with these degrees: again and again the node with most edges left is joined to those that have most after it. */
function realized(degrees: readonly number[]): Pair[] | undefined {
  const order = [...degrees.keys()].sort((one, other) => (degrees[other] ?? 0) - (degrees[one] ?? 0));
  const left = order.map((node) => degrees[node] ?? 0);
  const edges: Pair[] = [];
  for (const [first, wanted] of left.entries()) {
    if (wanted === 0) continue;
    const least = left[first + wanted] ?? 0;
    if (least === 0) return undefined;
    // Of nodes with equally many left the last are taken, so that the list stays in order.
    let start = first + wanted;
    while (start - 1 > first && left[start - 1] === least) start -= 1;
    const end = endOfRun(left, first + wanted);
    const more = start - first - 1;
    for (let nth = 0; nth < wanted; nth += 1) {
      const at = nth < more ? first + 1 + nth : end - (wanted - nth);
      left[at] = (left[at] ?? 0) - 1;
      edges.push([order[first] ?? 0, order[at] ?? 0]);
    }
  }
  return edges;
}

function endOfRun(list: readonly number[], at: number): number {
  let [low, high] = [at, list.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (list[middle] === list[at]) low = middle;
    else high = middle;
  }
  return high;
}

/** Exchanges of each edge, on average: half of those that Milo et al. found more than enough. */
const EXCHANGES = 20;

/** Exchanges the ends of random pairs of edges. What would be a loop or a double edge counts as a try, which keeps all graphs equally likely. */
function exchange(edges: Pair[], nodes: number, random: Random): void {
  const keyOf = (one: number, other: number): number => Math.min(one, other) * nodes + Math.max(one, other);
  const known = new Set(edges.map((pair) => keyOf(...pair)));
  for (let tries = (EXCHANGES * edges.length) / 2; tries > 0; tries -= 1) {
    const [first, second] = [Math.floor(random() * edges.length), Math.floor(random() * edges.length)];
    const [a, b] = edges[first] ?? [0, 0];
    const [one, other] = edges[second] ?? [0, 0];
    const [c, d] = random() < 0.5 ? [one, other] : [other, one];
    if (a === d || b === c || known.has(keyOf(a, d)) || known.has(keyOf(b, c))) continue;
    known.delete(keyOf(a, b));
    known.delete(keyOf(c, d));
    known.add(keyOf(a, d));
    known.add(keyOf(b, c));
    edges[first] = [a, d];
    edges[second] = [b, c];
  }
}
