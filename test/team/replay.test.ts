import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineAction } from "../../src/role/action.ts";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { DifferenceError } from "../../src/kernel/errors.ts";
import { retry } from "../../src/role/failure-policy.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { Team } from "../../src/team/team.ts";
import type { TeamOptions } from "../../src/team/team-options.ts";
import { answering } from "../runtime/town.ts";
import { eventsOf } from "./recorded.ts";

const Draft = defineAction({ name: "Draft", prompt: (ctx) => `Draft: ${ctx.text}` });

/** A writer who asks a model, a critic who asks it twice at once and now and then fails, an editor who keeps state. */
function newsroom(prompt = "Judge"): Role[] {
  let failures = 1;
  return [
    defineRole({ name: "Writer", actions: [Draft] }),
    defineRole({
      name: "Critic",
      watch: [Draft],
      onFailure: retry(2),
      actions: [
        defineAction({
          name: "Judge",
          run: async (ctx) => {
            const both = await Promise.all(["style", "truth"].map((what) => ctx.ask(`${prompt} ${what}: ${ctx.text}`)));
            const weighed = await ctx.step("weigh", { both }, () => {
              failures -= 1;
              return failures >= 0 ? Promise.reject(new Error("the scales stuck")) : Promise.resolve(both.join("+"));
            });
            return `${weighed} at ${ctx.now()} by ${ctx.random()}`;
          },
        }),
      ],
    }),
    defineRole({
      name: "Editor",
      watch: ["Judge"],
      state: z.object({ seen: z.number().default(0) }),
      actions: [defineAction({ name: "Print", run: (ctx) => ctx.message(`printed ${ctx.text}`, { timestamp: 0 }) })],
    }),
  ];
}

async function recordedRun(options: TeamOptions = {}): Promise<{ journal: Journal; events: RunEvent[]; calls: number }> {
  const journal = memoryJournal();
  const model = scriptedModel((request, n) => `reply ${n} to ${request.messages.length} messages`);
  const result = await new Team({ seed: "s", journal, roles: newsroom(), model, ...options }).run("a story", { id: "r" }).result;
  expect(result.error).toBeUndefined();
  return { journal, events: await eventsOf(journal, "r"), calls: model.calls.length };
}

async function told(run: AsyncIterable<RunEvent>): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of run) events.push(event);
  return events;
}

describe.each(["rounds", "eager"] as const)("a replay of a run under %s", (scheduler) => {
  test("repeats the record without a call, and tells the same", async () => {
    const { journal, events, calls } = await recordedRun({ scheduler });
    expect(calls).toBe(3);
    const model = scriptedModel(() => expect.unreachable());
    const run = new Team({ journal, roles: newsroom(), model }).replay("r");
    const again = await told(run);
    const result = await run.result;
    expect(result.error).toBeUndefined();
    expect(result.status).toBe("finished");
    expect(model.calls).toEqual([]);
    expect(canonical(again)).toBe(canonical(events));
    expect(await eventsOf(journal, "r")).toEqual(events);
    expect(result.messages.map(({ content, timestamp }) => [content, timestamp])).toEqual(
      events
        .flatMap((event) => (event.type === "message" ? [event] : event.type === "act.ended" ? event.said : []))
        .map(({ message }) => [message.content, message.timestamp]),
    );
  });

  test("Replay.P1 names the first step that is asked otherwise, with both requests", async () => {
    const { journal } = await recordedRun({ scheduler });
    const model = scriptedModel(() => expect.unreachable());
    const result = await new Team({ journal, roles: newsroom("Weigh"), model }).replay("r").result;
    expect(result.status).toBe("failed");
    expect(result.error).toBeInstanceOf(DifferenceError);
    expect(result.error?.data).toMatchObject({ kind: "asked", act: "Critic#0~1" });
    expect(result.error).toHaveProperty("data.recorded.messages.1.content", expect.stringContaining("Judge style"));
    expect(result.error).toHaveProperty("data.now.messages.1.content", expect.stringContaining("Weigh style"));
    expect(model.calls).toEqual([]);
  });
});

describe("a replay", () => {
  test("Replay.P2 continues through failures, stops and resumes of the record, as the record does", async () => {
    const journal = memoryJournal();
    const model = scriptedModel((_request, n) => `reply ${n}`);
    const team = new Team({ seed: "s", journal, roles: newsroom(), model });
    expect((await team.run("a story", { id: "r", rounds: 1 }).result).status).toBe("rounds");
    expect((await team.resume("r", { rounds: 100 }).result).status).toBe("finished");
    const run = new Team({ journal, roles: newsroom(), model: scriptedModel([]) }).replay("r");
    expect(canonical(await told(run))).toBe(canonical(await eventsOf(journal, "r")));
    expect((await run.result).status).toBe("finished");
  });

  test.each([1, 2, 5, 9, 14])("of a record that was cut after %i events ends where it does, and that is no difference", async (length) => {
    const { events } = await recordedRun();
    const journal = memoryJournal();
    await journal.create("r");
    await journal.append("r", (await journal.claim("r")).epoch, 0, events.slice(0, length));
    const run = new Team({ journal, roles: newsroom(), model: scriptedModel([]) }).replay("r");
    const again = await told(run);
    expect([(await run.result).status, (await run.result).error]).toEqual(["stopped", undefined]);
    expect(canonical(again)).toBe(canonical(events.slice(0, length)));
  });

  test("that code would like to swallow is told all the same", async () => {
    const journal = memoryJournal();
    const asking = (what: string): Role =>
      answering("Ann", async (rc) => rc.message(await rc.step("s", { what }, () => Promise.resolve("x")).catch(() => "x")));
    await new Team({ seed: "s", journal, roles: [asking("a")] }).run("go", { id: "r" }).result;
    expect((await new Team({ journal, roles: [asking("b")] }).replay("r").result).error).toBeInstanceOf(DifferenceError);
  });

  test("lets writes happen again, and says that it is one", async () => {
    const journal = memoryJournal();
    const modes: string[] = [];
    const writing = answering("Ann", async (rc) => {
      const write = (door: { readonly mode: string }): Promise<null> => {
        modes.push(door.mode);
        return Promise.resolve(null);
      };
      await rc.step("write", {}, write, { again: true });
    });
    await new Team({ seed: "s", journal, roles: [writing] }).run("go", { id: "r" }).result;
    expect((await new Team({ journal, roles: [writing] }).replay("r").result).status).toBe("finished");
    expect(modes).toEqual(["live", "replay"]);
  });

  test("Replay.P3 takes over what ran out of time then, for time is not replayed", async () => {
    const journal = memoryJournal();
    const clock = simulatedClock();
    const slow = answering("Ann", () => new Promise<never>(() => {}), { timeout: 1_000, onFailure: "skip" });
    const run = new Team({ seed: "s", journal, roles: [slow], clock }).run("go", { id: "r" });
    await nextMacrotask();
    await clock.advance(1_000);
    await run.result;
    const events = await eventsOf(journal, "r");
    expect(events.some((event) => event.type === "act.failed" && event.error.code === "TIMEOUT")).toBe(true);
    const again = new Team({ journal, roles: [slow] }).replay("r");
    expect(canonical(await told(again))).toBe(canonical(events));
    expect((await again.result).deadLetters).toHaveLength(1);
  });
});
