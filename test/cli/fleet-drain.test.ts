import { describe, expect, it } from "vitest";
import { untilDrained } from "../../src/cli/commands/fleet.ts";
import type { Session } from "../../src/cli/session.ts";
import { sleep } from "../../src/kernel/clock.ts";
import type { ConnectedWorker, FleetDriver } from "../../src/team/run-driver.ts";
import { codeOf } from "../../src/testing/contracts/contract-kit.ts";
import { simulatedClock } from "../../src/testing/index.ts";

/** The times from and until which looks show a worker. */
type Shown = readonly (readonly [from: number, until: number])[];

interface Fleet {
  readonly shown: Readonly<Record<string, Shown>>;
  /** Milliseconds that a look takes, which shows the state at its beginning. */
  readonly took?: (now: number) => number;
  readonly worker?: string | undefined;
  readonly limit?: number;
}

interface Drained {
  /** The ids, or the code of the error. */
  readonly told: readonly string[] | string;
  readonly at: number;
  /** The workers that heard that they are to end: those that were connected then. */
  readonly heard: readonly string[];
}

async function drained({ shown, took = () => 0, worker, limit = 120_000 }: Fleet): Promise<Drained> {
  const clock = simulatedClock();
  const heard = new Set<string>();
  const connected = (): readonly string[] =>
    Object.keys(shown).filter((id) => shown[id]?.some(([from, until]) => clock.now() >= from && clock.now() < until));
  const driver = {
    async workers(): Promise<readonly ConnectedWorker[]> {
      const ids = connected();
      const ms = took(clock.now());
      if (ms > 0) await sleep(clock, ms);
      return ids.map((id) => ({ id, address: "", since: 0, jobs: 0 }));
    },
    async drain(id = ""): Promise<void> {
      if (connected().includes(id)) heard.add(id);
    },
  } as FleetDriver;
  const session = { host: { clock }, interruptions: { signal: new AbortController().signal } } as unknown as Session;
  let told: Drained["told"] | undefined;
  const work = async (): Promise<void> => void (told = await untilDrained(session, driver, { worker, limit }));
  const ending = codeOf(work).then((code) => (told ??= code));
  while (told === undefined && (await clock.advanceToNext()));
  await ending;
  return { told: told ?? "", at: clock.now(), heard: [...heard] };
}

const EVER = Number.MAX_SAFE_INTEGER;

describe("troupe drain", () => {
  it("does not take a worker for gone that connects again within seconds, and asks it once more", async () => {
    const { told, at } = await drained({
      shown: {
        a: [
          [0, 1_000],
          [2_500, 6_000],
        ],
        b: [[0, 500]],
      },
    });
    expect(told).toEqual(["a", "b"]);
    expect(at).toBeGreaterThanOrEqual(9_000);
    expect(at).toBeLessThan(10_000);
  });

  it.each([["a"], [undefined]])("asks a worker that the first looks do not show: %s", async (worker) => {
    const { told, at, heard } = await drained({ shown: { a: [[1_500, 4_000]], late: [[5_000, EVER]] }, worker });
    expect([told, heard]).toEqual([["a"], ["a"]]);
    expect(at).toBeGreaterThanOrEqual(7_000);
  });

  it("tells of nobody only after some looks", async () => {
    expect(await drained({ shown: {} })).toMatchObject({ told: [], at: 3_000 });
    expect(await drained({ shown: { a: [[0, EVER]] }, worker: "b" })).toEqual({ told: "WORKER_UNKNOWN", at: 3_000, heard: [] });
  });

  it("tells of a worker that is too slow, and not of one that left in time", async () => {
    const slow = await drained({ shown: { a: [[0, EVER]] }, limit: 5_000 });
    expect(slow).toMatchObject({ told: "WORKERS_BUSY", heard: ["a"] });
    expect(slow.at).toBeLessThan(6_000);
    expect(await drained({ shown: { a: [[0, 4_900]] }, limit: 5_000 })).toMatchObject({ told: ["a"] });
  });
});
