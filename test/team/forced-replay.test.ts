import { describe, expect, test } from "vitest";
import { defineAction } from "../../src/role/action.ts";
import type { RunResult } from "../../src/runtime/run-result.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { Team } from "../../src/team/team.ts";
import { eventsOf } from "./recorded.ts";

const Plan = defineAction({ name: "Plan", prompt: (ctx) => `Plan: ${ctx.text}` });

function builder(prompt: string): Role {
  return defineRole({ name: "Builder", watch: [Plan], goal: prompt, actions: [Build(prompt)] });
}

const builds = new Map<string, ReturnType<typeof defineAction>>();

function Build(prompt: string): ReturnType<typeof defineAction> {
  const known = builds.get(prompt) ?? defineAction({ name: "Build", prompt: (ctx) => `${prompt}: ${ctx.text}` });
  builds.set(prompt, known);
  return known;
}

const planner = defineRole({ name: "Planner", actions: [Plan] });
const reader = (name: string): Role =>
  defineRole({ name, watch: ["Build"], actions: [defineAction({ name: `${name} reads`, prompt: (ctx) => ctx.text })] });
const model = () => scriptedModel((request) => `answer to ${request.messages.at(-1)?.content as string}`);

interface Stretch {
  readonly roles: readonly Role[];
  readonly rounds: number;
}

/** A run that continues with another team after some rounds, by force. */
async function forcedRun(...[first, ...others]: readonly Stretch[]): Promise<Journal> {
  const journal = memoryJournal();
  const run = new Team({ seed: "s", journal, model: model(), roles: first?.roles ?? [] }).run("a chair", {
    id: "r",
    rounds: first?.rounds ?? 1,
  });
  expect((await run.result).error).toBeUndefined();
  for (const { roles, rounds } of others) {
    const result = await new Team({ journal, model: model(), roles }).resume("r", { rounds, onTeamChange: "continue" }).result;
    expect(result.error).toBeUndefined();
  }
  return journal;
}

interface Replayed {
  readonly error: string | undefined;
  readonly isEqual: boolean;
  readonly warnings: readonly string[];
}

async function replayed(journal: Journal, roles: readonly Role[]): Promise<Replayed> {
  const run = new Team({ journal, roles, model: scriptedModel([]) }).replay("r");
  const warnings: string[] = [];
  run.on("warning", ({ text }) => warnings.push(text));
  const again: RunEvent[] = [];
  for await (const event of run) again.push(event);
  const { error } = await run.result;
  return { error: error?.code, isEqual: canonical(again) === canonical(await eventsOf(journal, "r")), warnings };
}

const before = [planner, builder("Build")];
const after = [planner, builder("Build well"), reader("Ann")];

describe("a fork of a run that was forced to continue with another team", () => {
  test("needs those who were hired by force, and continues with them", async () => {
    const journal = await forcedRun({ roles: before, rounds: 1 }, { roles: after, rounds: 2 });
    const fork = (roles: readonly Role[]): Promise<RunResult> =>
      new Team({ journal, roles, model: model() }).fork("r", { rounds: 100 }).result;
    const refused = await fork(before);
    expect(refused.error).toMatchObject({ code: "TEAM_CHANGED", message: expect.stringContaining("Ann is missing") as string });
    const forked = await fork(after);
    expect([forked.status, forked.fork?.paid]).toEqual(["finished", 1]);
    const replay = new Team({ journal, roles: after, model: scriptedModel([]) }).replay(forked.runId);
    expect((await replay.result).error).toBeUndefined();
    expect(await journal.runs()).toHaveLength(2);
  });
});

describe("the replay of a run that was forced to continue with another team", () => {
  test("Replay.P5 is equal with the team it continued with, and says from where that is", async () => {
    const journal = await forcedRun({ roles: before, rounds: 1 }, { roles: after, rounds: 100 });
    const events = await eventsOf(journal, "r");
    const resumed = events.find((event) => event.type === "run.resumed");
    expect(events.filter((event) => event.type === "act.ended").map(({ role }) => role)).toEqual(["Planner", "Builder", "Ann"]);
    const { warnings, ...told } = await replayed(journal, after);
    expect(told).toEqual({ error: undefined, isEqual: true });
    expect(warnings).toEqual([expect.stringContaining("its events from event 0 on")]);
    const other = await replayed(journal, before);
    expect(other).toMatchObject({ error: undefined, isEqual: true, warnings: [expect.stringContaining(`event ${resumed?.seq} on`)] });
  });

  test("finds what its own part does otherwise, and is refused for a team that lived no part", async () => {
    const journal = await forcedRun({ roles: before, rounds: 1 }, { roles: after, rounds: 100 });
    builds.delete("Build well");
    const sloppy = builder("Build well");
    const changed = defineRole({
      name: "Ann",
      watch: ["Build"],
      actions: [defineAction({ name: "Ann reads", prompt: (ctx) => `now: ${ctx.text}` })],
    });
    expect((await replayed(journal, [planner, sloppy, changed])).error).toBe("DIFFERENCE");
    expect((await replayed(journal, [planner, builder("Build ill")])).error).toBe("TEAM_CHANGED");
  });
});
