import { describe, expect, it } from "vitest";
import { type RunDriver, startWorker, submitAnswer } from "../../src/fleet/index.ts";
import { canonical, defineAction, defineRole, memoryJournal, type RunEvent, Team } from "../../src/index.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryRunDriver } from "../../src/testing/index.ts";
import { codeOf } from "../../src/testing/contracts/contract-kit.ts";

async function eventsOf(journal: Journal): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of journal.read("r", 0)) events.push(event);
  return events;
}

/** Both ask their person at once. */
function inn(journal: Journal, driver?: RunDriver): Team {
  const asking = (name: string, food: string) =>
    defineRole({ name, actions: [defineAction({ name: food, run: async (ctx) => `${food}: ${await ctx.human.ask(`Which ${food}?`)}` })] });
  const o = { name: "inn", seed: "one", roles: [asking("Ann", "tea"), asking("Bob", "bread")], journal };
  return new Team(driver === undefined ? o : { ...o, driver });
}

async function idle(driver: RunDriver): Promise<void> {
  while ((await driver.list({ limit: 1 })).length > 0) await new Promise((resolve) => setImmediate(resolve));
}

describe("an answer that is submitted", () => {
  it("is recorded, and a worker continues the run to the record of one process", async () => {
    const alone = memoryJournal();
    const [tea, bread] = (await inn(alone).run("breakfast", { id: "r" }).result).questions.map(({ id }) => id);
    await (
      await inn(alone).answer("r", tea ?? "", "green")
    ).result;
    await (
      await inn(alone).answer("r", bread ?? "", "rye")
    ).result;

    const [journal, driver] = [memoryJournal(), memoryRunDriver()];
    const worker = await startWorker({ driver, journal, teams: [inn(journal, driver)] });
    await driver.submit({ runId: "r", team: "inn", idea: "breakfast" });
    await idle(driver);
    for (const [question = "", answer] of [
      [tea, "green"],
      [bread, "rye"],
    ] as const) {
      await submitAnswer("r", question, answer, { journal, driver });
      await idle(driver);
    }
    await worker.drain();
    const events = await eventsOf(journal);
    expect(events.at(-1)).toMatchObject({ type: "run.ended", status: "finished" });
    expect(canonical(events)).toBe(canonical(await eventsOf(alone)));
  });

  it("is refused where no such question waits, or the run is not at rest, and nothing is recorded or queued", async () => {
    const [journal, driver] = [memoryJournal(), memoryRunDriver()];
    const [tea] = (await inn(journal).run("breakfast", { id: "r" }).result).questions.map(({ id }) => id);
    await submitAnswer("r", tea ?? "", "my sk-123456789", { journal, driver, secrets: ["sk-123456789"] });
    const before = await eventsOf(journal);
    expect(JSON.stringify(before.at(-1))).not.toContain("sk-123");
    await driver.cancel("r");
    const codes = [
      await codeOf(() => submitAnswer("r", tea ?? "", "black", { journal, driver })),
      await codeOf(() => submitAnswer("r", "feedbeef", "black", { journal, driver })),
      await codeOf(() => submitAnswer("none", "feedbeef", "black", { journal, driver })),
    ];
    expect(codes).toEqual(["QUESTION_ANSWERED", "QUESTION_UNKNOWN", "RUN_UNKNOWN"]);
    expect([await eventsOf(journal), await driver.list({ limit: 9 })]).toEqual([before, []]);
  });
});
