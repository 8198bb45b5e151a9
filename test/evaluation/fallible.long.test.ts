// @module-tag company
import { describe, expect, it } from "vitest";
import { EXIT_CODES } from "../../src/cli/errors.ts";
import { isolates } from "../checks/project.ts";
import { scratchFolder } from "../cli/fake-host.ts";
import { type FallibleRun, fallibleRun } from "./fallible.ts";

const RUNS = 30;
/** Runs at the same time. */
const SIDE_BY_SIDE = 2;
/** Milliseconds for all of them: a run takes some seconds on a quiet machine. */
const LIMIT = 2_400_000;
const STATUSES = ["finished", "failed", "budget", "rounds"];

async function all(): Promise<readonly FallibleRun[]> {
  const cwd = scratchFolder();
  const seeds = Array.from({ length: RUNS }, (_, seed) => seed);
  const runs: FallibleRun[] = [];
  const worker = async (): Promise<void> => {
    for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) runs[seed] = await fallibleRun(cwd, seed);
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, worker));
  return runs;
}

describe.runIf(isolates)("a company whose model is fallible", () => {
  it(
    "ends with a documented status, within its budget, is done only with proof, and replays",
    async () => {
      const runs = await all();
      const told = (wrong: (run: FallibleRun) => boolean): readonly unknown[] =>
        runs.flatMap((run, seed) => (wrong(run) ? [{ seed, ...run }] : []));
      const documented = new Set<number>(EXIT_CODES.map(({ code }) => code));
      expect(told(({ code, status }) => !documented.has(code) || !STATUSES.includes(status))).toEqual([]);
      expect(told(({ errorCode }) => errorCode === "UNEXPECTED")).toEqual([]);
      expect(told(({ cost, budget }) => cost > budget)).toEqual([]);
      expect(told(({ code, works, unproven }) => code === 0 && (!works || unproven === undefined || unproven.length > 0))).toEqual([]);
      expect(told(({ replay }) => replay.code !== 0)).toEqual([]);
      const codes = new Set(runs.map(({ code }) => code));
      expect([0, 3, 6].filter((code) => !codes.has(code))).toEqual([]);
    },
    LIMIT,
  );
});
