import { describe, expect, test } from "vitest";
import { defineAction } from "../../src/role/action.ts";
import { StepError } from "../../src/kernel/errors.ts";
import { retry } from "../../src/role/failure-policy.ts";
import { defineRole, type Role, type Said } from "../../src/role/role.ts";
import type { RoleContext } from "../../src/role/context.ts";
import type { RunResult } from "../../src/runtime/run-result.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { answering } from "../runtime/town.ts";
import { eventsOf, journalWith } from "../team/recorded.ts";

type React = (rc: RoleContext) => Said | Promise<Said>;

/** Replays a record whose one role does this now. */
async function replayed(events: readonly RunEvent[], react: React, options: Parameters<typeof answering>[2] = {}): Promise<RunResult> {
  return new Team({ journal: await journalWith("r", events), roles: [answering("Ann", react, options)] }).replay("r").result;
}

describe("a replay of a run that failed, was mended and went on", () => {
  async function mended(): Promise<RunEvent[]> {
    const journal = memoryJournal();
    let broken = true;
    const react: React = async (rc) => {
      const word = await rc.step("look", {}, () => {
        if (broken) throw new Error("it is dark");
        return Promise.resolve("seen");
      });
      return rc.message(word);
    };
    const team = new Team({ seed: "s", journal, roles: [answering("Ann", react)] });
    expect((await team.run("go", { id: "r" }).result).status).toBe("failed");
    broken = false;
    expect((await team.resume("r").result).status).toBe("finished");
    return eventsOf(journal, "r");
  }
  const look = (rc: RoleContext, what: object = {}): Promise<string> => rc.step("look", what, () => expect.unreachable());

  test("is no failure", async () => {
    const result = await replayed(await mended(), async (rc) => rc.message(await look(rc)));
    expect([result.status, result.error]).toEqual(["finished", undefined]);
  });

  test.each<[string, string, React]>([
    ["an end that is another", "ended", async (rc) => rc.message(`${await look(rc)}!`)],
    ["a step that is another", "asked", async (rc) => rc.message((await look(rc).catch(() => ""), await look(rc, { now: 1 })))],
  ])("finds %s all the same", async (_name, kind, react) => {
    const events = await mended();
    const result = await replayed(events, (rc) =>
      rc.memory.size > 0 && rc.random() >= 0 && isSecond(events, rc) ? react(rc) : look(rc).then((word) => rc.message(word)),
    );
    expect([result.status, result.error?.code]).toEqual(["failed", "DIFFERENCE"]);
    expect(result.error?.data).toMatchObject({ kind });
  });

  /** Both attempts are asked the same; the second is told by how often it was asked. */
  const asked = new WeakMap<readonly RunEvent[], number>();
  function isSecond(events: readonly RunEvent[], _rc: RoleContext): boolean {
    const times = (asked.get(events) ?? 0) + 1;
    asked.set(events, times);
    return times > 1;
  }
});

describe("a replay", () => {
  test("finds an activation that had ended well and fails now", async () => {
    const journal = memoryJournal();
    await new Team({ seed: "s", journal, roles: [answering("Ann", (rc) => rc.message("hello"))] }).run("go", { id: "r" }).result;
    const result = await replayed(await eventsOf(journal, "r"), () => {
      throw new Error("not this time");
    });
    expect([result.status, result.error?.code]).toEqual(["failed", "DIFFERENCE"]);
    expect(result.error?.data).toMatchObject({ kind: "ended", recorded: { type: "act.ended" }, now: { type: "act.failed" } });
  });

  test("does live again through a step that ran out of time, for that is recorded", async () => {
    const journal = memoryJournal();
    const late = (rc: RoleContext): Promise<string> => rc.step("wait", {}, () => Promise.reject(new StepError("TIMEOUT", "too late")));
    await new Team({ seed: "s", journal, roles: [answering("Ann", async (rc) => rc.message(await late(rc)), { onFailure: "skip" })] }).run(
      "go",
      {
        id: "r",
      },
    ).result;
    const events = await eventsOf(journal, "r");
    expect(events.some((event) => event.type === "act.failed" && event.error.code === "TIMEOUT")).toBe(true);
    const same = await replayed(events, async (rc) => rc.message(await late(rc)), { onFailure: "skip" });
    expect([same.status, same.error]).toEqual(["finished", undefined]);
    const other = await replayed(events, (rc) => rc.message("no wait"), { onFailure: "skip" });
    expect(other.error?.data).toMatchObject({ kind: "not asked", name: "wait" });
  });
});

