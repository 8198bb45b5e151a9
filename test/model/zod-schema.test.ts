import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { z as z3 } from "zod/v3";
import { defineTool } from "../../src/agent/index.ts";
import { defineAction, defineRole, type RoleContext, type TeamOptions } from "../../src/index.ts";
import { outputSchema } from "../../src/model/json-schema.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { journalWith, eventsOf } from "../team/recorded.ts";
import { lived } from "../runtime/one-role.ts";

const old = z3.object({ n: z3.number() }) as unknown as z.ZodObject;

function caught(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

async function failureOf(react: (rc: RoleContext) => Promise<undefined>, options: TeamOptions = {}): Promise<unknown> {
  return (await lived(react, { model: scriptedModel(['{"n":1}']), ...options })).result.error;
}

function askingWith(schema: z.ZodType) {
  return async (rc: RoleContext): Promise<undefined> => {
    await rc.ask("How many?", { schema });
    return undefined;
  };
}

describe("a schema of zod 3", () => {
  test.each<[string, string, () => unknown]>([
    ["output of defineAction", "ACTION_INVALID", () => caught(() => defineAction({ name: "A", output: old }))],
    [
      "state of defineRole",
      "ROLE_INVALID",
      () => caught(() => new Team({ roles: [defineRole({ name: "A", react: () => undefined, state: old })] })),
    ],
    [
      "parameters of defineTool",
      "SCHEMA_UNSUPPORTED",
      () => caught(() => defineTool({ name: "t", description: "d", parameters: old, execute: () => "x" })),
    ],
    ["schema of ask", "SCHEMA_UNSUPPORTED", () => failureOf(askingWith(old))],
  ])("as %s is refused, and zod 4 is asked for", async (_door, code, door) => {
    expect(await door()).toMatchObject({
      name: "UsageError",
      code,
      message: expect.stringMatching(/zod 4.*got one of zod 3.*zod@4/) as string,
    });
  });
});

describe("a schema of what JSON cannot carry", () => {
  const dates: readonly (readonly [string, z.ZodObject])[] = [
    ["a date", z.object({ when: z.date() })],
    ["a date made of anything", z.object({ when: z.coerce.date() })],
    ["a date in a list of choices", z.object({ when: z.array(z.union([z.int(), z.date().nullable()])) })],
    [
      "a text decoded to a date",
      z.object({ when: z.codec(z.iso.datetime(), z.date(), { decode: (text) => new Date(text), encode: (date) => date.toISOString() }) }),
    ],
  ];

  test.each(dates)("%s as output or state is refused where it is defined, and z.iso.datetime() is named", (_what, schema) => {
    const told = { message: expect.stringContaining("z.iso.datetime()") as string };
    expect(caught(() => defineAction({ name: "A", output: schema }))).toMatchObject({ code: "ACTION_INVALID", ...told });
    const role = (): unknown => new Team({ roles: [defineRole({ name: "A", react: () => undefined, state: schema })] });
    expect(caught(role)).toMatchObject({ code: "ROLE_INVALID", ...told });
  });

  test("an answer that a transform makes a Date is one, live and from the record", async () => {
    const When = z.object({ when: z.iso.datetime().transform((text) => new Date(text)) });
    const kinds: boolean[] = [];
    const react = async (rc: RoleContext): Promise<undefined> => {
      const { when } = await rc.ask("When?", { schema: When });
      expectTypeOf(when).toEqualTypeOf<Date>();
      kinds.push(when instanceof Date);
      return undefined;
    };
    const journal = memoryJournal();
    const roles = [defineRole({ name: "Ann", react })];
    await new Team({ model: scriptedModel(['{"when":"2024-01-01T00:00:00Z"}'], { id: "scripted" }), journal, roles }).run("go", { id: "r" })
      .result;
    const events = await eventsOf(journal, "r");
    const cut = events.slice(
      0,
      events.findIndex(({ type }) => type === "act.ended"),
    );
    await new Team({ model: scriptedModel([]), journal: await journalWith("r", cut), roles }).resume("r").result;
    expect(kinds).toEqual([true, true]);
  });

  test("a Date that a transform puts into what an action says is refused: its readers would get a text", async () => {
    const output = z.object({ days: z.array(z.string().transform((text) => new Date(text))) });
    const say = defineAction({
      name: "Say",
      output: output as unknown as z.ZodType<{ days: string[] }>,
      run: () => ({ days: ["2024-01-01"] }),
    });
    const { error } = await new Team({ roles: [defineRole({ name: "Ann", actions: [say] })] }).run("go").result;
    expect(error).toMatchObject({
      code: "ACTION_RESULT",
      message: expect.stringMatching(/a Date at \$\.days\[0\].*z\.iso\.datetime\(\)/) as string,
    });
  });

  test("a schema of JSON values is accepted, with transforms and recursion", () => {
    const Tree = z.object({
      name: z.string().transform((text) => text.length),
      get kids() {
        return z.array(Tree);
      },
    });
    expect(defineAction({ name: "A", output: Tree }).name).toBe("A");
    expect(outputSchema(z.object({ at: z.iso.datetime() })).wrapped).toBe(false);
  });

  test.each([5, "", null, {}, [], () => 5])("%o is no schema", async (value) => {
    const schema = value as unknown as z.ZodObject;
    expect(caught(() => defineAction({ name: "A", output: schema }))).toMatchObject({ code: "ACTION_INVALID" });
    expect(await failureOf(askingWith(schema))).toMatchObject({ code: "SCHEMA_UNSUPPORTED" });
  });
});
