import { describe, expect, test } from "vitest";
import type { TroupeError } from "../../src/kernel/errors.ts";
import { defineAction } from "../../src/role/action.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import { answering, contents, listener } from "../runtime/town.ts";
import { eventsOf } from "./recorded.ts";

const echo = (goal = "", watch: readonly string[] = ["UserRequirement"]): Role =>
  answering("Ann", (rc) => rc.news.map(({ content }) => rc.message(content)), { goal, watch });

async function finished(...roles: readonly Role[]): Promise<Journal> {
  const journal = memoryJournal();
  await new Team({ seed: "s", journal, roles }).run("idea", { id: "r" }).result;
  return journal;
}

function differencesIn(error: TroupeError | undefined): unknown {
  return (error?.data as { readonly differences?: unknown } | undefined)?.differences;
}

describe("a team that changed since", () => {
  test("is told role by role and trait by trait, in the text and as data", async () => {
    const journal = await finished(echo("short poems"), listener("Bob"));
    const now = [echo("long poems", ["UserFeedback"]), listener("Cid")];
    const { error } = await new Team({ journal, roles: now }).resume("r").result;
    expect(error).toMatchObject({ code: "TEAM_CHANGED" });
    expect(differencesIn(error)).toEqual([
      { role: "Bob", kind: "missing" },
      { role: "Ann", kind: "changed", trait: "goal", from: '"short poems"', to: '"long poems"' },
      { role: "Ann", kind: "changed", trait: "watch", from: '["UserRequirement"]', to: '["UserFeedback"]' },
      { role: "Cid", kind: "new" },
    ]);
    expect(error?.message).toContain('Bob is missing; Ann: goal was "short poems", is "long poems"; Ann: watch was');
    expect(error?.message).toContain('onTeamChange: "continue"');
  });

  test("continues by continue: the change is a warning and in the record, and the next resume knows it", async () => {
    const journal = await finished(echo("short"));
    const warnings: string[] = [];
    const logger = { debug() {}, info() {}, error() {}, warn: (text: string) => void warnings.push(text) };
    const team = new Team({ journal, roles: [echo("long"), listener("Cid")], logger });
    const result = await team.resume("r", { add: ["more"], onTeamChange: "continue" }).result;
    expect([result.status, contents(result.outputs)]).toEqual(["finished", ["idea", "more"]]);
    expect(warnings).toEqual(['Run r continues with another team: Ann: goal was "short", is "long"; Cid is new.']);
    const resumed = (await eventsOf(journal, "r")).find((event) => event.type === "run.resumed");
    expect(resumed?.roles?.map(({ name }) => name)).toEqual(["Ann", "Cid"]);
    expect((await new Team({ journal, roles: [echo("long"), listener("Cid")] }).resume("r", { add: ["again"] }).result).status).toBe(
      "finished",
    );
  });

  test("a message that is sent by continue reaches the roles that the run has; a new one joins with the resume", async () => {
    const journal = await finished(echo());
    const team = new Team({ journal, roles: [echo("more"), answering("Cid", (rc) => rc.message(`Cid: ${contents(rc.news).join()}`))] });
    await expect(team.send("r", "hello")).rejects.toMatchObject({ code: "TEAM_CHANGED" });
    const receipt = await team.send("r", "hello", { onTeamChange: "continue" });
    expect(receipt).toMatchObject({ recipients: ["Ann"], waits: true });
    const { outputs } = await team.resume("r", { add: ["all"], onTeamChange: "continue" }).result;
    expect(contents(outputs)).toEqual(["idea", "hello", "all", "Cid: all"]);
  });

  test("the text that describes an action is a trait, its code is none", async () => {
    const writer = (description: string, run: () => string): Role =>
      defineRole({ name: "Wim", actions: [defineAction({ name: "Write", description, run })] });
    const journal = await finished(writer("Write a poem.", () => "one"));
    expect((await new Team({ journal, roles: [writer("Write a poem.", () => "two")] }).resume("r").result).status).toBe("finished");
    const { error } = await new Team({ journal, roles: [writer("Write a novel.", () => "one")] }).resume("r").result;
    expect(differencesIn(error)).toMatchObject([
      { role: "Wim", kind: "changed", trait: "action Write", from: '"Write a poem."', to: '"Write a novel."' },
    ]);
  });

  test("takes what the handle of a run publishes, hires or retires by continue", async () => {
    const journal = await finished(echo(), listener("Bob"));
    const team = new Team({ journal, roles: [echo(), listener("Bob")] });
    const run = team.resume("r");
    await run.result;
    team.hire(listener("Cid"));
    for (const refused of [run.publish("hello"), run.hire(listener("Dan")), run.retire("Bob")])
      await expect(refused).rejects.toMatchObject({ code: "TEAM_CHANGED" });
    const o = { onTeamChange: "continue" } as const;
    expect((await run.publish("hello", o)).recipients).toEqual(["Ann", "Bob"]);
    await run.hire(listener("Dan"), o);
    await run.retire("Bob", o);
    const { status } = await team.resume("r", o).result;
    expect(status).toBe("finished");
  });
});
