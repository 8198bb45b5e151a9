import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Agenda } from "../../src/kernel/agenda.ts";

describe("Agenda", () => {
  test("Agenda.AG1 property: items leave by their numbers, equal ones in order of arrival, whatever comes between", () => {
    const numbers = fc.array(fc.oneof(fc.integer({ min: 0, max: 5 }), fc.double({ noNaN: true })), { maxLength: 60 });
    fc.assert(
      fc.property(numbers, fc.nat(9), (dues, between) => {
        const agenda = new Agenda<number>();
        let model: [index: number, due: number][] = [];
        const takeFirst = (): void => {
          const first = Math.min(...model.map(([, due]) => due));
          expect(agenda.takeFirst()).toEqual(model.filter(([, due]) => due === first).map(([index]) => index));
          model = model.filter(([, due]) => due !== first);
        };
        for (const [index, due] of dues.entries()) {
          agenda.add(index, due + 0);
          model.push([index, due + 0]);
          if (index % 10 === between) takeFirst();
          expect([agenda.size, agenda.first]).toEqual([
            model.length,
            model.length === 0 ? undefined : Math.min(...model.map(([, d]) => d)),
          ]);
        }
        const inOrder = model.toSorted(([m, a], [n, b]) => a - b || m - n).map(([index]) => index);
        expect(agenda.inOrder()).toEqual(inOrder);
        while (agenda.size > 0) takeFirst();
        expect([agenda.first, agenda.takeFirst()]).toEqual([undefined, []]);
      }),
    );
  });
});
