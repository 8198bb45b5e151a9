import { AbortedError } from "../../kernel/errors.ts";
import type { Lease, LimitOptions, ModelLimits } from "../../model/limits.ts";
import { type SimulatedClock, simulatedClock } from "../simulated-clock.ts";
import { checkContract, type ContractKit, turns } from "./contract-kit.ts";

export type MakeLimits = (options: LimitOptions) => ModelLimits | Promise<ModelLimits>;

/** The time of limits that do not take it from the clock of a request, such as those in a database. */
export interface LimitsTime {
  pass(limits: ModelLimits, ms: number): Promise<void>;
  /** Resolves when everything that was asked until now has been answered or waits. */
  settled(): Promise<void>;
}

const SECOND = 1_000;
const MINUTE = 60_000;

const noOther: LimitsTime = { pass: () => Promise.resolve(), settled: turns };

/**
 * The contract of every {@link ModelLimits}. `time` is that of limits that do not take it from the clock of the requests.
 *
 * ModelLimits.W1 at most `concurrency` calls are in flight. ModelLimits.W2 at most `requestsPerSecond`, `requestsPerMinute` and
 * `tokensPerMinute` begin in any second or minute; a call larger than the allowance goes alone. ModelLimits.W4 a caller that stops waiting
 * takes nothing. ModelLimits.W5 a place is given back once. ModelLimits.W6 a call that begins late keeps its place.
 */
export function modelLimitsContract(kit: ContractKit, name: string, make: MakeLimits, time: LimitsTime = noOther): void {
  checkContract("modelLimitsContract", kit, name, make);
  kit.describe(`${name} keeps the contract of limits`, () => {
    placeChecks(kit, make, time);
    rateChecks(kit, make, time);
  });
}

interface AskedLease {
  got: boolean;
  readonly lease: Promise<Lease>;
}

function ask(limits: ModelLimits, clock: SimulatedClock, tokens = 1, signal = new AbortController().signal): AskedLease {
  const lease = limits.acquire({ tokens, clock, signal });
  const asked: AskedLease = { got: false, lease };
  lease.then(
    () => (asked.got = true),
    () => {},
  );
  return asked;
}

function begin(lease: Lease): AskedLease {
  const begun = lease.begin?.() ?? Promise.resolve();
  const asked: AskedLease = { got: false, lease: begun.then(() => lease) };
  asked.lease.then(
    () => (asked.got = true),
    () => {},
  );
  return asked;
}

const gotten = (asked: readonly AskedLease[]): readonly boolean[] => asked.map(({ got }) => got);

async function given(...asked: readonly (AskedLease | undefined)[]): Promise<void> {
  for (const one of asked) await one?.lease;
}

/** Lets time pass until a call has its place. Limits in a database may set their timer after the clock has moved, so it moves again. */
async function later(ms: number, asked: AskedLease | undefined, { limits, clock, time }: Passing): Promise<void> {
  await time.pass(limits, ms);
  do {
    await clock.advance(ms);
    await time.settled();
  } while (asked?.got === false);
  await asked?.lease;
}

interface Passing {
  readonly limits: ModelLimits;
  readonly clock: SimulatedClock;
  readonly time: LimitsTime;
}

function placeChecks({ it, expect }: ContractKit, make: MakeLimits, { settled }: LimitsTime): void {
  it("ModelLimits.W1 ModelLimits.W5 no more at a time than allowed, and a place that is given back twice is one place", async () => {
    const clock = simulatedClock();
    const limits = await make({ concurrency: 2 });
    const asked = [0, 1, 2, 3].map(() => ask(limits, clock));
    await given(asked[0], asked[1]);
    await settled();
    expect(gotten(asked)).toEqual([true, true, false, false]);
    const first = await asked[0]?.lease;
    first?.release();
    first?.release();
    await given(asked[2]);
    await settled();
    expect(gotten(asked)).toEqual([true, true, true, false]);
  });

  it("ModelLimits.W4 a caller that stops waiting takes no place and delays no one", async () => {
    const clock = simulatedClock();
    const limits = await make({ concurrency: 1 });
    const first = await ask(limits, clock).lease;
    const stop = new AbortController();
    const gone = ask(limits, clock, 1, stop.signal);
    const behind = ask(limits, clock);
    stop.abort(new AbortedError());
    const error = await gone.lease.catch((thrown: unknown) => thrown);
    expect(error instanceof AbortedError).toBe(true);
    first.release();
    await behind.lease;
  });
}

