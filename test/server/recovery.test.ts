import { describe, expect, it } from "vitest";
import { type Clock, JournalError, memoryJournal, UsageError } from "../../src/index.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import type { TeamOpener } from "../../src/server/index.ts";
import { Places } from "../../src/server/admission.ts";
import { simulatedClock } from "../../src/testing/index.ts";
import { simulatedProcesses } from "../simulated-processes.ts";

import { ACME, all, CENT, clientOf, door, drafters, openDoor, served, serving, settled, waiters } from "./served-team.ts";

/** A journal with `count` runs that a server has left under way, and the ids of the runs. */
async function leftBehind(count: number, tenant?: typeof ACME): Promise<{ readonly journal: Journal; readonly ids: readonly string[] }> {
  const journal = memoryJournal();
  const gate = door();
  const tenants = tenant === undefined ? [] : [tenant];
  const { server, client } = served({ team: waiters(gate, journal), tenants }, tenant?.token);
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) ids.push((await client.start({ idea: `go ${n}` })).id);
  await server.close({ grace: 0 });
  gate.open();
  return { journal, ids };
}

describe("a recovery", () => {
  it("Recovery.Y2 Places.P3 goes on with runs above a lowered bound when places are free, and is ready before", async () => {
    const { journal, ids } = await leftBehind(3, ACME);
    const again = door();
    const server = serving({ team: waiters(again, journal), tenants: [{ ...ACME, runs: 1 }] });
    await server.ready();
    const client = clientOf(server, ACME.token);
    const running = async (): Promise<number> => (await client.list({ status: "running" })).runs.length;
    expect(await running()).toBe(1);
    again.open();
    for (const id of ids) expect((await all(client.events(id))).at(-1)).toMatchObject({ type: "run.ended", status: "finished" });
  });

  it("Recovery.Y2 Places.P4 leaves the place of a run that was removed meanwhile to the next", async () => {
    const { journal, ids } = await leftBehind(3, ACME);
    const gate = door();
    const server = serving({ team: waiters(gate, journal), tenants: [{ ...ACME, runs: 1 }] });
    const client = clientOf(server, ACME.token);
    await server.ready();
    const [, second = "", third = ""] = ids;
    await journal.remove(second);
    gate.open();
    await expect.poll(async () => (await client.read(third)).status, { timeout: 60_000 }).toBe("finished");
  });

  it("Recovery.Y2 Recovery.Y3 tries a run again whose team could not be opened, ever more rarely", async () => {
    const { journal, ids } = await leftBehind(1);
    const clock = simulatedClock();
    const opened: number[] = [];
    const teams: TeamOpener = async () => {
      opened.push(clock.now());
      if (opened.length < 4) throw new Error("no disk");
      return { team: waiters(openDoor(), journal) };
    };
    const server = serving({ teams, journal, clock });
    await server.ready();
    for (const ms of [1_000, 2_000, 4_000]) {
      await settled();
      await clock.advance(ms);
    }
    await settled();
    const client = clientOf(server);
    expect((await all(client.events(ids[0] ?? ""))).at(-1)).toMatchObject({ status: "finished" });
    expect(opened.map((at) => at - (opened[0] ?? 0))).toEqual([0, 1_000, 3_000, 7_000]);
  });

  it("Recovery.Y6 tries a run once at a time, although its resume and its end both tell of the failure", async () => {
    const { journal } = await leftBehind(1);
    const clock = simulatedClock();
    const claims: number[] = [];
    journal.claim = () => {
      claims.push(clock.now());
      return Promise.reject(new JournalError("JOURNAL_FULL", "Expected room on the disk, got none."));
    };
    const server = serving({ team: waiters(openDoor(), journal), clock });
    await server.ready();
    const pauses = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000, 300_000];
    for (const ms of pauses) {
      await settled();
      await clock.advance(ms);
    }
    await settled();
    expect(claims.slice(1).map((at, index) => at - (claims[index] ?? 0))).toEqual(pauses);
  });

  it("Recovery.Y2 leaves a run that its team refuses to a resume", async () => {
    const { journal, ids } = await leftBehind(1);
    let isRefused = true;
    const teams: TeamOpener = async () => {
      if (isRefused) throw new UsageError("TEAM_CHANGED", "Expected the team of the run, got another one at /srv/troupe/teams/other.yaml.");
      return { team: waiters(openDoor(), journal) };
    };
    const server = serving({ teams, journal });
    await server.ready();
    const client = clientOf(server);
    const [id = ""] = ids;
    const refused = client.resume(id);
    await expect(refused).rejects.toMatchObject({ code: "TEAM_CHANGED", message: expect.stringMatching(/ …\/other\.yaml/) as string });
    isRefused = false;
    await client.resume(id);
    expect((await all(client.events(id))).at(-1)).toMatchObject({ status: "finished" });
  });

  it(
    "Recovery.Y5 follows a run that another process took, and goes on with it when that one has died",
    { tags: ["fleet", "long"] },
    async () => {
      const host = simulatedProcesses(memoryJournal());
      const [mine, other] = [host.start(), host.start()];
      const [clock, gate] = [simulatedClock(), door()];
      const { client } = served({ team: waiters(gate, mine.journal), clock });
      const { id } = await client.start({ idea: "go" });
      const taken = waiters(door(), other.journal).resume(id, { onOwned: "take" });
      await taken.started;
      await expect.poll(async () => (await client.read(id)).status, { interval: 5, timeout: 60_000 }).toBe("open");
      await settled();
      await clock.advance(1_000);
      await expect.poll(async () => (await client.read(id)).status, { interval: 5, timeout: 60_000 }).toBe("running");
      other.kill();
      gate.open();
      await expect.poll(async () => (await client.read(id)).status, { interval: 5, timeout: 60_000 }).toBe("finished");
    },
  );

  it("Recovery.Y7 forgets how often a run was cut off that another process has finished", async () => {
    const host = simulatedProcesses(memoryJournal());
    const [mine, other] = [host.start(), host.start()];
    const [simulated, gate] = [simulatedClock(), door()];
    const waits: number[] = [];
    const clock: Clock = {
      now: () => simulated.now(),
      timer(ms, fire) {
        if (ms === 1_000 || ms === 2_000) waits.push(ms);
        return simulated.timer(ms, fire);
      },
    };
    const { client } = served({ team: waiters(gate, mine.journal), clock });
    const { id } = await client.start({ idea: "go" });
    for (let times = 1; times <= 2; times += 1) {
      const taken = waiters(openDoor(), other.journal).resume(id, { onOwned: "take" });
      expect((await taken.result).status).toBe("finished");
      await expect.poll(() => waits.length, { interval: 5, timeout: 60_000 }).toBe(times);
      await simulated.advance(1_000);
      await settled();
      await client.publish(id, { content: "more", sendTo: ["Will"] });
      await client.resume(id);
      expect((await client.read(id)).status).toBe("running");
    }
    expect(waits).toEqual([1_000, 1_000]);
    gate.open();
  });

  it("Recovery.Y1 ends at once when the server closes, and does not wait for a team that never opens", async () => {
    const { journal } = await leftBehind(1);
    const clock = simulatedClock();
    const opening = door();
    let signal: AbortSignal | undefined;
    const teams: TeamOpener = (request) => {
      signal = request.signal;
      opening.open();
      return new Promise(() => undefined);
    };
    const server = serving({ teams, journal, clock });
    void server.ready();
    await opening.passed;
    const closed = server.close({ grace: 0 });
    await settled();
    expect(signal?.aborted).toBe(true);
    await clock.advance(5_000);
    await closed;
  });
});

