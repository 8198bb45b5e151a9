import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMessage, defineRole, Environment, type RunEvent } from "../../../src/index.ts";
import type { Json, JsonObject } from "../../../src/kernel/json.ts";
import { changedState, stateChange } from "../../../src/runtime/record/state-change.ts";
import { z } from "zod";

const leaf = fc.oneof(fc.integer(), fc.constant("text"), fc.constant(null), fc.constant([1, 2]));
const key = fc.constantFrom("a", "b", "7", "constructor", "toString");

/** A state with large records and lists, and another one that differs from it in few places or in many. */
const pair = fc
  .record({
    size: fc.integer({ min: 1, max: 120 }),
    changes: fc.array(fc.tuple(fc.constantFrom("table", "list", "rows"), fc.nat(119), leaf), { maxLength: 30 }),
    gone: fc.array(fc.nat(119), { maxLength: 3 }),
    more: fc.dictionary(key, leaf, { maxKeys: 3 }),
  })
  .map(({ size, changes, gone, more }): readonly [JsonObject, JsonObject] => {
    const places = Array.from({ length: size }, (_, place) => place);
    const made = (): { table: Record<string, Json>; list: Json[]; rows: Json[][] } => ({
      table: Object.fromEntries(places.map((place) => [`k${place}`, place])),
      list: [...places],
      rows: places.map(() => Array.from({ length: 70 }, () => 0)),
    });
    const [before, after] = [made(), made()];
    for (const [part, place, value] of changes) {
      if (part === "table") after.table[`k${place}`] = value;
      else if (part === "list") after.list[place % size] = value;
      else (after.rows[place % size] as Json[])[place % 70] = value;
    }
    for (const place of gone) delete after.table[`k${place}`];
    return [before, { ...after, ...more }];
  });

describe("the recorded change of a state", () => {
  it("property: StateChange.SC1 leads from the state before to the state after, also when it was read from a record", () => {
    fc.assert(
      fc.property(pair, ([before, after]) => {
        const change = stateChange(before, after) ?? { set: {}, unset: [] };
        expect(changedState(before, change)).toEqual(after);
        expect(changedState(before, JSON.parse(JSON.stringify(change)) as typeof change)).toEqual(after);
      }),
      { numRuns: 60 },
    );
  });

  it("StateChange.SC1 keeps what it does not name: the same objects, in their place", () => {
    const rows = Array.from({ length: 100 }, () => Array.from({ length: 100 }, () => 0));
    const next = rows.with(40, (rows[40] as number[]).with(3, 1));
    const change = stateChange({ rows, n: 1 }, { rows: next, n: 1 });
    expect(change).toEqual({
      set: {},
      unset: [],
      within: { rows: { set: {}, unset: [], within: { "40": { set: { "3": 1 }, unset: [] } } } },
    });
    const after = changedState({ rows, n: 1 }, change ?? { set: {}, unset: [] });
    expect(Object.keys(after)).toEqual(["rows", "n"]);
    expect((after["rows"] as Json[])[7]).toBe(rows[7]);
  });

  it("is as large as what changed, however large the state is", async () => {
    const bytes = async (size: number): Promise<number> => {
      const table = Object.fromEntries(Array.from({ length: size }, (_, place) => [`k${place}`, 0]));
      const keeper = defineRole({
        name: "Keeper",
        state: z.object({ table: z.record(z.string(), z.number()).default(table) }),
        step: (state) => ({ table: { ...state.table, k7: 1 } }),
      });
      const events: RunEvent[] = [];
      const environment = new Environment({ seed: 1 }).addRole(keeper);
      environment.on("act.ended", (event) => events.push(event));
      environment.publishMessage(createMessage("go", { sendTo: ["Keeper"] }));
      await environment.run();
      expect(environment.getRole("Keeper")?.state["table"]).toEqual({ ...table, k7: 1 });
      return JSON.stringify(events).length;
    };
    expect(await bytes(5_000)).toBe(await bytes(100));
  });
});
