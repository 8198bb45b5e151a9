import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  configurationModel,
  neighboursOf,
  randomGeometric,
  topologyMetrics,
  topologyOf,
  type Topology,
} from "../../../src/research/index.ts";

const degreesOf = (topology: Topology): readonly number[] => [...neighboursOf(topology).values()].map(({ length }) => length);

/** Whether a graph without double edges has these degrees (Erdős and Gallai 1960). */
function isGraphical(degrees: readonly number[]): boolean {
  const sorted = degrees.toSorted((a, b) => b - a);
  const sum = (list: readonly number[]): number => list.reduce((all, one) => all + one, 0);
  return (
    sum(sorted) % 2 === 0 &&
    sorted.every((_, k) => sum(sorted.slice(0, k + 1)) <= (k + 1) * k + sum(sorted.slice(k + 1).map((d) => Math.min(d, k + 1))))
  );
}

describe("configurationModel", () => {
  it("has exactly the degrees that it is given, and refuses exactly those that no graph has", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(7), { minLength: 1, maxLength: 9 }), fc.nat(), (degrees, seed) => {
        const make = (): Topology => configurationModel(degrees.length, { degrees, seed });
        if (!isGraphical(degrees)) {
          expect(make).toThrow(expect.objectContaining({ code: "TOPOLOGY_INVALID" }));
          return;
        }
        const made = make();
        expect(degreesOf(made)).toEqual(degrees);
        expect(topologyOf(made.edges, { nodes: made.nodes }).edges).toHaveLength(made.edges.length);
        expect(make()).toEqual(made);
      }),
      { numRuns: 300 },
    );
  });

  it("keeps a long tail of degrees", () => {
    const degrees = Array.from({ length: 400 }, (_, index) => 1 + Math.floor(120 / (index + 1)));
    if (degrees.reduce((sum, one) => sum + one, 0) % 2 === 1) degrees[399] = 2;
    expect(degreesOf(configurationModel(400, { degrees: new Float64Array(degrees), seed: 4 }))).toEqual(degrees);
  });

  it("draws each of the 70 graphs of six nodes with two edges each equally often: 60 rings, 10 pairs of triangles", () => {
    const draws = 2_000;
    const seen = new Map<string, number>();
    let rings = 0;
    for (let seed = 0; seed < draws; seed += 1) {
      const made = configurationModel(6, { degrees: 2, seed });
      if (topologyMetrics(made).components === 1) rings += 1;
      const key = made.edges
        .map((pair) => pair.toSorted().join(""))
        .toSorted()
        .join();
      seen.set(key, (seen.get(key) ?? 0) + 1);
    }
    expect(seen.size).toBe(70);
    expect(Math.abs(rings / draws - 6 / 7)).toBeLessThan(4 * Math.sqrt(6 / 49 / draws));
  });

  it("makes random regular graphs that are expanders: in one part, and with few triangles", () => {
    const { components, clustering, degree } = topologyMetrics(configurationModel(400, { degrees: 4, seed: 9 }));
    expect({ components, least: degree.least, most: degree.most }).toEqual({ components: 1, least: 4, most: 4 });
    expect(clustering).toBeLessThan(0.03);
  });

  it("refuses degrees that are none", () => {
    for (const degrees of [[1, 2], [1, 1, 1], [-1, 1, 2], [0.5, 1, 1], 3, Number.NaN] as (number | number[])[])
      expect(() => configurationModel(3, { degrees, seed: 1 })).toThrow(expect.objectContaining({ code: "TOPOLOGY_INVALID" }));
    expect(() => configurationModel(1e5, { degrees: 1_000, seed: 1 })).toThrow(expect.objectContaining({ code: "TOPOLOGY_TOO_LARGE" }));
    expect(() => configurationModel(3, { degrees: {} as never, seed: 1 })).toThrow(expect.objectContaining({ code: "ARGUMENT_INVALID" }));
  });
});

describe("randomGeometric", () => {
  it("has the expected share of edges, π r² on a torus, within four standard errors", () => {
    const [n, radius, graphs] = [60, 0.15, 30];
    const shares = Array.from({ length: graphs }, (_, seed) => topologyMetrics(randomGeometric(n, { radius, torus: true, seed })).density);
    const share = Math.PI * radius ** 2;
    // On a torus the edges of a node are independent of each other.
    const error = Math.sqrt((share * (1 - share)) / ((n * (n - 1)) / 2) / graphs);
    expect(Math.abs(shares.reduce((sum, one) => sum + one, 0) / graphs - share)).toBeLessThan(4 * error);
  });

  it("grows with its radius, is a function of its seed, and has more triangles than chance", () => {
    const small = randomGeometric(80, { radius: 0.15, seed: 2 });
    const large = new Set(randomGeometric(80, { radius: 0.2, seed: 2 }).edges.map((pair) => pair.join()));
    expect(small.edges.filter((pair) => !large.has(pair.join()))).toEqual([]);
    expect(randomGeometric(80, { radius: 0.15, seed: 2 })).toEqual(small);
    expect(randomGeometric(80, { radius: 0.15, seed: 3 })).not.toEqual(small);
    expect(topologyMetrics(small).clustering).toBeGreaterThan(4 * topologyMetrics(small).density);
    expect(randomGeometric(5, { radius: 0, seed: 1 }).edges).toEqual([]);
    expect(randomGeometric(5, { radius: 2, seed: 1 }).edges).toHaveLength(10);
    expect(() => randomGeometric(5, { radius: -1, seed: 1 })).toThrow(/radius/);
  });
});
