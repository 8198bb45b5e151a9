import { describe, expect, test } from "vitest";
import { type Action, defineAction } from "../../src/role/action.ts";
import { createMessage } from "../../src/message/message.ts";
import { UserFeedback, UserRequirement } from "../../src/message/address.ts";
import { defineRole, type Role, type RoleOptions } from "../../src/role/role.ts";
import { Environment } from "../../src/runtime/environment.ts";
import { contents, listener, town } from "../runtime/town.ts";

const Draft = defineAction({ name: "Draft" });
const Critique = defineAction({ name: "Critique" });
const Photo = defineAction({ name: "Photo" });

/** Says what it was given: the contents of its inputs in brackets, then the news. */
function telling(name: string, needs: readonly Action[] = []): Action {
  return defineAction({ name, needs, run: (ctx) => `${name}(${contents(ctx.inputs).join("+")}) on ${ctx.text.replaceAll("\n\n", "+")}` });
}

function desk(options: Omit<RoleOptions, "name">, ...others: Role[]): Environment {
  return town([defineRole({ ...options, name: "Editor" }), ...others]);
}

/** Publishes messages by cause in one round each, and gives what the editor said. */
async function after(environment: Environment, ...roundsOf: readonly (readonly [Action, string][])[]): Promise<string[]> {
  for (const messages of roundsOf) {
    for (const [cause, content] of messages) environment.publishMessage(createMessage(content, { causeBy: cause, sendTo: "Editor" }));
    await environment.run();
  }
  return [...environment.history].filter((message) => message.sentFrom === "Editor").map((message) => message.content);
}

describe("by_cause: the action index", () => {
  test("a reaction runs for its cause, once, with all the news of that cause and no other", async () => {
    const environment = desk({
      reactions: [
        { on: Draft, do: telling("Edit") },
        { on: Photo, do: telling("Crop") },
      ],
    });
    expect(
      await after(environment, [
        [Draft, "d1"],
        [Photo, "p1"],
        [Draft, "d2"],
      ]),
    ).toEqual(["Edit() on d1+d2", "Crop() on p1"]);
  });

  test("the parents of what it says are the news that triggered it", async () => {
    const environment = desk({
      reactions: [
        { on: Draft, do: telling("Edit") },
        { on: Photo, do: telling("Crop") },
      ],
    });
    environment.publishMessage(createMessage("d", { causeBy: Draft, sendTo: "Editor", id: "the-draft" }));
    environment.publishMessage(createMessage("p", { causeBy: Photo, sendTo: "Editor", id: "the-photo" }));
    const { messages } = await environment.run();
    expect(messages.slice(2).map(({ causeBy, parents }) => [causeBy, parents])).toEqual([
      ["Edit", ["the-draft"]],
      ["Crop", ["the-photo"]],
    ]);
  });

  test("several that are ready run in the order written", async () => {
    const environment = desk({
      reactions: [
        { on: [Draft, Photo], do: telling("Second") },
        { on: Draft, do: telling("First") },
      ],
    });
    expect(await after(environment, [[Draft, "d"]])).toEqual(["Second() on d", "First() on d"]);
  });

  test("watch and actions follow from the reactions", () => {
    const environment = desk({ reactions: [{ on: Draft, do: telling("Edit", [Draft, Critique]) }] });
    for (const cause of [Draft, Critique]) {
      expect(environment.publishMessage(createMessage("x", { causeBy: cause })).recipients).toEqual(["Editor"]);
    }
    expect(environment.publishMessage(createMessage("x", { causeBy: Photo })).recipients).toEqual([]);
    expect(environment.publishMessage("x").recipients).toEqual([]);
  });
});

describe("joins", () => {
  const join = { on: [Draft, Critique], do: telling("Edit", [Draft, Critique]) };

  test("in one round: once, with both", async () => {
    expect(
      await after(desk({ reactions: [join] }), [
        [Draft, "d"],
        [Critique, "c"],
      ]),
    ).toEqual(["Edit(d+c) on d+c"]);
  });

  test("across rounds: when the last part comes, whichever that is", async () => {
    expect(await after(desk({ reactions: [join] }), [[Draft, "d"]], [[Critique, "c"]])).toEqual(["Edit(d+c) on c"]);
    expect(await after(desk({ reactions: [join] }), [[Critique, "c"]], [[Draft, "d"]])).toEqual(["Edit(d+c) on d"]);
  });

  test("each part is consumed once: the next needs both anew, and takes the newest", async () => {
    const said = await after(
      desk({ reactions: [join] }),
      [
        [Draft, "d1"],
        [Critique, "c1"],
      ],
      [[Draft, "d2"]],
      [[Draft, "d3"]],
      [[Critique, "c2"]],
      [[Critique, "c3"]],
    );
    expect(said).toEqual(["Edit(d1+c1) on d1+c1", "Edit(d3+c2) on c2"]);
  });

  test("a reaction may need what an earlier one of the same activation has said", async () => {
    const outline = telling("Outline");
    const environment = desk({
      reactions: [
        { on: UserRequirement, do: outline },
        { on: UserRequirement, do: telling("Write", [outline]) },
      ],
    });
    environment.publishMessage("go");
    await environment.run();
    expect([...environment.history].map((message) => message.content)).toEqual(["go", "Outline() on go", "Write(Outline() on go) on go"]);
  });

  test("an activation that fails consumes nothing: a retry has its parts again", async () => {
    let attempts = 0;
    const flaky = defineAction({
      name: "Edit",
      needs: [Draft, Critique],
      run: (ctx) => {
        attempts += 1;
        if (attempts === 1) throw new Error("not today");
        return contents(ctx.inputs).join("+");
      },
    });
    const environment = town([
      defineRole({ name: "Editor", reactions: [{ on: [Draft, Critique], do: flaky }], onFailure: { retry: 1, then: "stop" } }),
    ]);
    expect(
      await after(environment, [
        [Draft, "d"],
        [Critique, "c"],
      ]),
    ).toEqual(["d+c"]);
    expect(attempts).toBe(2);
  });
});

