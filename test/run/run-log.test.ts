import { describe, expect, test } from "vitest";
import type { RunEvent, RunEventBody } from "../../src/run/event.ts";
import type { Journal } from "../../src/run/journal.ts";
import { RunLog } from "../../src/run/run-log.ts";
import { emptyRunState } from "../../src/run/run-state.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";

const round = (n: number): RunEventBody => ({ type: "round.ended", round: n });

/** A store that answers an append when it is told to. */
class SlowStore {
  readonly batches: (readonly RunEvent[])[] = [];
  readonly #answers: { resolve: () => void; reject: (error: Error) => void }[] = [];

  get journal(): Journal {
    const append = (_id: string, _epoch: number, expected: number, events: readonly RunEvent[]): Promise<void> => {
      expect(events[0]?.seq).toBe(expected);
      this.batches.push(events);
      return new Promise((resolve, reject) => void this.#answers.push({ resolve, reject }));
    };
    return { append } as unknown as Journal;
  }

  async answer(error?: Error): Promise<void> {
    const next = this.#answers.shift();
    if (error === undefined) next?.resolve();
    else next?.reject(error);
    for (let i = 0; i < 10; i += 1) await Promise.resolve();
  }
}

function logOver(store: SlowStore): { log: RunLog; seen: number[] } {
  const seen: number[] = [];
  const state = emptyRunState("r");
  const owned = { journal: store.journal, epoch: 1 };
  return {
    seen,
    log: new RunLog({ state, clock: simulatedClock(5), mask: (text) => text, owned, observe: (event) => seen.push(event.seq) }),
  };
}

async function turns(): Promise<void> {
  for (let i = 0; i < 10; i += 1) await Promise.resolve();
}

describe("RunLog", () => {
  test("applies at once and in order, with dense numbers and the clock's time", () => {
    const { log } = logOver(new SlowStore());
    log.record(round(0));
    log.record(round(1));
    expect(log.state).toMatchObject({ seq: 2, round: 2 });
  });

  test("W1 writes in order, everything that came during one append with the next", async () => {
    const store = new SlowStore();
    const { log } = logOver(store);
    log.record(round(0));
    await turns();
    for (const n of [1, 2, 3]) log.record(round(n));
    await turns();
    expect(store.batches.map((batch) => batch.map((event) => event.seq))).toEqual([[0]]);
    await store.answer();
    expect(store.batches.map((batch) => batch.map((event) => event.seq))).toEqual([[0], [1, 2, 3]]);
  });

  test("W2 W3 durable() waits for all that was recorded before, and observers hear of nothing sooner", async () => {
    const store = new SlowStore();
    const { log, seen } = logOver(store);
    log.record(round(0));
    await turns();
    log.record(round(1));
    let durable = false;
    const waiting = log.durable().then(() => (durable = true));
    await turns();
    expect([durable, seen]).toEqual([false, []]);
    await store.answer();
    expect([durable, seen]).toEqual([false, [0]]);
    await store.answer();
    await waiting;
    expect(seen).toEqual([0, 1]);
  });

  test("W4 after a failed append nothing is recorded, nothing more is written, and everybody is told why", async () => {
    const store = new SlowStore();
    const { log, seen } = logOver(store);
    log.record(round(0));
    await turns();
    log.record(round(1));
    const failed = log.durable().catch((error: unknown) => error);
    await store.answer(new Error("disk full"));
    expect(await failed).toMatchObject({ message: "disk full" });
    expect(() => log.record(round(1))).toThrow("disk full");
    await expect(log.durable()).rejects.toThrow("disk full");
    expect(store.batches).toHaveLength(1);
    expect(seen).toEqual([]);
  });

  test("without a journal it is observed at once, and durable at once", async () => {
    const seen: number[] = [];
    const log = new RunLog({
      state: emptyRunState("r"),
      clock: simulatedClock(),
      mask: (text) => text,
      observe: (event) => seen.push(event.seq),
    });
    log.record(round(0));
    expect(seen).toEqual([0]);
    await log.durable();
  });

  test("an event that cannot be is refused, and leaves the record as it was", () => {
    const { log } = logOver(new SlowStore());
    expect(() => log.record(round(7))).toThrow(expect.objectContaining({ code: "JOURNAL_DAMAGED" }));
    log.record(round(0));
    expect(log.state.seq).toBe(1);
  });
});
