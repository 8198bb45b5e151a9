import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineAction } from "../../src/role/action.ts";
import type { ActionContext } from "../../src/role/context.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import type { HumanPort, HumanQuestion } from "../../src/tool/approval.ts";
import { Team } from "../../src/team/team.ts";
import type { TeamOptions } from "../../src/team/team-options.ts";

/** A team of one, whose action asks and says what it was told. */
function asker(run: (ctx: ActionContext) => Promise<unknown>): Role {
  return defineRole({ name: "Ann", actions: [defineAction({ name: "Ask", run: async (ctx) => JSON.stringify(await run(ctx)) })] });
}

function teamOf(journal: Journal, role: Role, o: Partial<TeamOptions> = {}): Team {
  return new Team({ journal, roles: [role], seed: "s", ...o });
}

const Trip = z.object({
  city: z.string().min(1).describe("where to"),
  nights: z.int().min(1).max(14).default(2),
  class: z.enum(["first", "second"]),
});

describe("a question with fields", () => {
  const role = (): Role => asker((ctx) => ctx.human.ask("Which trip?", { schema: Trip }));

  test("is recorded with its form, and shown with it", async () => {
    const journal = memoryJournal();
    const result = await teamOf(journal, role()).run("go", { id: "r" }).result;
    const form = { kind: "fields", schema: { type: "object", required: ["city", "class"] } };
    expect(result.questions).toMatchObject([{ role: "Ann", text: "Which trip?", form }]);
    const started = [];
    for await (const event of journal.read("r", 0)) if (event.type === "step.started") started.push(event.request);
    expect(started).toMatchObject([{ role: "Ann", question: "Which trip?", form }]);
  });

  test.each([
    [{ city: "", class: "third" }, ["city", "class"]],
    [{ city: "Oslo" }, ["class"]],
    [{ city: "Oslo", class: "first", nights: 0 }, ["nights"]],
    [{ city: "Oslo", class: "first", extra: 1 }, ["extra"]],
    ["Oslo", [""]],
    [null, [""]],
    [JSON.stringify({ city: "x".repeat(10_000_000), class: "first" }), [""]],
  ])("refuses a wrong answer in words, and stays open", async (answer, paths) => {
    const journal = memoryJournal();
    const { questions } = await teamOf(journal, role()).run("go", { id: "r" }).result;
    const id = questions[0]?.id ?? "";
    const before = (await journal.runs())[0]?.events;
    const refused: unknown = await teamOf(journal, role())
      .answer("r", id, answer)
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "QUESTION_ANSWER_INVALID", data: { faults: paths.map((path) => ({ path })) } });
    expect((await journal.runs())[0]?.events).toBe(before);
    const again = await (await teamOf(journal, role()).answer("r", id, { city: "Oslo", class: "second" })).result;
    expect(again.status).toBe("finished");
  });

  test("is asked again when only the schema knows what is wrong", async () => {
    const Even = z.object({ n: z.number().refine((n) => n % 2 === 0, "must be even") });
    const even = (): Role => asker((ctx) => ctx.human.ask("Which number?", { schema: Even }));
    const journal = memoryJournal();
    const first = await teamOf(journal, even()).run("go", { id: "r" }).result;
    const second = await (await teamOf(journal, even()).answer("r", first.questions[0]?.id ?? "", { n: 3 })).result;
    expect(second.questions[0]?.text).toBe("Which number?\n\nYour answer did not fit: n: must be even");
    const last = await (await teamOf(journal, even()).answer("r", second.questions[0]?.id ?? "", { n: 4 })).result;
    expect(last.output?.content).toBe('{"n":4}');
  });
});

