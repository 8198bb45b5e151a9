import { describe, expect, test } from "vitest";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { retry } from "../../src/role/failure-policy.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { TimeLimit } from "../../src/kernel/cancellation.ts";
import type { RunResult } from "../../src/runtime/run-result.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { type SimulatedClock, simulatedClock } from "../../src/testing/simulated-clock.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import { answering, contents, town } from "./town.ts";

const never = (): Promise<never> => new Promise(() => {});

/** Lets everything happen that needs no time. */
async function settled(): Promise<void> {
  for (let i = 0; i < 20; i += 1) await nextMacrotask();
}

/** Runs roles on "go" and moves the clock by the given steps of milliseconds. */
async function timed(roles: Role[], clock: SimulatedClock, ...steps: number[]): Promise<RunResult | "still running"> {
  const environment = town(roles, { clock });
  environment.publishMessage("go");
  const running = environment.run();
  let result: RunResult | "still running" = "still running";
  void running.then((ended) => (result = ended));
  await settled();
  for (const step of steps) {
    await clock.advance(step);
    await settled();
  }
  return result;
}

describe("an activation's time", () => {
  test("an action that never returns fails its activation when its time is up, and its siblings are done", async () => {
    const stuck = answering("Stuck", never, { timeout: 1000 });
    const fine = answering("Fine", (rc) => rc.message("fine"));
    expect(await timed([stuck, fine], simulatedClock(), 999)).toBe("still running");
    const result = await timed([stuck, fine], simulatedClock(), 1000);
    expect(result).toMatchObject({ status: "failed", error: { code: "TIMEOUT" } });
    expect(contents((result as RunResult).messages)).toEqual(["go", "fine"]);
  });

  test("a step that never ends is cut off with it, and what a new attempt asked well before is not asked again", async () => {
    const called: string[] = [];
    let stuck = true;
    const ann = answering(
      "Ann",
      async (rc) => {
        await rc.step("good", {}, async () => called.push("good"));
        await rc.step("stuck", {}, async () => {
          called.push("stuck");
          if (stuck) await never();
        });
        return rc.message("done");
      },
      { timeout: 1000, onFailure: retry(1) },
    );
    const clock = simulatedClock();
    const running = timed([ann], clock, 999, 1);
    await settled();
    stuck = false;
    expect(await running).toMatchObject({ status: "finished", output: { content: "done" } });
    expect(called).toEqual(["good", "stuck", "stuck"]);
  });

  test("a step that nobody awaits and that never ends does not hold the run up for ever", async () => {
    const careless = answering(
      "Careless",
      (rc) => {
        void rc.step("forgotten", {}, never);
        return rc.message("done?");
      },
      { timeout: 1000 },
    );
    expect(await timed([careless], simulatedClock(), 999)).toBe("still running");
    expect(await timed([careless], simulatedClock(), 1000)).toMatchObject({ status: "failed", error: { code: "TIMEOUT" } });
  });

  test("its signal aborts, so that what it does can stop", async () => {
    let reason: unknown;
    const stuck = answering(
      "Stuck",
      (rc) => {
        rc.signal.addEventListener("abort", () => (reason = rc.signal.reason));
        return never();
      },
      { timeout: 1000 },
    );
    await timed([stuck], simulatedClock(), 1000);
    expect(reason).toMatchObject({ code: "TIMEOUT" });
  });

  test("no timer is left when all is done", async () => {
    const clock = simulatedClock();
    await timed([answering("Ann", (rc) => rc.message("x")), answering("Bob", never, { timeout: 5 })], clock, 5);
    expect(clock.pending).toBe(0);
  });

  test("one that goes on after a stop has all of its time again, however long ago it began", async () => {
    const clock = simulatedClock();
    const ann = defineRole({
      name: "Ann",
      timeout: 1000,
      react: async (rc) => {
        const answer = await rc.human.ask("ship it?");
        await rc.step("work", {}, () => new Promise<void>((resolve) => void clock.timer(999, resolve)));
        return rc.message(answer);
      },
    });
    const journal = memoryJournal();
    const waiting = await new Team({ clock, journal, roles: [ann] }).run("go", { id: "r" }).result;
    expect(waiting.status).toBe("waiting");
    await clock.advance(3_600_000);
    const { result } = new Team({ clock, journal, roles: [ann], human: () => "yes" }).resume("r");
    await settled();
    await clock.advance(999);
    const { status, outputs } = await result;
    expect([status, contents(outputs)]).toEqual(["finished", ["yes"]]);
  });

  test("time that a person takes does not count, however it is spread", async () => {
    const clock = simulatedClock();
    const answers: (() => void)[] = [];
    const human = (): Promise<string> => new Promise((resolve) => answers.push(() => resolve("yes")));
    const ann = defineRole({
      name: "Ann",
      timeout: 1000,
      react: async (rc) => {
        await rc.human.ask("first?");
        await rc.step("work", {}, () => new Promise<void>((resolve) => void clock.timer(600, resolve)));
        await Promise.all([rc.human.ask("second?"), rc.human.ask("third?")]);
        await rc.step("more", {}, () => new Promise<void>((resolve) => void clock.timer(600, resolve)));
        return rc.message("done in time?");
      },
    });
    const environment = town([ann], { clock, human });
    environment.publishMessage("go");
    let result: RunResult | undefined;
    void environment.run().then((ended) => (result = ended));
    await settled();
    await clock.advance(50_000);
    answers.shift()?.();
    await settled();
    await clock.advance(600);
    await settled();
    await clock.advance(50_000);
    answers.shift()?.();
    await settled();
    await clock.advance(50_000);
    expect(result).toBeUndefined();
    answers.shift()?.();
    await settled();
    await clock.advance(399);
    await settled();
    expect(result).toBeUndefined();
    await clock.advance(1);
    await settled();
    expect(result).toMatchObject({ status: "failed", error: { code: "TIMEOUT" } });
  });

  test("time that a model takes does not count: its calls have limits of their own", async () => {
    const clock = simulatedClock();
    const model = scriptedModel(() => "said", { latency: () => 90_000, clock });
    const ann = answering(
      "Ann",
      async (rc) => {
        await Promise.all([rc.ask("one?"), rc.ask("two?")]);
        await rc.step("work", {}, (door) => door.step({ kind: "tool", name: "x", request: {} }, () => door.ask("inside?")));
        await rc.step("slow", {}, () => new Promise<void>((resolve) => void clock.timer(999, resolve)));
        return rc.message("done");
      },
      { timeout: 1000, model },
    );
    expect(await timed([ann], clock, 90_000, 90_000, 998)).toBe("still running");
    expect(await timed([ann], clock, 90_000, 90_000, 999)).toMatchObject({ status: "finished" });
  });

  test("an activation that waits for a person who is not there is suspended, not late, even when its code will not end", async () => {
    const stubborn = answering(
      "Stubborn",
      async (rc) => {
        await rc.human.ask("anybody?").catch(() => {});
        await never();
      },
      { timeout: 1000 },
    );
    expect(await timed([stubborn], simulatedClock(), 1000)).toMatchObject({ status: "waiting", error: { code: "WAITING" } });
  });
});

describe("TimeLimit", () => {
  test("TimeLimit.L1 TimeLimit.L2 stands still while held, and fires once", async () => {
    const clock = simulatedClock();
    let fired = 0;
    const limit = new TimeLimit(clock, 100, () => (fired += 1));
    await clock.advance(60);
    limit.hold(true);
    limit.hold(true);
    await clock.advance(1000);
    limit.hold(false);
    await clock.advance(39);
    expect(fired).toBe(0);
    await clock.advance(1);
    expect(fired).toBe(1);
    limit.hold(true);
    limit.hold(false);
    await clock.advance(1000);
    expect([fired, clock.pending]).toEqual([1, 0]);
  });

  test("TimeLimit.L2 a stopped one never fires, held or not", async () => {
    const clock = simulatedClock();
    let fired = 0;
    const limit = new TimeLimit(clock, 100, () => (fired += 1));
    limit.stop();
    limit.hold(false);
    await clock.advance(1000);
    expect([fired, clock.pending]).toEqual([0, 0]);
  });
});
