// @module-tag fleet
import { fileURLToPath } from "node:url";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { canonical } from "../../src/runtime/record/canonical.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { sourceProgram } from "../kernel/source-program.ts";
import { eventsOf } from "../team/recorded.ts";
import { cuttingProxy } from "./cutting-proxy.ts";
import type { Task } from "./postgres-child.ts";
import { hasPostgres, startPostgres } from "./postgres-process.ts";
import { begin, relayTeam } from "./postgres-relay.ts";
import { journalIn, newSchema, sharedServer } from "./postgres-setup.ts";
import { childEvent } from "./sqlite-child.ts";
import { type Child, startProgram } from "./program-process.ts";
import { errorOf, lively, readOut, started, written } from "./sqlite-setup.ts";

const program = hasPostgres ? await sourceProgram(fileURLToPath(new URL("postgres-child.ts", import.meta.url))) : "";

function startOwner(task: Task): Child {
  return startProgram(program, task);
}

const runIds = (most: number): readonly string[] => Array.from({ length: most }, (_, n) => `run ${n}`);

async function expected(): Promise<string> {
  const journal = memoryJournal();
  const { status } = await relayTeam(journal).run(begin, { id: "a" }).result;
  expect(status).toBe("finished");
  return canonical(await eventsOf(journal, "a"));
}

/** The number of events of a type. */
function count(events: readonly RunEvent[], type: RunEvent["type"]): number {
  return events.filter((event) => event.type === type).length;
}

async function assertAllEqual(journal: Journal, runs: readonly string[]): Promise<number> {
  const text = await expected();
  let begun = 0;
  for (const run of runs) {
    const events = await eventsOf(journal, run);
    expect([run, canonical(events) === text]).toEqual([run, true]);
    begun += count(events, "step.started");
  }
  return begun;
}

describe.runIf(hasPostgres)("a server that is killed and started again under load", () => {
  it("Postgres.J1 Postgres.J2 PostgresAppends.A1 ends no run, loses and doubles nothing, and no effect is done twice", async () => {
    const server = await startPostgres();
    const runs = runIds(60);
    // A slow machine needs longer for all its restarts.
    const journal = await journalIn(newSchema(), { url: server.url, patience: 300_000 });
    let called = 0;
    const team = relayTeam(journal, () => (called += 1));
    const results = Promise.all(runs.map((id) => team.run(begin, { id }).result));
    let isDone = false;
    void results.finally(() => (isDone = true));
    let kills = 0;
    while (!isDone && kills < 8) {
      await delay(150);
      await server.kill();
      kills += 1;
      await delay(40);
      await server.restart();
    }
    expect((await results).map(({ status, error }) => [status, error?.code])).toEqual(runs.map(() => ["finished", undefined]));
    expect(kills).toBeGreaterThan(1);
    const all = await Promise.all(runs.map((run) => eventsOf(journal, run)));
    expect(all.reduce((sum, events) => sum + count(events, "run.resumed"), 0)).toBe(0);
    expect(await assertAllEqual(journal, runs)).toBe(called);
  });
});

describe.runIf(hasPostgres)("a run that is removed while it is read", () => {
  it("is unknown, and never damaged", async () => {
    const schema = newSchema();
    const [one, other] = [await journalIn(schema), await journalIn(schema)];
    const codes = new Set<string>();
    for (let turn = 0; turn < 150; turn += 1) {
      const epoch = await written(one, "a", lively("a", 12));
      await one.release("a", epoch);
      const readers = [0, 1, 2].map(async () => {
        for (;;) {
          const { error } = await readOut(other, "a");
          if (error === undefined) continue;
          codes.add(error.code);
          return;
        }
      });
      await one.remove("a");
      await Promise.all(readers);
    }
    expect([...codes]).toEqual(["RUN_UNKNOWN"]);
  });
});