describe("a question with choices", () => {
  const role = (): Role =>
    asker((ctx) => ctx.human.ask("Which?", { choices: ["red", { value: "blue", label: "Blue, as the sea" }], to: "Zoe" }));

  test.each([
    ["red", "red"],
    ["RED ", "red"],
    ["blue, as the sea", "blue"],
    ["2", "blue"],
  ])("takes %s", async (answer, value) => {
    const journal = memoryJournal();
    const { questions } = await teamOf(journal, role()).run("go", { id: "r" }).result;
    expect(questions).toMatchObject([{ to: "Zoe", form: { kind: "choices", choices: [{ value: "red" }, { value: "blue" }] } }]);
    const result = await (await teamOf(journal, role()).answer("r", questions[0]?.id ?? "", answer)).result;
    expect(result.output?.content).toBe(JSON.stringify(value));
  });

  test.each([
    [{ choices: [] }],
    [{ choices: ["a", "a"] }],
    [{ choices: ["a"], default: "b" }],
    [{ choices: ["a"], deadline: -1 }],
    [{ choices: ["a"], deadline: new Date(Number.NaN) }],
    [{ choices: ["a"], to: "" }],
    [{ choices: ["a"], schema: z.string() }],
    [{ words: "x" }],
    [{ default: 3 }],
  ])("refuses options that cannot be meant: %j", async (o) => {
    const strange = asker((ctx) => ctx.human.ask("Which?", o as never));
    const result = await teamOf(memoryJournal(), strange).run("go").result;
    expect(result.error).toMatchObject({ code: "QUESTION_INVALID" });
  });
});

describe("a deadline (Persons.H2)", () => {
  const role = (): Role => asker((ctx) => ctx.human.ask("Go?", { choices: ["yes", "no"], default: "no", deadline: 60_000 }));
  const never: HumanPort = () => new Promise<never>(() => {});

  test("takes the default in a run that waits for a person, and says so in the record", async () => {
    const [journal, clock] = [memoryJournal(), simulatedClock(1_000)];
    const asked: HumanQuestion[] = [];
    let isOver = false;
    const human: HumanPort = (question, { signal }) => {
      asked.push(question);
      signal.addEventListener("abort", () => (isOver = true));
      return never(question, { signal });
    };
    const run = teamOf(journal, role(), { clock, human }).run("go", { id: "r" });
    while (asked.length === 0) await clock.advance(0);
    expect(asked).toMatchObject([{ deadline: 61_000, default: "no" }]);
    await clock.advance(60_000);
    const result = await run.result;
    expect([result.status, result.output?.content, isOver]).toEqual(["finished", '"no"', true]);
    const ended = [];
    for await (const event of journal.read("r", 0)) if (event.type === "step.ended") ended.push(event);
    expect(ended).toMatchObject([{ value: "no", byDeadline: true, at: 61_000 }]);
    expect(clock.pending).toBe(0);
    expect(await teamOf(journal, role(), { clock }).replay("r").result).toMatchObject({ status: "finished" });
  });

  test("Persons.H3 is kept by a question that is asked again, also by another process", async () => {
    const Even = z.object({ n: z.number().refine((n) => n % 2 === 0, "must be even") });
    const even = (): Role => asker((ctx) => ctx.human.ask("Which?", { schema: Even, deadline: 60_000 }));
    const [journal, clock] = [memoryJournal(), simulatedClock(1_000)];
    const first = await teamOf(journal, even(), { clock }).run("go", { id: "r" }).result;
    await clock.advance(20_000);
    const second = await (await teamOf(journal, even(), { clock }).answer("r", first.questions[0]?.id ?? "", { n: 3 })).result;
    expect(second.questions).toMatchObject([{ deadline: 61_000 }]);
    const [live, times] = [memoryJournal(), [] as (number | undefined)[]];
    const human: HumanPort = async ({ deadline }) => {
      times.push(deadline);
      await clock.advance(1_000);
      return { n: times.length };
    };
    await teamOf(live, even(), { clock, human }).run("go").result;
    expect(times).toEqual([81_000, 81_000]);
  });

  test("without a default ends the run as waiting, and a late answer counts", async () => {
    const [journal, clock] = [memoryJournal(), simulatedClock()];
    const plain = (): Role => asker((ctx) => ctx.human.ask("Go?", { deadline: new Date(5_000) }));
    let calls = 0;
    const human: HumanPort = (question, o) => {
      calls += 1;
      return never(question, o);
    };
    const run = teamOf(journal, plain(), { clock, human }).run("go", { id: "r" });
    while (calls === 0) await clock.advance(0);
    await clock.advance(5_000);
    expect((await run.result).status).toBe("waiting");
    expect((await teamOf(journal, plain(), { clock, human }).resume("r").result).status).toBe("waiting");
    expect(calls).toBe(1);
    const [question] = (await teamOf(journal, plain(), { clock }).resume("r").result).questions;
    const result = await (await teamOf(journal, plain(), { clock }).answer("r", question?.id ?? "", "late")).result;
    expect(result.output?.content).toBe('"late"');
  });

  test("an answer before it wins, and leaves no timer", async () => {
    const [journal, clock] = [memoryJournal(), simulatedClock()];
    const result = await teamOf(journal, role(), { clock, human: () => "yes" }).run("go", { id: "r" }).result;
    expect([result.output?.content, clock.pending]).toEqual(['"yes"', 0]);
  });
});

