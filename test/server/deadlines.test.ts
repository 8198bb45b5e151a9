import { describe, expect, test } from "vitest";
import { defineAction, defineRole, memoryJournal, Team } from "../../src/index.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { simulatedClock, type SimulatedClock } from "../../src/testing/simulated-clock.ts";
import { served, type Served } from "./served-team.ts";

const Ask = defineAction({
  name: "Ask",
  run: async (ctx) => `${await ctx.human.ask("Go?", { choices: ["yes", "no"], default: "no", deadline: 60_000 })} it is`,
});

function serving(journal: Journal, clock: SimulatedClock): Served {
  return served({ team: new Team({ name: "askers", roles: [defineRole({ name: "Ada", actions: [Ask] })], journal, clock }), clock });
}

/** A run that waits for an answer until a minute has passed. */
async function waiting(): Promise<{
  readonly journal: Journal;
  readonly clock: SimulatedClock;
  readonly one: Served;
  readonly id: string;
}> {
  const [journal, clock] = [memoryJournal(), simulatedClock(1_000)];
  const one = serving(journal, clock);
  const { id } = await one.client.start({ idea: "go" });
  await rests(one, id, "waiting");
  return { journal, clock, one, id };
}

/** Resolves when a run is at rest with this status. */
async function rests({ client }: Served, id: string, wanted: string): Promise<void> {
  for (;;) {
    for await (const event of client.events(id)) void event;
    if ((await client.read(id)).status === wanted) return;
  }
}

describe("the deadline of a question of a served run (Deadlines.D1)", () => {
  test("takes the default without a request", async () => {
    const { clock, one, id } = await waiting();
    expect((await one.client.read(id)).questions).toMatchObject([{ deadline: 61_000, default: "no", form: { kind: "choices" } }]);
    await clock.advance(60_000);
    await rests(one, id, "finished");
  });

  test("is refused a wrong answer, and an answer after it", async () => {
    const { clock, one, id } = await waiting();
    const question = (await one.client.read(id)).questions?.[0]?.id ?? "";
    await expect(one.client.answer(id, question, "maybe")).rejects.toMatchObject({ code: "QUESTION_ANSWER_INVALID" });
    expect((await one.client.read(id)).status).toBe("waiting");
    await clock.advance(60_000);
    await rests(one, id, "finished");
    await expect(one.client.answer(id, question, "yes")).rejects.toMatchObject({ code: "QUESTION_ANSWERED" });
  });

  test("passes while no server runs, and counts at the next start (Deadlines.D2)", async () => {
    const { journal, clock, one, id } = await waiting();
    await one.server.close();
    const events = (await journal.runs())[0]?.events;
    await clock.advance(120_000);
    expect((await journal.runs())[0]?.events).toBe(events);
    const other = serving(journal, clock);
    expect((await other.client.read(id)).status).toBe("waiting");
    await clock.advance(1);
    await rests(other, id, "finished");
  });
});
