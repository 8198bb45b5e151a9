import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  betweenness,
  completeTopology,
  erdosRenyi,
  gridTopology,
  layeredTopology,
  modularity,
  neighboursOf,
  ringTopology,
  starTopology,
  topologyMetrics,
  topologyOf,
  treeTopology,
  type Topology,
} from "../../../src/research/index.ts";

/** Who met whom in the karate club of Zachary 1977, as networkx 3.6 has it: for each member the later ones. */
const met = [
  [1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 17, 19, 21, 31],
  [2, 3, 7, 13, 17, 19, 21, 30],
  [3, 7, 8, 9, 13, 27, 28, 32],
  [7, 12, 13],
  [6, 10],
  [6, 10, 16],
  [16],
  [],
  [30, 32, 33],
  [33],
  ...[[], [], []],
  [33],
  [32, 33],
  [32, 33],
  ...[[], []],
  [32, 33],
  [33],
  [32, 33],
  [],
  [32, 33],
  [25, 27, 29, 32, 33],
  [25, 27, 31],
  [31],
  [29, 33],
  [33],
  [31, 33],
  [32, 33],
  [32, 33],
  [32, 33],
  [33],
];
const karate = topologyOf(
  met.flatMap((later, one) => later.map((other) => [`${one}`, `${other}`] as const)),
  { nodes: Array.from({ length: 34 }, (_, one) => `${one}`) },
);
const ofMrHi = new Set([0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 16, 17, 19, 21].map(String));
const directed = topologyOf(
  ["01", "12", "20", "23", "34", "43", "03"].map((pair) => [pair.slice(0, 1), pair.slice(1)] as const),
  { directed: true },
);

const anyGraph = fc
  .record({
    n: fc.integer({ min: 3, max: 9 }),
    probability: fc.double({ min: 0, max: 1, noNaN: true }),
    seed: fc.nat(),
    isDirected: fc.boolean(),
  })
  .map(({ n, probability, seed, isDirected }) => {
    const { nodes, edges } = erdosRenyi(n, { probability, seed });
    return topologyOf(edges, { nodes, directed: isDirected });
  });

describe("betweenness", () => {
  it("gives what betweenness_centrality of networkx 3.6 gives for the karate club and for a graph with directions", () => {
    const found = betweenness(karate);
    const known = { 0: 0.43763528138528146, 33: 0.30407497594996, 32: 0.145247113997114, 2: 0.14365680615680618, 8: 0.05592682780182781 };
    for (const [node, share] of Object.entries(known)) expect(found.get(node)).toBeCloseTo(share, 12);
    expect(Object.fromEntries(betweenness(directed))).toEqual({ 0: 1 / 12, 1: 1 / 12, 2: 1 / 4, 3: 1 / 4, 4: 0 });
  });

  it("has the exact values of known shapes", () => {
    expect([...betweenness(starTopology(5)).values()]).toEqual([1, 0, 0, 0, 0]);
    expect([...betweenness(completeTopology(6)).values()]).toEqual([0, 0, 0, 0, 0, 0]);
    // A chain of n: node i lies between i - 1 and n - i others.
    const chain = [...betweenness(treeTopology(5, { branching: 1 })).values()];
    for (const [index, pairs] of [0, 3, 4, 3, 0].entries()) expect(chain[index]).toBeCloseTo(pairs / 6, 12);
    for (const share of betweenness(ringTopology(7)).values()) expect(share).toBeCloseTo(3 / 15, 12);
    expect([...betweenness(completeTopology(2)).values()]).toEqual([0, 0]);
  });

  it("sums to the inner nodes of all shortest paths, and is as two programs of other kinds find it", () => {
    fc.assert(
      fc.property(anyGraph, (topology) => {
        const found = betweenness(topology);
        const n = topology.nodes.length;
        const slow = betweennessByPaths(topology);
        for (const [node, share] of found) expect(share).toBeCloseTo(slow.get(node) ?? -1, 9);
        const { averageDistance } = topologyMetrics(topology);
        const sum = [...found.values()].reduce((all, one) => all + one, 0);
        if (averageDistance !== undefined) expect(sum).toBeCloseTo(((averageDistance - 1) * n) / (n - 2), 9);
      }),
      { numRuns: 60 },
    );
  });

  /** Lists all shortest paths, one by one. */
  function betweennessByPaths(topology: Topology): ReadonlyMap<string, number> {
    const near = neighboursOf(topology);
    const shares = new Map(topology.nodes.map((node) => [node, 0]));
    for (const from of topology.nodes) {
      let paths: string[][] = [[from]];
      const reached = new Set([from]);
      while (paths.length > 0) {
        const longer = paths.flatMap((path) =>
          (near.get(path.at(-1) ?? "") ?? []).filter((to) => !reached.has(to)).map((to) => [...path, to]),
        );
        for (const to of new Set(longer.map((path) => path.at(-1) ?? ""))) {
          const ways = longer.filter((path) => path.at(-1) === to);
          for (const path of ways) for (const node of path.slice(1, -1)) shares.set(node, (shares.get(node) ?? 0) + 1 / ways.length);
          reached.add(to);
        }
        paths = longer;
      }
    }
    const n = topology.nodes.length;
    return new Map([...shares].map(([node, share]) => [node, share / ((n - 1) * (n - 2))]));
  }

  it("refuses more paths than a number can count, and what is no graph", () => {
    const many = layeredTopology(Array.from({ length: 700 }, () => 3));
    expect(() => betweenness(many)).toThrow(expect.objectContaining({ code: "TOPOLOGY_TOO_LARGE" }));
    expect(() => betweenness({ nodes: [], edges: [], directed: false })).toThrow(expect.objectContaining({ code: "TOPOLOGY_INVALID" }));
  });
});

