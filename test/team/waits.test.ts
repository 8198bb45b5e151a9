import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Json } from "../../src/kernel/json.ts";
import { createMessage } from "../../src/message/message.ts";
import { defineAction } from "../../src/role/action.ts";
import type { ActionContext } from "../../src/role/context.ts";
import { retry } from "../../src/role/failure-policy.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import type { RunResult } from "../../src/runtime/run-result.ts";
import type { TeamOptions } from "../../src/team/team-options.ts";
import { Team } from "../../src/team/team.ts";
import { asTool } from "../../src/team/as-tool.ts";
import type { Run } from "../../src/team/run.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { type SimulatedClock, simulatedClock } from "../../src/testing/simulated-clock.ts";
import { call, calls } from "../agent/setup.ts";
import { simulatedProcesses } from "../simulated-processes.ts";

const DAY = 86_400_000;

/** A role that does something with its context, and says the result as JSON. */
function waiting(name: string, run: (ctx: ActionContext) => Promise<unknown>): Role {
  return defineRole({ name, actions: [defineAction({ name: `By${name}`, run: async (ctx) => JSON.stringify((await run(ctx)) ?? null) })] });
}

function teamOf(roles: readonly Role[], o: TeamOptions = {}) {
  const clock = simulatedClock(1_000);
  const journal = o.journal ?? memoryJournal();
  return { clock, journal, team: new Team({ roles, seed: 1, clock, ...o, journal }) };
}

const said = ({ outputs }: RunResult): Json[] => outputs.map(({ content }) => JSON.parse(content) as Json);

async function eventsOf(journal: Journal, runId: string): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of journal.read(runId, 0)) events.push(event);
  return events;
}

describe("a sleep", () => {
  test("ends the run as waiting, and is over when the run is resumed after its time", async () => {
    const { team, clock } = teamOf([waiting("Ann", (ctx) => ctx.sleep(40 * DAY))]);
    const { status, questions, runId } = await team.run("go", { id: "r" }).result;
    expect(status).toBe("waiting");
    expect(questions).toMatchObject([{ role: "Ann", wait: "", deadline: 1_000 + 40 * DAY }]);
    await clock.advance(40 * DAY - 1);
    expect((await team.resume(runId).result).status).toBe("waiting");
    await clock.advance(1);
    const result = await team.resume(runId).result;
    expect([result.status, said(result)]).toEqual(["finished", [null]]);
  });

  test("of a run that waits here ends by the clock", async () => {
    const { team, clock } = teamOf([waiting("Ann", (ctx) => ctx.sleep("1970-03-01T00:00:00Z"))]);
    const run = team.run("go", { wait: true });
    await run.started;
    await clock.advance(59 * DAY);
    expect(said(await run.result)).toEqual([null]);
  });

  test.each([[0], [new Date(0)], ["1969-12-31"]])("until %s is over at once", async (until) => {
    const { team } = teamOf([waiting("Ann", (ctx) => ctx.sleep(until))]);
    expect((await team.run("go").result).status).toBe("finished");
  });

  test.each([[Number.NaN], [-1], [Infinity], [new Date(Number.NaN)], ["tomorrow"], ["2031-05-01T08:00:00"], [undefined], [1e15]])(
    "until %s is refused",
    async (until) => {
      const { team } = teamOf([waiting("Ann", (ctx) => ctx.sleep(until as number))]);
      const { status, error } = await team.run("go").result;
      expect([status, error?.code]).toEqual(["failed", "WAIT_INVALID"]);
    },
  );
});

