import { describe, expect, it } from "vitest";
import { defineAction, defineRole, memoryJournal, Team } from "../../src/index.ts";
import type { TeamOpener } from "../../src/server/index.ts";
import { all, clientOf, door, serving, waiters } from "./served-team.ts";

describe("a server that closes", () => {
  it("DrivenRuns.R3 waits until the teams of its runs are closed", async () => {
    const [journal, gate, closing] = [memoryJournal(), door(), door()];
    const closed: string[] = [];
    const teams: TeamOpener = () =>
      Promise.resolve({
        team: waiters(gate, journal),
        close: async () => {
          closing.open();
          await new Promise((resolve) => setImmediate(resolve));
          closed.push("team");
        },
      });
    const server = serving({ teams, journal });
    await clientOf(server).start({ idea: "go" });
    gate.open();
    await server.close();
    expect(closed).toEqual(["team"]);
  });

  it("DrivenRuns.R3 stops the run of an answer that it meets, and the run goes on at the next start", async () => {
    const [journal, gate, opening, work] = [memoryJournal(), door(), door(), door()];
    const Ask = defineAction({
      name: "Ask",
      run: async (ctx) => {
        const where = await ctx.human.ask("Where?");
        return ctx.step("go", {}, async () => {
          await work.passed;
          return String(where);
        });
      },
    });
    const team = new Team({ roles: [defineRole({ name: "Ada", actions: [Ask] })], journal });
    const answer = team.answer.bind(team);
    team.answer = async (...given) => {
      opening.open();
      await gate.passed;
      return answer(...given);
    };
    const server = serving({ team });
    const client = clientOf(server);
    const { id } = await client.start({ idea: "go" });
    await all(client.events(id));
    const question = (await client.read(id)).questions?.[0]?.id ?? "";
    const answered = client.answer(id, question, "north");
    await opening.passed;
    const closed = server.close({ grace: 0 });
    gate.open();
    await Promise.all([answered, closed]);
    expect((await all(journal.read(id, 0))).at(-1)).toMatchObject({ type: "run.ended", error: { code: "SERVER_CLOSING" } });
    work.open();
    const next = serving({ team });
    await all(clientOf(next).events(id));
    expect((await clientOf(next).read(id)).status).toBe("finished");
  });
});
