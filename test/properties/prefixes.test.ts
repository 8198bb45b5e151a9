import { describe, expect, test } from "vitest";
import type { Message } from "../../src/message/message.ts";
import { canonical } from "../../src/run/canonical.ts";
import type { RunEvent } from "../../src/run/event.ts";
import { memoryJournal } from "../../src/run/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import type { RunResult } from "../../src/environment/run-result.ts";
import { eventsOf, journalWith } from "../team/recorded.ts";
import { company } from "./company.ts";
import { World } from "./world.ts";

type Regime = "rounds" | "eager";

interface Lived {
  readonly result: RunResult;
  readonly events: RunEvent[];
  readonly world: World;
}

/** The company lives its whole life. */
async function uncut(scheduler: Regime): Promise<Lived> {
  const journal = memoryJournal();
  const world = new World();
  const team = new Team({ seed: "prefixes", scheduler, journal, roles: company(world) });
  const result = await team.run("a book", { id: "r" }).result;
  return { result, events: await eventsOf(journal, "r"), world };
}

/** Another company, in another process so to speak, goes on from a part of the record by the same program. */
async function goneOn(scheduler: Regime, prefix: readonly RunEvent[]): Promise<Lived> {
  const journal = await journalWith("r", prefix);
  const world = new World(prefix);
  const team = new Team({ seed: "prefixes", scheduler, journal, roles: company(world) });
  const run = prefix.some((event) => event.type === "message") ? team.resume("r") : team.run("a book", { id: "r" });
  return { result: await run.result, events: await eventsOf(journal, "r"), world };
}

/** Steps that were started again although the record had their answer. */
function paidAgain(prefix: readonly RunEvent[], whole: readonly RunEvent[]): string[] {
  const answered = new Set<string>();
  for (const event of prefix) if (event.type === "step.ended" && event.retry !== true) answered.add(`${event.act} ${event.key}`);
  return whole.slice(prefix.length).flatMap((event) => {
    if (event.type !== "step.started") return [];
    const step = `${event.act} ${event.key}`;
    return answered.has(step) ? [step] : [];
  });
}

function stepsStarted(events: readonly RunEvent[]): number {
  return events.filter((event) => event.type === "step.started").length;
}

/** What was said, whatever the order. */
function saidIn({ messages }: RunResult): string[] {
  return messages.map(({ causeBy, sentFrom, content }: Message) => `${sentFrom} ${causeBy}: ${content}`).toSorted();
}

describe("a run that is cut at any event and goes on", () => {
  test("the company under test does use what it claims to use", async () => {
    const { result, events, world } = await uncut("rounds");
    expect(result.status).toBe("finished");
    expect(events.length).toBeGreaterThan(60);
    expect(events.filter((event) => event.type === "act.failed").map(({ act, stepFailed }) => [act, stepFailed])).toEqual([
      ["Critic#0~1", true],
      ["Critic#0~2", false],
    ]);
    expect(world.ran.filter((name) => name === "warm up")).toHaveLength(2);
    expect(events.some((event) => event.type === "step.started" && event.in !== undefined)).toBe(true);
    expect(events.some((event) => event.type === "act.ended" && event.joins !== undefined)).toBe(true);
    expect(events.some((event) => event.type === "act.ended" && event.plan !== undefined)).toBe(true);
    expect(events.some((event) => event.type === "act.ended" && event.state !== undefined)).toBe(true);
    expect(result.deadLetters).toHaveLength(1);
  });

  test("J1 rounds, at every prefix: the same canonical log, nothing lost or doubled, no recorded step again", async () => {
    const whole = await uncut("rounds");
    const text = canonical(whole.events);
    for (let length = 0; length <= whole.events.length; length += 1) {
      const prefix = whole.events.slice(0, length);
      const after = await goneOn("rounds", prefix);
      const at = `after event ${length}, ${prefix.at(-1)?.type ?? "none"}`;
      expect(canonical(after.events), at).toBe(text);
      expect(paidAgain(prefix, after.events), at).toEqual([]);
      expect(after.result, at).toMatchObject({ status: "finished", rounds: whole.result.rounds });
      expect(after.result.messages.map(({ id }) => id).slice(1), at).toEqual(whole.result.messages.map(({ id }) => id).slice(1));
    }
  });

  test("rounds, at every prefix: effects run once for each step that is started, and `again` once more", async () => {
    const whole = await uncut("rounds");
    for (let length = 0; length <= whole.events.length; length += 1) {
      const prefix = whole.events.slice(0, length);
      const { events, world } = await goneOn("rounds", prefix);
      const isWritten = prefix.some((event) => event.type === "step.ended" && event.ok && event.value === "<write>");
      const isOver = prefix.some((event) => event.type === "act.ended" && event.role === "Editor" && event.said.length > 0);
      const outer = events.slice(length).filter((event) => event.type === "step.started" && event.name === "review").length;
      const repeated = isWritten && !isOver ? 1 : 0;
      expect(world.ran.length, `after event ${length}`).toBe(stepsStarted(events.slice(length)) - outer + repeated);
    }
  });

  test("eager, at every prefix: the same is said, and no recorded step again", async () => {
    const whole = await uncut("eager");
    for (let length = 0; length <= whole.events.length; length += 1) {
      const prefix = whole.events.slice(0, length);
      const after = await goneOn("eager", prefix);
      const at = `after event ${length}, ${prefix.at(-1)?.type ?? "none"}`;
      expect(after.result.status, at).toBe("finished");
      expect(saidIn(after.result), at).toEqual(saidIn(whole.result));
      expect(paidAgain(prefix, after.events), at).toEqual([]);
      expect(after.result.deadLetters.length, at).toBe(whole.result.deadLetters.length);
    }
  });

  test("cut again and again, every eight events", async () => {
    const whole = await uncut("rounds");
    let events: readonly RunEvent[] = [];
    for (let cuts = 0; cuts < 200; cuts += 1) {
      const { events: more, result } = await goneOn("rounds", events);
      if (more.length <= events.length + 8) {
        expect(result.status).toBe("finished");
        expect(canonical(more)).toBe(canonical(whole.events));
        return;
      }
      events = more.slice(0, events.length + 8);
    }
    expect.unreachable("it never got to its end");
  });
});
