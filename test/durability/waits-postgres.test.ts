import { describe, expect, test } from "vitest";
import { defineAction, defineRole, Team } from "../../src/index.ts";
import type { Clock } from "../../src/kernel/clock.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import { hasPostgres } from "../adapters/postgres-process.ts";
import { journalIn, newSchema } from "../adapters/postgres-setup.ts";
import { eventsOf } from "../team/recorded.ts";

const DAY = 86_400_000;

const Sell = defineAction({
  name: "Sell",
  run: async ({ sleep, waitFor }) => {
    const paid = await waitFor("paid", { timeout: 30 * DAY });
    await sleep(DAY);
    return `paid ${JSON.stringify(paid)}`;
  },
});

/** A team as a program of its own has it, with connections of its own. */
function shop(journal: Journal, clock: Clock): Team {
  return new Team({ name: "shop", roles: [defineRole({ name: "Sally", actions: [Sell] })], journal, clock, seed: 1 });
}

describe.runIf(hasPostgres)("a wait of a run in Postgres", () => {
  test("ends in another program: a kept signal, one after it, and a time that has passed", async () => {
    const [clock, schema] = [simulatedClock(1_000), newSchema()];
    const [mine, other] = [shop(await journalIn(schema), clock), shop(await journalIn(schema), clock)];
    expect((await mine.run("a pot", { id: "r" }).result).status).toBe("waiting");
    expect(await other.signal("r", "later", 1, { id: "early" })).toBeUndefined();
    const woken = await other.signal("r", "paid", { amount: 12 }, { id: "payment" });
    expect((await woken?.result)?.questions).toMatchObject([{ wait: "", deadline: 1_000 + DAY }]);
    // A sender that got no answer repeats itself.
    expect(await mine.signal("r", "paid", { amount: 12 }, { id: "payment" })).toBeUndefined();
    await expect(mine.signal("r", "paid", { amount: 13 }, { id: "payment" })).rejects.toMatchObject({ code: "MESSAGE_KNOWN" });
    await clock.advance(DAY);
    expect((await mine.resume("r").result).output?.content).toBe('paid {"amount":12}');
    const events = await eventsOf(await journalIn(schema), "r");
    expect(events.filter((event) => event.type === "message" && event.message.id === "payment")).toHaveLength(1);
  });

  test("of a run that another program drives gets the signal there", async () => {
    const [clock, schema] = [simulatedClock(1_000), newSchema()];
    const run = shop(await journalIn(schema), clock).run("a cup", { id: "r", wait: true });
    const begun = (wait: string): Promise<void> =>
      new Promise((resolve) => run.on("step.started", ({ request }) => void ((request as { wait: string }).wait === wait && resolve())));
    const [asks, sleeps] = [begun("paid"), begun("")];
    await asks;
    const away = shop(await journalIn(schema), clock);
    expect(await away.signal("r", "paid", { amount: 3 }, { id: "payment" })).toBeUndefined();
    await sleeps;
    await clock.advance(DAY);
    expect((await run.result).output?.content).toBe('paid {"amount":3}');
  });

  test("that was not ended in time throws in the program that resumes it", async () => {
    const [clock, schema] = [simulatedClock(1_000), newSchema()];
    await shop(await journalIn(schema), clock).run("a jug", { id: "r" }).result;
    await clock.advance(30 * DAY + 1);
    const late = shop(await journalIn(schema), clock);
    // It comes after the deadline, so it does not end the wait.
    await late.signal("r", "paid", { amount: 1 });
    expect((await late.resume("r").result).error?.code).toBe("WAIT_TIMEOUT");
  });
});
