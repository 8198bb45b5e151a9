import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ArrivalList } from "../../src/memory/arrival-list.ts";
import type { StoredMessage } from "../../src/memory/message-store.ts";
import { say } from "./storage-setup.ts";

const message = say("one");

function entry(place: number): StoredMessage {
  return { place, runId: "", addedAt: place, message };
}

describe("ArrivalList", () => {
  it("A1 A2 has what a map has, in order of arrival, whatever comes and goes", () => {
    const some = fc.array(fc.nat(400), { maxLength: 60 });
    const step = fc.oneof(
      fc.record({ type: fc.constant("add" as const), places: some }),
      fc.record({ type: fc.constant("remove" as const), places: some }),
      fc.record({ type: fc.constant("fill" as const), places: fc.nat(300).map((from) => Array.from({ length: 150 }, (_, n) => from + n)) }),
      fc.record({ type: fc.constant("drop" as const), places: fc.nat(300).map((from) => Array.from({ length: 250 }, (_, n) => from + n)) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
        const list = new ArrivalList();
        const map = new Map<number, StoredMessage>();
        for (const { type, places } of steps) {
          const wanted =
            type === "add" || type === "fill" ? places.map((place, n) => !map.has(place) && places.indexOf(place) === n) : undefined;
          if (wanted !== undefined) {
            const given = places.map(entry);
            expect(given.map((one) => list.add(one))).toEqual(wanted);
            for (const [n, one] of given.entries()) if (wanted[n] === true) map.set(one.place, one);
          } else {
            const held = new Set(places.flatMap((place) => map.get(place) ?? []));
            expect(new Set(places.flatMap((place) => list.remove(place) ?? []))).toEqual(held);
            for (const place of places) map.delete(place);
          }
          expect(list.size).toBe(map.size);
          expect(list.all().map(({ place }) => place)).toEqual([...map.keys()].toSorted((a, b) => a - b));
          for (let place = -1; place < 460; place++) if (list.at(place) !== map.get(place)) throw new Error(`another one at ${place}`);
        }
      }),
    );
  });

  it("A3 takes in, finds and gives up a hundred thousand, however they follow each other", () => {
    const list = new ArrivalList();
    for (let place = 1; place <= 300_000; place += 3) list.add(entry(place));
    let found = 0;
    for (let place = 1; place <= 300_000; place += 3) if (list.at(place)?.place === place) found++;
    expect(found).toBe(100_000);
    for (let place = 1; place <= 300_000; place += 6) list.remove(place);
    expect([list.size, list.at(7), list.at(10)?.place]).toEqual([50_000, undefined, 10]);
    for (let place = 4; place <= 300_000; place += 6) list.remove(place);
    expect([list.size, list.all()]).toEqual([0, []]);
  });
});