describe("a pause", () => {
  it("outlives the server, and its end resumes the run", async () => {
    const journal = memoryJournal();
    const gate = door();
    const first = served({ team: waiters(gate, journal) });
    const { id } = await first.client.start({ idea: "go" });
    await first.client.pause(id);
    await first.server.close({ grace: 0 });
    gate.open();
    const { client } = served({ team: waiters(gate, journal) });
    expect((await client.read(id)).status).toBe("paused");
    expect((await client.list({ status: "paused" })).runs).toHaveLength(1);
    expect((await client.pause(id)).status).toBe("paused");
    await client.proceed(id);
    expect((await all(client.events(id))).at(-1)).toMatchObject({ status: "finished" });
    await expect(client.proceed(id)).rejects.toMatchObject({ code: "RUN_INACTIVE" });
  });
});

describe("the budget of the one user", () => {
  it("holds for all runs together, across restarts", async () => {
    const journal = memoryJournal();
    let spent = 0;
    for (let lives = 0; lives < 2; lives += 1) {
      const { server, client } = served({ team: drafters(journal), budget: (3 * CENT) as never });
      const started = await Promise.all(Array.from({ length: 2 }, () => client.start({ idea: "sea" })));
      for (const { id } of started) await all(client.events(id));
      spent = (await client.list()).runs.reduce((sum, { cost }) => sum + cost, 0);
      await server.close();
    }
    expect(spent).toBe(3 * CENT);
    expect(() => served({ team: drafters(), budget: -1 as never })).toThrow("Expected budget to be");
  });
});

describe("the places of a tenant", () => {
  it("Places.P1 are given back once, and Places.P3 wake the first waiter", async () => {
    const places = new Places(1, { code: "FULL", what: "guests", advice: "Wait." });
    const leave = places.take();
    expect(() => places.take()).toThrow("Expected at most 1 guests, got one more. Wait.");
    const stop = new AbortController();
    const told: string[] = [];
    void places.free(stop.signal).then(() => told.push("first"));
    void places.free(stop.signal).then(() => told.push("second"));
    leave();
    leave();
    await settled();
    expect(told).toEqual(["first"]);
    const next = places.take();
    expect(() => places.take()).toThrow("one more");
    stop.abort();
    await settled();
    expect(told).toEqual(["first", "second"]);
    next();
  });
});
