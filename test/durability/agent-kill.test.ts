import { afterAll, describe, expect, test } from "vitest";
import { scratchFolder } from "../cli/fake-host.ts";
import { figure, positionsOf, someOf } from "../long.ts";
import { type AgentDeath, type AgentSurvived, surviveAsAgent } from "./agent-kills.ts";
import { repeated } from "./kills.ts";

/*
 * SIGKILL of a company in which a role is an agent: at every durable write, in every call of its model and in every call of a tool, by real
 * processes. `npm test` tries a point of each kind, and `npm run long -- kill` all of them and several deaths in a row.
 */

const scratch = scratchFolder();
/** Of an unkilled run: durable writes, a little more than there are, so that the last ones are tried too; calls of its model and of its tools. */
const WRITES = 24;
const CALLS = 5;
const TOOLS = 5;
const DEATHS: readonly AgentDeath[] = [{ write: 3 }, { call: 1 }, { tool: 1, when: "after" }, { call: 2 }, { write: 4 }];
/** The calls of tools that pay a bill. */
const BILLS = [3, 5];

const figures = { kills: 0, inFlightRepeated: 0, readsRepeated: 0, asked: 0 };

afterAll(() => {
  const { kills, inFlightRepeated, readsRepeated, asked } = figures;
  figure(
    `agents: killed ${kills} processes; model calls in flight repeated: ${inFlightRepeated}; reads repeated: ${readsRepeated}; asked before a second time: ${asked}`,
  );
});

const lives = (deaths: readonly AgentDeath[]): Promise<AgentSurvived> => surviveAsAgent(scratch, deaths);
const unkilled = lives([]);

function times(lines: readonly string[], line: string): number {
  return lines.filter((one) => one === line).length;
}

/** The end is that of an unkilled run; nothing recorded happened again; what must not happen twice did so only after somebody was asked. */
async function expectSame(survived: AgentSurvived): Promise<void> {
  const whole = await unkilled;
  const { told, asked } = survived;
  expect([told.status, told.error]).toEqual(["finished", undefined]);
  expect(told.messages).toEqual(whole.told.messages);
  expect(survived.rejected).toBe(0);
  const again = repeated(survived.calls, whole.calls);
  expect(again).toBeLessThanOrEqual(told.inFlight);
  expect(told.cost).toBe(whole.told.cost + told.uncertain);
  for (const stop of asked) expectAsked(stop.told.error, stop.before, stop.after);
  for (const bill of ["pay a", "pay b"]) {
    expect(times(survived.done, bill)).toBeGreaterThanOrEqual(1);
    expect(times(survived.done, bill)).toBeLessThanOrEqual(1 + asked.length);
  }
  const reads = survived.done.filter((line) => line.startsWith("look")).length - 3;
  expect(reads).toBeGreaterThanOrEqual(0);
  expect(reads).toBeLessThanOrEqual(2 * survived.deaths);
  if (asked.length === 0) expect(told.canonical).toBe(whole.told.canonical);
  figures.kills += survived.deaths;
  figures.inFlightRepeated += again;
  figures.readsRepeated += reads;
  figures.asked += asked.length;
}

/** The run stopped, says why and what to do, and has not paid again. */
function expectAsked(error: string | undefined, before: readonly string[], after: readonly string[]): void {
  expect(error).toMatch(/Expected "pay" to have a known outcome.* must not run twice\. Check whether it ran, then resume the run\./);
  expect(after.filter((line) => line.startsWith("pay"))).toEqual(before.filter((line) => line.startsWith("pay")));
}

test("a run that nobody kills does each thing once", async () => {
  const { told, done, asked } = await unkilled;
  expect(told.messages.at(-1)).toBe("Speaker: It is told.");
  expect(done.toSorted()).toEqual(["look a", "look b", "look c", "pay a", "pay b"]);
  expect(asked).toEqual([]);
});

describe("a role that is an agent, killed", () => {
  test("after a durable write: nothing recorded happens again", { tags: ["kill", "long"], timeout: 600_000 }, async () => {
    for (const write of positionsOf(WRITES, [11])) {
      const survived = await lives([{ write }]);
      if (write === WRITES) expect(survived.deaths).toBe(0);
      await expectSame(survived);
    }
  });

  test("while its model answers: only that call is made again", { tags: "kill", timeout: 600_000 }, async () => {
    for (const call of positionsOf(CALLS, [3])) {
      const survived = await lives([{ call }]);
      expect(survived.deaths).toBe(1);
      expect(repeated(survived.calls, (await unkilled).calls)).toBe(1);
      expect(survived.asked).toEqual([]);
      await expectSame(survived);
    }
  });

  test.each(someOf(["before", "after"] as const, 1))(
    "in a call of a tool, %s it has done anything: what may not happen twice is asked for",
    { tags: "kill", timeout: 600_000 },
    async (when) => {
      for (const tool of positionsOf(TOOLS, [3])) {
        const survived = await lives([{ tool, when }]);
        expect(survived.deaths).toBe(1);
        await expectSame(survived);
        const isBill = BILLS.includes(tool);
        // A bill beside a read that died may have been paid as well, for all that the record can tell.
        if (isBill || tool < Math.min(...BILLS)) expect(survived.asked).toHaveLength(isBill ? 1 : 0);
        const paid = survived.done.filter((line) => line.startsWith("pay")).length;
        expect(paid).toBe(isBill && when === "after" ? 3 : 2);
      }
    },
  );

  test.each(positionsOf(DEATHS.length, []))(
    "again and again, from death %i on, comes to the same end",
    { tags: "kill", timeout: 600_000 },
    async (first) => {
      await expectSame(await lives([...DEATHS.slice(first - 1), ...DEATHS.slice(0, first - 1)]));
    },
  );
});
