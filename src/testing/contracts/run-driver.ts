import type { Delivery, DeliveryHandler, FleetDriver, RunDriver, RunJob, Handled, Working, WorkOptions } from "../../team/run-driver.ts";
import { checkContractObject, checksOf, codeOf, type ContractKit, type Gate, gate as newGate } from "./contract-kit.ts";

/** A worker in a process of its own, which takes one job of a team and never ends it. */
export interface DoomedWorker {
  readonly took: Promise<string>;
  /** Ends the process at once, as SIGKILL does. */
  kill(): Promise<void>;
}

export interface RunEngine {
  /** Opens a driver, as another process would. */
  open(): RunDriver | Promise<RunDriver>;
  doomed(team: string): Promise<DoomedWorker>;
  close(): Promise<void>;
}

export interface RunDriverContract {
  readonly name: string;
  /** Makes an engine without jobs. */
  make(): RunEngine | Promise<RunEngine>;
}

/**
 * The contract of every {@link RunDriver}.
 *
 * RunDriver.D1 a job comes unchanged to a worker of its team, and to no other. RunDriver.D2 a waiting run has one job; one that is
 * submitted during a delivery comes after it. RunDriver.D3 a job comes again when its handler asks for that, not before its time, or
 * rejects. RunDriver.D4 a worker has at most `concurrency` deliveries. RunDriver.D5 the job of a killed worker comes to another.
 * RunDriver.D6 a stopped worker takes nothing more, and waits for its handlers. RunDriver.D7 a cancelled job does not come again, and its
 * delivery aborts. RunDriver.D8 the list has what is not done. RunDriver.D9 malformed jobs are refused. RunDriver.D10 closing twice is no
 * error. RunDriver.D11 a {@link FleetDriver} lists its workers with their jobs, and asks them to drain.
 */
export function runDriverContract(kit: ContractKit, contract: RunDriverContract): void {
  checkContractObject("runDriverContract", kit, contract);
  kit.describe(`${contract.name} keeps the contract of a run driver`, () => {
    const check = (title: string, body: (driver: RunDriver, engine: RunEngine) => Promise<void>): void =>
      checksOf(kit, () => contract.make()).check(title, async (engine) => body(await engine.open(), engine));
    deliveringChecks(kit, check);
    repeatingChecks(kit, check);
    endingChecks(kit, check);
  });
}

type Check = (title: string, body: (driver: RunDriver, engine: RunEngine) => Promise<void>) => void;

const DONE: Handled = { is: "done" };

function deliveringChecks({ expect }: ContractKit, check: Check): void {
  check("RunDriver.D1 a job comes unchanged to a worker with its team, also when it was submitted before", async (driver, engine) => {
    const job: RunJob = { runId: "a", team: "x", idea: "a poem\n\u{1F3AD}", about: { deep: [1, null, "é"] }, events: 3, refusals: 2 };
    await driver.submit(job);
    const seen = await collector(await engine.open(), { teams: ["x"], concurrency: 1 }, () => DONE);
    const { signal, attempt, ...came } = await seen.next();
    expect({ ...came, attempt, isAborted: signal.aborted }).toEqual({ ...job, attempt: 1, isAborted: false });
    await driver.submit({ runId: "b", team: "x" });
    expect((await seen.next()).runId).toBe("b");
    await settled(driver, 0);
  });

  check("RunDriver.D1 a job waits while no worker has its team", async (driver, engine) => {
    await driver.submit({ runId: "a", team: "x" });
    const others = await collector(driver, { teams: ["y"], concurrency: 4 }, () => DONE);
    for (const runId of ["b", "c", "d"]) await driver.submit({ runId, team: "y" });
    expect([await others.next(), await others.next(), await others.next()].map(({ runId }) => runId).sort()).toEqual(["b", "c", "d"]);
    await settled(driver, 1);
    const mine = await collector(await engine.open(), { teams: ["y", "x"], concurrency: 1 }, () => DONE);
    expect((await mine.next()).runId).toBe("a");
    expect(others.count).toBe(3);
  });

  check("RunDriver.D4 JobsInMemory.J2 a worker has no more deliveries than its concurrency", async (driver) => {
    let most = 0;
    let present = 0;
    const seen = await collector(driver, { teams: ["x"], concurrency: 2 }, async ({ runId }) => {
      present += 1;
      most = Math.max(most, present);
      // A round trip to the engine.
      await driver.submit({ runId: `${runId}-after`, team: "nobody's" });
      present -= 1;
      return DONE;
    });
    for (let n = 0; n < 8; n += 1) await driver.submit({ runId: `r${n}`, team: "x" });
    for (let n = 0; n < 8; n += 1) await seen.next();
    await settled(driver, 8);
    expect(most <= 2).toBe(true);
  });

  check("RunDriver.D9 what is no job is refused", async (driver) => {
    for (const job of [{ runId: "", team: "x" }, { runId: "a", team: "" }, { runId: "a", team: "x", events: -1 }, null])
      expect(await codeOf(() => driver.submit(job as RunJob))).toBe("OPTION_INVALID");
    expect(await driver.list({ limit: 10 })).toEqual([]);
  });
}

