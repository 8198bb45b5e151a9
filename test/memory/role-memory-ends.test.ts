import { describe, expect, it } from "vitest";
import { defineAction } from "../../src/role/action.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import { Team } from "../../src/team/team.ts";
import { estimateTokens } from "../../src/memory/tokens.ts";
import { eventsOf, journalWith } from "../team/recorded.ts";
import { answerer, parrot, storeUnderTest } from "./role-setup.ts";

describe("how a run with a memory ends", () => {
  it("a store that hangs while it is looked into does not keep a stopped run from ending", async () => {
    const clock = simulatedClock();
    const store = storeUnderTest();
    let stuck = (): void => {};
    const isStuck = new Promise<void>((resolve) => (stuck = resolve));
    store.before = (method) => {
      if (method !== "state") return undefined;
      stuck();
      return new Promise(() => {});
    };
    const run = new Team({ clock, model: parrot(), roles: [answerer("Ann", { memory: { store } })] }).run("go");
    await isStuck;
    run.stop();
    for (let n = 0; n < 20; n++) await clock.advance(10_000);
    expect((await run.result).status).toBe("stopped");
  });

  it("a stop while the memories read the record ends the run as stopped, with what it had cost and said", async () => {
    const first = memoryJournal();
    const make = (journal: Journal): Team => new Team({ model: parrot(), journal, seed: 1, roles: [answerer("Ann", { memory: {} })] });
    await make(first).run("go", { id: "r" }).result;
    const events = await eventsOf(first, "r");
    const cut = events.findIndex(({ type }) => type === "round.ended");
    const inner = await journalWith("r", events.slice(0, cut));
    const stop = new AbortController();
    let reads = 0;
    const journal: Journal = new Proxy(inner, {
      get: (target, name: keyof Journal) => {
        // Optional members may be missing.
        if (name !== "read") return (target[name] as ((...args: unknown[]) => unknown) | undefined)?.bind(target);
        return (id: string, from: number) => {
          reads += 1;
          if (reads === 2) stop.abort();
          return target.read(id, from);
        };
      },
    });
    const result = await make(journal).resume("r", { signal: stop.signal }).result;
    expect([result.status, result.messages[0]?.content]).toEqual(["stopped", "go"]);
    expect((await eventsOf(inner, "r")).at(-1)?.type).toBe("run.ended");
  });

  it("what a run still had to store is stored when it ends because it is poisoned", async () => {
    const store = storeUnderTest();
    const first = memoryJournal();
    const make = (journal: Journal): Team => {
      const roles = [answerer("Ann", { memory: { store } }), answerer("Bob", { memory: { store } })];
      return new Team({ model: parrot(), journal, seed: 1, poisonAfter: 1, roles });
    };
    await make(first).run("go", { id: "r" }).result;
    store.calls.length = 0;
    const events = await eventsOf(first, "r");
    const cut = events.findIndex(({ type }) => type === "act.ended");
    const journal = await journalWith("r", events.slice(0, cut + 1));
    const { status } = await make(journal).resume("r").result;
    expect(status).toBe("failed");
    expect(store.calls).toContain("close");
  });
});

describe("the report of a store that fails", () => {
  it("has no secret in it", async () => {
    const store = storeUnderTest();
    store.before = () => {
      throw new Error("cannot reach db://me:canary-4711@host");
    };
    const told: string[] = [];
    const tell = (text: string): void => void told.push(text);
    const logger = { debug: tell, info: tell, warn: tell, error: tell };
    const roles = [answerer("Ann", { memory: { store } })];
    const run = new Team({ model: parrot(), logger, secrets: ["canary-4711"], roles }).run("go");
    run.on("warning", ({ text }) => told.push(text));
    await run.result;
    expect(told.filter((text) => text.includes("could not be stored")).length).toBeGreaterThan(1);
    expect(told.filter((text) => text.includes("canary-4711"))).toEqual([]);
  });
});

describe("the order of what is asked", () => {
  it("does not depend on how long a counter of tokens takes to load", async () => {
    const ordersOf = async (turns: number): Promise<readonly string[]> => {
      let loading: Promise<void> | undefined;
      const load = async (): Promise<void> => {
        for (let n = 0; n < turns; n++) await new Promise((resolve) => setImmediate(resolve));
      };
      const tokens = { name: "lazy", count: async (text: string) => (await (loading ??= load()), estimateTokens(text)) };
      const Both = defineAction({
        name: "Both",
        run: async (ctx) => {
          const asked = ctx.ask("one");
          await ctx.step("first", null, () => Promise.resolve(1));
          await ctx.step("second", null, () => Promise.resolve(2));
          await asked;
        },
      });
      const journal = memoryJournal();
      await new Team({ model: parrot(), journal, roles: [answerer("Ann", { actions: [Both], memory: { tokens } })] }).run("go", { id: "r" })
        .result;
      return (await eventsOf(journal, "r")).flatMap((event) => (event.type === "step.started" ? [`${event.asked} ${event.name}`] : []));
    };
    expect(await ordersOf(50)).toEqual(await ordersOf(0));
  });
});
