import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineAction } from "../../src/role/action.ts";
import { hiredRole } from "../../src/runtime/hired-roles.ts";
import { createMessage, type Message } from "../../src/message/message.ts";
import { defineRole, Role } from "../../src/role/role.ts";
import { roleSpec } from "../../src/role/role-spec.ts";
import type { Immutable } from "../../src/role/step-role.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { town } from "../runtime/town.ts";

const Speak = defineAction({ name: "Speak", run: () => "spoken" });
const step = (): void => {};

/** Anything in the place of the parts of a role, as a program without types may write it. */
function hired(parts: object): Error | undefined {
  try {
    town([defineRole({ name: "Ann", step, ...parts } as never)]);
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

describe("a step function is all that its role does", () => {
  test.each([
    ["actions", { actions: [Speak] }],
    ["reactions", { reactions: [{ on: "go", do: Speak }] }],
    ["reactMode", { reactMode: "react" }],
    ["maxReactLoop", { maxReactLoop: 3 }],
    ["model", { model: scriptedModel([]) }],
    ["tools", { tools: [] }],
    ["agent", { agent: {} }],
    ["memoryLimit", { memoryLimit: 3 }],
    ["memory", { memory: {} }],
    ["human", { human: true }],
    ["planTasks", { planTasks: () => [] }],
    ["observe", { observe: () => [] }],
    ["think", { think: () => undefined }],
    ["act", { act: () => undefined }],
    ["react", { react: () => undefined }],
  ])("beside %s it is refused, with what to do", (part, parts) => {
    const error = hired(parts);
    expect(error).toMatchObject({ name: "UsageError", code: "ROLE_INVALID" });
    expect(error?.message).toMatch(new RegExp(`^Expected role Ann .* got ${part} too\\. Leave ${part} out, `));
  });

  test.each([
    ["an async one", async (): Promise<void> => {}],
    ["a generator", function* (): Generator<void> {}],
    ["an async generator", async function* (): AsyncGenerator<void> {}],
  ])("%s waits, and is refused when it is hired", (_what, waiting) => {
    expect(hired({ step: waiting })).toMatchObject({ code: "ROLE_INVALID", message: expect.stringContaining("plain function") });
  });
});

describe("a role that is a step function", () => {
  test("watches what the user says, unless it says otherwise", () => {
    expect(roleSpec(defineRole({ name: "Ann", step })).watch).toEqual(["UserRequirement"]);
    expect(roleSpec(defineRole({ name: "Ann", watch: [Speak, "news"], step })).watch).toEqual(["Speak", "news"]);
  });

  test("is told apart from one that reacts: a run does not go on with the other unless it is forced to", () => {
    const traits = hiredRole(defineRole({ name: "Ann", step }), "Ann").traits;
    expect(traits["mode"]).toBe("step");
    expect(hiredRole(defineRole({ name: "Ann", react: () => undefined }), "Ann").traits).toEqual({ ...traits, mode: "react" });
  });

  test("may be a class, whose step has its own things at hand", async () => {
    const Purse = z.object({ coins: z.number().default(1) });
    class Saver extends Role<z.infer<typeof Purse>> {
      override readonly state = Purse;
      readonly rate = 3;
      override step(state: Immutable<z.infer<typeof Purse>>, _message: Message): Immutable<z.infer<typeof Purse>> {
        return { coins: state.coins * this.rate };
      }
    }
    const environment = town([]).addRole(new Saver());
    environment.publishMessage("go");
    await environment.run();
    expect(environment.getRole("Saver")?.state).toEqual({ coins: 3 });
  });
});

describe("what a word of a step role answers", () => {
  async function parentsOf(heard: Role["step"], contents: readonly string[]): Promise<readonly (readonly string[])[]> {
    const environment = town([defineRole({ name: "Ann", step: heard as never })]);
    for (const content of contents) environment.publishMessage(createMessage(content, { id: content, sendTo: "Ann" }));
    return (await environment.run()).outputs.map(({ parents }) => parents);
  }

  test("is all that was heard since one was said, where a role joins its inputs", async () => {
    const join: Role["step"] = (_state, { content }, out) => void (content === "c" && out.say("all three"));
    expect(await parentsOf(join, ["a", "b", "c"])).toEqual([["a", "b", "c"]]);
  });

  test("begins anew behind the last that was answered", async () => {
    const some: Role["step"] = (_state, { content }, out) => void (content < "c" ? content === "a" && out.say("one") : out.say("more"));
    expect(await parentsOf(some, ["a", "b", "c"])).toEqual([["a"], ["b", "c"]]);
  });

  test("is what the role says it is", async () => {
    const join: Role["step"] = (_state, { content }, out) => void (content === "c" && out.say("one", { parents: ["a"] }));
    expect(await parentsOf(join, ["a", "b", "c"])).toEqual([["a"]]);
  });
});
