import { describe, expect, test } from "vitest";
import { defineAction } from "../../src/role/action.ts";
import type { Clock } from "../../src/kernel/clock.ts";
import { ModelError } from "../../src/kernel/errors.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { fold } from "../../src/runtime/record/apply.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import type { TeamOptions } from "../../src/team/team-options.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { answering, listener } from "../runtime/town.ts";
import { stillClock } from "../properties/outside.ts";
import { eventsOf, journalWith } from "../team/recorded.ts";

const Say = defineAction({ name: "Say", run: (ctx) => `said ${ctx.text}` });
const Ask = defineAction({ name: "Ask", prompt: (ctx) => `Think of ${ctx.text}` });

/** One says something without a step, another asks a model about it. */
function pair(): Role[] {
  return [defineRole({ name: "Sayer", actions: [Say] }), defineRole({ name: "Asker", watch: [Say], actions: [Ask] })];
}

const price = { input: 1, output: 1 };

function team(journal: Journal, roles: readonly Role[], options: TeamOptions = {}): { readonly team: Team; readonly calls: () => number } {
  const model = scriptedModel((request) => `thought of ${request.messages.length}`, { price, maxOutputTokens: 50 });
  return { team: new Team({ seed: "s", clock: stillClock, journal, roles, model, ...options }), calls: () => model.calls.length };
}

async function parent(
  roles: readonly Role[] = pair(),
  options: TeamOptions = {},
): Promise<{ journal: Journal; events: RunEvent[]; cost: number }> {
  const journal = memoryJournal();
  const { cost } = await team(journal, roles, options).team.run("go", { id: "parent" }).result;
  return { journal, events: await eventsOf(journal, "parent"), cost: cost.known };
}

function seqOf(events: readonly RunEvent[], role: string, type: RunEvent["type"] = "act.ended"): number {
  const found = events.find((event) => event.type === type && "role" in event && event.role === role);
  expect(found).toBeDefined();
  return found?.seq ?? -1;
}

describe("a fork that changes nothing pays nothing", () => {
  test("where a role without a step tells the time", async () => {
    const clock = (from: number): Clock => {
      let now = from;
      return { ...stillClock, now: () => (now += 7) };
    };
    const roles = (): Role[] => [
      answering("Sayer", (rc) => rc.message(`it is ${rc.now()}`, { causeBy: Say }), { watch: ["UserRequirement"] }),
      defineRole({ name: "Asker", watch: [Say], actions: [Ask] }),
    ];
    const { journal, events } = await parent(roles(), { clock: clock(0) });
    const later = team(journal, roles(), { clock: clock(1_000_000) });
    const result = await later.team.fork("parent", { id: "f", at: 1 }).result;
    expect([result.status, later.calls(), result.fork?.difference]).toEqual(["finished", 0, undefined]);
    expect(canonical(await eventsOf(journal, "f"))).toBe(canonical(events));
  });

  test("where the same roles are hired in another order, and are told of in their prompts", async () => {
    const roles = [...pair(), listener("Bystander")];
    const { journal, events } = await parent(roles, { description: "a town" });
    const other = team(journal, roles.toReversed(), { description: "a town" });
    const result = await other.team.fork("parent", { id: "f", at: 1 }).result;
    expect([result.status, other.calls()]).toEqual(["finished", 0]);
    expect(canonical(await eventsOf(journal, "f"))).toBe(canonical(events));
  });

  test("where calls are made inside a step, and tells what all of them had cost", async () => {
    const roles = (): Role[] => [
      answering("Asker", async (rc) => {
        const both = await rc.step("both", {}, async (door) => [await door.ask("one"), await door.ask("two")].join(" and "));
        return rc.message(both);
      }),
    ];
    const { journal, events, cost } = await parent(roles());
    expect(cost).toBeGreaterThan(0);
    for (let at = 1; at < events.length; at += 1) {
      const again = team(journal, roles());
      const { fork } = await again.team.fork("parent", { id: `f${at}`, at }).result;
      expect([at, again.calls(), fork?.paid, fork?.saved]).toEqual([at, 0, 0, cost]);
      const forked = await eventsOf(journal, `f${at}`);
      expect(canonical(forked)).toBe(canonical(events));
      for (let cut = at + 3; cut < forked.length; cut += 1) {
        const target = await journalWith("parent", events);
        await target.create("f");
        const kept = forked.slice(0, cut).map((event) => ({ ...event, runId: "f" }));
        await target.append("f", (await target.claim("f")).epoch, 0, kept);
        const resumed = team(target, roles());
        const result = await resumed.team.resume("f").result;
        expect([at, cut, result.status, resumed.calls(), result.fork?.saved]).toEqual([at, cut, "finished", 0, cost]);
        expect(canonical(await eventsOf(target, "f"))).toBe(canonical(events));
      }
    }
  });

  test("and tells what tries had cost that came to nothing, and those that a crash cut off", async () => {
    const journal = memoryJournal();
    const flaky = scriptedModel(
      (_request, n) => {
        if (n === 0) throw new ModelError("NETWORK", "the line broke", { retryable: true });
        return "thought";
      },
      { price, maxOutputTokens: 50 },
    );
    const first = await new Team({ seed: "s", clock: stillClock, journal, roles: pair(), model: flaky }).run("go", { id: "parent" }).result;
    const whole = await eventsOf(journal, "parent");
    expect([first.status, whole.filter(({ type }) => type === "step.started").length]).toEqual(["finished", 2]);
    const inFlight = whole.findLastIndex(({ type }) => type === "step.started");
    const killed = await journalWith("parent", whole.slice(0, inFlight + 1));
    const resumed = await team(killed, pair()).team.resume("parent").result;
    expect(resumed.uncertain).toBeGreaterThan(0);
    const events = await eventsOf(killed, "parent");
    for (let at = 1; at < events.length; at += 1) {
      const { fork, cost, uncertain } = await team(killed, pair()).team.fork("parent", { id: `f${at}`, at }).result;
      expect([at, fork?.saved, cost.known, uncertain]).toEqual([at, resumed.cost.known, 0, 0]);
    }
  });
});