function repeatingChecks({ expect }: ContractKit, check: Check): void {
  check("RunDriver.D2 JobsInMemory.J1 a run that waits has one job, the last submitted", async (driver) => {
    await driver.submit({ runId: "a", team: "x", events: 1 });
    await driver.submit({ runId: "a", team: "x", events: 2 });
    const seen = await collector(driver, { teams: ["x"], concurrency: 4 }, () => DONE);
    expect((await seen.next()).events).toBe(2);
    await settled(driver, 0);
    expect(seen.count).toBe(1);
  });

  check("RunDriver.D2 a job that is submitted during a delivery comes after it", async (driver) => {
    const seen = await collector(driver, { teams: ["x"], concurrency: 1 }, async ({ events }) => {
      if (events === 1) await driver.submit({ runId: "a", team: "x", events: 2 });
      return DONE;
    });
    await driver.submit({ runId: "a", team: "x", events: 1 });
    expect([(await seen.next()).events, (await seen.next()).events]).toEqual([1, 2]);
    await settled(driver, 0);
  });

  check("RunDriver.D2 a job that is submitted during a delivery comes to no other worker before its end", async (driver, engine) => {
    const gate = newGate();
    const handle = async ({ runId, events }: Delivery): Promise<Handled> => {
      if (runId === "a" && events === 1) await gate.opened;
      return DONE;
    };
    const other = await engine.open();
    const first = await collector(driver, { teams: ["x"], concurrency: 1 }, handle);
    await driver.submit({ runId: "a", team: "x", events: 1 });
    await first.next();
    const second = await collector(other, { teams: ["x"], concurrency: 1 }, handle);
    for (const events of [2, 3]) await other.submit({ runId: "a", team: "x", events });
    // The other worker is free, and has what was submitted later.
    for (const runId of ["b", "c", "d"]) await driver.submit({ runId, team: "x" });
    const came = [await second.next(), await second.next(), await second.next()].map(({ runId }) => runId);
    expect(came.toSorted()).toEqual(["b", "c", "d"]);
    gate.open();
    expect((await Promise.race([first.next(), second.next()])).events).toBe(3);
    await settled(driver, 0);
    expect(first.count + second.count).toBe(5);
  });

  check("RunDriver.D5 a job submitted during the delivery of a killed worker comes, and the older one does not", async (driver, engine) => {
    await driver.submit({ runId: "a", team: "x", events: 1 });
    const doomed = await engine.doomed("x");
    await doomed.took;
    await driver.submit({ runId: "a", team: "x", events: 2 });
    const seen = await collector(driver, { teams: ["x"], concurrency: 1 }, () => DONE);
    await driver.submit({ runId: "b", team: "x" });
    expect((await seen.next()).runId).toBe("b");
    await doomed.kill();
    const { events, attempt } = await seen.next();
    expect({ events, attempt }).toEqual({ events: 2, attempt: 1 });
    await settled(driver, 0);
    expect(seen.count).toBe(2);
  });

  check("RunDriver.D3 a job that its handler gives back comes again, as it was changed, and not too early", async (driver) => {
    const times: number[] = [];
    const seen = await collector(driver, { teams: ["x"], concurrency: 1 }, ({ attempt }) => {
      times.push(performance.now());
      return attempt < 3 ? { is: "again", after: 60, job: { runId: "a", team: "x", events: attempt } } : DONE;
    });
    await driver.submit({ runId: "a", team: "x", idea: "a poem" });
    const [first, second, third] = [await seen.next(), await seen.next(), await seen.next()];
    expect([first, second, third].map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect([first.idea, second.idea, third.events]).toEqual(["a poem", undefined, 2]);
    const [one = 0, two = 0, three = 0] = times;
    // The clocks of the engine and of this process may differ by a little.
    expect(two - one >= 55 && three - two >= 55).toBe(true);
    await settled(driver, 0);
  });

  check("RunDriver.D3 a delivery that was no try does not count", async (driver) => {
    let deliveries = 0;
    const seen = await collector(driver, { teams: ["x"], concurrency: 1 }, () => {
      deliveries += 1;
      return deliveries < 3 ? { is: "again", after: 0, isUntried: true } : DONE;
    });
    await driver.submit({ runId: "a", team: "x", idea: "a poem" });
    const came = [await seen.next(), await seen.next(), await seen.next()];
    expect(came.map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
    await settled(driver, 0);
  });

  check("RunDriver.D3 a job whose handler rejects comes again", async (driver) => {
    const seen = await collector(driver, { teams: ["x"], concurrency: 1 }, ({ attempt }) =>
      attempt === 1 ? Promise.reject(new Error("a fault of the handler")) : DONE,
    );
    await driver.submit({ runId: "a", team: "x", idea: "a poem" });
    expect([(await seen.next()).attempt, (await seen.next()).idea]).toEqual([1, "a poem"]);
    await settled(driver, 0);
  });

  check("RunDriver.D5 the job of a killed worker comes to another one", async (driver, engine) => {
    await driver.submit({ runId: "a", team: "x", idea: "a poem" });
    const doomed = await engine.doomed("x");
    expect(await doomed.took).toBe("a");
    const seen = await collector(driver, { teams: ["x"], concurrency: 1 }, () => DONE);
    await driver.submit({ runId: "b", team: "x" });
    expect((await seen.next()).runId).toBe("b");
    expect(seen.count).toBe(1);
    await doomed.kill();
    const { runId, idea, attempt } = await seen.next();
    expect({ runId, idea, attempt }).toEqual({ runId: "a", idea: "a poem", attempt: 2 });
    await settled(driver, 0);
  });
}

async function gated(driver: RunDriver): Promise<{ readonly gate: Gate<void>; readonly seen: Seen }> {
  const gate = newGate();
  const seen = await collector(driver, { teams: ["x"], concurrency: 1 }, async () => {
    await gate.opened;
    return DONE;
  });
  return { gate, seen };
}

function endingChecks({ expect }: ContractKit, check: Check): void {
  check("RunDriver.D6 a stopped worker takes nothing more, and waits for its handler", async (driver) => {
    const { gate, seen } = await gated(driver);
    await driver.submit({ runId: "a", team: "x" });
    await seen.next();
    let isStopped = false;
    const stopped = seen.working.stop().then(() => (isStopped = true));
    await driver.submit({ runId: "b", team: "x" });
    expect(isStopped).toBe(false);
    gate.open();
    await stopped;
    await seen.working.ended;
    expect((await driver.list({ limit: 10 })).map(({ runId, state }) => [runId, state])).toEqual([["b", "waiting"]]);
    expect(seen.count).toBe(1);
  });

  check(
    "RunDriver.D7 a cancelled job that waits is gone, and a delivered one hears of it and does not come again",
    async (driver, engine) => {
      await driver.submit({ runId: "waits", team: "x" });
      await driver.cancel("waits");
      await driver.cancel("waits");
      const seen = await collector(driver, { teams: ["x"], concurrency: 1 }, async ({ signal }) => {
        await new Promise<void>((resolve) => {
          if (signal.aborted) resolve();
          else signal.addEventListener("abort", () => resolve(), { once: true });
        });
        return { is: "again", after: 0 };
      });
      await driver.submit({ runId: "a", team: "x" });
      expect((await seen.next()).runId).toBe("a");
      await (await engine.open()).cancel("a");
      await settled(driver, 0);
      expect(seen.count).toBe(1);
    },
  );

  check("RunDriver.D8 the list has the jobs that are not done", async (driver) => {
    const { gate, seen } = await gated(driver);
    await driver.submit({ runId: "a", team: "x" });
    await seen.next();
    await driver.submit({ runId: "b", team: "y" });
    const jobs = await driver.list({ limit: 10 });
    expect(jobs).toEqual([
      { runId: "a", team: "x", state: "delivered", attempts: 1 },
      { runId: "b", team: "y", state: "waiting", attempts: 0 },
    ]);
    expect((await driver.list({ limit: 1 })).length).toBe(1);
    gate.open();
    await settled(driver, 1);
  });

  check("RunDriver.D11 a driver that knows its workers lists them and asks them to drain", async (driver, engine) => {
    if (!knowsWorkers(driver)) return;
    const { gate, seen } = await gated(driver);
    await driver.submit({ runId: "a", team: "x" });
    await seen.next();
    const other = await collector(await engine.open(), { teams: ["y"], concurrency: 1 }, () => DONE);
    const workers = await driver.workers();
    expect(workers.map(({ jobs }) => jobs).toSorted((a, b) => a - b)).toEqual([0, 1]);
    const busy = workers.find(({ jobs }) => jobs === 1);
    let isAsked = false;
    void other.working.drain?.then(() => (isAsked = true));
    await driver.drain(busy?.id);
    await seen.working.drain;
    gate.open();
    await seen.working.stop();
    expect([isAsked, (await driver.workers()).map(({ id }) => id)]).toEqual([
      false,
      workers.flatMap(({ id }) => (id === busy?.id ? [] : [id])),
    ]);
    await driver.drain();
    await other.working.drain;
    await other.working.stop();
    expect(await driver.workers()).toEqual([]);
  });

  check("RunDriver.D10 closing twice is no error, and a closed driver is refused", async (driver) => {
    await driver.close();
    await driver.close();
    expect(await codeOf(() => driver.submit({ runId: "a", team: "x" }))).toBe("DRIVER_CLOSED");
  });
}

function knowsWorkers(driver: RunDriver): driver is FleetDriver {
  return "workers" in driver && "drain" in driver;
}

interface Seen {
  readonly working: Working;
  readonly count: number;
  next(): Promise<Delivery>;
}

async function collector(driver: RunDriver, o: WorkOptions, handle: (delivery: Delivery) => Handled | Promise<Handled>): Promise<Seen> {
  const came: Delivery[] = [];
  const waiting: ((delivery: Delivery) => void)[] = [];
  let count = 0;
  const handler: DeliveryHandler = async (delivery) => {
    count += 1;
    const asked = waiting.shift();
    if (asked === undefined) came.push(delivery);
    else asked(delivery);
    return handle(delivery);
  };
  const working = await driver.work(handler, o);
  return {
    working,
    get count() {
      return count;
    },
    next() {
      const first = came.shift();
      return first === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(first);
    },
  };
}

/** Polling interval in milliseconds for the list of an engine, which reports no changes. */
const LOOK = 10;
const LOOKS = 1500;

async function settled(driver: RunDriver, jobs: number): Promise<void> {
  for (let look = 0; look < LOOKS; look += 1) {
    if ((await driver.list({ limit: jobs + 1 })).length === jobs) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK));
  }
  const left = await driver.list({ limit: 20 });
  throw new Error(`Expected ${jobs} jobs that are not done, got ${JSON.stringify(left)}.`);
}
