// @module-tag fleet
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createClient, type RunClient } from "../../src/client/index.ts";
import { TroupeError } from "../../src/kernel/errors.ts";
import { sqlite } from "../../src/adapters/sqlite.ts";
import { defineAction, defineRole, memoryJournal, type RunEvent, Team } from "../../src/index.ts";
import type { Listening } from "../../src/server/listening.ts";
import { freshFolder } from "../cli/kept-run.ts";
import { all, door, heap, serving, waiters } from "./served-team.ts";
import { figure } from "../long.ts";

const TOKEN = "load-token-0123456789";
const rate = { perSecond: 1e6, burst: 1e6 };
const tenants = [{ name: "load", token: TOKEN, rate, runs: 5_000, streams: 5_000 }];

/** The least rounds of a load, those before the code is warm, and the milliseconds for which there is another one. */
const ROUNDS = 8;
const WARM = 2;
const MINUTE = 60_000;
/** Megabytes that a round may leave. */
const MOST_GROWTH = 0.5;

/** A team whose role takes as many steps as its idea says, each in a turn of its own. */
function counters(): Team {
  const Count = defineAction({
    name: "Count",
    run: async (ctx) => {
      for (let n = 0; n < Number(ctx.text); n += 1) await ctx.step(`count ${n}`, { n }, () => Promise.resolve("x".repeat(100)));
      return "done";
    },
  });
  const journal = sqlite({ path: join(freshFolder(), "runs.db") });
  return new Team({ roles: [defineRole({ name: "Cora", actions: [Count] })], journal });
}

/** A thousand connections at once take a busy machine longer than a client waits for one. A start that is repeated under its key begins one run. */
async function begun(client: RunClient, idea: string, tries = 5): ReturnType<RunClient["start"]> {
  try {
    return await client.start({ idea }, { key: idea });
  } catch (error) {
    if (!(error instanceof TroupeError && error.code === "SERVER_UNREACHABLE") || tries === 1) throw error;
    return begun(client, idea, tries - 1);
  }
}

async function listening(team: Team): Promise<{ readonly at: Listening; readonly close: () => Promise<void> }> {
  const server = serving({ team, tenants });
  const at = await server.listen();
  return { at, close: () => server.close({ grace: 0 }) };
}

function isWhole(events: readonly RunEvent[]): boolean {
  return events.every(({ seq }, place) => seq === place) && events.at(-1)?.type === "run.ended";
}

describe("a server under load", () => {
  it("gives 200 watchers of 50 runs every event once, and keeps nothing", async () => {
    const { at, close } = await listening(counters());
    const client = createClient({ url: at.url, token: TOKEN });
    const heaps: number[] = [];
    const begin = performance.now();
    let events = 0;
    while (heaps.length < ROUNDS || performance.now() - begin < MINUTE) {
      const runs = await Promise.all(Array.from({ length: 50 }, () => client.start({ idea: "200" })));
      const watched = runs.flatMap(({ id }) => Array.from({ length: 4 }, () => all(client.events(id))));
      for (const seen of await Promise.all(watched)) {
        expect(isWhole(seen)).toBe(true);
        events += seen.length;
      }
      heaps.push(heap());
    }
    // The first rounds load code.
    const [from = 0, to = Infinity] = [heaps[WARM], heaps.at(-1)];
    const told = `megabytes after each round: ${heaps.map((used) => used.toFixed(1)).join(", ")}`;
    figure(`${events} events to 200 watchers in ${Math.round((performance.now() - begin) / 1_000)} s; ${told}`);
    expect((to - from) / (heaps.length - 1 - WARM), told).toBeLessThan(MOST_GROWTH);
    await close();
  });

  it("runs 1,000 runs at once", async () => {
    const gate = door();
    const { at, close } = await listening(waiters(gate));
    const client = createClient({ url: at.url, token: TOKEN });
    const runs = await Promise.all(Array.from({ length: 1_000 }, (_, n) => begun(client, `run ${n}`)));
    const underWay = await Promise.all(runs.map(async ({ id }) => (await client.read(id)).status));
    expect(underWay.filter((status) => status === "running")).toHaveLength(1_000);
    gate.open();
    const ends = await Promise.all(runs.map(async ({ id }) => (await all(client.events(id))).at(-1)?.type));
    expect(new Set(ends)).toEqual(new Set(["run.ended"]));
    await close();
  });

  it("holds 1,000 open streams, and a client that reads nothing of 10 MB", async () => {
    const gate = door();
    const { at, close } = await listening(waiters(gate, memoryJournal()));
    const client = createClient({ url: at.url, token: TOKEN });
    const { id } = await client.start({ idea: "x".repeat(900_000) });
    const stop = new AbortController();
    const before = heap();
    const headers = { authorization: `Bearer ${TOKEN}` };
    const idle: Response[] = [];
    // The system refuses connections when more of them wait than its backlog holds.
    while (idle.length < 1_000) {
      const some = Array.from({ length: 100 }, () => fetch(`${at.url}/api/runs/${id}/events?from=2`, { headers, signal: stop.signal }));
      idle.push(...(await Promise.all(some)));
    }
    const open = heap() - before;
    const slow = await Promise.all(
      Array.from({ length: 20 }, () => fetch(`${at.url}/api/runs/${id}/events`, { headers, signal: stop.signal })),
    );
    for (const { status } of [...idle, ...slow]) expect(status).toBe(200);
    const stalled = heap() - before - open;
    expect(open).toBeLessThan(150);
    expect(stalled).toBeLessThan(20);
    stop.abort();
    gate.open();
    await close();
  });
});
