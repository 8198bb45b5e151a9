import { describe, expect, test } from "vitest";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import type { Role } from "../../src/role/role.ts";
import { Team } from "../../src/team/team.ts";
import type { RolesRequest } from "../../src/team/roster.ts";
import { answering, contents, listener } from "../runtime/town.ts";
import { eventsOf } from "./recorded.ts";

/** A role of one run. */
function keeper(runId = "none"): Role {
  return answering("Kim", (rc) => rc.message(`${runId}: ${contents(rc.news).join(", ")}`));
}

/** A team that makes the roles of each run, and the runs that it made them for. */
function keepers(journal: Journal = memoryJournal()): { readonly team: Team; readonly asked: string[]; readonly journal: Journal } {
  const asked: string[] = [];
  const roles = ({ runId }: RolesRequest): Role[] => (asked.push(runId), [keeper(runId)]);
  return { team: new Team({ journal, roles }), asked, journal };
}

describe("a team with a function of roles", () => {
  test("Roster.N3 gives each run roles of its own, before those that were hired", async () => {
    const { team, asked } = keepers();
    team.hire(listener("Lee"));
    const ideas = ["tea", "ink", "jam"];
    const results = await Promise.all(ideas.map((idea) => team.run(idea, { id: idea }).result));
    expect([results.map(({ output }) => output?.content), asked.toSorted()]).toEqual([
      ideas.map((idea) => `${idea}: ${idea}`),
      ideas.toSorted(),
    ]);
    expect((await eventsOf(team.journal, "tea"))[0]).toMatchObject({ roles: [{ name: "Kim" }, { name: "Lee" }] });
    expect(team.roleNames).toEqual(["Lee"]);
  });

  test("continues a run, changes it, forks it and repeats it with roles of that run", async () => {
    const { team, asked, journal } = keepers();
    await team.run("tea", { id: "a" }).result;
    const { team: later, asked: askedLater } = keepers(journal);
    await later.send("a", "milk");
    expect((await later.resume("a").result).output?.content).toBe("a: milk");
    expect((await later.fork("a", { id: "b", add: ["salt"] }).result).status).toBe("finished");
    expect((await later.replay("a").result).error).toBeUndefined();
    expect([asked, askedLater]).toEqual([["a"], ["a", "a", "b", "a"]]);
  });

  test("is asked by the owner of the run, after its folder is there", async () => {
    const order: string[] = [];
    const roles = (): Role[] => (order.push("roles"), [keeper()]);
    await new Team({ roles }).run("tea", { prepare: async () => void order.push("folder") }).result;
    expect(order).toEqual(["folder", "roles"]);
  });

  test("records nothing where the function fails, returns none or is too late, and continues the run when it does not", async () => {
    const journal = memoryJournal();
    const codeBy = async (roles: () => Role[] | Promise<Role[]>, signal?: AbortSignal): Promise<string | undefined> =>
      (await new Team({ journal, roles }).run("tea", { id: "a", ...(signal === undefined ? {} : { signal }) }).result).error?.code;
    const failing = (): never => {
      throw new TypeError("no disk");
    };
    const codes = [await codeBy(failing), await codeBy(() => []), await codeBy(() => 7 as unknown as Role[])];
    codes.push(await codeBy(() => new Promise(() => {}), AbortSignal.timeout(5)));
    expect([codes, await eventsOf(journal, "a")]).toEqual([["ROLES_FAILED", "ROLES_NONE", "ROLE_INVALID", "ABORTED"], []]);
    expect((await keepers(journal).team.run("tea", { id: "a" }).result).status).toBe("finished");
  });

  test("hires into a run by a name that a function of definitions knows for it", async () => {
    const asked: string[] = [];
    const reserve = ({ runId }: RolesRequest): Role[] => (asked.push(runId), [listener("Lee")]);
    const team = new Team({ roles: () => [keeper()], reserve });
    await team.run("tea", { id: "a" }).result;
    await team.hireInto("a", "Lee");
    await team.hireInto("a", "Kim", { name: "Kit" });
    await expect(team.hireInto("a", "Max")).rejects.toThrow(/There are: Lee, Kim/);
    await team.send("a", "milk");
    expect((await team.resume("a").result).status).toBe("finished");
    expect([new Set(asked), team.reserveNames]).toEqual([new Set(["a"]), []]);
  });
});
