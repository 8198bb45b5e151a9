import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { contentHash } from "../../src/kernel/json.ts";
import { openaiStub } from "../../src/testing/openai-stub.ts";
import { scratchFolder } from "../cli/fake-host.ts";
import { figure } from "../long.ts";
import { start } from "./kills.ts";

/* SIGKILL of a workflow after each durable write and in each call of its model, by real processes. */

const CHILD = fileURLToPath(new URL("workflow-child.mjs", import.meta.url));
const scratch = scratchFolder();
const WRITES = 24;
const CALLS = 7;
const figures = { kills: 0, repeated: 0 };

afterAll(() => figure(`workflows: killed ${figures.kills} processes; calls in flight repeated: ${figures.repeated}`));

interface Told {
  readonly status: string;
  readonly inFlight: number;
  readonly content: string;
  readonly isSame: boolean;
}

interface Lived {
  readonly told: Told;
  readonly calls: ReadonlyMap<string, number>;
  readonly killed: number;
}

async function lived(deaths: readonly ({ readonly write: number } | { readonly call: number })[]): Promise<Lived> {
  const calls = new Map<string, number>();
  let [asked, killed] = [0, 0];
  let atCall: ((n: number) => void) | undefined;
  await using stub = await openaiStub({
    handler: ({ messages }) => {
      const question = contentHash(messages);
      calls.set(question, (calls.get(question) ?? 0) + 1);
      atCall?.((asked += 1));
      return { text: `answer ${question.slice(0, 8)}`, usage: { prompt_tokens: 100, completion_tokens: 50 } };
    },
  });
  const common = { store: join(mkdtempSync(join(scratch, "workflow-")), "runs.db"), url: stub.url };
  for (const death of deaths) {
    asked = 0;
    const child = start("write" in death ? { ...common, killAt: death.write } : common, CHILD);
    atCall = "call" in death ? (n) => void (n === death.call && child.kill()) : undefined;
    if ((await child.ended).signal === "SIGKILL") killed += 1;
  }
  atCall = undefined;
  const { stdout, stderr } = await start(common, CHILD).ended;
  if (stdout === "") throw new Error(`the last process told nothing: ${stderr}`);
  return { told: JSON.parse(stdout) as Told, calls, killed };
}

describe("a workflow that is killed", { tags: ["kill", "long"] }, () => {
  const points = [
    ...Array.from({ length: WRITES }, (_, n) => [{ write: n + 1 }]),
    ...Array.from({ length: CALLS }, (_, n) => [{ call: n + 1 }]),
    [{ write: 3 }, { call: 1 }, { write: 4 }, { call: 2 }, { write: 6 }],
  ];

  test("ends the same, and repeats at most the calls that were in flight", { tags: ["kill", "long"], timeout: 1_200_000 }, async () => {
    for (const deaths of points) {
      const { told, calls, killed } = await lived(deaths);
      expect([deaths, told.status, told.isSame]).toEqual([deaths, "finished", true]);
      expect(calls.size).toBe(CALLS);
      const repeated = [...calls.values()].reduce((sum, count) => sum + count - 1, 0);
      expect(repeated).toBeLessThanOrEqual(told.inFlight);
      figures.kills += killed;
      figures.repeated += repeated;
    }
    expect(figures.kills).toBeGreaterThan(points.length / 2);
  });
});
