import { describe, expect, test } from "vitest";
import { type Action, createMessage, defineAction, defineRole, type Environment, Role, UserRequirement } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { contents, listener, remembered, town } from "../runtime/town.ts";

const Answer = defineAction({ name: "Answer", description: "answers what was said" });

function numbered(count: number): Action[] {
  return Array.from({ length: count }, (_, i) => defineAction({ name: `A${i}`, run: () => `did ${i}` }));
}

/** One role that chooses among actions, with the replies of its model. */
function choosing(actions: readonly Action[], replies: readonly string[]): Environment {
  return town([defineRole({ name: "Ann", actions, reactMode: "react" })], { model: scriptedModel(replies) });
}

describe("who a role is", () => {
  test("[MetaGPT: a role without a name was called <property object ...>, in prompts and addresses] it is called as its class", async () => {
    class Clerk extends Role {
      override readonly actions = [Answer];
    }
    const model = scriptedModel(["fine"]);
    const environment = town([new Clerk(), new Role()], { model });
    expect(environment.roleNames).toEqual(["Clerk", "Role"]);
    expect(environment.publishMessage(createMessage("how are you?", { sendTo: "Clerk" })).recipients).toEqual(["Clerk"]);
    const { output } = await environment.run();
    expect(output?.sentFrom).toBe("Clerk");
    expect(model.calls[0]?.messages[0]).toEqual({ role: "system", content: "You are Clerk." });
  });

  test("[MetaGPT: making a role that a person plays failed on None.model] it is made without a model, and asks the person", async () => {
    const asked: string[] = [];
    const ann = defineRole({ name: "Ann", human: true, actions: [Answer] });
    const environment = town([ann], {
      human: ({ role, text }) => {
        asked.push(`${role}: ${text}`);
        return "by hand";
      },
    });
    environment.publishMessage("how are you?");
    expect((await environment.run()).output?.content).toBe("by hand");
    expect(asked).toEqual(["Ann: answers what was said\n\nhow are you?"]);
  });

  test("[MetaGPT: roles of one llm overwrote each other's system prompt on it] every question has the asker's own introduction", async () => {
    const model = scriptedModel(() => "done");
    const roles = ["Ann", "Bob", "Cid"].map((name) => defineRole({ name, goal: `be ${name}`, actions: [Answer] }));
    const environment = town(roles, { model });
    environment.publishMessage("go");
    await environment.run();
    expect(model.calls.map((call) => call.messages[0]?.content)).toEqual([
      "You are Ann, and your goal is: be Ann.",
      "You are Bob, and your goal is: be Bob.",
      "You are Cid, and your goal is: be Cid.",
    ]);
  });
});

describe("what a role remembers", () => {
  test("[MetaGPT: enable_memory=False stored every message all the same and only let them in twice] a bound is a bound", async () => {
    const heard: string[] = [];
    const forgetful = listener("Ann", { memoryLimit: 1, react: (rc) => void heard.push(...contents(rc.news)) });
    const environment = town([forgetful]);
    for (const content of ["one", "two", "three"]) {
      environment.publishMessage(content);
      await environment.run();
    }
    environment.publishMessage([...environment.history].at(-1) ?? "");
    await environment.run();
    expect(heard).toEqual(["one", "two", "three"]);
    expect(remembered(environment, "Ann")).toEqual(["three"]);
  });
});

describe("choosing what to do", () => {
  test.each<[string, readonly Action[], readonly string[]]>([
    ["-1", numbered(2), ["-1"]],
    ["garbage, twice", numbered(2), ["who knows", "still nothing"]],
    ["a number that no action has, twice", numbered(2), ["7", "2"]],
    ["nothing at all, for a role without actions", [], []],
  ])("[MetaGPT: %s ended in AttributeError] it ends the activation", async (_what, actions, replies) => {
    const environment = choosing(actions, [...replies, "0", "-1"]);
    environment.publishMessage("go");
    const first = await environment.run();
    expect([first.status, first.error, contents(first.messages)]).toEqual(["finished", undefined, ["go"]]);
    expect(remembered(environment, "Ann")).toEqual(["go"]);
    environment.publishMessage("go on");
    const second = await environment.run();
    expect(contents(second.outputs)).toEqual(actions.length === 0 ? [] : ["did 0"]);
  });
});

describe("when a role is done", () => {
  test("[MetaGPT: an active role needed one more round to be idle, each paid from n_round] one message is one round", async () => {
    const environment = town([defineRole({ name: "Ann", actions: numbered(1) })]);
    environment.publishMessage("go");
    expect(environment.isIdle).toBe(false);
    const { rounds, status } = await environment.run({ rounds: 1 });
    expect([rounds, status, environment.isIdle, environment.getRole("Ann")?.isIdle]).toEqual([1, "finished", true, true]);
  });

  test("[MetaGPT: a chain of k roles took k + 1 rounds for the same reason] it takes k", async () => {
    const [A0, A1, A2] = numbered(3) as [Action, Action, Action];
    const environment = town([
      defineRole({ name: "Ann", reactions: [{ on: UserRequirement, do: A0 }] }),
      defineRole({ name: "Bob", reactions: [{ on: A0, do: A1 }] }),
      defineRole({ name: "Cid", reactions: [{ on: A1, do: A2 }] }),
    ]);
    environment.publishMessage("go");
    const { rounds, status, output } = await environment.run({ rounds: 3 });
    expect([rounds, status, output?.content]).toEqual([3, "finished", "did 2"]);
  });
});
