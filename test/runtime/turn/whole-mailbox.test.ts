import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createMessage } from "../../../src/message/message.ts";
import { defineRole, type Role } from "../../../src/role/role.ts";
import type { StepsRoleOptions } from "../../../src/role/step-role.ts";
import type { Environment } from "../../../src/runtime/environment.ts";
import type { EnvironmentOptions } from "../../../src/runtime/environment-options.ts";
import { contents, town } from "../town.ts";

const Sum = z.object({ sum: z.number().default(0), acted: z.number().default(0) });

function taking(name: string, steps: StepsRoleOptions["steps"], options: Partial<StepsRoleOptions> = {}): Role {
  return defineRole({ ...options, name, steps });
}

async function told(role: Role, texts: readonly string[], options: EnvironmentOptions = {}): Promise<Environment> {
  const environment = town([role], options);
  for (const text of texts) environment.publishMessage(createMessage(text, { id: text }));
  await environment.run();
  return environment;
}

describe("a role that takes its whole mailbox", () => {
  test("is called once for all messages of an activation, in their order, and its answer has them all as parents", async () => {
    const heard: string[][] = [];
    const role = taking("Ann", (_state, messages, out) => {
      heard.push(contents(messages));
      out.say("first");
      out.say("second");
      out.say("third", { parents: ["one"] });
    });
    const { history } = await told(role, ["one", "two"]);
    expect(heard).toEqual([["one", "two"]]);
    expect([...history].slice(2).map(({ parents }) => parents)).toEqual([["one", "two"], ["one", "two"], ["one"]]);
  });

  test("changes its state once, by what it returns", async () => {
    const role = defineRole({
      name: "Ann",
      state: Sum,
      steps: ({ sum, acted }, messages) => ({ sum: sum + messages.length, acted: acted + 1 }),
    });
    const environment = await told(role, ["one", "two", "three"]);
    expect(environment.getRole("Ann")?.state).toEqual({ sum: 3, acted: 1 });
    environment.publishMessage("four");
    await environment.run();
    expect(environment.getRole("Ann")?.state).toEqual({ sum: 4, acted: 2 });
  });

  test("is tried message by message after a failure, where its policy gives messages up", async () => {
    const tried: string[][] = [];
    const role = taking(
      "Ann",
      (_state, messages) => {
        tried.push(contents(messages));
        if (messages.some(({ content }) => content === "bomb")) throw new Error("boom");
      },
      { onFailure: "skip" },
    );
    await told(role, ["a", "bomb", "b"]);
    expect(tried).toEqual([["a", "bomb", "b"], ["a"], ["bomb"], ["b"]]);
  });
});
