import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Environment } from "../../../src/runtime/environment.ts";
import { createMessage } from "../../../src/message/message.ts";
import type { Role } from "../../../src/role/role.ts";
import { fold } from "../../../src/runtime/record/apply.ts";
import { canonical } from "../../../src/runtime/record/canonical.ts";
import { type RunEvent, EVENT_TYPES } from "../../../src/runtime/record/event.ts";
import { answering, contents, listener, town } from "../town.ts";

/** All events of an environment, as they come. */
function heardBy(environment: Environment): RunEvent[] {
  const events: RunEvent[] = [];
  for (const type of EVENT_TYPES) environment.on(type, (event) => void events.push(event));
  return events;
}

/** Answers everything after so many waits. */
function slow(name: string, waits: number): Role {
  return answering(
    name,
    async (rc) => {
      for (let k = 0; k < waits; k += 1) await rc.step("wait", {}, () => Promise.resolve("done"));
      return rc.memory.size < 6 ? rc.message(`${name} says ${rc.news.length}`) : undefined;
    },
    { observeAll: true },
  );
}

/** Waits before the answer: not part of what is asked. */
function late(name: string, macrotasks: number): Role {
  return answering(
    name,
    async (rc) => {
      await rc.step("look", {}, async () => {
        for (let k = 0; k < macrotasks; k += 1) await new Promise(setImmediate);
        return "done";
      });
      return rc.memory.size < 6 ? rc.message(`${name} says ${rc.news.length}`) : undefined;
    },
    { observeAll: true },
  );
}

async function canonicalOf(roles: readonly Role[], concurrency = 16): Promise<string> {
  const environment = town([], { concurrency });
  const events = heardBy(environment);
  environment.addRoles(roles);
  environment.publishMessage("go");
  await environment.run();
  return canonical(events);
}

describe("canonical of an environment's events", () => {
  test("begins with who was hired, in hire order, the seed and the scheduler", async () => {
    const [first] = (await canonicalOf([listener("Zoe"), listener("Ann")])).split("\n");
    expect(JSON.parse(first ?? "")).toMatchObject({
      type: "run.started",
      roles: [{ name: "Zoe" }, { name: "Ann" }],
      seed: "town",
      scheduler: "rounds",
    });
  });

  test("CanonicalLog.C1 property: it is equal whatever the latencies and the concurrency", async () => {
    const names = ["Zoe", "Ann", "Mia"];
    const expected = await canonicalOf(names.map((name) => late(name, 0)));
    expect(expected).toContain("Ann says");
    const latencies = fc.array(fc.nat({ max: 6 }), { minLength: 3, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(latencies, fc.integer({ min: 1, max: 4 }), async (waits, concurrency) => {
        const roles = names.map((name, place) => late(name, waits[place] ?? 0));
        expect(await canonicalOf(roles, concurrency)).toBe(expected);
      }),
      { numRuns: 30 },
    );
  });

  test("keeps the hire order, by which what roles do in one round is told", async () => {
    const ends = (text: string): string[] =>
      text
        .split("\n")
        .filter((line) => line.includes('"act.ended"'))
        .map((line) => JSON.parse(line).act);
    expect(ends(await canonicalOf([slow("Zoe", 3), slow("Ann", 0)])).slice(0, 2)).toEqual(["Zoe#0~1", "Ann#0~1"]);
    expect(ends(await canonicalOf([slow("Ann", 0), slow("Zoe", 3)])).slice(0, 2)).toEqual(["Ann#0~1", "Zoe#0~1"]);
  });
});

describe("the events of an environment", () => {
  test.each(["rounds", "eager"] as const)("%s: folding them gives its state, also where roles were hired late", async (scheduler) => {
    const environment = town([], { scheduler });
    const events = heardBy(environment);
    environment.addRole(
      answering("Ann", (rc) => {
        if (rc.memory.size > 1) return undefined;
        environment.addRole(listener("Hired while she acts", { observeAll: true }));
        return rc.message("hello");
      }),
    );
    environment.publishMessage("go");
    environment.addRole(listener("Late", { observeAll: true }));
    await environment.run();
    environment.addRole(listener("Later", { observeAll: true }));
    environment.publishMessage(createMessage("again", { sendTo: ["Ann", "Later"] }));
    await environment.run();
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_event, place) => place));
    const state = fold(events);
    expect([...state.roles.keys()]).toEqual(["Ann", "Late", "Hired while she acts", "Later"]);
    for (const name of environment.roleNames) {
      const view = environment.getRole(name);
      expect([name, contents(state.roles.get(name)?.memory.get() ?? [])]).toEqual([name, contents(view?.memory ?? [])]);
    }
    expect(contents(state.history.get())).toEqual(contents(environment.history));
  });

  test("Opening.O2 who was hired late stands in its place of the canonical text, behind those before", async () => {
    const run = async (waits: number): Promise<string> => {
      const environment = town([]);
      const events = heardBy(environment);
      environment.addRole(slow("Zoe", waits)).publishMessage("go");
      environment.addRole(slow("Ann", 3 - waits));
      await environment.run();
      environment.publishMessage("once more");
      await environment.run();
      return canonical(events).replaceAll(/.*"type":"step".*\n/g, "");
    };
    expect(await run(0)).toContain('"Ann"');
    expect(await run(3)).toBe(await run(0));
  });

  test("Opening.O1 begin once, whoever listens", async () => {
    const environment = town([listener("Ann", { observeAll: true })]);
    environment.publishMessage("unheard by listeners");
    const events = heardBy(environment);
    environment.publishMessage("go");
    await environment.run();
    expect(events.map(({ type, seq }) => [type, seq])).toEqual([
      ["message", 2],
      ["act.ended", 3],
      ["round.ended", 4],
    ]);
  });
});