describe("a signal", () => {
  const approval = z.object({ ok: z.boolean() });
  const ann = waiting("Ann", (ctx) => ctx.waitFor("approved", { schema: approval }));

  test("wakes a run that waits for it", async () => {
    const { team } = teamOf([ann]);
    expect((await team.run("go", { id: "r" }).result).status).toBe("waiting");
    const run = await team.signal("r", "approved", { ok: true });
    expect(said(await run!.result)).toEqual([{ ok: true }]);
  });

  test("wakes it by the handle, under way and at rest", async () => {
    const { team } = teamOf([ann]);
    const run = team.run("go", { wait: true });
    await run.started;
    await run.signal("approved", { ok: true });
    expect(said(await run.result)).toEqual([{ ok: true }]);
    const other = team.run("go");
    await other.result;
    const woken = await other.signal("approved", { ok: false });
    expect(said(await woken!.result)).toEqual([{ ok: false }]);
  });

  test("that comes before its wait is kept, and each ends one wait (Signals.G1)", async () => {
    const both = waiting("Ann", async (ctx) => {
      const first = await ctx.waitFor("first");
      return [first, await ctx.waitFor("n"), await ctx.waitFor("n")];
    });
    const { team } = teamOf([both]);
    await team.run("go", { id: "r" }).result;
    expect(await team.signal("r", "n", 1, { id: "a" })).toBeUndefined();
    expect(await team.signal("r", "n", 1, { id: "a" })).toBeUndefined();
    expect(await team.signal("r", "n", 2, { id: "b" })).toBeUndefined();
    const run = await team.signal("r", "first", "now");
    expect(said(await run!.result)).toEqual([["now", 1, 2]]);
  });

  test("that does not fit the open wait is refused, and one that was kept is passed over", async () => {
    const { team } = teamOf([ann]);
    await team.run("go", { id: "r" }).result;
    await expect(team.signal("r", "approved", { ok: "yes" })).rejects.toMatchObject({ code: "SIGNAL_INVALID" });
    const late = waiting("Ann", async (ctx) => {
      await ctx.sleep(DAY);
      return ctx.waitFor("approved", { schema: approval });
    });
    const { team: other, clock } = teamOf([late]);
    await other.run("go", { id: "r" }).result;
    await other.signal("r", "approved", "no object");
    await clock.advance(DAY);
    expect((await other.resume("r").result).status).toBe("waiting");
    const run = await other.signal("r", "approved", { ok: true });
    expect(said(await run!.result)).toEqual([{ ok: true }]);
  });

  test("is refused for a run that is unknown or has finished (Signals.G2), and under an id that another one has", async () => {
    const { team } = teamOf([ann]);
    await expect(team.signal("other", "approved")).rejects.toMatchObject({ code: "RUN_UNKNOWN" });
    await team.run("go", { id: "r" }).result;
    await team.signal("r", "later", 1, { id: "a" });
    await expect(team.signal("r", "later", 2, { id: "a" })).rejects.toMatchObject({ code: "MESSAGE_KNOWN" });
    await (await team.signal("r", "approved", { ok: true }))!.result;
    await expect(team.signal("r", "approved", { ok: true })).rejects.toMatchObject({ code: "RUN_FINISHED" });
    // A sender that got no receipt repeats the signal.
    expect(await team.signal("r", "later", 1, { id: "a" })).toBeUndefined();
  });

  test("is refused when a run keeps too many", async () => {
    const { team } = teamOf([ann]);
    await team.run("go", { id: "r" }).result;
    for (let nth = 0; nth < 1_000; nth += 1) await team.signal("r", "nobody waits", nth);
    await expect(team.signal("r", "nobody waits")).rejects.toMatchObject({ code: "SIGNALS_FULL" });
  });

  test.each([
    ["name", "", 1, {}],
    ["value", "n", () => 1, {}],
    ["size", "n", "x".repeat(1_000_001), {}],
    ["id", "n", 1, { id: "a#b" }],
  ])("with a bad %s is refused", async (_what, name, value, o) => {
    const { team } = teamOf([ann]);
    await team.run("go", { id: "r" }).result;
    await expect(team.signal("r", name as string, value as Json, o as object)).rejects.toMatchObject({
      code: expect.stringMatching(/^(WAIT_INVALID|NOT_JSON|SIGNAL_INVALID)$/) as unknown,
    });
  });
});

