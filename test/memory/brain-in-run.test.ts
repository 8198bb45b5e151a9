import { expect, test } from "vitest";
import { BrainMemory, defineAction, defineRole, memoryJournal, Team } from "../../src/index.ts";
import { scriptedModel, simulatedClock } from "../../src/testing/index.ts";

test("in a run a summary is a step: a replay asks no one and remembers the same, and a fork pays nothing for what it shares", async () => {
  const model = scriptedModel((_request, n) => `summary ${n}`);
  const Remember = defineAction({
    name: "Remember",
    run: async (ctx) => {
      const brain = new BrainMemory({ model: ctx.model });
      for (let n = 0; n < 10; n++) brain.addTalk(ctx.message(`word ${n}`, { timestamp: n }));
      await brain.compress();
      return `${brain.summary}, ${brain.history.length} left`;
    },
  });
  const team = new Team({ journal: memoryJournal(), model, roles: [defineRole({ name: "Ann", actions: [Remember] })] });
  const first = await team.run("go", { id: "first" }).result;
  expect([first.status, first.output?.content, model.calls.length]).toEqual(["finished", "summary 0, 4 left", 1]);
  expect((await team.replay("first").result).output?.content).toBe("summary 0, 4 left");
  expect((await team.fork("first", { at: 1, id: "second" }).result).output?.content).toBe("summary 0, 4 left");
  expect(model.calls.length).toBe(1);
});

test("a model behind a door has its own limits: a memory that is impatient does not end its run", async () => {
  const clock = simulatedClock();
  const model = scriptedModel(() => "a summary", { clock, latency: () => 1_000 });
  const Remember = defineAction({
    name: "Remember",
    run: async (ctx) => {
      const brain = new BrainMemory({ model: ctx.model, clock, timeout: 5 });
      for (let n = 0; n < 10; n++) brain.addTalk(ctx.message(`word ${n}`, { timestamp: n }));
      await brain.compress();
      return brain.summary;
    },
  });
  const run = new Team({ clock, model, roles: [defineRole({ name: "Ann", actions: [Remember] })] }).run("go");
  for (let n = 0; n < 20; n++) await clock.advance(100);
  const { status, output } = await run.result;
  expect([status, output?.content]).toEqual(["finished", "a summary"]);
});
