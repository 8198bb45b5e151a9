import { describe, expect, it } from "vitest";
import { sleep } from "../../src/kernel/clock.ts";
import type { Logger } from "../../src/kernel/emit.ts";
import { JournalError } from "../../src/kernel/errors.ts";
import { canonical, defineAction, defineRole, memoryJournal, Team } from "../../src/index.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { startWorker, type Delivery, type RunDriver } from "../../src/fleet/index.ts";
import type { DeliveryHandler, RunJob } from "../../src/team/run-driver.ts";
import { memoryRunDriver, simulatedClock } from "../../src/testing/index.ts";
import { simulatedProcesses } from "../simulated-processes.ts";
import { codeOf } from "../../src/testing/contracts/contract-kit.ts";
import { door } from "../server/served-team.ts";
import { eventsOf } from "../team/recorded.ts";

interface Shop {
  readonly journal: Journal;
  readonly driver?: RunDriver;
  readonly more?: string;
  step?(): Promise<string>;
}

function shop({ journal, driver, more, step }: Shop): Team {
  const Cut = defineAction({ name: "Cut", run: (ctx) => ctx.step("cut", {}, async () => (await step?.()) ?? `cut ${ctx.text}`) });
  const Sew = defineAction({ name: "Sew", run: (ctx) => ctx.step("sew", {}, async () => `sewn ${ctx.text}`) });
  const roles = [defineRole({ name: "Cora", actions: [Cut] }), defineRole({ name: "Sue", watch: [Cut], actions: [Sew] })];
  if (more !== undefined) roles.push(defineRole({ name: more, watch: [Sew], actions: [defineAction({ name: "Look", run: () => "" })] }));
  return new Team({ name: "tailors", seed: "one", roles, journal, ...(driver === undefined ? {} : { driver }) });
}

/** A driver that hands over what a test gives it. */
function handed(ended = new Promise<void>(() => undefined)): {
  readonly driver: RunDriver;
  deliver(job: Partial<Delivery>): ReturnType<DeliveryHandler>;
} {
  let handler: DeliveryHandler | undefined;
  const driver: RunDriver = {
    ...memoryRunDriver(),
    submit: async () => undefined,
    cancel: async () => undefined,
    list: async () => [],
    close: async () => undefined,
    work: async (given) => {
      handler = given;
      return { ended, stop: async () => undefined };
    },
  };
  const whole: Delivery = { runId: "a", team: "tailors", attempt: 1, signal: new AbortController().signal };
  return { driver, deliver: (job) => handler?.({ ...whole, ...job }) ?? Promise.reject(new Error("no worker")) };
}

async function idle(driver: RunDriver): Promise<void> {
  while ((await driver.list({ limit: 1 })).length > 0) await new Promise((resolve) => setImmediate(resolve));
}

async function alone(idea: string): Promise<string> {
  const journal = memoryJournal();
  await shop({ journal }).run(idea, { id: "a" }).result;
  return canonical(await eventsOf(journal, "a"));
}