describe("a wait past its timeout", () => {
  const patient = waiting("Ann", (ctx) => ctx.waitFor("approved", { timeout: DAY }).catch((error: { code: string }) => error.code));

  test("throws WAIT_TIMEOUT, and a signal that came before it counts", async () => {
    const { team, clock } = teamOf([patient]);
    await team.run("go", { id: "r" }).result;
    await clock.advance(DAY);
    expect(said(await team.resume("r").result)).toEqual(["WAIT_TIMEOUT"]);
    await team.run("go", { id: "s" }).result;
    const run = await team.signal("s", "approved", 1);
    expect(said(await run!.result)).toEqual([1]);
  });

  test("does not take a signal that came too late, which is kept for the next wait", async () => {
    const twice = waiting("Ann", async (ctx) => {
      const first = await ctx.waitFor("n", { timeout: DAY }).catch((error: { code: string }) => error.code);
      return [first, await ctx.waitFor("n")];
    });
    const { team, clock } = teamOf([twice]);
    await team.run("go", { id: "r" }).result;
    await clock.advance(2 * DAY);
    const run = await team.signal("r", "n", 1);
    expect(said(await run!.result)).toEqual([["WAIT_TIMEOUT", 1]]);
  });

  test("fails its activation, which a retry does not begin to wait again", async () => {
    const failing = waiting("Ann", (ctx) => ctx.waitFor("approved", { timeout: DAY }));
    const { team, clock, journal } = teamOf([failing], { onFailure: "stop" });
    await team.run("go", { id: "r" }).result;
    await clock.advance(DAY);
    const { status, error } = await team.resume("r").result;
    expect([status, error?.code]).toEqual(["failed", "WAIT_TIMEOUT"]);
    const replay = await team.replay("r").result;
    expect(replay.error?.code).not.toBe("DIFFERENCE");
    const again = await team.resume("r").result;
    expect([again.status, again.error?.code]).toEqual(["failed", "WAIT_TIMEOUT"]);
    const starts = (await eventsOf(journal, "r")).filter(({ type }) => type === "step.started");
    expect(starts.map((event) => "try" in event && event.try)).toEqual([1, 2]);
  });
});

test("the other roles continue, round after round, while one waits", async () => {
  const ann = waiting("Ann", (ctx) => ctx.waitFor("approved"));
  const Ping = defineAction({ name: "Ping", run: (ctx) => `${ctx.text}!` });
  const bob = defineRole({ name: "Bob", actions: [Ping] });
  const Pong = defineAction({ name: "Pong", run: (ctx) => `${ctx.text}?` });
  const cleo = defineRole({ name: "Cleo", actions: [Pong], watch: [Ping] });
  const { team } = teamOf([ann, bob, cleo]);
  const { status, outputs } = await team.run("go", { id: "r" }).result;
  expect([status, outputs.map(({ content }) => content)]).toEqual(["waiting", ["go!?"]]);
  const run = await team.signal("r", "approved", 1);
  const result = await run!.result;
  expect(result.outputs.map(({ content }) => content)).toEqual(["go!?", "1"]);
  expect((await team.replay("r").result).error).toBeUndefined();
  const fork = await team.fork("r").result;
  expect(fork.outputs.map(({ content }) => content)).toEqual(["go!?", "1"]);
});

test("a wait that ends while another role works lets its role act beside it (ScheduledRun.S7)", async () => {
  let finish = (): void => {};
  const work = new Promise<void>((resolve) => (finish = resolve));
  const ann = waiting("Ann", async (ctx) => {
    const value = await ctx.waitFor("approved");
    finish();
    return value;
  });
  const bob = waiting("Bob", (ctx) => ctx.step("work", {}, () => work.then(() => "done")));
  const { team } = teamOf([ann, bob]);
  const run = team.run("go");
  await run.started;
  await run.signal("approved", 1);
  expect(new Set(said(await run.result))).toEqual(new Set([1, "done"]));
});

test("a signal to a run of another process goes to its owner, which continues", async () => {
  const [clock, journal] = [simulatedClock(1_000), memoryJournal()];
  const host = simulatedProcesses(journal);
  const [owner, sender] = [host.start(), host.start()].map(
    ({ journal: seen }) => new Team({ roles: [waiting("Ann", (ctx) => ctx.waitFor("n"))], seed: 1, clock, journal: seen }),
  );
  const run = owner!.run("go", { id: "r", wait: true });
  await run.started;
  expect(await sender!.signal("r", "n", 7, { id: "a" })).toBeUndefined();
  expect(said(await run.result)).toEqual([7]);
  // A sender whose receipt was lost repeats it to whoever has the run.
  expect(await sender!.signal("r", "n", 7, { id: "a" })).toBeUndefined();
});

test("two waits of one name take two signals (Persons.H5)", async () => {
  const { team } = teamOf(["Ann", "Bob"].map((name) => waiting(name, (ctx) => ctx.waitFor("n"))));
  const run = team.run("go", { wait: true });
  await run.started;
  await Promise.all([run.signal("n", 1), run.signal("n", 2)]);
  expect(new Set(said(await run.result))).toEqual(new Set([1, 2]));
});

test("a retry gets the signals of the attempt before", async () => {
  let tries = 0;
  const ann = waiting("Ann", async (ctx) => {
    const value = await ctx.waitFor("n");
    tries += 1;
    if (tries === 1) throw new Error("once");
    return value;
  });
  const { team } = teamOf([ann], { onFailure: retry(1) });
  await team.run("go", { id: "r" }).result;
  const run = await team.signal("r", "n", 1);
  expect(said(await run!.result)).toEqual([1]);
});

