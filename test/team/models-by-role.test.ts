import { describe, expect, test } from "vitest";
import { defineAction } from "../../src/role/action.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { Team } from "../../src/team/team.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";

const ask = (name: string): Role => defineRole({ name, actions: [defineAction({ name: `Ask${name}` })] });

describe("models by the names of roles", () => {
  test("answer for a role in place of its own model and the team's, also under another name", async () => {
    const [team, own, given] = [scriptedModel(["team"]), scriptedModel(["own"]), scriptedModel(["given", "given"])];
    const ben = defineRole({ name: "Ben", model: own, actions: [defineAction({ name: "AskBen" })] });
    const company = new Team({ roles: [ask("Ann"), ben], model: team, models: { Ben: given, Cleo: given } });
    company.hire(ben, { name: "Cleo" });
    const { outputs } = await company.run("go").result;
    expect(outputs.map(({ sentFrom, content }) => `${sentFrom}: ${content}`).toSorted()).toEqual([
      "Ann: team",
      "Ben: given",
      "Cleo: given",
    ]);
    expect(own.calls).toEqual([]);
  });

  test("are refused when one is no model", () => {
    expect(() => new Team({ models: { Ann: {} as never } })).toThrow(/Expected models.Ann to be a model, got {}/);
  });
});