describe("the address of a question", () => {
  const Sum = z.object({ sum: z.int() });
  const boss = defineRole({
    name: "Boss",
    human: true,
    watch: ["Other"],
    actions: [defineAction({ name: "Add", output: Sum, prompt: () => "Add!" })],
  });

  test("may be a role that a person plays, and no role that a model plays", async () => {
    for (const [to, status] of [
      ["Boss", "waiting"],
      ["Zoe", "waiting"],
      ["Ann", "failed"],
    ] as const) {
      const ann = asker((ctx) => ctx.human.ask("Who?", { to }));
      const result = await new Team({ journal: memoryJournal(), roles: [ann, boss] }).run("go").result;
      expect([to, result.status]).toEqual([to, status]);
      if (status === "failed") expect(result.error).toMatchObject({ code: "QUESTION_INVALID" });
      else expect(result.questions).toMatchObject([{ to }]);
    }
  });

  test("a person who plays a role with typed output fills in a form", async () => {
    const journal = memoryJournal();
    const team = (): Team => new Team({ journal, roles: [defineRole({ name: "Boss", human: true, actions: boss.actions })] });
    const { questions } = await team().run("go", { id: "r" }).result;
    expect(questions).toMatchObject([{ role: "Boss", form: { kind: "fields", schema: { properties: { sum: { type: "integer" } } } } }]);
    const id = questions[0]?.id ?? "";
    await expect(team().answer("r", id, { sum: "two" })).rejects.toMatchObject({ code: "QUESTION_ANSWER_INVALID" });
    const result = await (await team().answer("r", id, { sum: 2 })).result;
    expect(result.output?.instructContent).toEqual({ sum: 2 });
  });
});

describe("a port whose answers do not fit (Persons.H1)", () => {
  test("is asked again with what was wrong, and then the run waits", async () => {
    const journal = memoryJournal();
    const role = (): Role => asker((ctx) => ctx.human.ask("How many?", { schema: z.int().min(1) }));
    const texts: string[] = [];
    const human: HumanPort = ({ text }) => {
      texts.push(text);
      return "none";
    };
    const result = await teamOf(journal, role(), { human }).run("go", { id: "r" }).result;
    expect([result.status, texts.length]).toEqual(["waiting", 3]);
    expect(texts[1]).toBe('How many?\n\nYour answer did not fit: Expected a whole number of 1 or more, got "none".');
    const answers = ["no", "3"];
    const done = await teamOf(journal, role(), { human: () => answers.shift() ?? "" }).resume("r").result;
    expect([done.status, done.output?.content]).toEqual(["finished", "3"]);
  });
});
