import { expect, test } from "vitest";
import { type RunDriver, startWorker } from "../../src/fleet/index.ts";
import { defineAction, defineRole, memoryJournal, Team } from "../../src/index.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import type { Clock } from "../../src/kernel/clock.ts";
import { memoryRunDriver, simulatedClock } from "../../src/testing/index.ts";
import { eventsOf } from "../team/recorded.ts";

const DAY = 86_400_000;

const Wait = defineAction({
  name: "Wait",
  run: async (ctx) => {
    await ctx.sleep(30 * DAY);
    const value = await ctx.waitFor("go", { timeout: 30 * DAY }).catch((error: { code: string }) => error.code);
    return `got ${JSON.stringify(value)}`;
  },
});

function teamOf(journal: Journal, driver: RunDriver, clock: Clock): Team {
  return new Team({ name: "waiters", roles: [defineRole({ name: "Ann", actions: [Wait] })], journal, driver, clock });
}

/** Resolves when no job is delivered, and none may be. */
async function quiet(driver: RunDriver, clock: Clock): Promise<void> {
  const isBusy = async (): Promise<boolean> =>
    (await driver.list({ limit: 9 })).some(({ state, due = 0 }) => state === "delivered" || due <= clock.now());
  for (let turns = 0; turns < 20; turns = (await isBusy()) ? 0 : turns + 1) await new Promise((resolve) => setImmediate(resolve));
}

test("a worker continues a run at the end of a sleep, and at a signal of another process", async () => {
  const [clock, journal] = [simulatedClock(1_000), memoryJournal()];
  const driver = memoryRunDriver({ clock });
  const worker = await startWorker({ driver, journal, clock, teams: [teamOf(journal, driver, clock)] });
  const web = teamOf(journal, driver, clock);
  for (const id of ["signalled", "late"]) await web.submit("go", { id });
  await quiet(driver, clock);
  expect((await driver.list({ limit: 9 })).map(({ due }) => due)).toEqual([1_000 + 30 * DAY, 1_000 + 30 * DAY]);
  await clock.advance(30 * DAY);
  await quiet(driver, clock);
  expect(await web.signal("signalled", "go", "home", { id: "a" })).toBeUndefined();
  await quiet(driver, clock);
  await clock.advance(30 * DAY);
  await quiet(driver, clock);
  await worker.drain();
  const said = async (id: string): Promise<unknown> =>
    (await eventsOf(journal, id)).flatMap((event) => (event.type === "act.ended" ? event.said.map(({ message }) => message.content) : []));
  expect([await said("signalled"), await said("late")]).toEqual([['got "home"'], ['got "WAIT_TIMEOUT"']]);
  expect(await driver.list({ limit: 9 })).toEqual([]);
});
