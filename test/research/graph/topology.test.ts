import { alg, Graph } from "@dagrejs/graphlib";
import fc from "fast-check";
import { Matrix } from "ml-matrix";
import { describe, expect, it } from "vitest";
import {
  algebraicConnectivity,
  barabasiAlbert,
  completeTopology,
  erdosRenyi,
  gridTopology,
  layeredTopology,
  neighboursOf,
  ringTopology,
  starTopology,
  type Topology,
  topologyMetrics,
  topologyOf,
  treeTopology,
  wattsStrogatz,
} from "../../../src/research/index.ts";

function checkSimple({ nodes, edges, directed }: Topology): void {
  const known = new Set(nodes);
  expect(known.size).toBe(nodes.length);
  const keys = edges.map(([from, to]) => (directed || from < to ? `${from} ${to}` : `${to} ${from}`));
  expect(new Set(keys).size).toBe(keys.length);
  expect(edges.filter(([from, to]) => from === to || !known.has(from) || !known.has(to))).toEqual([]);
}

describe("shapes", () => {
  it("have the numbers of nodes, edges and ways that they are known for", () => {
    const known = [
      [completeTopology(6), 15, 1, 1, 1],
      [ringTopology(8), 8, 2 / 7, 4, 0],
      [starTopology(9), 8, 2 / 9, 2, 0],
      [treeTopology(15), 14, 2 / 15, 6, 0],
      [treeTopology(5, { branching: 1 }), 4, 2 / 5, 4, 0],
      [gridTopology(3, 4), 17, 17 / 66, 5, 0],
      [gridTopology(4, 4, { torus: true }), 32, 32 / 120, 4, 0],
    ] as const;
    for (const [topology, edges, density, diameter, clustering] of known) {
      checkSimple(topology);
      const metrics = topologyMetrics(topology);
      expect(metrics).toMatchObject({ edges, diameter, clustering, components: 1 });
      expect(metrics.density).toBeCloseTo(density, 12);
    }
  });

  it("of layers lead from each layer to the next, and never back", () => {
    const topology = layeredTopology([2, 3, 1]);
    expect(topology).toMatchObject({ directed: true });
    expect(topology.edges.length).toBe(2 * 3 + 3 * 1);
    expect(topologyMetrics(topology)).toMatchObject({ diameter: undefined, averageDistance: undefined, components: 1 });
    expect(neighboursOf(topology).get("p6")).toEqual([]);
    expect(layeredTopology([["boss"], ["a", "b"]]).edges).toEqual([
      ["boss", "a"],
      ["boss", "b"],
    ]);
  });
});

describe("the numbers of any graph", () => {
  const anyGraph = fc
    .record({
      n: fc.integer({ min: 2, max: 14 }),
      probability: fc.double({ min: 0, max: 1, noNaN: true }),
      seed: fc.nat(),
      directed: fc.boolean(),
    })
    .map(({ n, probability, seed, directed }) => {
      const { nodes, edges } = erdosRenyi(n, { probability, seed });
      return topologyOf(edges, { nodes, directed });
    });

  it("are those that other libraries find: ways and parts by graphlib, clustering by the third power of the adjacency matrix", () => {
    fc.assert(
      fc.property(anyGraph, (topology) => {
        const { nodes, edges, directed } = topology;
        const graph = new Graph({ directed });
        graph.setNodes([...nodes]);
        for (const [from, to] of edges) graph.setEdge(from, to);
        const ways = alg.dijkstraAll(
          graph,
          () => 1,
          (node) => (directed ? graph.outEdges(node) : graph.nodeEdges(node)) ?? [],
        );
        const distances = nodes.flatMap((from) => nodes.flatMap((to) => (from === to ? [] : [ways[from]?.[to]?.distance ?? Infinity])));
        const longest = Math.max(...distances);
        const metrics = topologyMetrics(topology);
        expect(metrics.diameter ?? Infinity).toBe(longest);
        expect(metrics.averageDistance ?? Infinity).toBeCloseTo(distances.reduce((sum, one) => sum + one, 0) / distances.length, 12);
        expect(metrics.components).toBe(alg.components(graph).length);
        expect(metrics.clustering).toBeCloseTo(clusteringByMatrix(topology), 12);
      }),
      { numRuns: 60 },
    );
  });

  /** Place i of the diagonal of A³ is twice the number of triangles at node i. */
  function clusteringByMatrix({ nodes, edges }: Topology): number {
    const adjacency = Matrix.zeros(nodes.length, nodes.length);
    for (const [from, to] of edges)
      for (const [row, column] of [
        [from, to],
        [to, from],
      ] as const)
        adjacency.set(nodes.indexOf(row), nodes.indexOf(column), 1);
    const cube = adjacency.mmul(adjacency).mmul(adjacency);
    const shares = nodes.map((_, place) => {
      const degree = adjacency.getRow(place).reduce((sum, one) => sum + one, 0);
      return degree < 2 ? 0 : cube.get(place, place) / (degree * (degree - 1));
    });
    return shares.reduce((sum, one) => sum + one, 0) / nodes.length;
  }
});

