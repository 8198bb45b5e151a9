import { describe, expect, test } from "vitest";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import { answering } from "../runtime/town.ts";
import { appendingBy, eventsOf } from "./recorded.ts";

function teamOn(journal: Journal): Team {
  return new Team({ seed: "s", journal, roles: [answering("Ann", (rc) => rc.news.map(({ content }) => rc.message(content)))] });
}

describe("the start of a run", () => {
  test("Run.H4 is in the journal, with the idea, when it resolves", async () => {
    const journal = memoryJournal();
    const run = teamOn(journal).run("idea", { id: "r" });
    await run.started;
    const types = (await eventsOf(journal, "r")).map(({ type }) => type);
    expect(types.slice(0, 2)).toEqual(["run.started", "message"]);
    await run.result;
    await expect(run.started).resolves.toBeUndefined();
  });

  test("of a resume, a fork, a replay and a run that had finished resolves too", async () => {
    const team = teamOn(memoryJournal());
    await team.run("idea", { id: "r" }).result;
    await team.resume("r").started;
    await team.fork("r").started;
    await team.replay("r").started;
    const more = team.resume("r", { add: ["more"] });
    await more.started;
    expect((await eventsOf(team.journal, "r")).map(({ type }) => type)).toContain("run.resumed");
    await more.result;
  });

  test("Run.H4 of a run that is refused or stopped before rejects with its error, handled or not", async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on("unhandledRejection", note);
    const team = teamOn(memoryJournal());
    const unknown = team.resume("nobody's");
    await expect(unknown.started).rejects.toMatchObject({ code: "RUN_UNKNOWN" });
    const stopped = team.run("idea", { signal: AbortSignal.abort() });
    await stopped.result;
    const refused = teamOn(appendingBy(memoryJournal(), () => Promise.reject(new Error("the disk is full")))).run("idea");
    await refused.result;
    await new Promise((resolve) => void setImmediate(resolve));
    process.off("unhandledRejection", note);
    await expect(refused.started).rejects.toThrow("the disk is full");
    expect(unhandled).toEqual([]);
  });
});
