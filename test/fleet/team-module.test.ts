import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type TeamMeans, teamsOf } from "../../src/cli/commands/worker.ts";
import { memoryJournal, Team } from "../../src/index.ts";
import { silentLogger } from "../../src/kernel/emit.ts";
import { memoryRunDriver } from "../../src/testing/index.ts";
import { errorOf, scratchFolder } from "../workspace/scratch.ts";

const means: TeamMeans = {
  journal: memoryJournal(),
  driver: memoryRunDriver(),
  logger: silentLogger,
  workspaces: { folderOf: (runId) => runId },
};
const folder = scratchFolder();

/** The modules of the tests make their teams by this class, because the package is not installed beside them. */
Object.assign(globalThis, { TestTeam: Team });

async function faultOf(code: string, name: string): Promise<{ readonly code?: unknown; readonly message: string }> {
  writeFileSync(join(folder, name), code);
  return errorOf(() => teamsOf(name, folder, means));
}

describe("a module of teams", () => {
  it("gives the teams of its functions, also of a list of them", async () => {
    const code = `const team = (name) => async ({ journal }) => new TestTeam({ name, journal });
      export default [team("a"), team("b")];
      export const third = team("c");`;
    writeFileSync(join(folder, "good.mjs"), code);
    expect((await teamsOf("good.mjs", folder, means)).map(({ name }) => name).sort()).toEqual(["a", "b", "c"]);
  });

  it("leaves exports alone that are no functions", async () => {
    const code = `export class Writer {}
      export const model = { id: "m" }, rounds = 3, names = ["Ada", "Bob"], none = undefined;
      export const writers = ({ journal }) => new TestTeam({ name: "writers", journal });
      export default { writers };`;
    writeFileSync(join(folder, "mixed.mjs"), code);
    expect((await teamsOf("mixed.mjs", folder, means)).map(({ name }) => name)).toEqual(["writers"]);
  });

  it.each([
    ["it exports nothing", "", "got nothing"],
    ["no export is a function", "export const writers = 5, readers = [];", "got writers, readers"],
    ["a list has more than functions", "export const writers = [() => ({}), 5];", "got"],
    ["an export is a team", `export const writers = new TestTeam({ name: "w" });`, "export writers, got"],
    ["a function returns no team", "export const writers = () => ({});", "got"],
    ["a function fails", `export const writers = () => { throw new Error("no key"); };`, "no key"],
    ["a team has another journal", `export const writers = () => new TestTeam({ name: "w" });`, "journal"],
  ])("is refused when %s", async (name, code, said) => {
    const error = await faultOf(code, `${name.replaceAll(" ", "-")}.mjs`);
    expect([error.code, error.message.includes(said)]).toEqual(["TEAMS_INVALID", true]);
  });

  it("is refused when it is not there or no JavaScript", async () => {
    expect(await errorOf(() => teamsOf("missing.mjs", folder, means))).toMatchObject({ code: "TEAMS_UNREADABLE" });
    expect(await faultOf("export const =", "broken.mjs")).toMatchObject({ code: "TEAMS_UNREADABLE" });
  });
});