describe("algebraicConnectivity", () => {
  it("is what Fiedler 1973 and de Abreu 2007 give", async () => {
    const pi = Math.PI;
    const known = [
      [ringTopology(12), 2 - 2 * Math.cos((2 * pi) / 12)],
      [ringTopology(101), 2 - 2 * Math.cos((2 * pi) / 101)],
      [starTopology(40), 1],
      [completeTopology(17), 17],
      [treeTopology(30, { branching: 1 }), 2 - 2 * Math.cos(pi / 30)],
      [gridTopology(4, 6), 2 - 2 * Math.cos(pi / 6)],
      [ringTopology(2), 2],
    ] as const;
    for (const [topology, value] of known) expect(await algebraicConnectivity(topology)).toBeCloseTo(value, 10);
  });

  it("is 0 for a graph in parts, and for a single node", async () => {
    expect(await algebraicConnectivity(topologyOf([["a", "b"]], { nodes: ["a", "b", "c"] }))).toBe(0);
    expect(await algebraicConnectivity(ringTopology(1))).toBe(0);
    await expect(algebraicConnectivity(ringTopology(1_001))).rejects.toThrow(/at most 1000 nodes/);
  });

  it("never falls when an edge is added, and lies below the least degree by n / (n - 1)", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 3, max: 12 }), fc.integer({ min: 1, max: 99 }), async (n, seed) => {
        const graph = erdosRenyi(n, { probability: 0.4, seed });
        const [first = "", second = ""] = graph.nodes;
        const more = topologyOf([...graph.edges, [first, second]], { nodes: graph.nodes });
        const value = await algebraicConnectivity(graph);
        expect(await algebraicConnectivity(more)).toBeGreaterThanOrEqual(value - 1e-9);
        expect(value).toBeLessThanOrEqual((n / (n - 1)) * topologyMetrics(graph).degree.least + 1e-9);
      }),
      { numRuns: 40 },
    );
  });
});

describe("graphs of chance", () => {
  it("are functions of their seed, and simple", () => {
    for (const make of [
      (seed: number) => erdosRenyi(40, { probability: 0.2, seed }),
      (seed: number) => wattsStrogatz(40, { degree: 4, rewiring: 0.3, seed }),
      (seed: number) => barabasiAlbert(40, { links: 2, seed }),
    ]) {
      for (let seed = 0; seed < 10; seed += 1) checkSimple(make(seed));
      expect(make(3)).toEqual(make(3));
      expect(make(3)).not.toEqual(make(4));
    }
  });

  it("of Erdős and Rényi have the expected number of edges, within four standard errors", () => {
    const [n, probability, graphs] = [120, 0.1, 20];
    const pairs = (n * (n - 1)) / 2;
    let edges = 0;
    for (let seed = 0; seed < graphs; seed += 1) edges += erdosRenyi(n, { probability, seed }).edges.length;
    const error = Math.sqrt((probability * (1 - probability)) / (pairs * graphs));
    expect(Math.abs(edges / (pairs * graphs) - probability)).toBeLessThan(4 * error);
    expect(erdosRenyi(9, { probability: 1, seed: 1 }).edges.length).toBe(36);
    expect(erdosRenyi(9, { probability: 0, seed: 1 }).edges).toEqual([]);
  });

  it("of Erdős and Rényi give each pair its edge equally often", () => {
    const counts = new Map<string, number>();
    for (let seed = 0; seed < 3_000; seed += 1)
      for (const [from, to] of erdosRenyi(4, { probability: 0.3, seed }).edges) counts.set(from + to, (counts.get(from + to) ?? 0) + 1);
    expect(counts.size).toBe(6);
    for (const count of counts.values()) expect(Math.abs(count - 900)).toBeLessThan(4 * Math.sqrt(3_000 * 0.3 * 0.7));
  });

  it("of Watts and Strogatz have the clustering 3 (k - 2) / 4 (k - 1) at p = 0, and lose it with p", () => {
    for (const degree of [4, 6, 10])
      expect(topologyMetrics(wattsStrogatz(60, { degree, rewiring: 0, seed: 1 })).clustering).toBeCloseTo(
        (3 * (degree - 2)) / (4 * (degree - 1)),
        12,
      );
    // Barrat and Weigt 2000: C(p) = C(0) (1 - p)³ up to 1 / n.
    const graphs = Array.from(
      { length: 10 },
      (_, seed) => topologyMetrics(wattsStrogatz(200, { degree: 6, rewiring: 0.2, seed })).clustering,
    );
    expect(Math.abs(graphs.reduce((sum, value) => sum + value, 0) / 10 - 0.6 * 0.8 ** 3)).toBeLessThan(0.03);
    expect(wattsStrogatz(200, { degree: 6, rewiring: 1, seed: 1 }).edges.length).toBe(600);
    expect(wattsStrogatz(5, { degree: 4, rewiring: 1, seed: 1 }).edges.length).toBe(10);
  });

  it("of Barabási and Albert have m (n - m) edges in one part, and each newcomer has at least m", () => {
    const { edges, components, degree } = topologyMetrics(barabasiAlbert(300, { links: 3, seed: 5 }));
    expect({ edges, components }).toEqual({ edges: 3 * 297, components: 1 });
    // The rays of the first star begin with one edge.
    expect(degree.distribution.filter(([k]) => k < 3).reduce((sum, [, nodes]) => sum + nodes, 0)).toBeLessThanOrEqual(3);
  });

  it("of Barabási and Albert have the shares of degrees 2m(m+1) / k(k+1)(k+2), and their tail", { tags: ["science", "long"] }, () => {
    // Dorogovtsev, Mendes and Samukhin 2000; Bollobás et al. 2001.
    const [n, links, graphs] = [5_000, 2, 10];
    const counts = new Map<number, number>();
    for (let seed = 0; seed < graphs; seed += 1) {
      for (const near of neighboursOf(barabasiAlbert(n, { links, seed })).values())
        counts.set(near.length, (counts.get(near.length) ?? 0) + 1);
    }
    for (const k of [2, 3, 4, 6, 10]) {
      const share = (2 * links * (links + 1)) / (k * (k + 1) * (k + 2));
      expect(Math.abs((counts.get(k) ?? 0) / (n * graphs) - share)).toBeLessThan(
        4 * Math.sqrt((share * (1 - share)) / (n * graphs)) + 1e-3,
      );
    }
    const tail = [...counts].filter(([k]) => k >= 20).reduce((sum, [, nodes]) => sum + nodes, 0) / (n * graphs);
    // The sum of the shares from k on: m (m + 1) / k (k + 1).
    expect(tail / ((links * (links + 1)) / (20 * 21))).toBeCloseTo(1, 0.7);
  });
});

