import { describe, expect, test } from "vitest";
import type { EffectDoor, RoleContext } from "../../src/role/context.ts";
import { DifferenceError } from "../../src/kernel/errors.ts";
import { retry } from "../../src/role/failure-policy.ts";
import type { Role } from "../../src/role/role.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { Team } from "../../src/team/team.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { answering } from "../runtime/town.ts";
import { eventsOf, journalWith } from "./recorded.ts";

type Life = (rc: RoleContext) => Promise<void>;

/** A role that lives as `life` says. */
const ann = (life: Life, options: Parameters<typeof answering>[2] = {}): Role => answering("Ann", life, options);

const step = (rc: RoleContext, name: string): Promise<string> => rc.step(name, {}, () => Promise.resolve(name));

/** The record of a run up to the first event that fits, as a process that died then would leave it. */
async function diedAfter(journal: Journal, fits: (event: RunEvent) => boolean): Promise<Journal> {
  const events = await eventsOf(journal, "r");
  const last = events.findIndex(fits);
  expect(last).toBeGreaterThan(0);
  return journalWith("r", events.slice(0, last + 1));
}

const answered = (name: string, events: readonly RunEvent[] = []): ((event: RunEvent) => boolean) => {
  const keys = new Set(events.flatMap((event) => (event.type === "step.started" && event.name === name ? [event.key] : [])));
  return (event) => {
    if (event.type === "step.started" && event.name === name) keys.add(event.key);
    return event.type === "step.ended" && keys.has(event.key);
  };
};

async function replayed(
  journal: Journal,
  role: Role,
): Promise<{ readonly error: unknown; readonly log: string; readonly recorded: string }> {
  const run = new Team({ journal, roles: [role] }).replay("r");
  const again: RunEvent[] = [];
  for await (const event of run) again.push(event);
  return { error: (await run.result).error, log: canonical(again), recorded: canonical(await eventsOf(journal, "r")) };
}

async function expectEqual(journal: Journal, role: Role): Promise<void> {
  const { error, log, recorded } = await replayed(journal, role);
  expect(error === undefined || !(error instanceof DifferenceError), String(error)).toBe(true);
  expect(log).toBe(recorded);
}

/** Writes a file, then looks at it. The write fails where it is done the second time. */
function writer(o: { readonly caught?: boolean; readonly inside?: boolean } = {}): { readonly life: Life; readonly writes: string[] } {
  const writes: string[] = [];
  let live = 0;
  const write = (door: Pick<EffectDoor, "mode">): Promise<string> => {
    writes.push(door.mode);
    if (door.mode === "live") live += 1;
    return live === 2 ? Promise.reject(new Error("the disk is full")) : Promise.resolve("written");
  };
  const writing = (rc: RoleContext): Promise<unknown> =>
    o.inside === true
      ? rc.step("outer", {}, (door) => door.step({ kind: "step", name: "write", request: {}, again: true }, write), { again: true })
      : rc.step("write", {}, write, { again: true });
  return {
    writes,
    life: async (rc) => {
      await (o.caught === true ? writing(rc).catch((error: Error) => step(rc, error.message)) : writing(rc));
      await step(rc, "look");
      rc.publish(rc.message("done"));
    },
  };
}

describe("a write that is done again and fails", () => {
  test.each<[string, { readonly inside?: boolean; readonly caught?: boolean }]>([
    ["ends its activation", {}],
    ["inside another one", { inside: true }],
    ["is caught by its role", { caught: true }],
  ])("when the run continues, and %s, fails in a replay too", async (_name, o) => {
    const { life, writes } = writer(o);
    const whole = memoryJournal();
    await new Team({ seed: "s", journal: whole, roles: [ann(life)] }).run("go", { id: "r" }).result;
    const journal = await diedAfter(whole, answered(o.inside === true ? "outer" : "write"));
    const resumed = await new Team({ journal, roles: [ann(life)] }).resume("r").result;
    expect([resumed.status, resumed.error?.message]).toEqual(
      o.caught === true ? ["finished", undefined] : ["failed", expect.stringContaining("the disk is full")],
    );
    await expectEqual(journal, ann(life));
    expect(writes.filter((mode) => mode === "replay")).toEqual([]);
  });

  test("in a second attempt fails in a replay too, and the third is as it was", async () => {
    const { life } = writer();
    let falls = 1;
    const clumsy: Life = async (rc) => {
      await life(rc);
      await rc.step("carry", {}, () => (falls-- > 0 ? Promise.reject(new Error("it fell")) : Promise.resolve(null)));
    };
    const journal = memoryJournal();
    const options = { onFailure: retry(3) };
    const result = await new Team({ seed: "s", journal, roles: [ann(clumsy, options)] }).run("go", { id: "r" }).result;
    expect(result.status).toBe("finished");
    const failures = (await eventsOf(journal, "r")).flatMap((event) => (event.type === "act.failed" ? [event.error.message] : []));
    expect(failures).toEqual([expect.stringContaining("it fell"), expect.stringContaining("the disk is full")]);
    await expectEqual(journal, ann(clumsy, options));
  });
});

describe("the order of steps", () => {
  const inOrder =
    (...names: readonly string[]): Life =>
    async (rc) => {
      for (const name of names) await step(rc, name);
    };

  test.each([
    ["swapped", ["a", "b", "c"], ["a", "c", "b"], "c", "b"],
    ["without the first", ["a", "b"], ["b"], "b", "a"],
  ])("that is another is a difference, named: %s", async (_name, then, now, asked, before) => {
    const journal = memoryJournal();
    await new Team({ seed: "s", journal, roles: [ann(inOrder(...then))] }).run("go", { id: "r" }).result;
    const { error } = await replayed(journal, ann(inOrder(...now)));
    expect(error).toBeInstanceOf(DifferenceError);
    expect(error).toMatchObject({
      message: expect.stringContaining(`Ann#0~1 asks for "${asked}", but its record has "${before}" at this position`) as string,
      data: { kind: "asked", act: "Ann#0~1", name: asked },
    });
    await expectEqual(journal, ann(inOrder(...then)));
  });
});
