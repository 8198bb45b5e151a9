import { describe, expect, it, vi } from "vitest";
import { UsageError } from "../../src/kernel/errors.ts";
import { journalContract } from "../../src/testing/contracts/journal.ts";
import { journalOwnersContract } from "../../src/testing/contracts/journal-owners.ts";
import type { Claim, Journal } from "../../src/runtime/record/journal.ts";

import { hasPostgres } from "./postgres-process.ts";
import { journalIn, newSchema } from "./postgres-setup.ts";
import { errorOf, readOut, started, written } from "./sqlite-setup.ts";

interface Two {
  readonly one: Journal;
  readonly other: Journal;
}

/** Two owners on one schema: each has a lock and a connection of its own, as two processes have. */
async function twoJournals(): Promise<Two> {
  const schema = newSchema();
  return { one: await journalIn(schema), other: await journalIn(schema) };
}

describe.runIf(hasPostgres)("a server of the tests", () => {
  journalContract({ describe, it, expect }, "postgres", () => journalIn(newSchema()));
  journalOwnersContract(
    { describe, it, expect },
    {
      name: "postgres",
      takes: true,
      make: async () => {
        const { one: first, other: second } = await twoJournals();
        return { first, second, close: async () => void (await Promise.all([first.close(), second.close()])) };
      },
    },
  );
});

describe.runIf(hasPostgres)("a run that another owner has", () => {
  it("PostgresJournal.J1 is refused, and continues elsewhere when it is given back", { tags: ["fleet", "long"] }, async () => {
    const { one, other } = await twoJournals();
    const epoch = await written(one, "a", [started("a", 0)]);
    expect(await errorOf(other.claim("a"))).toMatchObject({ code: "RUN_OWNED", data: { runId: "a" } });
    expect((await errorOf(other.remove("a")))?.code).toBe("RUN_OWNED");
    expect((await readOut(other, "a")).events).toEqual([started("a", 0)]);
    await one.release("a", epoch, { drained: true });
    const claim = await other.claim("a");
    expect(claim.former).toBe("drained");
    await other.append("a", claim.epoch, 1, [started("a", 1)]);
  });

  it("PostgresJournal.J1 is taken with `take`: the former owner is notified at once and writes nothing more", async () => {
    const { one, other } = await twoJournals();
    await one.create("a");
    let claim: Claim | undefined;
    const lost = new Promise<void>((resolve) => void one.claim("a", { lost: resolve }).then((given) => (claim = given)));
    await vi.waitUntil(() => claim !== undefined, { interval: 2, timeout: 60_000 });
    const epoch = claim?.epoch ?? 0;
    await one.append("a", epoch, 0, [started("a", 0)]);
    const taken = await other.claim("a", { take: true });
    expect([taken.former, taken.epoch > epoch]).toEqual(["moved", true]);
    await lost;
    expect((await errorOf(one.append("a", epoch, 1, [started("a", 1)])))?.code).toBe("EPOCH_STALE");
    expect((await errorOf(one.claim("a")))?.code).toBe("RUN_OWNED");
    await other.append("a", taken.epoch, 1, [started("a", 1)]);
    expect((await readOut(one, "a")).events.length).toBe(2);
  });

  it("PostgresWatch.V2 is watched from elsewhere: a watcher is notified of additions, and ends with the run", async () => {
    const { one, other } = await twoJournals();
    const epoch = await written(one, "a", [started("a", 0)]);
    const watched = other.watch?.("a", { signal: new AbortController().signal })[Symbol.asyncIterator]();
    await watched?.next();
    const grown = watched?.next();
    await one.append("a", epoch, 1, [started("a", 1)]);
    expect((await grown)?.done).toBe(false);
    expect((await readOut(other, "a")).events.length).toBe(2);
    await one.remove("a");
    let isOver = false;
    while (!isOver) isOver = (await watched?.next())?.done === true;
  });
});

describe.runIf(hasPostgres)("a command for an owner elsewhere", () => {
  it("PostgresCommands.C1 is done once, and its answer or its error comes back by its code", async () => {
    const { one, other } = await twoJournals();
    await one.create("a");
    const done: unknown[] = [];
    await one.claim("a", {
      command: async (command) => {
        done.push(command);
        if (command === "bad") throw new UsageError("MESSAGE_INVALID", "Expected a message.", { data: { at: 1 } });
        return { got: command };
      },
    });
    const [good, bad] = await Promise.allSettled([other.command?.("a", { kind: "stop\0", n: 1 }), other.command?.("a", "bad")]);
    expect(good).toEqual({ status: "fulfilled", value: { got: { kind: "stop\0", n: 1 } } });
    expect(bad).toMatchObject({ reason: { name: "UsageError", code: "MESSAGE_INVALID", data: { at: 1 } } });
    expect(done.length).toBe(2);
  });

  it("PostgresCommands.C4 that an owner took which has lost the run is refused, and its sender need not wait for the limit", async () => {
    const schema = newSchema();
    const [near, far, next] = [await journalIn(schema), await journalIn(schema), await journalIn(schema)];
    await near.create("a");
    let take: () => void = () => undefined;
    const taken = new Promise<void>((resolve) => (take = resolve));
    await near.claim("a", { command: () => (take(), new Promise<never>(() => undefined)) });
    const sent = errorOf(far.command?.("a", "x", { timeout: 10_000 }) ?? Promise.resolve());
    await taken;
    await next.claim("a", { take: true, command: async () => "never asked" });
    expect(await sent).toMatchObject({ code: "RUN_UNOWNED" });
  });

  it(
    "PostgresCommands.C2 PostgresCommands.C3 PostgresCommands.C4 is refused or bounded in time, number and length",
    { tags: ["fleet", "long"] },
    async () => {
      const { one, other } = await twoJournals();
      await one.create("a");
      const { epoch } = await one.claim("a", { command: () => new Promise(() => undefined) });
      const codeOf = async (work: Promise<unknown> | undefined): Promise<unknown> =>
        (await work?.then(
          () => undefined,
          (error: unknown) => error,
        )) as unknown;
      expect(await codeOf(other.command?.("a", "x", { timeout: 50 }))).toMatchObject({ code: "TIMEOUT" });
      expect(await codeOf(other.command?.("a", "x".repeat(1_000_001)))).toMatchObject({ code: "JOURNAL_FULL" });
      const stop = new AbortController();
      const many = Array.from({ length: 101 }, () => codeOf(other.command?.("a", "x", { signal: stop.signal })));
      expect(await Promise.race(many)).toMatchObject({ code: "JOURNAL_FULL" });
      stop.abort();
      await Promise.all(many);
      const waits = codeOf(other.command?.("a", "x"));
      await one.release("a", epoch);
      expect(await waits).toMatchObject({ code: "RUN_UNOWNED" });
      await one.claim("a");
      expect(await codeOf(other.command?.("a", "x"))).toMatchObject({ code: "RUN_OWNED" });
    },
  );
});
