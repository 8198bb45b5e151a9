import { describe, expect, test } from "vitest";
import { createMessage, type Message } from "../../src/message/message.ts";
import type { Role } from "../../src/role/role.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import { answering, contents } from "../runtime/town.ts";
import { eventsOf } from "./recorded.ts";

const echo = (): Role[] => [answering("Ann", (rc) => rc.message(`heard ${rc.news[0]?.content}`))];

describe("an id that the journal knows", () => {
  const order = (content: string, count: number): Message =>
    createMessage(content, { instructContent: { count }, metadata: { shop: "a" }, sendTo: "Ann" });

  test.each<[string, string | Message, string | Message]>([
    ["another text", "write a chess game", "write a tax program"],
    ["another payload", order("go", 1), order("go", 2)],
    ["another address", order("go", 1), createMessage("go", { instructContent: { count: 1 }, metadata: { shop: "a" } })],
    ["a text instead of a message", order("go", 1), "go"],
  ])("refuses %s, and leaves the record as it is", async (_what, first, second) => {
    const journal = memoryJournal();
    expect((await new Team({ journal, roles: echo() }).run(first, { id: "r" }).result).status).toBe("finished");
    const before = await eventsOf(journal, "r");
    const result = await new Team({ journal, roles: echo() }).run(second, { id: "r" }).result;
    expect([result.status, result.error?.name, result.error?.code]).toEqual(["failed", "JournalError", "RUN_IDEA_DIFFERS"]);
    expect(result.messages).toEqual([]);
    expect(await eventsOf(journal, "r")).toEqual(before);
  });

  test("takes an equal idea: another message object of the same words and fields", async () => {
    const journal = memoryJournal();
    await new Team({ journal, roles: echo() }).run(order("go", 1), { id: "r" }).result;
    const again = await new Team({ journal, roles: echo() }).run(order("go", 1), { id: "r" }).result;
    expect([again.status, again.output?.content]).toEqual(["finished", "heard go"]);
  });

  test("compares ideas as they are recorded, without their secrets", async () => {
    const journal = memoryJournal();
    const secrets = ["hunter2"];
    await new Team({ journal, roles: echo(), secrets }).run("log in with hunter2", { id: "r" }).result;
    const same = await new Team({ journal, roles: echo(), secrets }).run("log in with hunter2", { id: "r" }).result;
    expect(same.status).toBe("finished");
    const other = await new Team({ journal, roles: echo(), secrets }).run("log out with hunter2", { id: "r" }).result;
    expect(other.error?.code).toBe("RUN_IDEA_DIFFERS");
    expect(JSON.stringify([other.error?.message, other.error?.data])).not.toContain("hunter2");
  });

  test("Runs.U1 refuses another idea while the run is under way, and gives that run to an equal one", async () => {
    const team = new Team({ roles: echo() });
    const run = team.run("go", { id: "r" });
    expect(team.run("go", { id: "r" })).toBe(run);
    const other = await team.run("stay", { id: "r" }).result;
    expect([other.status, other.error?.code]).toEqual(["failed", "RUN_IDEA_DIFFERS"]);
    expect(contents((await run.result).outputs)).toEqual(["heard go"]);
  });
});