describe("modularity", () => {
  it("gives what networkx 3.6 gives for the two parties of the karate club, and for a graph with directions", () => {
    expect(modularity(karate, (node) => ofMrHi.has(node))).toBeCloseTo(0.3582347140039448, 12);
    expect(modularity(directed, (node) => Number(node) < 3)).toBeCloseTo(0.2448979591836735, 12);
  });

  it("counts nodes without a value as one group more", () => {
    const groupOf = (node: string): string => (ofMrHi.has(node) ? "Hi" : (undefined as unknown as string));
    expect(modularity(karate, groupOf)).toBe(modularity(karate, (node) => ofMrHi.has(node)));
  });

  it("of k equal parts without an edge between them is 1 - 1 / k", () => {
    for (const k of [2, 3, 7]) {
      const parts = Array.from({ length: k }, (_, part) => ["a", "b", "c"].map((name) => `${part}${name}`));
      const cliques = topologyOf(parts.flatMap((names) => completeTopology(names).edges));
      expect(modularity(cliques, (node) => node.slice(0, -1))).toBeCloseTo(1 - 1 / k, 12);
    }
  });

  it("is 0 for one group, at most 0 for a group of each node, below 1, and blind to the names of groups", () => {
    fc.assert(
      fc.property(
        anyGraph.filter(({ edges }) => edges.length > 0),
        fc.nat(3),
        (topology, k) => {
          const groupOf = (node: string): number => Number(node.slice(1)) % (k + 1);
          const value = modularity(topology, groupOf);
          expect(modularity(topology, () => true)).toBeCloseTo(0, 12);
          expect(modularity(topology, (node) => node)).toBeLessThanOrEqual(0);
          expect(value).toBeLessThan(1);
          expect(value).toBeGreaterThanOrEqual(-1);
          expect(modularity(topology, (node) => `group ${groupOf(node)}`)).toBe(value);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("has no value without edges", () => {
    const bare = topologyOf([], { nodes: ["a", "b"] });
    expect(() => modularity(bare, () => 1)).toThrow(expect.objectContaining({ code: "TOPOLOGY_INVALID" }));
    expect(() => modularity(karate, 5 as never)).toThrow(expect.objectContaining({ code: "ARGUMENT_INVALID" }));
  });
});

describe("a grid of cells with eight neighbours", () => {
  it("has the numbers of edges and steps that it is known for", () => {
    // (m - 1) n + m (n - 1) sides, and 2 (m - 1) (n - 1) corners.
    expect(topologyMetrics(gridTopology(3, 4, { neighbours: "moore" }))).toMatchObject({ edges: 17 + 12, diameter: 3 });
    const torus = topologyMetrics(gridTopology(5, 6, { neighbours: "moore", torus: true }));
    expect(torus).toMatchObject({ edges: 4 * 30, diameter: 3, degree: { least: 8, most: 8 } });
    expect(topologyMetrics(gridTopology(2, 2, { neighbours: "moore", torus: true })).edges).toBe(6);
    expect(topologyMetrics(gridTopology(1, 3, { neighbours: "moore", torus: true })).edges).toBe(3);
    expect(gridTopology(3, 3, { neighbours: "vonNeumann" })).toEqual(gridTopology(3, 3));
    expect(() => gridTopology(3, 3, { neighbours: "hex" as never })).toThrow(/"vonNeumann" or "moore"/);
  });
});