describe("what roles say to each other joins too", () => {
  test("a diamond: one asks, two answer, one joins, however they are hired", async () => {
    const roles = [
      defineRole({ name: "Joiner", reactions: [{ on: [Draft, Critique], do: telling("Join", [Draft, Critique]) }] }),
      defineRole({ name: "Left", reactions: [{ on: UserRequirement, do: defineAction({ name: "Draft", run: () => "left" }) }] }),
      defineRole({ name: "Right", reactions: [{ on: UserRequirement, do: defineAction({ name: "Critique", run: () => "right" }) }] }),
      listener("Idle", { watch: [Photo] }),
    ];
    for (const order of [roles, roles.toReversed()]) {
      const environment = town(order);
      environment.publishMessage("go");
      const { outputs, rounds } = await environment.run();
      expect(outputs).toHaveLength(1);
      expect(outputs[0]?.content).toContain("Join(left+right)");
      expect(rounds).toBe(2);
    }
  });
});

describe("the only action of a role, with needs that the role watches", () => {
  /** Lets A, and after some rounds B, be said, and returns what Join made of them each time. */
  function joined(rounds: number, scheduler: "rounds" | "eager"): { readonly environment: Environment; readonly runs: string[] } {
    const say = (name: string): Action => defineAction({ name, run: ({ text }) => `${name} of ${text.slice(-1)}` });
    const [A, B] = [say("A"), say("B")] as const;
    const passes = Array.from({ length: rounds }, (_, n) => say(`Pass${n}`));
    const runs: string[] = [];
    const Join = defineAction({
      name: "Join",
      needs: [A, B],
      run: ({ text, inputs }) => {
        runs.push(`${inputs.map(({ content }) => content).join("+")} | ${text.replaceAll("\n\n", "/")}`);
        return "joined";
      },
    });
    const environment = new Environment({ seed: 1, scheduler }).addRoles([
      defineRole({ name: "Joe", watch: [A, B, UserFeedback], actions: [Join] }),
      defineRole({ name: "Ann", actions: [A] }),
      ...passes.map((pass, n) =>
        defineRole({ name: `Pat${n}`, watch: [n === 0 ? UserRequirement : (passes[n - 1] as Action)], actions: [pass] }),
      ),
      defineRole({ name: "Bob", watch: [passes.at(-1) ?? UserRequirement], actions: [B] }),
    ]);
    return { environment, runs };
  }

  test.each(["rounds", "eager"] as const)("runs once, when they are there, with all of them as its text, %s", async (scheduler) => {
    for (const late of [0, 1, 3]) {
      const { environment, runs } = joined(late, scheduler);
      environment.publishMessage("1");
      const { status, messages } = await environment.run();
      expect(status).toBe("finished");
      expect(runs).toEqual(["A of 1+B of 1 | A of 1/B of 1"]);
      const said = messages.find(({ causeBy }) => causeBy === "Join");
      expect(said?.parents).toHaveLength(2);
      environment.publishMessage(createMessage("2", { causeBy: UserRequirement }));
      await environment.run();
      expect(runs).toEqual(["A of 1+B of 1 | A of 1/B of 1", "A of 2+B of 2 | A of 2/B of 2"]);
    }
  });

  test("runs for news of another cause too, with what it has, and waits where it has not all", async () => {
    const { environment, runs } = joined(0, "rounds");
    environment.publishMessage(createMessage("early", { causeBy: UserFeedback }));
    await environment.run();
    expect(runs).toEqual([]);
    environment.publishMessage(createMessage("1", { causeBy: UserRequirement }));
    await environment.run();
    environment.publishMessage(createMessage("more", { causeBy: UserFeedback }));
    await environment.run();
    expect(runs).toEqual(["A of 1+B of 1 | A of 1/B of 1", "A of 1+B of 1 | more"]);
  });

  test("is refused where the role forgets", () => {
    const [A, B] = ["A", "B"].map((name) => defineAction({ name }));
    const Join = defineAction({ name: "Join", needs: [A as Action, B as Action] });
    const role = defineRole({ name: "Joe", watch: [A as Action, B as Action], actions: [Join] });
    expect(() => new Environment({ memory: false }).addRole(role)).toThrow(expect.objectContaining({ code: "ROLE_INVALID" }));
  });
});
