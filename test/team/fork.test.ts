import { describe, expect, test } from "vitest";
import { defineAction } from "../../src/role/action.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { contentHash } from "../../src/kernel/json.ts";
import type { ChatModel } from "../../src/model/chat-model.ts";
import { usd } from "../../src/model/money.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { Team } from "../../src/team/team.ts";
import { answering } from "../runtime/town.ts";
import { eventsOf } from "./recorded.ts";

interface Prompts {
  readonly plan?: string;
  readonly check?: string;
}

/** Plan asks once, three builders ask twice each, a checker asks once for each of the three: ten calls. */
function workshop({ plan = "Plan", check = "Check" }: Prompts = {}): Role[] {
  const Plan = defineAction({ name: "Plan", prompt: (ctx) => `${plan}: ${ctx.text}` });
  const Build = defineAction({
    name: "Build",
    run: async (ctx) => ctx.ask(`Polish as ${ctx.role.name}: ${await ctx.ask(`Build as ${ctx.role.name}: ${ctx.text}`)}`),
  });
  const Check = defineAction({
    name: "Check",
    run: async (ctx) => {
      const verdicts: string[] = [];
      for (const news of ctx.news) verdicts.push(await ctx.ask(`${check}: ${news.content}`));
      return verdicts.join("; ");
    },
  });
  const builders = ["Ann", "Bob", "Cid"].map((name) => defineRole({ name, watch: [Plan], actions: [Build] }));
  return [defineRole({ name: "Planner", actions: [Plan] }), ...builders, defineRole({ name: "Checker", watch: [Build], actions: [Check] })];
}

const CALLS = 10;
const price = { input: 1, output: 1 };

function counting(id = "scripted"): ChatModel & { readonly calls: readonly unknown[] } {
  return scriptedModel((request) => `answer ${contentHash(request.messages).slice(0, 12)}`, { id, price });
}

async function parentRun(roles = workshop()): Promise<{ journal: Journal; events: RunEvent[]; cost: number }> {
  const journal = memoryJournal();
  const model = counting();
  const result = await new Team({ seed: "s", journal, roles, model, budget: usd(5) }).run("a chair", { id: "parent" }).result;
  expect([result.status, model.calls.length]).toEqual(["finished", CALLS]);
  return { journal, events: await eventsOf(journal, "parent"), cost: result.cost.known };
}

function indexOf(events: readonly RunEvent[], found: (event: RunEvent) => boolean): number {
  const seq = events.findIndex(found);
  expect(seq).toBeGreaterThanOrEqual(0);
  return seq;
}

/** Answers of models that were called in a fork. */
function paidIn(events: readonly RunEvent[]): number {
  const reused = new Set(events.flatMap((event) => (event.type === "step.started" && event.reused !== undefined ? [event.key] : [])));
  return events.filter((event) => event.type === "step.ended" && event.seq > 1 && !reused.has(event.key)).length;
}

const ends =
  (role: string) =>
  (event: RunEvent): boolean =>
    event.type === "act.ended" && event.role === role;