describe.runIf(hasPostgres)("a server that is stopped", () => {
  it("PostgresDatabase.P2 fails no call when it continues in time, and does repeated statements once", async () => {
    const server = await startPostgres();
    const journal = await journalIn(newSchema(), { url: server.url, timeout: 200 });
    await journal.create("a");
    const { epoch } = await journal.claim("a", { lost: () => expect.unreachable("nobody has taken it") });
    for (let seq = 0; seq < 6; seq += 1) {
      server.pause();
      const appended = journal.append("a", epoch, seq, [started("a", seq)]);
      await delay(150 * seq);
      server.resume();
      await appended;
    }
    expect((await readOut(journal, "a")).events).toEqual(Array.from({ length: 6 }, (_, seq) => started("a", seq)));
  });
});

describe.runIf(hasPostgres)("a connection that is cut after the server has done what it was asked", () => {
  it("every call has its effect once", async () => {
    const proxy = await cuttingProxy((await sharedServer()).port);
    const journal = await journalIn(newSchema(), { url: `postgres://troupe@127.0.0.1:${proxy.port}/postgres`, connections: 1 });
    await journal.runs();
    const cut = async <T>(work: () => Promise<T>): Promise<T> => {
      const isCut = proxy.cutNextAnswer();
      const [result] = await Promise.all([work(), isCut]);
      return result;
    };
    await cut(() => journal.create("a"));
    await cut(() => journal.claim("a"));
    const { epoch, former } = await journal.claim("a");
    expect(former).toBe("none");
    const events = Array.from({ length: 40 }, (_, seq) => started("a", seq));
    for (const event of events) await cut(() => journal.append("a", epoch, event.seq, [event]));
    await cut(() => journal.keepSnapshot?.("a", epoch, { seq: 40, state: "kept" }) ?? Promise.resolve());
    expect(await cut(() => readOut(journal, "a"))).toEqual({ events, error: undefined });
    expect(await journal.newestSnapshot?.("a")).toEqual({ seq: 40, state: "kept" });
    await cut(() => journal.release("a", epoch, { drained: true }));
    expect((await journal.claim("a")).former).toBe("drained");
    await cut(() => journal.remove("a"));
    expect(await journal.runs()).toEqual([]);
  });

  it("PostgresJournal.J3 PostgresWatch.V1 an owner keeps its runs over lost connections", async () => {
    const { port } = await sharedServer();
    const proxy = await cuttingProxy(port);
    const schema = newSchema();
    const [near, far] = [
      await journalIn(schema, { url: `postgres://troupe@127.0.0.1:${proxy.port}/postgres` }),
      await journalIn(schema, { grace: 10_000 }),
    ];
    await near.create("a");
    const told: string[] = [];
    const { epoch } = await near.claim("a", { command: async (command) => [command], lost: () => void told.push("lost") });
    const watch = new AbortController();
    const watched = near.watch?.("a", { signal: watch.signal })[Symbol.asyncIterator]();
    await watched?.next();
    for (let n = 0; n < 5; n += 1) {
      proxy.cutAll();
      expect((await errorOf(far.claim("a")))?.code).toBe("RUN_OWNED");
      await vi.waitUntil(async () => (await far.command?.("a", n).catch(() => undefined)) !== undefined, { timeout: 120_000 });
      const next = watched?.next();
      await near.append("a", epoch, n, [started("a", n)]);
      expect((await next)?.done).toBe(false);
    }
    expect(told).toEqual([]);
    proxy.cutAll();
    await far.claim("a", { take: true });
    await vi.waitUntil(() => told.length === 1, { timeout: 120_000 });
    watch.abort();
  });
});