test("a wait is no question to a person", async () => {
  const { team } = teamOf([waiting("Ann", (ctx) => ctx.waitFor("n"))], { human: () => "yes" });
  const { status, questions } = await team.run("go", { id: "r" }).result;
  expect([status, questions.length]).toEqual(["waiting", 1]);
  const run = await team.answer("r", questions[0]!.id, "yes").catch((error: { code: string }) => error.code);
  expect(run).toBe("OPTION_INVALID");
});

test("a signal whose name has a secret wakes its wait", async () => {
  const name = "paid by sk-secret-12345678";
  const { team } = teamOf([waiting("Ann", (ctx) => ctx.waitFor(name))], { secrets: ["sk-secret-12345678"] });
  await team.run("go", { id: "r" }).result;
  expect(said(await (await team.signal("r", name, 1))!.result)).toEqual([1]);
});

describe("a run inside a tool", () => {
  const ends: Readonly<
    Record<
      string,
      [(ctx: ActionContext) => Promise<unknown>, (team: Team, clock: SimulatedClock, question: string) => Promise<Run | undefined>]
    >
  > = {
    "a signal": [(ctx) => ctx.waitFor("n"), (team) => team.signal("r", "n", 1)],
    "a time": [(ctx) => ctx.sleep(DAY), async (team, clock) => (await clock.advance(DAY), team.resume("r"))],
    "the timeout of a signal": [
      (ctx) => ctx.waitFor("n", { timeout: DAY }).catch(() => "late"),
      async (team, clock) => (await clock.advance(DAY), team.resume("r")),
    ],
    "the deadline of a question": [
      (ctx) => ctx.human.ask("which?", { deadline: DAY, default: "this" }),
      async (team, clock) => (await clock.advance(DAY), team.resume("r")),
    ],
    "an answer": [(ctx) => ctx.human.ask("which?"), (team, _clock, question) => team.answer("r", question, "this")],
  };

  test.each(Object.entries(ends))("waits for %s, and pays nothing twice", async (_what, [wait, end]) => {
    const model = scriptedModel([calls(call("Ann", { task: "x" })), "Ann here.", "done"]);
    const ann = waiting("Ann", async (ctx) => [await ctx.ask("Who?"), await wait(ctx)]);
    const { team, clock } = teamOf([defineRole({ name: "Hedy", tools: [asTool(ann)] })], { model });
    const { status, questions } = await team.run("go", { id: "r" }).result;
    expect([status, questions.length]).toEqual(["waiting", 1]);
    const { status: after, output } = await (await end(team, clock, questions[0]!.id))!.result;
    expect([after, output?.content, model.calls.length]).toEqual(["finished", "done", 3]);
  });

  test("two of them take two signals", async () => {
    const both = calls(call("Ann", { task: "x" }, "1"), call("Ann", { task: "y" }, "2"));
    const model = scriptedModel([both, "done"]);
    const { team } = teamOf([defineRole({ name: "Hedy", tools: [asTool(waiting("Ann", (ctx) => ctx.waitFor("n")))] })], { model });
    const run = team.run("go", { id: "r", wait: true });
    await run.started;
    await run.signal("n", 1);
    await run.signal("n", 2);
    expect((await run.result).status).toBe("finished");
    const results = model.calls[1]?.messages.filter(({ role }) => role === "tool").map(({ content }) => content);
    expect(new Set(results)).toEqual(new Set(["1", "2"]));
  });
});

test("a run that waits here hears messages and hires", async () => {
  const { team } = teamOf([waiting("Ann", (ctx) => ctx.waitFor("n"))]);
  const run = team.run("go", { wait: true });
  await run.started;
  await run.hire(waiting("Bob", async (ctx) => ctx.text));
  await run.publish(createMessage("psst", { sendTo: "Bob" }));
  await run.signal("n", 1);
  expect(new Set(said(await run.result))).toEqual(new Set([1, "psst"]));
});

test("a run that waits here can be stopped", async () => {
  const { team } = teamOf([waiting("Ann", (ctx) => ctx.waitFor("n"))]);
  const run = team.run("go", { wait: true });
  await run.started;
  run.stop();
  expect((await run.result).status).toBe("stopped");
});
