import { describe, expect, test } from "vitest";
import { defineAction } from "../../src/role/action.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { Team } from "../../src/team/team.ts";

/** Both ask their person at once, after a call that is paid. */
function asking(): Role[] {
  const ask = (name: string): Role =>
    defineRole({
      name,
      actions: [
        defineAction({
          name: `${name} asks`,
          run: async (ctx) => `${await ctx.ask(`draft of ${name}`)}: ${await ctx.human.ask(`Is it good, ${name}?`)}`,
        }),
      ],
    });
  return [ask("Ann"), ask("Bob")];
}

async function waiting(): Promise<{ journal: Journal; ids: readonly string[]; calls: () => number }> {
  const journal = memoryJournal();
  const model = scriptedModel(() => "draft");
  const result = await new Team({ seed: "s", journal, roles: asking(), model }).run("go", { id: "r" }).result;
  expect([result.status, result.questions.map(({ role, text }) => [role, text])]).toEqual([
    "waiting",
    [
      ["Ann", "Is it good, Ann?"],
      ["Bob", "Is it good, Bob?"],
    ],
  ]);
  return { journal, ids: result.questions.map(({ id }) => id), calls: () => model.calls.length };
}

describe("a run that waits for people", () => {
  test("continues in another team, one answer at a time, and pays nothing twice", async () => {
    const { journal, ids, calls } = await waiting();
    const [ann = "", bob = ""] = ids;
    const first = await (await new Team({ journal, roles: asking(), model: scriptedModel([]) }).answer("r", bob, "yes")).result;
    expect([first.status, first.questions.map(({ role }) => role)]).toEqual(["waiting", ["Ann"]]);
    const second = await (await new Team({ journal, roles: asking(), model: scriptedModel([]) }).answer("r", ann.slice(0, 8), "no")).result;
    expect([second.status, second.questions]).toEqual(["finished", []]);
    expect(second.outputs.map(({ content }) => content)).toEqual(["draft: no", "draft: yes"]);
    expect(calls()).toBe(2);
  });

  test("refuses a second answer, an unknown question, an unknown run, and what is no text", async () => {
    const { journal, ids } = await waiting();
    const [ann = ""] = ids;
    const team = (): Team => new Team({ journal, roles: asking(), model: scriptedModel([]) });
    await (
      await team().answer("r", ann, "yes")
    ).result;
    const before = (await journal.runs())[0]?.events;
    await expect(team().answer("r", ann, "no")).rejects.toMatchObject({ code: "QUESTION_ANSWERED" });
    await expect(team().answer("r", "feedbeef", "no")).rejects.toMatchObject({ code: "QUESTION_UNKNOWN" });
    await expect(team().answer("r", "", "no")).rejects.toMatchObject({ code: "QUESTION_UNKNOWN" });
    await expect(team().answer("nobody's", ann, "no")).rejects.toMatchObject({ code: "RUN_UNKNOWN" });
    await expect(team().answer("r", ids[1] ?? "", 7 as unknown as string)).rejects.toMatchObject({ code: "OPTION_INVALID" });
    await expect(new Team({ journal, roles: asking().slice(1) }).answer("r", ids[1] ?? "", "no")).rejects.toMatchObject({
      code: "TEAM_CHANGED",
    });
    expect((await journal.runs())[0]?.events).toBe(before);
  });

  test("is one run for all who ask for it while it is under way", async () => {
    const { journal, ids } = await waiting();
    const team = new Team({ journal, roles: asking(), model: scriptedModel([]) });
    const [ann = "", bob = ""] = ids;
    const run = await team.answer("r", ann, "yes");
    expect(team.resume("r")).toBe(run);
    await expect(team.answer("r", bob, "too early")).rejects.toMatchObject({ code: "OPTION_INVALID" });
    await run.result;
    expect((await (await team.answer("r", bob, "now")).result).status).toBe("finished");
  });

  test("takes a secret out of an answer before it is written down", async () => {
    const { journal, ids } = await waiting();
    const team = new Team({ journal, roles: asking(), model: scriptedModel([]), secrets: ["my-password"] });
    await (
      await team.answer("r", ids[0] ?? "", "it is my-password")
    ).result;
    for await (const event of journal.read("r", 0)) expect(JSON.stringify(event)).not.toContain("my-password");
  });
});
