import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  type ChatModel,
  defineAction,
  defineRole,
  fold,
  type Role,
  type RoleOptions,
  type RunEvent,
  type RunResult,
  Team,
  TroupeError,
} from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { impatient } from "./impatient-clock.ts";

const Mail = defineAction({ name: "Mail", run: () => "a letter" });
const postman = defineRole({ name: "Pat", actions: [Mail] });
const Typed = defineAction({ name: "Typed", output: z.object({ city: z.string() }), prompt: () => "Which city?" });

function doing(run: () => unknown): Partial<RoleOptions> {
  return { actions: [defineAction({ name: "Work", run: run as () => string })] };
}

function planning(...tasks: readonly (readonly [id: string, ...dependsOn: readonly string[]])[]): string {
  return JSON.stringify({ tasks: tasks.map(([id, ...dependsOn]) => ({ id, dependsOn, instruction: id })) });
}

const planner: Partial<RoleOptions> = { ...doing(() => "done"), reactMode: "plan_and_act" };
const cycle = planning(["a", "b"], ["b", "a"]);
const unknown = planning(["a", "z"]);
const tasksOf = (plan: string): Partial<RoleOptions> => ({ ...planner, planTasks: () => (JSON.parse(plan) as { tasks: [] }).tasks });

interface Case {
  readonly what: string;
  readonly role: Partial<RoleOptions>;
  readonly model?: ChatModel;
  readonly code: string;
  /** What the message must name. */
  readonly names: RegExp;
}

const cases: readonly Case[] = [
  { what: "an action that throws", role: doing(() => JSON.parse("{")), code: "ACTION_FAILED", names: /JSON/ },
  { what: "an action that returns a number", role: doing(() => 42), code: "ACTION_RESULT", names: /Work .*got 42\./ },
  { what: "an action that returns a huge text", role: doing(() => "x".repeat(2_000_000)), code: "MESSAGE_TOO_LONG", names: /Ann.*2000000/ },
  { what: "an action that never returns", role: { ...doing(() => new Promise(() => {})), timeout: 1 }, code: "TIMEOUT", names: /Ann/ },
  { what: "a plan of its own that is a cycle", role: tasksOf(cycle), code: "PLAN_CYCLE", names: /a -> b -> a/ },
  { what: "a plan of its own with an unknown task", role: tasksOf(unknown), code: "PLAN_UNKNOWN_DEPENDENCY", names: /task a .* no task z/ },
  { what: "a model that plans cycles", role: planner, model: scriptedModel(() => cycle), code: "PLAN_CYCLE", names: /a -> b -> a/ },
  {
    what: "a model that plans on nothing",
    role: planner,
    model: scriptedModel(() => unknown),
    code: "PLAN_UNKNOWN_DEPENDENCY",
    names: /z/,
  },
  {
    what: "a model that answers garbage",
    role: { actions: [Typed] },
    model: scriptedModel(() => "%%"),
    code: "OUTPUT_INVALID",
    names: /%%/,
  },
  { what: "a model that answers nothing", role: { actions: [Typed] }, model: scriptedModel(() => ""), code: "MODEL_EMPTY", names: /empty/ },
  {
    what: "a model that answers in a wrong shape",
    role: { actions: [Typed] },
    model: scriptedModel(() => '{"town":"Rome"}'),
    code: "OUTPUT_INVALID",
    names: /city: is missing/,
  },
  { what: "no model where one is asked", role: { actions: [Typed] }, code: "MODEL_MISSING", names: /Ann.*Team\(\{ model \}\)/ },
];

async function outcome(
  role: Role,
  model: ChatModel | undefined,
): Promise<{ readonly result: RunResult; readonly events: readonly RunEvent[] }> {
  const team = new Team({ roles: [role, postman], clock: impatient, ...(model === undefined ? {} : { model }) });
  const run = team.run("go");
  const events: RunEvent[] = [];
  for await (const event of run) events.push(event);
  return { result: await run.result, events };
}

describe("one role's bad input", () => {
  test.each(cases)("$what: a typed error that names it, and the others' work is kept", async ({ role, model, code, names }) => {
    const { result, events } = await outcome(defineRole({ ...role, name: "Ann" }), model);
    expect(result.status).toBe("failed");
    expect(TroupeError.isInstance(result.error)).toBe(true);
    expect(result.error?.code).toBe(code);
    expect(result.error?.message).toMatch(names);
    expect(result.messages.map((message) => message.content)).toEqual(["go", "a letter"]);
    const state = fold(events);
    expect(state.phase).toMatchObject({ phase: "ended", status: "failed" });
    expect(state.history.get()).toHaveLength(1);
    expect(events.find((event) => event.type === "act.failed")).toMatchObject({ role: "Ann", then: "stop", error: { code } });
  });

  test("an action that returns nothing is no failure: it has said nothing", async () => {
    const { result } = await outcome(defineRole({ ...doing(() => undefined), name: "Ann" }), undefined);
    expect(result.status).toBe("finished");
    expect(result.messages.map((message) => message.content)).toEqual(["go", "a letter"]);
  });
});

describe("names", () => {
  test("a second role of one name is refused, and the message says how to hire it all the same", () => {
    const error = thrownBy(() => new Team({ roles: [postman, postman] }));
    expect(error).toMatchObject({
      code: "ROLE_DUPLICATE",
      message: expect.stringMatching(/second "Pat".*hire\(role, \{ name \}\)/) as string,
    });
    expect(new Team({ roles: [postman] }).hire(postman, { name: "Pam" }).roleNames).toEqual(["Pat", "Pam"]);
  });

  test("a recipient that nobody is: a dead letter in the result, a warning with both names, and the rest is heard", async () => {
    const warnings: string[] = [];
    const ignore = (): void => {};
    const lost = defineAction({ name: "Lost", run: () => "to whom?", sendTo: () => ["Nobody", "Pat"] });
    const logger = { debug: ignore, info: ignore, error: ignore, warn: (text: string) => void warnings.push(text) };
    const result = await new Team({ roles: [defineRole({ name: "Ann", actions: [lost] }), postman], logger }).run("go").result;
    expect(result.status).toBe("finished");
    expect(result.deadLetters).toMatchObject([
      { message: { content: "to whom?" }, reason: { kind: "no such address", address: "Nobody" } },
    ]);
    expect(warnings.join()).toMatch(/"Nobody".*Ann/);
    expect(result.messages.map((message) => message.content)).toEqual(["go", "to whom?", "a letter", "a letter"]);
  });
});

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}
