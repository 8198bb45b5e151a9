import { describe, expect, test } from "vitest";
import { nextMacrotask } from "../../../src/kernel/clock.ts";
import { createMessage } from "../../../src/message/message.ts";
import { EVENT_VERSION, type MessagePublished, type RunEvent, type RunEventBody } from "../../../src/runtime/record/event.ts";
import type { Journal } from "../../../src/runtime/record/journal.ts";
import { type Observer, RunLog } from "../../../src/runtime/record/run-log.ts";
import { RunState } from "../../../src/runtime/record/run-state.ts";
import { simulatedClock } from "../../../src/testing/simulated-clock.ts";

const round = (n: number): RunEventBody => ({ type: "round.ended", round: n });

/** A store that answers an append when it is told to. */
class SlowStore {
  readonly batches: (readonly RunEvent[])[] = [];
  readonly #answers: { resolve: () => void; reject: (error: Error) => void }[] = [];
  readonly #expected: { count: number; resolve: () => void }[] = [];

  get numbers(): number[][] {
    return this.batches.map((batch) => batch.map((event) => event.seq));
  }

  /** Resolves when it has been asked for so many appends. */
  async asked(count: number): Promise<void> {
    if (this.batches.length < count) await new Promise<void>((resolve) => void this.#expected.push({ count, resolve }));
  }

  get journal(): Journal {
    const append = (_id: string, _epoch: number, expected: number, events: readonly RunEvent[]): Promise<void> => {
      expect(events[0]?.seq).toBe(expected);
      this.batches.push(events);
      for (const { count, resolve } of this.#expected) if (this.batches.length >= count) resolve();
      return new Promise((resolve, reject) => void this.#answers.push({ resolve, reject }));
    };
    return { append } as unknown as Journal;
  }

  answer(error?: Error): void {
    const next = this.#answers.shift();
    if (next === undefined) throw new Error("nothing was asked");
    if (error === undefined) next.resolve();
    else next.reject(error);
  }
}

/** Sees every event, and notes its number. */
function seeing(seen: number[]): Observer {
  return { observes: () => true, observe: (event) => void seen.push(event.seq), dropped: () => {}, retired: () => {} };
}

function logOver(store: SlowStore): { log: RunLog; seen: number[] } {
  const seen: number[] = [];
  const state = new RunState("r");
  const owned = { journal: store.journal, epoch: 1 };
  return {
    seen,
    log: new RunLog({ state, clock: simulatedClock(5), mask: (text) => text, owned, observer: seeing(seen) }),
  };
}

/** Long enough for everything that would happen on its own to have happened. */
async function aWhile(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await nextMacrotask();
}

describe("RunLog", () => {
  test("a message from outside is the last event, in its recordable form", () => {
    const mask = (text: string): string => text.replace("hush", "***");
    const log = new RunLog({ state: new RunState("r"), clock: simulatedClock(5), mask, observer: seeing([]) });
    const said: MessagePublished = { type: "message", message: createMessage("hush now"), to: [] };
    const clean = log.record(said);
    expect(log.latest).toEqual({ v: EVENT_VERSION, runId: "r", seq: 0, time: 5, ...clean });
    expect([clean.message.content, log.state.seq]).toEqual(["*** now", 1]);
  });

  test("applies at once and in order, with dense numbers and the clock's time", () => {
    const { log } = logOver(new SlowStore());
    log.record(round(0));
    log.record(round(1));
    expect(log.state).toMatchObject({ seq: 2, round: 2 });
  });

  test("RunLog.W1 writes in order, everything that came during one append with the next", async () => {
    const store = new SlowStore();
    const { log } = logOver(store);
    log.record(round(0));
    await store.asked(1);
    for (const n of [1, 2, 3]) log.record(round(n));
    await aWhile();
    expect(store.numbers).toEqual([[0]]);
    store.answer();
    await store.asked(2);
    expect(store.numbers).toEqual([[0], [1, 2, 3]]);
  });

  test("RunLog.W2 RunLog.W3 durable() waits for all that was recorded before, and observers hear of nothing sooner", async () => {
    const store = new SlowStore();
    const { log, seen } = logOver(store);
    log.record(round(0));
    await store.asked(1);
    log.record(round(1));
    let durable = false;
    const waiting = log.durable().then(() => (durable = true));
    await aWhile();
    expect([durable, seen]).toEqual([false, []]);
    store.answer();
    await store.asked(2);
    await aWhile();
    expect([durable, seen]).toEqual([false, [0]]);
    store.answer();
    await waiting;
    expect(seen).toEqual([0, 1]);
  });

  test("RunLog.W4 after a failed append nothing is recorded, nothing more is written, and everybody is told why", async () => {
    const store = new SlowStore();
    const { log, seen } = logOver(store);
    log.record(round(0));
    await store.asked(1);
    log.record(round(1));
    const failed = log.durable().catch((error: unknown) => error);
    store.answer(new Error("disk full"));
    expect(await failed).toMatchObject({ message: "disk full" });
    const said: MessagePublished = { type: "message", message: createMessage("late"), to: [] };
    for (const late of [() => log.record(round(1)), () => log.record(said)]) expect(late).toThrow("disk full");
    expect([log.state.seq, log.state.history.size]).toEqual([2, 0]);
    await expect(log.durable()).rejects.toThrow("disk full");
    await aWhile();
    expect(store.batches).toHaveLength(1);
    expect(seen).toEqual([]);
  });

  test("RunLog.W5 what nobody waits for is written three macrotasks later at most, with what came meanwhile", async () => {
    const store = new SlowStore();
    const { log } = logOver(store);
    log.record(round(0));
    await nextMacrotask();
    log.record(round(1));
    expect(store.numbers).toEqual([]);
    for (let turn = 0; turn < 2; turn += 1) await nextMacrotask();
    await Promise.resolve();
    expect(store.numbers).toEqual([[0, 1]]);
  });

  test("RunLog.W5 who waits does not wait for that, and takes along what nobody waits for", async () => {
    const store = new SlowStore();
    const { log } = logOver(store);
    log.record(round(0));
    log.record(round(1));
    const waiting = log.durable();
    await nextMacrotask();
    await Promise.resolve();
    expect(store.numbers).toEqual([[0, 1]]);
    store.answer();
    await waiting;
  });

  test("RunLog.W5 roles that come to a step in one turn are one append, though an older event is about to be written too", async () => {
    const store = new SlowStore();
    const { log } = logOver(store);
    let n = 0;
    const role = async (): Promise<void> => {
      await nextMacrotask();
      log.record(round(n++));
      await log.durable();
    };
    const before = Array.from({ length: 32 }, role);
    log.record(round(n++));
    const roles = Promise.all([...before, ...Array.from({ length: 32 }, role)]);
    await store.asked(1);
    await aWhile();
    expect(store.numbers).toEqual([Array.from({ length: 65 }, (_, seq) => seq)]);
    store.answer();
    await roles;
  });

  test("without a journal it is observed at once, and durable at once", async () => {
    const seen: number[] = [];
    const log = new RunLog({
      state: new RunState("r"),
      clock: simulatedClock(),
      mask: (text) => text,
      observer: seeing(seen),
    });
    log.record(round(0));
    expect(seen).toEqual([0]);
    await log.durable();
  });

  test("Opening.O3 without a journal, an event that nobody looks at changes the state and is not made", () => {
    const seen: number[] = [];
    const wanted = new Set<string>();
    const clock = simulatedClock();
    let asked = 0;
    const log = new RunLog({
      state: new RunState("r"),
      clock: { now: () => ((asked += 1), clock.now()), timer: (ms, fire) => clock.timer(ms, fire) },
      mask: (text) => text,
      observer: { ...seeing(seen), observes: (type) => wanted.has(type) },
    });
    log.record(round(0));
    expect([log.state.seq, log.state.round, seen, asked]).toEqual([1, 1, [], 0]);
    wanted.add("round.ended");
    log.record(round(1));
    expect([log.state.seq, log.state.round, seen, asked]).toEqual([2, 2, [1], 1]);
  });

  test("with a journal every event is made, whoever looks", async () => {
    const store = new SlowStore();
    const owned = { journal: store.journal, epoch: 1 };
    const parts = { state: new RunState("r"), clock: simulatedClock(), mask: (text: string) => text, owned };
    const log = new RunLog({ ...parts, observer: { observe: () => {}, observes: () => false, dropped: () => {}, retired: () => {} } });
    log.record(round(0));
    await store.asked(1);
    expect(store.numbers).toEqual([[0]]);
  });

  test("an event that cannot be is refused, and leaves the record as it was", () => {
    const { log } = logOver(new SlowStore());
    expect(() => log.record(round(7))).toThrow(expect.objectContaining({ code: "JOURNAL_DAMAGED" }));
    log.record(round(0));
    expect(log.state.seq).toBe(1);
  });
});
