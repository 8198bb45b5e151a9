import { describe, expect, it } from "vitest";
import { CircuitBreaker } from "../../src/adapters/circuit-breaker.ts";
import { simulatedClock } from "../../src/testing/index.ts";

function breaker(): { clock: ReturnType<typeof simulatedClock>; it: CircuitBreaker } {
  const clock = simulatedClock();
  return { clock, it: new CircuitBreaker(clock, { first: 100, most: 300 }) };
}

describe("a circuit breaker", () => {
  it("CircuitBreaker.B1 lets everybody pass until the first failure", () => {
    const { it: breaks } = breaker();
    expect([breaks.pass(), breaks.pass(), breaks.isClosed]).toEqual(["ask", "ask", true]);
    breaks.succeeded("ask");
    breaks.failed("ask");
    expect([breaks.pass(), breaks.isClosed, breaks.wait]).toEqual(["no", false, 100]);
  });

  it("CircuitBreaker.B2 lets one pass when the cooldown is over; its answer closes it", async () => {
    const { clock, it: breaks } = breaker();
    breaks.failed("ask");
    await clock.advance(99);
    expect(breaks.pass()).toBe("no");
    await clock.advance(1);
    expect([breaks.pass(), breaks.pass(), breaks.pass()]).toEqual(["probe", "no", "no"]);
    breaks.succeeded("probe");
    expect([breaks.pass(), breaks.pass()]).toEqual(["ask", "ask"]);
  });

  it("CircuitBreaker.B2 each failed probe doubles the wait, up to the most; closed again it begins anew", async () => {
    const { clock, it: breaks } = breaker();
    breaks.failed("ask");
    const waits: number[] = [];
    for (let n = 0; n < 4; n++) {
      waits.push(breaks.wait);
      await clock.advance(breaks.wait);
      expect(breaks.pass()).toBe("probe");
      breaks.failed("probe");
    }
    expect(waits).toEqual([100, 200, 300, 300]);
    await clock.advance(300);
    expect(breaks.pass()).toBe("probe");
    breaks.succeeded("probe");
    breaks.failed("ask");
    expect(breaks.wait).toBe(100);
  });

  it("CircuitBreaker.B3 what was asked before it opened decides nothing when it ends", async () => {
    const { clock, it: breaks } = breaker();
    breaks.failed("ask");
    await clock.advance(50);
    breaks.failed("ask");
    breaks.succeeded("ask");
    expect([breaks.pass(), breaks.wait]).toEqual(["no", 50]);
    await clock.advance(50);
    expect(breaks.pass()).toBe("probe");
    breaks.failed("ask");
    breaks.succeeded("ask");
    expect([breaks.pass(), breaks.isClosed]).toEqual(["no", false]);
  });
});