describe("the report of a fork", () => {
  test("of a fork counts what was taken besides the past they share, and a replay of it tells the same", async () => {
    const { journal, events, cost } = await parent();
    await team(journal, pair()).team.fork("parent", { id: "one", at: 1 }).result;
    const one = await eventsOf(journal, "one");
    const two = await team(journal, pair()).team.fork("one", { id: "two", at: one.length - 1 }).result;
    expect(two.fork).toMatchObject({ reused: 0, paid: 0, saved: cost });
    expect(fold(await eventsOf(journal, "two")).parent).toEqual({ runId: "one", at: one.length - 1 });
    const late = events.length - 2;
    const forked = await team(journal, pair()).team.fork("parent", { id: "three", at: late }).result;
    const replayed = await team(journal, pair()).team.replay("three").result;
    expect(replayed.fork).toEqual(forked.fork);
    expect(replayed.fork?.paid).toBe(0);
  });
});

describe("a message that is another in a fork", () => {
  test("is written without secrets, and so is all else that the fork says of itself", async () => {
    const { journal, events } = await parent();
    const [first, ...others] = pair();
    const proud = defineRole({ name: "Sayer", goal: "keep my-password safe", actions: [Say] });
    expect(first?.name).toBe("Sayer");
    const { team: careful } = team(journal, [proud, ...others], { secrets: ["my-password"] });
    const seq = seqOf(events, "Sayer");
    const change = [{ seq, content: "it is my-password", instructContent: { is: "my-password" } }];
    const result = await careful.fork("parent", { id: "f", change, about: { key: "my-password" } }).result;
    expect(result.status).toBe("finished");
    expect(JSON.stringify(await eventsOf(journal, "f"))).not.toContain("my-password");
    expect(JSON.stringify(result.messages)).not.toContain("my-password");
  });
});

describe("a fork under an id that is taken", () => {
  test("is refused, also while that run is under way", async () => {
    const { journal } = await parent();
    const { team: one } = team(journal, pair());
    const under = one.run("else", { id: "busy" });
    const second = one.fork("parent", { id: "busy" });
    expect(second).not.toBe(under);
    expect((await second.result).error?.code).toBe("RUN_EXISTS");
    expect((await under.result).status).toBe("finished");
    expect(one.resume("busy")).not.toBe(under);
    expect((await one.fork("parent", { id: "parent" }).result).error?.code).toBe("RUN_EXISTS");
  });
});
