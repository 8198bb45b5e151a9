import { describe, expect, test } from "vitest";
import type { RoleContext } from "../../src/role/context.ts";
import { usd } from "../../src/model/money.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { Team } from "../../src/team/team.ts";
import { lived } from "./one-role.ts";
import { journalWith } from "../team/recorded.ts";
import { answering, town } from "./town.ts";

const asked = { messages: [{ role: "user", content: "Really?" }] } as const;

async function askItself(rc: RoleContext) {
  const { content } = await rc.model.chat(asked, { signal: rc.signal });
  return rc.message(content);
}

describe("the model a role speaks to itself", () => {
  test("gets the request as it is, and its answer is a step that is never paid twice", async () => {
    const model = scriptedModel(["yes"]);
    const { events, steps, result } = await lived(askItself, { model });
    expect(model.calls[0]?.messages).toEqual(asked.messages);
    expect(steps.map(({ type }) => type)).toEqual(["step.started", "step.ended"]);
    const cut = events.findIndex((event) => event.type === "act.ended");
    const journal = await journalWith("r", events.slice(0, cut));
    const resumed = new Team({ seed: "s", model, journal, roles: [answering("Ann", askItself)] });
    expect((await resumed.resume("r").result).output?.content).toBe(result.output?.content);
    expect(model.calls).toHaveLength(1);
  });

  test("is bound by the budget, and what it costs is told", async () => {
    const price = { input: 1_000_000, output: 1_000_000 };
    const model = scriptedModel([{ content: "yes", usage: { inputTokens: 2, outputTokens: 3 } }], { price });
    const paid = await lived(askItself, { model, budget: usd(1_000_000) });
    expect(paid.result.usage).toMatchObject({ inputTokens: 2, outputTokens: 3 });
    expect(paid.result.cost).not.toBe(0);
    const poor = await lived(askItself, { model, budget: usd(0.01) });
    expect(poor.result.status).toBe("budget");
    expect(model.calls).toHaveLength(1);
  });

  test("answers an effect through its door, and is refused without it", async () => {
    const nested = (rc: RoleContext) => async () => (await rc.model.chat(asked, { signal: rc.signal })).content;
    const refused = await lived((rc) => rc.step("outer", {}, nested(rc)).then(() => undefined), { model: scriptedModel(["yes"]) });
    expect(refused.result.error).toMatchObject({ code: "STEP_NESTED" });
    const given = await lived(
      async (rc) =>
        rc.message(await rc.step("outer", {}, async (door) => (await rc.model.through(door).chat(asked, { signal: door.signal })).content)),
      { model: scriptedModel(["yes"]) },
    );
    const [outer, inner] = given.steps.filter((event) => event.type === "step.started");
    expect([outer, inner]).toMatchObject([{ name: "outer" }, { kind: "model", in: outer?.key }]);
  });

  test("is the role's before the team's, tells listeners its text, and is missed only by who asks for it", async () => {
    const own = scriptedModel(["mine"]);
    const heard: string[] = [];
    const environment = town([answering("Ann", askItself, { model: own })], { model: scriptedModel([]) });
    environment.on("model.delta", ({ text }) => void heard.push(text));
    environment.publishMessage("go");
    expect((await environment.run()).output?.content).toBe("mine");
    expect(heard.join("")).toBe("mine");
    const bare = town([answering("Ann", askItself)]);
    bare.publishMessage("go");
    expect((await bare.run()).error).toMatchObject({ code: "MODEL_MISSING" });
  });
});
