import { AbortedError } from "../../kernel/errors.ts";
import type { Lease, LimitOptions, ModelLimits } from "../../model/limits.ts";
import { type SimulatedClock, simulatedClock } from "../simulated-clock.ts";
import { checkContract, type ContractKit, turns } from "./contract-kit.ts";

/** Makes limits of which nothing is used yet. */
export type MakeLimits = (options: LimitOptions) => ModelLimits | Promise<ModelLimits>;

const MINUTE = 60_000;

/**
 * The contract of every {@link ModelLimits}.
 *
 * ModelLimits.W1 at most `concurrency` calls are in flight. ModelLimits.W2 in any 60 seconds at most `requestsPerMinute` calls begin, and
 * calls of at most `tokensPerMinute` tokens as far as those are known; a call larger than the whole allowance goes alone. ModelLimits.W4 a
 * caller that stops waiting takes nothing and delays nobody. ModelLimits.W5 a place is given back once.
 */
export function modelLimitsContract(kit: ContractKit, name: string, make: MakeLimits): void {
  checkContract("modelLimitsContract", kit, name, make);
  kit.describe(`${name} keeps the contract of limits`, () => {
    placeChecks(kit, make);
    minuteChecks(kit, make);
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

/** The first place may take as long as its provider needs to load or to connect. */
async function ready(limits: ModelLimits, clock: SimulatedClock): Promise<ModelLimits> {
  (await ask(limits, clock, 0).lease).release(0);
  return limits;
}

function placeChecks({ it, expect }: ContractKit, make: MakeLimits): void {
  it("ModelLimits.W1 ModelLimits.W5 no more at a time than allowed, and a place that is given back twice is one place", async () => {
    const clock = simulatedClock();
    const limits = await ready(await make({ concurrency: 2 }), clock);
    const asked = [0, 1, 2, 3].map(() => ask(limits, clock));
    await turns();
    expect(asked.map(({ got }) => got)).toEqual([true, true, false, false]);
    const first = await asked[0]?.lease;
    first?.release();
    first?.release();
    await turns();
    expect(asked.map(({ got }) => got)).toEqual([true, true, true, false]);
  });

  it("ModelLimits.W4 who stops waiting takes no place, and holds up nobody", async () => {
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

function minuteChecks({ it, expect }: ContractKit, make: MakeLimits): void {
  it("ModelLimits.W2 no more calls begin in a minute than allowed", async () => {
    const clock = simulatedClock();
    const limits = await make({ requestsPerMinute: 2 });
    const asked = [0, 1, 2].map(() => ask(limits, clock));
    await turns();
    expect(asked.map(({ got }) => got)).toEqual([true, true, false]);
    await clock.advance(MINUTE);
    await turns();
    expect(asked.map(({ got }) => got)).toEqual([true, true, true]);
  });

  it("ModelLimits.W2 no more tokens begin in a minute than allowed, and a call that is larger goes alone", async () => {
    const clock = simulatedClock();
    const limits = await make({ tokensPerMinute: 100 });
    const asked = [60, 60, 500].map((tokens) => ask(limits, clock, tokens));
    await turns();
    expect(asked.map(({ got }) => got)).toEqual([true, false, false]);
    await clock.advance(MINUTE);
    await turns();
    expect(asked.map(({ got }) => got)).toEqual([true, true, false]);
    await clock.advance(MINUTE);
    await turns();
    expect(asked.map(({ got }) => got)).toEqual([true, true, true]);
  });

  it("ModelLimits.W2 a use that turns out smaller makes room at once", async () => {
    const clock = simulatedClock();
    const limits = await make({ tokensPerMinute: 100 });
    const first = await ask(limits, clock, 90).lease;
    const second = ask(limits, clock, 50);
    await turns();
    expect(second.got).toBe(false);
    first.release(10);
    await turns();
    expect(second.got).toBe(true);
  });
}
