import { describe, expect, test } from "vitest";
import { formatCost } from "../../src/model/money.ts";
import { fold } from "../../src/runtime/record/apply.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import type { ChatModel } from "../../src/model/chat-model.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { Team } from "../../src/team/team.ts";
import { answering } from "../runtime/town.ts";
import { eventsOf } from "./recorded.ts";

function model(id: string, cost: number): ChatModel {
  return scriptedModel(() => ({ content: "yes", usage: { inputTokens: 5, outputTokens: cost } }), { id, price: { input: 0, output: 1 } });
}

/** A model that nobody knows the price of, and that never answers. */
function silent(): ChatModel & { readonly asked: Promise<void> } {
  let tell = (): void => {};
  const asked = new Promise<void>((resolve) => (tell = resolve));
  const chat = (): Promise<never> => {
    tell();
    return new Promise(() => {});
  };
  return { id: "nobody-knows-it", streams: false, chat, stream: chat as never, asked };
}

describe("the cost of a run", () => {
  test("is told by role and by model, from the record alone", async () => {
    const journal = memoryJournal();
    const [cheap, dear] = [model("cheap", 100), model("dear", 900)];
    const asker = (name: string, questions: number): ReturnType<typeof answering> =>
      answering(name, async (rc) => {
        for (let n = 0; n < questions; n += 1) await rc.ask(`question ${n}`);
        await rc.ask("and the last", { model: dear });
      });
    const team = new Team({ roles: [asker("Ann", 2), asker("Ben", 0)], model: cheap, journal });
    const { byRole, byModel, cost, usage } = await team.run("go", { id: "r" }).result;
    expect(byRole).toMatchObject({
      Ann: { cost: { known: 1_100, unpriced: 0 }, usage: { inputTokens: 15, outputTokens: 1_100 } },
      Ben: { cost: { known: 900, unpriced: 0 }, usage: { inputTokens: 5, outputTokens: 900 } },
    });
    expect(byModel).toMatchObject({ cheap: { cost: { known: 200 } }, dear: { cost: { known: 1_800 }, usage: { outputTokens: 1_800 } } });
    expect([cost.known, usage.outputTokens]).toEqual([2_000, 2_000]);
    const state = fold(await eventsOf(journal, "r"));
    expect([state.byRole.record(), state.byModel.record()]).toEqual([byRole, byModel]);
    expect((await team.replay("r").result).byRole).toEqual(byRole);
  });

  test("of a model without a known price is unknown, also when its first call is cut off", async () => {
    const journal = memoryJournal();
    const unpriced = silent();
    const ann = answering("Ann", async (rc) => void (await rc.ask("yes?")));
    const run = new Team({ roles: [ann], model: unpriced, journal }).run("go", { id: "r" });
    await unpriced.asked;
    run.stop();
    const { cost, byModel, status } = await run.result;
    expect([status, formatCost(cost)]).toEqual(["stopped", "$?"]);
    expect(byModel).toMatchObject({ "nobody-knows-it": { cost: { known: 0, unpriced: 1 } } });
  });
});
