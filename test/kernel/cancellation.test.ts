import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { AbortedError, TimeoutError } from "../../src/kernel/errors.ts";
import { CancellationScopes } from "../../src/kernel/cancellation.ts";
import { countedSignal } from "./counted-signal.ts";

const endless = (): Promise<never> => new Promise(() => {});

describe("a span of work", () => {
  it("gives what its work gives", async () => {
    const span = new CancellationScopes(new AbortController().signal).begin();
    await expect(span.until(Promise.resolve(7))).resolves.toBe(7);
    await expect(span.until(Promise.reject(new Error("no")))).rejects.toThrow("no");
  });

  it("CancellationScope.S1 ends with the first reason, also when nobody waits yet", async () => {
    const span = new CancellationScopes(new AbortController().signal).begin();
    const late = new TimeoutError("it", 5);
    span.end(late);
    span.end(new AbortedError());
    await expect(span.until(endless())).rejects.toBe(late);
    expect(span.ended?.reason).toBe(late);
    expect(span.signal.reason).toBe(late);
  });

  it("rejects who waits when it is ended, and aborts a signal asked for before", async () => {
    const span = new CancellationScopes(new AbortController().signal).begin();
    const { signal } = span;
    const waiting = span.until(endless());
    span.end(new AbortedError("enough"));
    await expect(waiting).rejects.toThrow("enough");
    expect(signal.aborted).toBe(true);
  });

  it("ends all open spans when the signal above aborts, and none that are closed", () => {
    const above = new AbortController();
    const spans = new CancellationScopes(above.signal);
    const [open, closed] = [spans.begin(), spans.begin()];
    closed.close();
    above.abort(new AbortedError("all"));
    expect(open.ended?.reason.message).toContain("all");
    expect(closed.ended).toBeUndefined();
    expect(spans.begin().signal.aborted).toBe(true);
  });

  it("CancellationScopes.C2 does not hear any more what becomes of the signal above once it has let go of it", () => {
    const above = new AbortController();
    const spans = new CancellationScopes(above.signal);
    const open = spans.begin();
    spans.close();
    expect(getEventListeners(above.signal, "abort")).toEqual([]);
    above.abort(new AbortedError("late"));
    expect([spans.ended, open.ended, spans.begin().ended]).toEqual([undefined, undefined, undefined]);
  });

  it("CancellationScopes.C1 listens to the signal above once, however many spans there are", () => {
    const { controller: above, listeners } = countedSignal();
    const spans = new CancellationScopes(above.signal);
    for (let i = 0; i < 100; i += 1) spans.begin();
    expect(listeners()).toBe(1);
  });
});
