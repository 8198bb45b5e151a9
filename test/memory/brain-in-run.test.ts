import { expect, test } from "vitest";
import { type ActionContext, BrainMemory, type ChatModel, defineAction, defineRole, memoryJournal, Team } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";

/** A model as a role has it: each call is a step of the run. */
function stepped(ctx: ActionContext, model: ChatModel): ChatModel {
  return {
    id: model.id,
    chat: (request) => ctx.step("chat", { model: model.id, ...request }, ({ signal }) => model.chat(request, { signal })),
    stream: (request, o) => model.stream(request, o),
  };
}

test("in a run a summary is a step: a replay asks nobody and remembers the same, and a fork pays nothing for what it shares", async () => {
  const model = scriptedModel((_request, n) => `summary ${n}`);
  const Remember = defineAction({
    name: "Remember",
    run: async (ctx) => {
      const brain = new BrainMemory({ model: stepped(ctx, model) });
      for (let n = 0; n < 10; n++) brain.addTalk(ctx.message(`word ${n}`, { timestamp: n }));
      await brain.compress();
      return `${brain.summary}, ${brain.history.length} left`;
    },
  });
  const team = new Team({ journal: memoryJournal(), model, roles: [defineRole({ name: "Ann", actions: [Remember] })] });
  const first = await team.run("go", { id: "first" }).result;
  expect([first.status, first.output?.content, model.calls.length]).toEqual(["finished", "summary 0, 0 left", 1]);
  expect((await team.replay("first").result).output?.content).toBe("summary 0, 0 left");
  expect((await team.fork("first", { at: 1, id: "second" }).result).output?.content).toBe("summary 0, 0 left");
  expect(model.calls.length).toBe(1);
});
