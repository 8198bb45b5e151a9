import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineAction } from "../../src/role/action.ts";
import { defineRole } from "../../src/role/role.ts";
import type { HumanPort, HumanQuestion } from "../../src/tool/approval.ts";
import { answering, contents, listener, remembered, town } from "./town.ts";

/** A person who answers by a function, and remembers what was asked. */
function person(answer: (text: string) => string): { human: HumanPort; asked: HumanQuestion[] } {
  const asked: HumanQuestion[] = [];
  return {
    asked,
    human: (question) => {
      asked.push(question);
      return answer(question.text);
    },
  };
}

describe("human.ask with a person there", () => {
  test("asks, and hands out the answer", async () => {
    const { human, asked } = person((text) => `${text} Yes.`);
    const environment = town([answering("Ann", async (rc) => rc.message(await rc.human.ask("Ship it?")))], { human });
    environment.publishMessage("go");
    expect((await environment.run()).output?.content).toBe("Ship it? Yes.");
    expect(asked).toMatchObject([{ text: "Ship it?", role: "Ann" }]);
    expect(asked[0]?.id).toMatch(/^[0-9a-f]{32}$/);
  });

  test("a person who fails is a failed step", async () => {
    const human: HumanPort = () => Promise.reject(new Error("the line broke"));
    const environment = town([answering("Ann", async (rc) => void (await rc.human.ask("?")))], { human });
    environment.publishMessage("go");
    expect((await environment.run()).error).toMatchObject({
      code: "HUMAN_FAILED",
      message: expect.stringContaining("the line broke") as string,
    });
  });
});

describe("human.ask with nobody there", () => {
  test("suspends the run: it is waiting, the question is in the error, other roles finish their round", async () => {
    const asking = answering("Ann", async (rc) => rc.message(await rc.human.ask("Ship it?")));
    const environment = town([asking, answering("Bob", (rc) => rc.message("Bob is done")), listener("Cid")]);
    environment.publishMessage("go");
    const result = await environment.run();
    expect(result.status).toBe("waiting");
    expect(result.error).toMatchObject({ code: "WAITING", data: { question: "Ship it?", role: "Ann" } });
    expect(result.error?.data).toMatchObject({ questionId: expect.stringMatching(/^[0-9a-f]{32}$/) as string });
    expect(contents(result.messages)).toEqual(["go", "Bob is done"]);
    expect(remembered(environment, "Cid")).toEqual(["go"]);
    expect(result.deadLetters).toEqual([]);
  });

  test("is never a failed step, whatever the code catches", async () => {
    const events: string[] = [];
    const swallowing = answering("Ann", async (rc) => {
      const answer = await rc.human.ask("Ship it?").catch(() => "I decide myself");
      rc.publish(rc.message(answer));
      return rc.message(answer);
    });
    const environment = town([swallowing], { onFailure: "skip" });
    for (const type of ["act.ended", "act.failed", "step.ended"] as const) environment.on(type, () => events.push(type));
    environment.publishMessage("go");
    const result = await environment.run();
    expect(result.status).toBe("waiting");
    expect(contents(result.messages)).toEqual(["go"]);
    expect(events).toEqual([]);
  });

  test("running again asks again, without doing again what was done", async () => {
    const called: string[] = [];
    const ann = answering("Ann", async (rc) => {
      await rc.step("paid", {}, async () => called.push("paid"));
      return rc.message(await rc.human.ask("?"));
    });
    const environment = town([ann]);
    environment.publishMessage("go");
    for (let i = 0; i < 3; i += 1) expect((await environment.run()).status).toBe("waiting");
    expect(called).toEqual(["paid"]);
  });
});

describe("a role that a person plays", () => {
  const Decide = defineAction({ name: "Decide", prompt: (ctx) => `Decide on ${ctx.text}` });

  test("gets every question that would go to a model", async () => {
    const { human, asked } = person(() => "I decide so");
    const environment = town([defineRole({ name: "Boss", human: true, actions: [Decide] })], { human });
    environment.publishMessage("tea");
    expect((await environment.run()).output?.content).toBe("I decide so");
    expect(asked).toMatchObject([{ text: "Decide on tea", role: "Boss" }]);
  });

  test("chooses the next action by number", async () => {
    const answers = ["1", "-1"];
    const { human } = person(() => answers.shift() ?? "");
    const actions = ["A", "B"].map((name) => defineAction({ name, run: () => `did ${name}` }));
    const environment = town([defineRole({ name: "Boss", human: true, actions })], { human });
    environment.publishMessage("go");
    expect((await environment.run()).output?.content).toBe("did B");
  });

  const Vote = defineAction({ name: "Vote", output: z.object({ yes: z.boolean() }), prompt: () => "Vote!" });

  test("one whose answers do not fit leaves the question open, with what was wrong", async () => {
    const { human, asked } = person(() => "maybe");
    const environment = town([defineRole({ name: "Boss", human: true, actions: [Vote] })], { human });
    environment.publishMessage("go");
    const result = await environment.run();
    expect(result).toMatchObject({ status: "waiting", questions: [{ role: "Boss", text: "Vote!", form: { kind: "fields" } }] });
    expect(result.error?.message).toContain("Your answer did not fit");
    expect(asked).toHaveLength(3);
  });
});
