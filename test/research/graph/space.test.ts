import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createMessage, defineRole, Environment } from "../../../src/index.ts";
import { gridTopology, neighboursOf, space } from "../../../src/research/index.ts";

const grid = { width: 5, height: 4 };
const anyOptions = fc.record(
  {
    width: fc.integer({ min: 1, max: 7 }),
    height: fc.integer({ min: 1, max: 7 }),
    torus: fc.boolean(),
    neighbours: fc.constantFrom("moore" as const, "vonNeumann" as const),
  },
  { requiredKeys: ["width", "height", "torus"] },
);
const anyCrowd = fc.array(fc.tuple(fc.nat(1_000), fc.nat(1_000)), { minLength: 1, maxLength: 12 });

describe("a space", () => {
  it("of cells has the neighbours of the grid of the same kind", () => {
    for (const torus of [false, true])
      for (const neighbours of ["moore", "vonNeumann"] as const) {
        const { topology } = space({ ...grid, torus, neighbours });
        const all = Object.fromEntries(
          Array.from({ length: 20 }, (_, cell) => [`p${cell + 1}`, [cell % 5, Math.floor(cell / 5)] as const]),
        );
        const known = neighboursOf(gridTopology(4, 5, { torus, neighbours }));
        for (const [name, near] of neighboursOf(topology(all, 1))) expect(near.toSorted()).toEqual(known.get(name)?.toSorted());
      }
  });

  it("finds near somebody whom the graph joins, at distances that are those of the shortest way, from both sides", () => {
    fc.assert(
      fc.property(anyOptions, anyCrowd, fc.integer({ min: 0, max: 30 }), (o, crowd, tenths) => {
        const { topology, near, distance, way, move } = space(o);
        const place = (part: number, length: number): number =>
          o.neighbours === undefined ? (length * part) / 1_000 : Math.min(length - 1, Math.floor((length * part) / 1_000));
        const where = move({}, Object.fromEntries(crowd.map(([x, y], n) => [`n${n}`, [place(x, o.width), place(y, o.height)] as const])));
        const radius = tenths / 10;
        const graph = neighboursOf(topology(where, radius));
        for (const [name, at] of Object.entries(where)) {
          const found = near(where, name, radius);
          expect(found.toSorted()).toEqual([...(graph.get(name) ?? [])].toSorted());
          const away = found.map((other) => distance(at, where[other] ?? at));
          expect(away).toEqual(away.toSorted((a, b) => a - b));
          for (const other of Object.values(where)) {
            expect(distance(at, other)).toBeCloseTo(distance(other, at), 9);
            const [dx, dy] = way(at, other);
            const [x, y] = move({}, { me: [at[0] + dx, at[1] + dy] })["me"] ?? [-1, -1];
            expect(distance([x, y], other)).toBeCloseTo(0, 9);
          }
        }
      }),
      { numRuns: 100 },
    );
  });

  it("moves without a change of what it gets, and around a torus", () => {
    const sky = space({ width: 10, height: 10, torus: true });
    const then = Object.freeze({ ann: [9, 9] as const, bob: [0.5, 9.5] as const });
    const now = sky.move(then, { ann: [10.5, -0.5], cat: [3, 3] });
    expect([then, now]).toEqual([
      { ann: [9, 9], bob: [0.5, 9.5] },
      { ann: [0.5, 9.5], bob: [0.5, 9.5], cat: [3, 3] },
    ]);
    expect(sky.near(now, "ann", 0)).toEqual(["bob"]);
    expect(sky.near(now, [3, 3], 0)).toEqual(["cat"]);
    expect(sky.way([9, 9], [1, 1])).toEqual([2, 2]);
    expect(sky.distance([9, 5], [2, 9])).toBe(5);
    expect(JSON.parse(JSON.stringify(now))).toEqual(now);
  });

  it("lists the free cells row by row, and has none taken twice", () => {
    const town = space({ width: 2, height: 2, neighbours: "moore" });
    expect(town.free({ a: [1, 0], b: [1, 0] })).toEqual([
      [0, 0],
      [0, 1],
      [1, 1],
    ]);
    expect(() => space({ width: 2, height: 2 }).free({})).toThrow(/a plane. It has no cells/);
  });

  it("keeps names of any kind", () => {
    const { move, near } = space({ width: 9, height: 9 });
    const where = move(JSON.parse('{ "__proto__": [1, 1], "constructor": [1, 2] }') as never, { "": [2, 1], 7: [1, 1] });
    expect(near(where, "__proto__", 1.1).toSorted()).toEqual(["", "7", "constructor"]);
  });

  it("is kept in the state of a role, which others ask who is near", async () => {
    const town = space({ width: 8, height: 8, neighbours: "moore" });
    const Where = z.object({ where: z.record(z.string(), z.tuple([z.number(), z.number()])).default({}) });
    const map = defineRole({
      name: "Map",
      watch: [],
      state: Where,
      step({ where }, { sentFrom, instructContent }, out) {
        const next = town.move(where, { [sentFrom]: z.tuple([z.number(), z.number()]).parse(instructContent) });
        out.say(town.near(next, sentFrom, 1).join(), { sendTo: sentFrom });
        return { where: next as z.infer<typeof Where>["where"] };
      },
    });
    const walker = (name: string, at: readonly [number, number]) =>
      defineRole({
        name,
        watch: [],
        state: z.object({ met: z.string().default("") }),
        step(_, { content, sentFrom }, out) {
          if (sentFrom === "Map") return { met: content };
          out.say("here", { sendTo: "Map", instructContent: at });
          return undefined;
        },
      });
    const world = new Environment({ seed: 1 }).addRoles([map, walker("ann", [1, 1]), walker("bob", [2, 2]), walker("cat", [7, 7])]);
    world.publishMessage(createMessage("go", { sendTo: ["ann", "bob", "cat"] }));
    await world.run();
    expect(["ann", "bob", "cat"].map((name) => world.getRole(name)?.state["met"])).toEqual(["", "ann", ""]);
    expect(world.getRole("Map")?.state).toEqual({ where: { ann: [1, 1], bob: [2, 2], cat: [7, 7] } });
  });

  it("refuses points outside, between cells, or none", () => {
    const town = space({ ...grid, neighbours: "moore" });
    const round = space({ ...grid, torus: true, neighbours: "moore" });
    for (const point of [[5, 0], [0, 4], [-1, 0], [0.5, 0], [Number.NaN, 0], [Infinity, 0], [1], "1,1", undefined, { x: 1 }] as never[]) {
      expect(() => town.move({}, { a: point })).toThrow(expect.objectContaining({ code: "POSITION_INVALID" }));
      expect(() => town.near({ a: point }, [0, 0], 1)).toThrow(expect.objectContaining({ code: "POSITION_INVALID" }));
      expect(() => round.topology({ a: point }, 1)).toThrow(expect.objectContaining({ code: "POSITION_INVALID" }));
    }
    expect(round.move({}, { a: [5, -1] })).toEqual({ a: [0, 3] });
    expect(() => round.move({}, { a: [0.5, 0] })).toThrow(/a cell \[x, y\] from \[0, 0\] to \[4, 3\]/);
    expect(() => town.near({}, "nobody", 1)).toThrow(/position of "nobody"/);
    expect(() => town.near({}, [0, 0], Number.NaN)).toThrow(/radius/);
    expect(() => town.topology({}, 1)).toThrow(expect.objectContaining({ code: "TOPOLOGY_INVALID" }));
    for (const o of [{ width: 0, height: 1 }, { width: 1 }, { width: Infinity, height: 1 }, { width: 1.5, height: 1, neighbours: "moore" }])
      expect(() => space(o as never)).toThrow(/INVALID|of space/);
    expect(() => space({ width: 2_000, height: 2_000, neighbours: "moore" })).toThrow(
      expect.objectContaining({ code: "TOPOLOGY_TOO_LARGE" }),
    );
  });
});