describe("topologyOf", () => {
  it("counts an edge once, and keeps nodes without one", () => {
    expect(
      topologyOf([
        ["a", "b"],
        ["b", "a"],
        ["a", "b"],
      ]).edges,
    ).toEqual([["a", "b"]]);
    expect(
      topologyOf(
        [
          ["a", "b"],
          ["b", "a"],
        ],
        { directed: true },
      ).edges.length,
    ).toBe(2);
    const alone = topologyOf([["a", "b"]], { nodes: ["z", "b", "a"] });
    expect(alone.nodes).toEqual(["z", "b", "a"]);
    expect(topologyMetrics(alone)).toMatchObject({ components: 2, diameter: undefined, degree: { least: 0, most: 1, mean: 2 / 3 } });
  });

  it("of plain data is checked when it is used", () => {
    const plain = JSON.parse(JSON.stringify(ringTopology(4))) as Topology;
    expect(topologyMetrics(plain)).toEqual(topologyMetrics(ringTopology(4)));
    for (const edges of [
      [["p1", "p1"]],
      [["p1", "nobody"]],
      [["p1"]],
      [
        ["p1", "p2"],
        ["p2", "p1"],
      ],
    ])
      expect(() => topologyMetrics({ ...plain, edges } as unknown as Topology)).toThrowError(
        expect.objectContaining({ code: "TOPOLOGY_INVALID" }),
      );
    expect(() => gridTopology(3, 3, { torus: "yes" } as never)).toThrowError(/torus/);
  });

  it("refuses a value that is not a graph", () => {
    const codes = [
      () => topologyOf([["a", "a"]]),
      () => topologyOf([["a"] as never]),
      () => topologyOf([["a", ""]]),
      () => topologyOf([["a", "b"]], { nodes: ["a"] }),
      () => topologyOf([], { nodes: ["a", "a"] }),
      () => topologyOf([]),
      () => ringTopology(0),
      () => ringTopology(2.5),
      () => treeTopology(3, { branching: 0 }),
      () => gridTopology(0, 2),
      () => layeredTopology([2, 0]),
      () => wattsStrogatz(5, { degree: 3, rewiring: 0, seed: 1 }),
      () => wattsStrogatz(4, { degree: 4, rewiring: 0, seed: 1 }),
      () => barabasiAlbert(3, { links: 3, seed: 1 }),
      () => topologyMetrics({} as never),
    ];
    for (const make of codes) expect(make).toThrow(expect.objectContaining({ code: "TOPOLOGY_INVALID" }) as Error);
    for (const o of [
      { probability: 1.1, seed: 1 },
      { probability: Number.NaN, seed: 1 },
      { probability: 0.1, seed: Number.NaN },
    ])
      expect(() => erdosRenyi(5, o)).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }) as Error);
    expect(() => completeTopology(4_000)).toThrow(expect.objectContaining({ code: "TOPOLOGY_TOO_LARGE" }) as Error);
    expect(() => erdosRenyi(1e7, { probability: 0, seed: 1 })).toThrow(/1000000 nodes/);
  });
});