describe("a worker", () => {
  it("drives submitted runs to their ends, as one process does", async () => {
    const [journal, driver] = [memoryJournal(), memoryRunDriver()];
    const team = shop({ journal, driver });
    await team.submit("a coat", { id: "a", about: { size: 40 } });
    const worker = await startWorker({ driver, journal, teams: [team] });
    await idle(driver);
    const events = await eventsOf(journal, "a");
    expect([canonical(events), events[0]?.type === "run.started" && events[0].about]).toEqual([await alone("a coat"), { size: 40 }]);
    await worker.drain();
    await worker.ended;
  });

  it("FleetWorker.W2 repeats nothing of a run at rest, and continues one that was submitted again", async () => {
    const { driver, deliver } = handed();
    const journal = memoryJournal();
    const team = shop({ journal });
    await startWorker({ driver, journal, teams: [team] });
    expect(await deliver({ idea: "a coat" })).toEqual({ is: "done" });
    const first = await eventsOf(journal, "a");
    expect(await deliver({ idea: "a coat", attempt: 2 })).toEqual({ is: "done" });
    expect(await eventsOf(journal, "a")).toEqual(first);
    await team.send("a", "a hat");
    expect(await deliver({ events: first.length + 1 })).toEqual({ is: "done" });
    expect((await eventsOf(journal, "a")).at(-1)).toMatchObject({ type: "run.ended", status: "finished" });
    expect((await eventsOf(journal, "a")).some(({ type }) => type === "run.resumed")).toBe(true);
  });

  it("FleetWorker.W1 drives a run once at a time, also when it is delivered twice", async () => {
    const { driver, deliver } = handed();
    const journal = memoryJournal();
    const held = door();
    const told: string[] = [];
    const teams = [shop({ journal, step: () => held.passed.then(() => "cut") })];
    const worker = await startWorker({ driver, journal, teams, logger: recorded(told) });
    const both = [deliver({ idea: "a coat" }), deliver({ idea: "a coat", attempt: 2 })];
    expect(worker.runs).toBe(1);
    held.open();
    expect(await Promise.all(both)).toEqual([{ is: "done" }, { is: "done" }]);
    expect(told.filter((line) => line.startsWith("A run begins")).length).toBe(1);
    expect((await eventsOf(journal, "a")).filter(({ type }) => type === "run.ended").length).toBe(1);
  });

  it("FleetWorker.W4 Driven.R1 StepsInFlight.F1 drains after the steps in flight, and another worker repeats none of them", async () => {
    const [journal, driver] = [memoryJournal(), memoryRunDriver()];
    const [held, reached] = [door(), door()];
    const step = async (): Promise<string> => {
      reached.open();
      await held.passed;
      return "cut a coat";
    };
    const team = shop({ journal, driver, step });
    const worker = await startWorker({ driver, journal, teams: [team] });
    await team.submit("a coat", { id: "a" });
    await reached.passed;
    const drained = worker.drain();
    const late = await startWorker({ driver, journal, teams: [shop({ journal, step: () => Promise.reject(new Error("cut twice")) })] });
    held.open();
    await drained;
    await idle(driver);
    const events = await eventsOf(journal, "a");
    expect(canonical(events)).toBe(await alone("a coat"));
    expect(events.flatMap((event) => (event.type === "run.resumed" ? [event.cause] : []))).toEqual(["drained"]);
    await late.drain();
  });

  it("FleetWorker.W4 waits for a call of five minutes, and another worker has its answer", async () => {
    const [journal, driver, clock] = [memoryJournal(), memoryRunDriver(), simulatedClock()];
    const reached = door();
    const step = async (): Promise<string> => {
      reached.open();
      await sleep(clock, 300_000);
      return "cut a coat";
    };
    const team = shop({ journal, driver, step });
    const old = await startWorker({ driver, journal, teams: [team], grace: 600_000, clock });
    await team.submit("a coat", { id: "a" });
    await reached.passed;
    const late = await startWorker({ driver, journal, teams: [shop({ journal, step: () => Promise.reject(new Error("cut twice")) })] });
    const drained = old.drain();
    await clock.advance(300_000);
    await drained;
    await idle(driver);
    expect(canonical(await eventsOf(journal, "a"))).toBe(await alone("a coat"));
    await late.drain();
  });

  it("FleetWorker.W4 drains before it ends when its engine cannot continue", async () => {
    const journal = memoryJournal();
    const [held, reached] = [door(), door()];
    let fail = (): void => undefined;
    const { driver, deliver } = handed(
      new Promise((_resolve, reject) => (fail = () => reject(new JournalError("GONE", "Expected an engine.")))),
    );
    const step = async (): Promise<string> => {
      reached.open();
      await held.passed;
      return "cut a coat";
    };
    const worker = await startWorker({ driver, journal, teams: [shop({ journal, step })] });
    const verdict = deliver({ idea: "a coat" });
    await reached.passed;
    fail();
    let isOver = false;
    const ended = codeOf(() => worker.ended).finally(() => (isOver = true));
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect([worker.isDraining, isOver]).toEqual([true, false]);
    held.open();
    expect([await ended, (await verdict).is]).toEqual(["GONE", "again"]);
    expect((await eventsOf(journal, "a")).filter((event) => event.type === "step.ended")).toHaveLength(1);
  });

  it("FleetWorker.W4 stops a step that does not end within the grace, and the run continues elsewhere", async () => {
    const [journal, driver, clock] = [memoryJournal(), memoryRunDriver(), simulatedClock()];
    const reached = door();
    const step = (): Promise<string> => {
      reached.open();
      return new Promise(() => undefined);
    };
    const team = shop({ journal, driver, step });
    const worker = await startWorker({ driver, journal, teams: [team], grace: 60_000, clock });
    await team.submit("a coat", { id: "a" });
    await reached.passed;
    const drained = worker.drain();
    await clock.advance(60_000);
    await drained;
    const late = await startWorker({ driver, journal, teams: [shop({ journal })] });
    await idle(driver);
    expect(canonical(await eventsOf(journal, "a"))).toBe(await alone("a coat"));
    await late.drain();
  });

  it("FleetWorker.W3 FleetWorker.W6 gives a run of another version of its team back, and in the end gives it up and tells so", async () => {
    const { driver, deliver } = handed();
    const journal = memoryJournal();
    const stop = new AbortController();
    const step = async (): Promise<string> => {
      stop.abort();
      return "never";
    };
    await shop({ journal, step }).run("a coat", { id: "a", signal: stop.signal }).result;
    const before = await eventsOf(journal, "a");
    const told: string[] = [];
    const logger = recorded(told);
    await startWorker({ driver, journal, teams: [shop({ journal, more: "Ida" })], tries: 3, logger });
    const events = before.length;
    const job = { runId: "a", team: "tailors", events };
    // Drains and deaths are no refusals, however many there were.
    expect(await deliver({ events, attempt: 9 })).toEqual({ is: "again", after: 30_000, job: { ...job, refusals: 1 } });
    expect(await deliver({ events, attempt: 2, refusals: 1 })).toEqual({ is: "again", after: 1000, job: { ...job, refusals: 2 } });
    expect(await deliver({ events, attempt: 3, refusals: 2 })).toEqual({ is: "done" });
    expect(told.at(-1)).toContain("TEAM_CHANGED");
    expect(await eventsOf(journal, "a")).toEqual(before);
  });

  it("FleetWorker.W6 a drain and an error that passes are no refusals, and a drain is no try", async () => {
    const { driver, deliver } = handed();
    const processes = simulatedProcesses(memoryJournal());
    const [mine, other] = [processes.start().journal, processes.start().journal];
    await other.create("a");
    const { epoch } = await other.claim("a");
    const reached = door();
    const step = (): Promise<string> => {
      reached.open();
      return new Promise(() => undefined);
    };
    const worker = await startWorker({ driver, journal: mine, teams: [shop({ journal: mine, step })], tries: 1, grace: 0 });
    expect(await deliver({ idea: "a coat", attempt: 3 })).toEqual({ is: "again", after: 2000 });
    await other.release("a", epoch);
    const drained = deliver({ idea: "a coat", attempt: 3 });
    await reached.passed;
    await worker.drain();
    expect(await drained).toMatchObject({ is: "again", after: 0, isUntried: true });
    expect(await deliver({ idea: "a coat" })).toEqual({ is: "again", after: 0, isUntried: true });
  });

  it("brings a run back when the deadline of its question has passed", async () => {
    const { driver, deliver } = handed();
    const [journal, clock] = [memoryJournal(), simulatedClock(1000)];
    const asker = defineRole({
      name: "Ann",
      react: async (rc) => rc.message(String(await rc.human.ask("Which?", { default: "red", deadline: 5000 }))),
    });
    const team = new Team({ name: "tailors", roles: [asker], journal, clock });
    await startWorker({ driver, journal, teams: [team], clock });
    const verdict = await deliver({ idea: "a coat" });
    expect(verdict).toMatchObject({ is: "again", job: { runId: "a", team: "tailors" } });
    const after = verdict.is === "again" ? verdict.after : 0;
    const job: Partial<RunJob> = verdict.is === "again" ? (verdict.job ?? {}) : {};
    await clock.advance(after);
    expect(await deliver({ ...job, attempt: 2 })).toEqual({ is: "done" });
    expect((await eventsOf(journal, "a")).at(-1)).toMatchObject({ type: "run.ended", status: "finished" });
  });
});

function recorded(told: string[]): Logger {
  const line = (text: string, fields?: object): void => void told.push(`${text} ${JSON.stringify(fields ?? {})}`);
  return { debug: line, info: line, warn: line, error: line };
}
