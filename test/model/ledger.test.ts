import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { UsageError } from "../../src/kernel/errors.ts";
import { Ledger, type Settlement } from "../../src/model/ledger.ts";
import { formatCost, type MicroUsd } from "../../src/model/money.ts";

const micro = (amount: number): MicroUsd => amount as MicroUsd;

describe("Ledger", () => {
  it("Ledger.L2 refuses a key twice and a key that is not open", () => {
    const ledger = new Ledger();
    ledger.open("a", micro(1));
    expect(() => ledger.open("a", micro(1))).toThrow(UsageError);
    expect(() => ledger.settle("b", { cost: micro(1), basis: "usage" })).toThrow(/none/);
    ledger.settle("a", { cost: micro(1), basis: "usage" });
    expect(() => ledger.settle("a", { cost: micro(1), basis: "usage" })).toThrow(UsageError);
    ledger.open("a", micro(2));
    expect(ledger.held).toBe(2);
  });

  it.each([-1, 0.5, Number.NaN, Infinity])("Ledger.L3 refuses the amount %d and changes nothing", (amount) => {
    const ledger = new Ledger();
    expect(() => ledger.open("a", micro(amount))).toThrow(/whole/);
    ledger.open("b", micro(5));
    expect(() => ledger.settle("b", { cost: micro(amount), basis: "usage" })).toThrow(UsageError);
    expect([ledger.openHolds, ledger.held, ledger.spent]).toEqual([1, 5, 0]);
  });

  it("Ledger.L4 counts calls of unknown price, which cost neither nothing nor something", () => {
    const ledger = new Ledger();
    ledger.open("a", micro(0));
    ledger.settle("a", { cost: undefined, basis: "usage" });
    expect(ledger.cost()).toEqual({ known: 0, unpriced: 1 });
    expect(formatCost(ledger.cost())).toBe("$?");
    ledger.open("b", micro(0));
    ledger.settle("b", { cost: undefined, basis: "none" });
    expect(ledger.unpriced).toBe(1);
  });

  it("Ledger.L4 what settles at its hold has a known cost", () => {
    const ledger = new Ledger();
    ledger.open("a", micro(7));
    expect(() => ledger.settle("a", { cost: undefined, basis: "hold" })).toThrow(UsageError);
    expect(ledger.openHolds).toBe(1);
  });

  it("Ledger.L5 fits up to the last micro-dollar, open holds included", () => {
    const ledger = new Ledger();
    ledger.open("a", micro(60));
    expect(ledger.fits(micro(40), micro(100))).toBe(true);
    expect(ledger.fits(micro(41), micro(100))).toBe(false);
    ledger.settle("a", { cost: micro(10), basis: "usage" });
    expect(ledger.fits(micro(90), micro(100))).toBe(true);
    expect(ledger.fits(micro(91), micro(100))).toBe(false);
  });

  it("sums tokens, and says when some were only counted from characters", () => {
    const ledger = new Ledger();
    ledger.open("a", micro(0));
    ledger.settle("a", { cost: micro(0), basis: "usage", usage: { inputTokens: 10, outputTokens: 2, cachedTokens: 4 } });
    expect(ledger.usage).toEqual({ inputTokens: 10, outputTokens: 2, cachedTokens: 4, estimated: false });
    ledger.open("b", micro(0));
    ledger.settle("b", { cost: undefined, basis: "usage", usage: { inputTokens: 1, outputTokens: 1, estimated: true } });
    expect(ledger.usage).toEqual({ inputTokens: 11, outputTokens: 3, cachedTokens: 4, estimated: true });
  });

  const step = fc.record({
    key: fc.constantFrom("a", "b", "c", "d"),
    hold: fc.nat(1000),
    outcome: fc.constantFrom<"usage" | "hold" | "none" | "unknown">("usage", "hold", "none", "unknown"),
    cost: fc.nat(1000),
  });

  it("Ledger.L1 Ledger.L6 property: any interleaving is the sum of what was settled and is open, also read back in the middle", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.nat(60), (steps, cut) => {
        let ledger = new Ledger();
        const open = new Map<string, number>();
        let spent = 0;
        let unpriced = 0;
        for (const [index, { key, hold, outcome, cost }] of steps.entries()) {
          if (index === cut) ledger = Ledger.fromJSON(JSON.parse(JSON.stringify(ledger)) as ReturnType<Ledger["toJSON"]>);
          const held = open.get(key);
          if (held === undefined) {
            ledger.open(key, micro(hold));
            open.set(key, hold);
            continue;
          }
          const settlement: Settlement =
            outcome === "unknown"
              ? { cost: undefined, basis: "usage" }
              : { cost: micro(outcome === "hold" ? held : outcome === "none" ? 0 : cost), basis: outcome };
          ledger.settle(key, settlement);
          open.delete(key);
          spent += settlement.cost ?? 0;
          unpriced += outcome === "unknown" ? 1 : 0;
        }
        const held = [...open.values()].reduce((sum, hold) => sum + hold, 0);
        expect([ledger.spent, ledger.held, ledger.openHolds, ledger.unpriced]).toEqual([spent, held, open.size, unpriced]);
        expect(Ledger.fromJSON(ledger.toJSON()).toJSON()).toEqual(ledger.toJSON());
      }),
    );
  });

  it("Ledger.L5 property: who opens only what fits and costs no more than its hold never passes the budget", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), fc.nat(3000), (steps, budget) => {
        const ledger = new Ledger();
        const open = new Map<string, number>();
        for (const { key, hold, cost } of steps) {
          const held = open.get(key);
          if (held !== undefined) {
            ledger.settle(key, { cost: micro(Math.min(cost, held)), basis: "usage" });
            open.delete(key);
          } else if (ledger.fits(micro(hold), micro(budget))) {
            ledger.open(key, micro(hold));
            open.set(key, hold);
          }
          expect(ledger.spent + ledger.held).toBeLessThanOrEqual(budget);
        }
      }),
    );
  });
});
