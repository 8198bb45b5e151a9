import { describe, expect, test } from "vitest";
import { defineAction, defineRole, memoryJournal, Team } from "../../src/index.ts";
import { signalMessage } from "../../src/runtime/record/signals.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { simulatedClock, type SimulatedClock } from "../../src/testing/simulated-clock.ts";
import { z } from "zod";
import { request, served, type Served } from "./served-team.ts";

const DAY = 86_400_000;

const Sell = defineAction({
  name: "Sell",
  run: async (ctx) => {
    const { amount } = await ctx.waitFor("paid", { schema: z.object({ amount: z.number() }), timeout: 30 * DAY });
    await ctx.sleep(40 * DAY);
    return `paid ${amount}`;
  },
});

function sellers(journal: Journal, clock: SimulatedClock): Team {
  return new Team({ name: "sellers", roles: [defineRole({ name: "Sally", actions: [Sell] })], journal, clock });
}

function serving(journal: Journal, clock: SimulatedClock): Served {
  return served({ team: sellers(journal, clock), clock });
}

/** Resolves when a run is at rest with this status, and waits for this. */
async function rests({ client }: Served, id: string, wanted: string, wait?: string): Promise<void> {
  for (;;) {
    for await (const event of client.events(id)) void event;
    const { status, questions = [] } = await client.read(id);
    if (status === wanted && (wait === undefined || questions[0]?.wait === wait)) return;
  }
}

async function waiting() {
  const [journal, clock] = [memoryJournal(), simulatedClock(1_000)];
  const one = serving(journal, clock);
  const { id } = await one.client.start({ idea: "a pot" });
  await rests(one, id, "waiting", "paid");
  return { journal, clock, one, id };
}

describe("a wait of a served run", () => {
  test("ends by a signal and by time, over restarts of the server", async () => {
    const { journal, clock, one, id } = await waiting();
    await one.server.close();
    await clock.advance(20 * DAY);
    const two = serving(journal, clock);
    await two.client.signal(id, "paid", { amount: 12 }, { id: "payment" });
    await rests(two, id, "waiting", "");
    await two.server.close();
    await clock.advance(50 * DAY);
    const three = serving(journal, clock);
    expect((await three.client.read(id)).status).toBe("waiting");
    await clock.advance(1);
    await rests(three, id, "finished");
    expect(await three.client.export(id)).toContain("paid 12");
  });

  test("ends by time while the server runs", async () => {
    const { clock, one, id } = await waiting();
    await clock.advance(30 * DAY);
    await rests(one, id, "failed");
    expect((await one.client.read(id)).error?.code).toBe("WAIT_TIMEOUT");
  });

  test("takes a signal that is sent twice once, and refuses another under its id", async () => {
    const { one, id } = await waiting();
    await one.client.signal(id, "later", 1, { id: "a" });
    const { events } = await one.client.signal(id, "later", 1, { id: "a" });
    expect((await one.client.read(id)).events).toBe(events);
    await expect(one.client.signal(id, "later", 2, { id: "a" })).rejects.toMatchObject({ code: "MESSAGE_KNOWN" });
    expect((await one.client.read(id)).status).toBe("waiting");
    await Promise.all([1, 2].map(async () => one.client.signal(id, "paid", { amount: 3 }, { id: "payment" })));
    await rests(one, id, "waiting", "");
  });

  test("continues at a start when the server died between the signal and the resume", async () => {
    const { journal, clock, one, id } = await waiting();
    await one.server.close();
    const { waits } = await sellers(journal, clock).send(id, signalMessage("paid", { amount: 5 }, { id: "p", now: 1_000 }));
    expect(waits).toBe(true);
    const two = serving(journal, clock);
    await two.server.ready();
    await rests(two, id, "waiting", "");
  });

  test("is refused what does not fit, and so is another run", async () => {
    const { clock, one, id } = await waiting();
    await expect(one.client.signal(id, "paid", { amount: "much" })).rejects.toMatchObject({ code: "SIGNAL_INVALID" });
    await expect(one.client.signal("another", "paid", { amount: 1 })).rejects.toMatchObject({ code: "RUN_UNKNOWN" });
    await one.client.signal(id, "paid", { amount: 1 });
    await rests(one, id, "waiting", "");
    await clock.advance(40 * DAY);
    await rests(one, id, "finished");
    await expect(one.client.signal(id, "paid", { amount: 1 })).rejects.toMatchObject({ code: "RUN_FINISHED" });
    const post = (path: string, body: unknown): Promise<Response> =>
      one.server.fetch(
        request(`/api/runs/${id}/signals/${path}`, {
          method: "POST",
          body: JSON.stringify(body),
          headers: { "content-type": "application/json" },
        }),
      );
    expect((await post("paid", { id: "a#b" })).status).toBe(400);
    expect((await post("x".repeat(201), {})).status).toBe(400);
  });
});