describe("a fork", () => {
  test("ForkAnswers.F3 that changes nothing pays nothing, wherever it leaves, and tells the same", async () => {
    const { journal, events, cost } = await parentRun();
    for (let at = 1; at < events.length; at += 1) {
      const model = counting();
      const fork = await new Team({ seed: "other", journal, roles: workshop(), model, budget: usd(5) }).fork("parent", { at, id: `f${at}` })
        .result;
      expect([at, fork.status, fork.error?.message]).toEqual([at, "finished", undefined]);
      expect([at, model.calls.length, fork.fork?.paid, fork.fork?.difference]).toEqual([at, 0, 0, undefined]);
      expect([at, fork.cost.known, fork.fork?.saved]).toEqual([at, 0, cost]);
      expect(canonical(await eventsOf(journal, `f${at}`))).toBe(canonical(events));
    }
    expect(await eventsOf(journal, "parent")).toEqual(events);
  });

  test("that changes one prompt pays only for what follows from it, and names the first difference", async () => {
    const { journal } = await parentRun();
    const model = counting();
    const result = await new Team({ journal, roles: workshop({ check: "Inspect" }), model, budget: usd(5) }).fork("parent", { at: 1 })
      .result;
    expect([result.status, result.error?.message]).toEqual(["finished", undefined]);
    expect(model.calls).toHaveLength(3);
    expect(result.fork).toMatchObject({ reused: 7, paid: 3, parent: { runId: "parent", at: 1 } });
    expect(result.fork?.difference).toMatchObject({ act: "Checker#0~1" });
    expect(JSON.stringify(result.fork?.difference?.parent)).toContain("Check: answer");
    expect(JSON.stringify(result.fork?.difference?.fork)).toContain("Inspect: answer");
    expect(result.cost.known).toBeGreaterThan(0);
  });

  test("ForkAnswers.F2 answers a role that is asked in another activation than before from what it was asked then", async () => {
    const { journal } = await parentRun();
    const early = answering("Early", (rc) => rc.message("a word before"), { watch: ["UserRequirement"] });
    const late = (roles: Role[]): Role[] => [early, ...roles];
    const model = counting();
    const result = await new Team({ journal, roles: late(workshop()), model, budget: usd(5) }).fork("parent", { at: 1 }).result;
    expect([result.status, result.fork?.paid]).toEqual(["finished", 0]);
  });

  test("hears a message that was edited, and not one that was dropped; what was added comes too", async () => {
    const { journal, events } = await parentRun();
    const seq = indexOf(events, ends("Planner"));
    const team = (): Team => new Team({ journal, roles: workshop(), model: counting(), budget: usd(5) });
    const edited = await team().fork("parent", { id: "edited", change: [{ seq, content: "a table instead" }] }).result;
    expect(edited.messages.map(({ content }) => content)).toContain("a table instead");
    expect(edited.fork).toMatchObject({ reused: 0, paid: CALLS - 1, parent: { at: seq } });
    const dropped = await team().fork("parent", { id: "dropped", change: [{ seq, drop: true }] }).result;
    expect([dropped.status, dropped.fork?.paid, dropped.outputs]).toEqual(["finished", 0, []]);
    const added = await team().fork("parent", { id: "added", at: events.length - 1, add: ["and a stool"] }).result;
    expect([added.status, added.messages.filter(({ content }) => content === "and a stool").length]).toEqual(["finished", 1]);
    expect(added.fork?.paid).toBe(CALLS);
    const nested = await eventsOf(journal, "edited");
    expect(nested.every((event) => event.runId === "edited")).toBe(true);
  });

  test("ForkAnswers.F5 asks anew what depends on more than its request, and takes what follows only where that is the same", async () => {
    const journal = memoryJournal();
    const looks: string[] = [];
    const reader = (file: string): Role =>
      answering("Ann", async (rc) => {
        const look = (): Promise<string> => (looks.push(file), Promise.resolve(file));
        const read = await rc.step("read", {}, look, { fresh: true });
        return rc.message(await rc.ask(`Judge: ${read}`));
      });
    const model = counting();
    const team = (file: string): Team => new Team({ seed: "s", journal, roles: [reader(file)], model });
    await team("one").run("go", { id: "parent" }).result;
    const same = await team("one").fork("parent", { id: "same", at: 1 }).result;
    expect([looks, model.calls.length, same.fork?.paid, same.fork?.difference]).toEqual([["one", "one"], 1, 0, undefined]);
    const other = await team("two").fork("parent", { id: "other", at: 1 }).result;
    expect([looks.at(-1), model.calls.length, other.fork?.paid]).toEqual(["two", 2, 1]);
    expect((await team("three").replay("other").result).error).toBeUndefined();
    expect(looks).toHaveLength(3);
  });

  test("refuses what cannot be: an event that is not there, a message that is not, or that was read, and a role that is gone", async () => {
    const { journal, events } = await parentRun();
    const team = new Team({ journal, roles: workshop(), model: counting() });
    const codes = async (options: Parameters<Team["fork"]>[1], id = "parent"): Promise<string | undefined> =>
      (await team.fork(id, options).result).error?.code;
    expect(await codes({ at: events.length })).toBe("FORK_POINT");
    expect(await codes({ at: -1 })).toBe("FORK_POINT");
    expect(await codes({ at: 1.5 })).toBe("FORK_POINT");
    expect(await codes({}, "nobody's")).toBe("RUN_UNKNOWN");
    expect(await codes({ change: [{ seq: 0, drop: true }] })).toBe("FORK_CHANGE");
    const twice = [
      { seq: 1, content: "one" },
      { seq: 1, nth: 0, content: "two" },
    ];
    expect(await codes({ at: 1, change: twice })).toBe("FORK_CHANGE");
    expect(await codes({ at: 1, change: [{ seq: 5, drop: true }] })).toBe("FORK_POINT");
    expect(await codes({ at: events.length - 1, change: [{ seq: indexOf(events, ends("Planner")), content: "late" }] })).toBe(
      "FORK_CHANGE",
    );
    expect((await new Team({ journal, roles: workshop().slice(1) }).fork("parent", { at: 1 }).result).error?.code).toBe("TEAM_CHANGED");
    expect(await journal.runs()).toEqual([{ runId: "parent", events: events.length }]);
  });

  test("ForkAnswers.F1 that was stopped continues, uses no answer twice and pays nothing twice", async () => {
    const { events } = await parentRun();
    const whole = memoryJournal();
    const again = async (target: Journal): Promise<void> => {
      await target.create("parent");
      await target.append("parent", (await target.claim("parent")).epoch, 0, events);
    };
    await again(whole);
    const team = (target: Journal, model = counting()): Team =>
      new Team({ journal: target, roles: workshop({ check: "Inspect" }), model, budget: usd(5) });
    await team(whole).fork("parent", { at: 1, id: "f" }).result;
    const uncut = await eventsOf(whole, "f");
    for (let length = 3; length < uncut.length; length += 1) {
      const cut = memoryJournal();
      await again(cut);
      await cut.create("f");
      await cut.append("f", (await cut.claim("f")).epoch, 0, uncut.slice(0, length));
      const model = counting();
      const result = await team(cut, model).resume("f").result;
      expect([length, result.status, result.error?.message]).toEqual([length, "finished", undefined]);
      expect(canonical(await eventsOf(cut, "f"))).toBe(canonical(uncut));
      expect([length, model.calls.length]).toEqual([length, 3 - paidIn(uncut.slice(0, length))]);
    }
  });

  test("whose parent is gone pays for itself; one that was cut while its past was copied is refused", async () => {
    const { journal, events } = await parentRun();
    const team = (model: ChatModel): Team => new Team({ journal, roles: workshop(), model, budget: usd(5) });
    await team(counting()).fork("parent", { at: 1, id: "f", rounds: 1 }).result;
    await journal.remove("parent");
    const model = counting();
    expect((await team(model).resume("f", { rounds: 100 }).result).status).toBe("finished");
    expect(model.calls.length).toBe(CALLS - 1);
    const copied = events.slice(0, 3).map((event) => ({
      ...event,
      runId: "half",
      ...(event.type === "run.started" ? { parent: { runId: "parent", at: 6 } } : {}),
    }));
    await journal.create("half");
    await journal.append("half", (await journal.claim("half")).epoch, 0, copied as RunEvent[]);
    expect((await team(counting()).resume("half").result).error?.code).toBe("FORK_CUT");
  });
});