function rateChecks({ it, expect }: ContractKit, make: MakeLimits, time: LimitsTime): void {
  const { pass, settled } = time;
  it("ModelLimits.W2 of a limit below one call in a second, the second call waits for longer than a second", async () => {
    const clock = simulatedClock();
    const limits = await make({ requestsPerSecond: 0.25 });
    const asked = [0, 1].map(() => ask(limits, clock));
    await given(asked[0]);
    await pass(limits, 1.5 * SECOND);
    await clock.advance(1.5 * SECOND);
    await settled();
    expect(gotten(asked)).toEqual([true, false]);
    await later(4.5 * SECOND, asked[1], { limits, clock, time });
  });

  for (const [unit, ms, options] of [
    ["second", SECOND, { requestsPerSecond: 2 }],
    ["minute", MINUTE, { requestsPerMinute: 2 }],
  ] as const) {
    it(`ModelLimits.W2 no more calls begin in a ${unit} than allowed`, async () => {
      const clock = simulatedClock();
      const limits = await make(options);
      const asked = [0, 1, 2].map(() => ask(limits, clock));
      await given(asked[0], asked[1]);
      await settled();
      expect(gotten(asked)).toEqual([true, true, false]);
      await later(1.5 * ms, asked[2], { limits, clock, time });
    });
  }

  it("ModelLimits.W2 a place counts from when its call begins, and one that comes too late for others waits", async () => {
    const clock = simulatedClock();
    const limits = await make({ requestsPerSecond: 2 });
    const late = await ask(limits, clock).lease;
    await pass(limits, 1.5 * SECOND);
    await clock.advance(1.5 * SECOND);
    const others = [await ask(limits, clock).lease, await ask(limits, clock).lease];
    for (const lease of others) await lease.begin?.();
    const began = begin(late);
    await settled();
    expect(began.got).toBe(false);
    await later(1.5 * SECOND, began, { limits, clock, time });
  });

  it("ModelLimits.W6 Limits.W5 DatabaseLimits.D6 a call that begins late keeps its place, and waits for none without", async () => {
    const clock = simulatedClock();
    const limits = await make({ concurrency: 2, requestsPerSecond: 1 });
    const late = await ask(limits, clock).lease;
    await pass(limits, 1.5 * SECOND);
    await clock.advance(1.5 * SECOND);
    await (await ask(limits, clock).lease).begin?.();
    const third = ask(limits, clock);
    await settled();
    const began = begin(late);
    await settled();
    await later(1.5 * SECOND, began, { limits, clock, time });
    await settled();
    expect(third.got).toBe(false);
    late.release();
    await later(1.5 * SECOND, third, { limits, clock, time });
  });

  it("ModelLimits.W2 no more tokens begin in a minute than allowed, and a call that is larger goes alone", async () => {
    const clock = simulatedClock();
    const limits = await make({ tokensPerMinute: 100 });
    const asked = [60, 60, 500].map((tokens) => ask(limits, clock, tokens));
    await given(asked[0]);
    await settled();
    expect(gotten(asked)).toEqual([true, false, false]);
    await later(1.5 * MINUTE, asked[1], { limits, clock, time });
    await settled();
    expect(gotten(asked)).toEqual([true, true, false]);
    await later(1.5 * MINUTE, asked[2], { limits, clock, time });
  });

  it("ModelLimits.W2 a use that turns out smaller makes room at once", async () => {
    const clock = simulatedClock();
    const limits = await make({ tokensPerMinute: 100 });
    const first = await ask(limits, clock, 90).lease;
    const second = ask(limits, clock, 50);
    await settled();
    expect(second.got).toBe(false);
    first.release(10);
    await second.lease;
  });
}