describe("a step that must not happen twice", () => {
  test("is not tried again by a policy either, before somebody has looked", async () => {
    let charged = 0;
    const pay = defineAction({
      name: "Pay",
      run: (ctx) => ctx.step("charge", {}, () => Promise.resolve(`charge ${(charged += 1)}`), { idempotent: false }),
    });
    const roles = (): Role[] => [defineRole({ name: "Ann", actions: [pay], onFailure: retry(3, "skip") })];
    const first = memoryJournal();
    await new Team({ seed: "s", journal: first, roles: roles() }).run("go", { id: "r" }).result;
    const whole = await eventsOf(first, "r");
    const journal = await journalWith("r", whole.slice(0, whole.findIndex(({ type }) => type === "step.started") + 1));
    const stopped = await new Team({ journal, roles: roles() }).resume("r").result;
    expect([stopped.status, stopped.error?.code, charged]).toEqual(["failed", "STEP_UNCERTAIN", 1]);
    const after = await new Team({ journal, roles: roles() }).resume("r").result;
    expect([after.status, after.output?.content, charged]).toEqual(["finished", "charge 2", 2]);
    const run = new Team({ journal, roles: roles() }).replay("r");
    const again: RunEvent[] = [];
    for await (const event of run) again.push(event);
    expect([(await run.result).error, charged]).toEqual([undefined, 2]);
    expect(canonical(again)).toBe(canonical(await eventsOf(journal, "r")));
  });
});

describe("a process that dies", () => {
  test("while a person is asked has not died of that", async () => {
    const roles = [answering("Ann", async (rc) => rc.message(await rc.human.ask("Shall we?")))];
    let journal = memoryJournal();
    for (let deaths = 0; deaths < 6; deaths += 1) {
      let asked = (): void => {};
      const isAsked = new Promise<void>((resolve) => (asked = resolve));
      const human = (): Promise<string> => {
        asked();
        return new Promise(() => {});
      };
      void new Team({ seed: "s", journal, roles, human }).run("go", { id: "r" });
      await isAsked;
      journal = await journalWith("r", await eventsOf(journal, "r"));
    }
    const result = await new Team({ journal, roles, human: () => "yes" }).resume("r").result;
    expect([result.status, result.deadLetters, result.output?.content]).toEqual(["finished", [], "yes"]);
  });
});

describe("an answer", () => {
  test("to a question that is named by its first letters and was answered is told from one to no question", async () => {
    const journal = memoryJournal();
    const roles = [answering("Ann", async (rc) => rc.message(`${await rc.human.ask("one")} ${await rc.human.ask("two")}`))];
    const team = (): Team => new Team({ seed: "s", journal, roles, model: scriptedModel([]) });
    const [first] = (await team().run("go", { id: "r" }).result).questions;
    const id = first?.id.slice(0, 8) ?? "";
    await (
      await team().answer("r", id, "yes")
    ).result;
    await expect(team().answer("r", id, "no")).rejects.toMatchObject({ code: "QUESTION_ANSWERED" });
    await expect(team().answer("r", "zz", "no")).rejects.toMatchObject({ code: "QUESTION_UNKNOWN" });
  });
});

describe("a run that was forced on without one of its roles", () => {
  test("keeps that one's mail for when it is hired again", async () => {
    const journal = memoryJournal();
    const ann = answering("Ann", (rc) => rc.message("for Bob", { sendTo: "Bob" }));
    const bob = answering("Bob", (rc) => rc.message(`heard ${rc.news.map(({ content }) => content).join()}`), { watch: [] });
    await new Team({ seed: "s", journal, roles: [ann, bob] }).run("go", { id: "r", rounds: 1 }).result;
    expect((await new Team({ journal, roles: [ann] }).resume("r", { onTeamChange: "continue", rounds: 9 }).result).outputs).toEqual([]);
    const result = await new Team({ journal, roles: [ann, bob] }).resume("r").result;
    expect([result.status, result.output?.content]).toEqual(["finished", "heard for Bob"]);
    const { length } = await eventsOf(journal, "r");
    await new Team({ journal, roles: [ann, bob] }).resume("r").result;
    expect(await eventsOf(journal, "r")).toHaveLength(length);
  });

  test("a removed role has no address, and a broadcast does not reach it", async () => {
    const journal = memoryJournal();
    const ann = answering("Ann", (rc) => [rc.message("for Bob", { sendTo: "Bob" }), rc.message("for all")]);
    const bob = answering("Bob", (rc) => rc.message("heard"), { observeAll: true, addresses: ["Builder"] });
    const eve = answering("Eve", (rc) => rc.message("seen"), { watch: [] });
    await new Team({ seed: "s", journal, roles: [bob, ann, eve] }).run("go", { id: "r", rounds: 0 }).result;
    const result = await new Team({ journal, roles: [eve, ann] }).resume("r", { onTeamChange: "continue", rounds: 9 }).result;
    expect(result.outputs.map(({ content }) => content)).toEqual(["for all"]);
    expect(result.deadLetters.map(({ reason }) => reason)).toEqual([{ kind: "no such address", address: "Bob" }]);
  });
});
