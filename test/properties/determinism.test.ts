import { describe, expect, test } from "vitest";
import { defineAction } from "../../src/action/action.ts";
import { randomStream } from "../../src/kernel/random.ts";
import { canonical } from "../../src/run/canonical.ts";
import type { RunEvent } from "../../src/run/event.ts";
import { memoryJournal } from "../../src/run/memory-journal.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { Team } from "../../src/team/team.ts";
import type { TeamOptions } from "../../src/team/team-options.ts";
import { answering, listener } from "../environment/town.ts";
import { eventsOf } from "../team/recorded.ts";
import { company } from "./company.ts";
import { Deck } from "./deck.ts";
import { World } from "./world.ts";

/** One life of the company with latencies that chance decides. */
async function lived(luck: number, options: TeamOptions = {}, more: readonly Role[] = []): Promise<RunEvent[]> {
  const deck = new Deck(randomStream("luck", luck));
  const journal = memoryJournal();
  const team = new Team({ seed: "fixed", ...options, journal, roles: [...company(new World([], () => deck.wait())), ...more] });
  const { status } = await deck.until(team.run("a book", { id: "r" }).result);
  expect(status).toBe("finished");
  return eventsOf(journal, "r");
}

/** A company that asks a model: its own answer is a function of the prompt. */
async function talked(luck: number, concurrency: number): Promise<string> {
  const deck = new Deck(randomStream("luck", luck));
  const model = scriptedModel(async ({ messages }) => {
    await deck.wait();
    return `on ${messages.at(-1)?.content?.length}`;
  });
  const Talk = defineAction({ name: "Talk", prompt: (ctx) => ctx.text });
  const speakers = Array.from({ length: 6 }, (_, i) => defineRole({ name: `s${i}`, actions: [Talk] }));
  const Sum = defineAction({
    name: "Sum",
    prompt: (ctx) => `${ctx.news.map((news) => `${news.sentFrom}: ${news.content}`).join("\n")} ${ctx.random()}`,
  });
  const journal = memoryJournal();
  const team = new Team({
    seed: "fixed",
    concurrency,
    model,
    journal,
    roles: [...speakers, defineRole({ name: "chair", reactions: [{ on: Talk, do: Sum }] })],
  });
  await deck.until(team.run("the weather", { id: "r" }).result);
  return canonical(await eventsOf(journal, "r"));
}

/** The same events without what no two runs share. */
function raw(events: readonly RunEvent[]): string {
  return JSON.stringify(events.map(({ time: _time, ...event }) => event));
}

describe("T3 the same seed, roles and answers give the same canonical log", () => {
  test("in ten repetitions, whatever the latencies; and the latencies do change what happens when", async () => {
    const runs: RunEvent[][] = [];
    for (let luck = 0; luck < 10; luck += 1) runs.push(await lived(luck));
    expect(new Set(runs.map(canonical)).size).toBe(1);
    expect(new Set(runs.map(raw)).size).toBeGreaterThan(5);
  });

  test("with a model that answers in any order, at any concurrency", async () => {
    const logs = new Set<string>();
    for (let luck = 0; luck < 10; luck += 1) logs.add(await talked(luck, [1, 2, 16][luck % 3] ?? 1));
    expect(logs.size).toBe(1);
    expect([...logs][0]).toContain('"content":"on ');
  });

  test("at concurrency 1 and 16", async () => {
    expect(canonical(await lived(1, { concurrency: 1 }))).toBe(canonical(await lived(2, { concurrency: 16 })));
  });

  test("another seed gives another log", async () => {
    expect(canonical(await lived(1, { seed: "other" }))).not.toBe(canonical(await lived(1)));
  });

  test("without a seed each run has its own, and records it", async () => {
    const seeds = await Promise.all(
      [1, 2].map(async () => {
        const journal = memoryJournal();
        await new Team({ journal, roles: [listener("Ann")] }).run("x", { id: "r" }).result;
        const [started] = await eventsOf(journal, "r");
        return started?.type === "run.started" ? started.seed : "";
      }),
    );
    expect(seeds[0]).toMatch(/^[0-9a-f]{16}$/);
    expect(seeds[0]).not.toBe(seeds[1]);
  });
});

describe("streams of randomness", () => {
  async function draws(others: readonly Role[]): Promise<string[]> {
    const gambler = (name: string): Role => answering(name, (rc) => rc.message([rc.random(), rc.random(), rc.id()].join(" ")));
    const team = new Team({ seed: "fixed", roles: [...others, gambler("a"), gambler("b")] });
    const { outputs } = await team.run("go").result;
    return outputs.map((message) => message.content);
  }

  test("are each role's own: a role more, or one that draws much, moves nobody else's", async () => {
    const alone = await draws([]);
    const greedy = answering("greedy", (rc) => {
      for (let i = 0; i < 100; i += 1) rc.random();
    });
    expect(await draws([greedy, listener("quiet")])).toEqual(alone);
    expect(alone[0]).not.toBe(alone[1]);
  });

  test("are even: a thousand draws spread over [0, 1)", async () => {
    let numbers: number[] = [];
    const roles = [answering("a", (rc) => void (numbers = Array.from({ length: 1000 }, () => rc.random())))];
    await new Team({ seed: 1, roles }).run("go").result;
    const mean = numbers.reduce((sum, x) => sum + x, 0) / numbers.length;
    expect(Math.min(...numbers)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...numbers)).toBeLessThan(1);
    expect(mean).toBeGreaterThan(0.45);
    expect(mean).toBeLessThan(0.55);
  });
});

describe("eager, where the order depends on who is fast", () => {
  test("it finishes, and one role never acts twice at once", async () => {
    for (let luck = 0; luck < 10; luck += 1) {
      const events = await lived(luck, { scheduler: "eager" });
      const open = new Set<string>();
      for (const event of events) {
        if (event.type === "act.started") expect(open.has(event.role)).toBe(false);
        if (event.type === "act.started") open.add(event.role);
        if (event.type === "act.ended" || event.type === "act.failed") open.delete(event.role);
      }
      expect(open.size).toBe(0);
    }
  });

  test("says the same in any order", async () => {
    const said = async (luck: number): Promise<string[]> => {
      const events = await lived(luck, { scheduler: "eager" });
      return events.flatMap((event) => (event.type === "act.ended" ? event.said.map(({ message }) => message.content) : [])).toSorted();
    };
    const first = await said(0);
    for (let luck = 1; luck < 6; luck += 1) expect(await said(luck)).toEqual(first);
  });
});
