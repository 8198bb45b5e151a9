import { describe, expect, it } from "vitest";
import { defineAction } from "../../src/role/action.ts";
import { defineRole } from "../../src/role/role.ts";
import { Team } from "../../src/team/team.ts";
import { listener } from "../runtime/town.ts";
import { hasPostgres } from "./postgres-process.ts";
import { journalIn, newSchema } from "./postgres-setup.ts";

describe.runIf(hasPostgres)("a run that another owner has in Postgres", () => {
  it("is followed; what is published and stopped here is done there, and taking it ends the owner's run as moved", async () => {
    const schema = newSchema();
    const [first, second] = await Promise.all([journalIn(schema), journalIn(schema)]);
    let begin = (): void => {};
    const begun = new Promise<void>((resolve) => (begin = resolve));
    let letGo: (word: string) => void = () => undefined;
    const word = new Promise<string>((resolve) => (letGo = resolve));
    const effect = (): Promise<string> => (begin(), word);
    const Work = defineAction({ name: "Work", run: (ctx) => ctx.step("work", {}, effect) });
    const roles = [defineRole({ name: "Ann", actions: [Work] }), listener("Bob", { watch: ["UserFeedback"] })];
    const [owner, team] = [new Team({ journal: first, roles }), new Team({ journal: second, roles })];
    const owned = owner.run("go", { id: "r" });
    await begun;
    const run = team.run("go", { id: "r" });
    await run.started;
    expect(await run.publish("more")).toMatchObject({ recipients: ["Bob"], waits: false });
    run.stop("enough");
    expect([(await run.result).status, (await owned.result).status]).toEqual(["stopped", "stopped"]);
    const again = owner.resume("r");
    await again.started;
    const taken = team.resume("r", { onOwned: "take" });
    await taken.started;
    letGo("well");
    expect([(await again.result).status, (await taken.result).status]).toEqual(["moved", "finished"]);
  });
});
