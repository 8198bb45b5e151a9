import { describe, expect, test } from "vitest";
import { type Action, defineAction } from "../../src/role/action.ts";
import type { ActionContext, RoleContext } from "../../src/role/context.ts";
import { defineRole, Role, type RoleOptions } from "../../src/role/role.ts";
import { parseChoice } from "../../src/role/react.ts";
import type { Environment } from "../../src/runtime/environment.ts";
import { type ScriptedModel, scriptedModel } from "../../src/testing/scripted-model.ts";
import { contents, remembered, town } from "../runtime/town.ts";

function naming(count: number): Action[] {
  return Array.from({ length: count }, (_, i) => defineAction({ name: `A${i}`, description: `does ${i}`, run: () => `said ${i}` }));
}

function alone(options: Omit<RoleOptions, "name">, model?: ScriptedModel, warn: (text: string) => void = () => {}): Environment {
  const logger = { debug() {}, info() {}, error() {}, warn };
  return town([defineRole({ ...options, name: "Ann" })], { logger, ...(model === undefined ? {} : { model }) });
}

async function onGo(environment: Environment): Promise<{ said: string[]; status: string; error: string | undefined }> {
  environment.publishMessage("go");
  const { messages, status, error } = await environment.run();
  return { said: contents(messages).slice(1), status, error: error?.code };
}

describe("one action, or none", () => {
  test("one action alone is run once, in every mode, and no model is asked", async () => {
    for (const reactMode of ["react", "by_order", "by_cause"] as const) {
      expect(await onGo(alone({ reactMode, actions: naming(1) }))).toEqual({ said: ["said 0"], status: "finished", error: undefined });
    }
  });

  test("a role without actions hears, and says nothing, in every mode", async () => {
    for (const reactMode of [undefined, "react", "by_order", "by_cause"] as const) {
      const environment = alone(reactMode === undefined ? {} : { reactMode });
      expect(await onGo(environment)).toEqual({ said: [], status: "finished", error: undefined });
      expect(remembered(environment, "Ann")).toEqual(["go"]);
    }
  });

  test("by_cause with several actions and no reactions is refused: nothing says which leads to which", () => {
    expect(() => alone({ reactMode: "by_cause", actions: naming(2) })).toThrow(expect.objectContaining({ code: "ROLE_INVALID" }));
  });
});

describe("by_order", () => {
  test("hands each message on in a context that the role passes on by hand", async () => {
    const wrap = (name: string) => defineAction({ name, run: ({ text }: ActionContext) => `${name}(${text})` });
    class Own extends Role {
      override readonly actions = [wrap("A"), wrap("B")];
      override readonly reactMode = "by_order";
      override act(rc: RoleContext, action: Action) {
        const { name, news, inbox, memory, message, issue, publish } = rc;
        const own = { name, news, inbox, memory, message: message.bind(rc), issue: issue.bind(rc), publish: publish.bind(rc) };
        return super.act(own as unknown as RoleContext, action);
      }
    }
    const environment = town([new Own()]);
    environment.publishMessage("go");
    const { output } = await environment.run();
    expect(output?.content).toBe("B(A(go))");
  });

  test("runs all actions in their order, remembers each message, publishes the last", async () => {
    const environment = alone({ reactMode: "by_order", actions: naming(3) });
    expect((await onGo(environment)).said).toEqual(["said 2"]);
    expect(remembered(environment, "Ann")).toEqual(["go", "said 0", "said 1", "said 2"]);
  });

  test("the last that says something counts", async () => {
    const silent = defineAction({ name: "Silent", run: () => undefined });
    expect((await onGo(alone({ reactMode: "by_order", actions: [...naming(2), silent] }))).said).toEqual(["said 1"]);
  });

  test("stops at maxReactLoop", async () => {
    expect((await onGo(alone({ reactMode: "by_order", maxReactLoop: 2, actions: naming(3) }))).said).toEqual(["said 1"]);
  });
});

