import { expect, test } from "vitest";

// Nothing of the house is imported before: this is the first run of its process.
test("an agent is no later in the first run of a process, which loads its mode, than in the second", async () => {
  const { defineAction, defineRole, memoryJournal, Team } = await import("../../src/index.ts");
  const { scriptedModel } = await import("../../src/testing/scripted-model.ts");
  const ask = defineAction({ name: "Ask", run: (ctx) => ctx.ask("Well?") });
  const roles = [defineRole({ name: "Scout", reactMode: "agent" }), defineRole({ name: "Neighbour", actions: [ask] })];

  const eventsOfARun = async (): Promise<string[]> => {
    const journal = memoryJournal();
    const team = new Team({ seed: "s", model: scriptedModel(["one", "two"]), journal, roles });
    expect(await team.run("Go.", { id: "r" }).result).toMatchObject({ status: "finished" });
    const told: string[] = [];
    for await (const event of journal.read("r", 0)) told.push("act" in event ? `${event.type} ${event.act}` : event.type);
    return told;
  };

  const first = await eventsOfARun();
  expect(first.filter((line) => line.startsWith("step.ended"))).toHaveLength(2);
  expect(await eventsOfARun()).toEqual(first);
});
