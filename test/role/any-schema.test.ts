import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, it } from "vitest";
import * as mini from "zod/mini";
import { Agent, createMessage, defineAction, defineRole, defineTool, Environment, Team } from "../../src/index.ts";
import { createChatCompletion } from "../../src/tools/human.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import type { AnySchema } from "../../src/model/standard-schema.ts";

const schemas = {
  valibot: {
    page: toStandardJsonSchema(v.object({ title: v.string() })),
    count: toStandardJsonSchema(v.object({ n: v.optional(v.number(), 0) })),
  },
  arktype: { page: type({ title: "string" }), count: type({ n: "number = 0" }) },
  "zod/mini": { page: mini.object({ title: mini.string() }), count: mini.object({ n: mini._default(mini.number(), 0) }) },
} satisfies Readonly<Record<string, { page: AnySchema<{ title: string }>; count: AnySchema<{ n: number }> }>>;

describe.each(Object.entries(schemas))("a schema of %s", (_vendor, { page, count }) => {
  const Page: AnySchema<{ title: string }> = page;
  const Count: AnySchema<{ n: number }> = count;

  it("is the output of an action, and re-asks for what does not fit", async () => {
    const Write = defineAction({ name: "Write", output: Page });
    const model = scriptedModel(['{"title": {}}', '{"title":"Sea"}']);
    const result = await new Team({ roles: [defineRole({ name: "Wim", actions: [Write] })], model }).run("a page").result;
    expect([result.status, result.output?.instructContent, model.calls.length]).toEqual(["finished", { title: "Sea" }, 2]);
  });

  it("is the schema of a question to a model, and types its answer", async () => {
    const Ask = defineAction({
      name: "Ask",
      run: async (ctx) => {
        const answer = await ctx.ask("a page", { schema: Page });
        expectTypeOf(answer).toEqualTypeOf<{ title: string }>();
        return answer.title;
      },
    });
    const model = scriptedModel(['{"title":"Sea"}']);
    const result = await new Team({ roles: [defineRole({ name: "Wim", actions: [Ask] })], model }).run("go").result;
    expect(result.output?.content).toBe("Sea");
  });

  it("is the custom state of a role, with its defaults", async () => {
    const env = new Environment();
    env.addRole(defineRole({ name: "Cora", state: Count, step: ({ n }) => ({ n: n + 1 }) }));
    for (const text of ["a", "b"]) env.publishMessage(createMessage(text));
    await env.run({ rounds: 1 });
    expect(env.getRole("Cora")?.state).toEqual({ n: 2 });
  });

  it("is the parameters of a tool, the output of an agent and the form of an answer", async () => {
    const seen: string[] = [];
    const write = defineTool({
      name: "write",
      description: "Writes.",
      parameters: Page,
      effect: "read",
      execute: ({ title }) => void seen.push(title),
    });
    expect(write.spec.parameters).toMatchObject({ type: "object", properties: { title: { type: "string" } } });
    const call = { id: "1", type: "function", function: { name: "write", arguments: '{"title":"Sea"}' } } as const;
    const model = scriptedModel([{ toolCalls: [call] }, '{"title":"done"}']);
    const { output } = await new Agent({ name: "Ada", model, tools: [write], output: Page }).run("go").result;
    expect([seen, output]).toEqual([["Sea"], { title: "done" }]);
    expect(createChatCompletion({ schema: Page }).spec.parameters).toMatchObject({ properties: { title: {} } });
  });

  it("is the form of a question to a person", async () => {
    const Sign = defineAction({ name: "Sign", run: async (ctx) => (await ctx.human.ask("Which page?", { schema: Page })).title });
    const human = ({ form }: { form?: unknown }): unknown => {
      expect(form).toMatchObject({ kind: "fields", schema: { properties: { title: { type: "string" } } } });
      return { title: "Sky" };
    };
    const result = await new Team({ roles: [defineRole({ name: "Wim", actions: [Sign] })], human: human as never }).run("go").result;
    expect(result.output?.content).toBe("Sky");
  });
});

it("is refused by name without JSON Schema", () => {
  const expected = expect.objectContaining({
    code: "SCHEMA_UNSUPPORTED",
    message: expect.stringContaining("toStandardJsonSchema") as string,
  }) as Error;
  expect(() => defineAction({ name: "Write", output: v.object({}) })).toThrow(expected);
  expect(() => defineTool({ name: "w", description: "", parameters: v.object({}), execute: () => "" })).toThrow(expected);
});