describe.runIf(hasPostgres)("an owner in another process", () => {
  it("PostgresJournal.J1 that is stopped keeps its run until it is taken, then writes nothing", async () => {
    const schema = newSchema();
    const { url } = await sharedServer();
    const journal = await journalIn(schema);
    await journal.create("a");
    const child = startOwner({ do: "append", url, schema, run: "a" });
    await child.said(5);
    child.kill("SIGSTOP");
    expect((await errorOf(journal.claim("a")))?.code).toBe("RUN_OWNED");
    const { epoch, former } = await journal.claim("a", { take: true });
    expect(former).toBe("moved");
    let { length } = (await readOut(journal, "a")).events;
    for (let n = 0; n < 10; n += 1) await journal.append("a", epoch, length, [childEvent("a", length++)]);
    child.kill("SIGCONT");
    await child.ended;
    expect(child.lines.slice(-2).toSorted()).toEqual(["EPOCH_STALE", "lost"]);
    const { events, error } = await readOut(journal, "a");
    expect([events, error]).toEqual([Array.from({ length }, (_, seq) => childEvent("a", seq)), undefined]);
  });

  it("PostgresJournal.J2 Postgres.J1 that was killed is reported as died, and what it appended is there", async () => {
    const schema = newSchema();
    const { url } = await sharedServer();
    const journal = await journalIn(schema);
    await journal.create("a");
    for (const lines of [3, 20, 90]) {
      const child = startOwner({ do: "append", url, schema, run: "a" });
      await child.said(lines);
      child.kill("SIGKILL");
      await child.ended;
      const told = Number(child.lines.at(-1)?.split(" ")[1]);
      const { epoch, former } = await journal.claim("a");
      expect(former).toBe("died");
      const { events, error } = await readOut(journal, "a");
      expect([events, error]).toEqual([events.map((_, seq) => childEvent("a", seq)), undefined]);
      expect(events.length).toBeGreaterThanOrEqual(told);
      await journal.release("a", epoch);
    }
  });

  it("is followed: a team here ends with the recorded result of the run there", async () => {
    const schema = newSchema();
    const { url } = await sharedServer();
    const journal = await journalIn(schema);
    const child = startOwner({ do: "relay", url, schema, runs: ["run 0"] });
    await child.said(1);
    const seen: number[] = [];
    const run = relayTeam(journal, () => expect.unreachable("the owner does the effects")).run(begin, { id: "run 0" });
    for await (const event of run) seen.push(event.seq);
    expect((await run.result).status).toBe("finished");
    expect(await child.ended).toBe(0);
    expect([seen, child.lines.at(-1)]).toEqual([seen.map((_, place) => place), "finished run 0 "]);
    await assertAllEqual(journal, ["run 0"]);
  });

  it("PostgresJournal.J2 owners and the server are killed all the time, and every run ends as in one process", async () => {
    const server = await startPostgres();
    const schema = newSchema();
    const journal = await journalIn(schema, { url: server.url });
    const runs = runIds(40);
    const finished = new Set<string>();
    let [called, kills] = [0, 0];
    const most = 20;
    // The first children that nobody kills finish all runs.
    for (let turn = 0; finished.size < runs.length && turn < most + 3; turn += 1) {
      const left = runs.filter((run) => !finished.has(run));
      const halves = [left.filter((_, n) => n % 2 === 0), left.filter((_, n) => n % 2 === 1)].filter(({ length }) => length > 0);
      const children = halves.map((some) => startOwner({ do: "relay", url: server.url, schema, runs: some }));
      if (kills < most) {
        await Promise.race(children.map((child) => child.said(1).catch(() => undefined)));
        await delay(70 * (kills % 5));
        for (const child of children) child.kill("SIGKILL");
        if (kills % 3 === 2) {
          await server.kill();
          await server.restart();
        }
        kills += 1;
      }
      await Promise.all(children.map((child) => child.ended));
      for (const line of children.flatMap((child) => child.lines)) {
        const [what, ...rest] = line.split(" ");
        if (what === "called") called += 1;
        if (what === "finished") finished.add(rest.slice(0, 2).join(" "));
      }
    }
    expect([finished.size, kills > 3]).toEqual([runs.length, true]);
    const begun = await assertAllEqual(journal, runs);
    expect(called).toBeLessThanOrEqual(begun);
  });
});
