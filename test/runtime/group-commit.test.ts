import { describe, expect, test } from "vitest";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import type { Role } from "../../src/role/role.ts";
import { Team } from "../../src/team/team.ts";
import type { TeamOptions } from "../../src/team/team-options.ts";
import { answering } from "./town.ts";
import { appendingBy } from "../team/recorded.ts";

const COUNT = 64;

/** A journal, and the types of the events that came with each append. */
function watched(): { journal: Journal; appends: string[][] } {
  const inner = memoryJournal();
  const appends: string[][] = [];
  const journal = appendingBy(inner, (runId, epoch, seq, events) => {
    appends.push(events.map((event) => event.type));
    return inner.append(runId, epoch, seq, events);
  });
  return { journal, appends };
}

/** Counts the events of each type that came with each append, up to the end of the last activation. */
async function appendsOf(roles: readonly Role[], options: TeamOptions): Promise<Record<string, number>[]> {
  const { journal, appends } = watched();
  const team = new Team({ seed: "s", journal, roles, concurrency: COUNT, ...options });
  expect((await team.run("go").result).status).toBe("finished");
  const counted = appends.map((types) => {
    const counts: Record<string, number> = {};
    for (const type of types) if (type !== "run.ended") counts[type] = (counts[type] ?? 0) + 1;
    return counts;
  });
  return counted.filter((counts) => Object.keys(counts).length > 0);
}

/** Takes so many steps, one after the other. */
function worker(name: string, steps: number): Role {
  return answering(name, async (rc) => {
    for (let step = 0; step < steps; step += 1) await rc.step("work", step, () => Promise.resolve(step));
  });
}

describe("RunLog.W5 what comes together is written together", () => {
  test.each(["rounds", "eager"] as const)("roles that work side by side, %s", async (scheduler) => {
    const roles = Array.from({ length: COUNT }, (_, place) => worker(`Role${place}`, 2));
    const end = scheduler === "rounds" ? { "act.ended": COUNT, "round.ended": 1 } : { "act.ended": COUNT };
    expect(await appendsOf(roles, { scheduler })).toEqual([
      { "run.started": 1, message: 1 },
      { "act.started": COUNT, "step.started": COUNT },
      { "step.ended": COUNT },
      { "step.started": COUNT },
      { "step.ended": COUNT },
      end,
    ]);
  });

  test.each(["rounds", "eager"] as const)("the last that roles did, and the end of the run, %s", async (scheduler) => {
    const { journal, appends } = watched();
    const roles = [answering("Ann", (rc) => rc.message("done"))];
    expect((await new Team({ seed: "s", journal, roles, scheduler }).run("go").result).status).toBe("finished");
    const last = scheduler === "rounds" ? ["act.ended", "round.ended", "run.ended"] : ["act.ended", "run.ended"];
    expect(appends).toEqual([["run.started", "message"], last]);
  });

  test("a role alone: what it has said goes with the first step of who hears it", async () => {
    const next = (n: number): Role =>
      answering(
        `Role${n}`,
        async (rc) => {
          await rc.step("work", n, () => Promise.resolve(n));
          return rc.message("next", { sendTo: n === 3 ? "<none>" : `Role${n + 1}` });
        },
        n === 0 ? {} : { watch: [] },
      );
    const steps = [{ "act.started": 1, "step.started": 1 }, { "step.ended": 1 }];
    const passing = [{ "act.ended": 1, "act.started": 1, "step.started": 1 }, { "step.ended": 1 }];
    expect(await appendsOf([0, 1, 2, 3].map(next), { scheduler: "eager" })).toEqual([
      { "run.started": 1, message: 1 },
      ...steps,
      ...passing,
      ...passing,
      ...passing,
      { "act.ended": 1 },
    ]);
  });
});