describe("react: the model chooses", () => {
  test("by number, until it says -1; each message is remembered and the last published", async () => {
    const model = scriptedModel(["1", "0", "-1"]);
    const environment = alone({ actions: naming(2) }, model);
    expect(await onGo(environment)).toEqual({ said: ["said 0"], status: "finished", error: undefined });
    expect(remembered(environment, "Ann")).toEqual(["go", "said 1", "said 0"]);
    expect(model.calls).toHaveLength(3);
  });

  test("the question shows the conversation with its speakers, the actions with their numbers, and the last action", async () => {
    const model = scriptedModel(["1", "-1"]);
    await onGo(alone({ actions: naming(2) }, model));
    const [first, second] = model.calls.map((call) => call.messages.at(-1)?.content ?? "");
    expect(first).toContain("0. A0: does 0\n1. A1: does 1");
    expect(first).toContain("none yet");
    expect(second).toContain("Ann: said 1");
    expect(second).toContain("1. A1");
    expect(`${first}${second}`).not.toMatch(/user#|Ann#/);
  });

  test("garbage is asked again once", async () => {
    const model = scriptedModel(["I would rather not", "1", "-1"]);
    expect((await onGo(alone({ actions: naming(2) }, model))).said).toEqual(["said 1"]);
    expect(model.calls[1]?.messages.at(-1)?.content).toContain("no such number");
  });

  test("ends after maxReactLoop actions, 10 unless said otherwise", async () => {
    const three = scriptedModel(() => "0");
    await onGo(alone({ actions: naming(2), maxReactLoop: 3 }, three));
    expect(three.calls).toHaveLength(3);
    const ten = scriptedModel(() => "0");
    await onGo(alone({ actions: naming(2) }, ten));
    expect(ten.calls).toHaveLength(10);
  });
});

describe("parseChoice", () => {
  test.each([
    ["0", 0],
    [" 2\n", 2],
    ["11", 11],
    ["I choose 3.", 3],
    ["-1", -1],
    ["done: -1", -1],
    ["-1: all of the 2 are done", -1],
    ["3, then 1 and 2", 3],
    ["12", undefined],
    ["-2", undefined],
    ["", undefined],
    ["none of them", undefined],
    ["99999999999999999999999", undefined],
  ])("%j of twelve", (reply, choice) => {
    expect(parseChoice(reply, 12)).toEqual(choice);
  });
});

describe("by_order hands on", () => {
  const tell = (name: string, needs: readonly string[] = []): Action =>
    defineAction({
      name,
      needs,
      run: (ctx) => `${name}(${ctx.text}|${ctx.inputs.map(({ content }) => content).join()})`,
    });

  test("what an action said is the text and the news of the next, is there for its needs, and is what its message answers", async () => {
    const environment = alone({ reactMode: "by_order", actions: [tell("A"), tell("B", ["A"]), tell("C", ["UserRequirement"])] });
    const { said } = await onGo(environment);
    expect(said).toEqual(["C(B(A(go|)|A(go|))|go)"]);
    const chain =
      environment
        .getRole("Ann")
        ?.memory.get()
        .map(({ parents }) => parents) ?? [];
    const [first, second, third] =
      environment
        .getRole("Ann")
        ?.memory.get()
        .map(({ id }) => id) ?? [];
    expect(chain).toEqual([[], [first], [second], [third]]);
  });

  test("the same where actions wait, and the next news starts anew", async () => {
    const late = (name: string): Action => defineAction({ name, run: async (ctx) => `${name}(${await Promise.resolve(ctx.text)})` });
    const environment = alone({ reactMode: "by_order", actions: [late("A"), late("B")] });
    expect((await onGo(environment)).said).toEqual(["B(A(go))"]);
    expect((await onGo(environment)).said.at(-1)).toBe("B(A(go))");
  });
});
