import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sqlite } from "../../src/adapters/sqlite.ts";
import { defineRole, memoryJournal, type RunEvent, Team } from "../../src/index.ts";
import { scriptedModel, simulatedClock } from "../../src/testing/index.ts";
import { simulatedProcesses } from "../simulated-processes.ts";
import { command, linesIn, storeWith } from "./kept-run.ts";

const poet = defineRole({ name: "Poe", react: async (rc) => rc.message(await rc.ask("Write a line.")) });

/** A folder with a run `cut` whose process died during its call, worth 10,000 micro-dollars at most, and a finished run `done`. */
async function store(): Promise<string> {
  const host = simulatedProcesses(memoryJournal());
  const process = host.start();
  const price = { input: 0, output: 1 };
  const silent = scriptedModel(() => new Promise<string>(() => undefined), { id: "poet", price, maxOutputTokens: 10_000 });
  const cut = new Team({ roles: [poet], model: silent, journal: process.journal, clock: simulatedClock() }).run("go", { id: "cut" });
  const events: RunEvent[] = [];
  for await (const event of cut) {
    events.push(event);
    if (event.type === "step.started") break;
  }
  process.kill();
  return storeWith(async (journal) => {
    await journal.create("cut");
    const { epoch } = await journal.claim("cut");
    await journal.append("cut", epoch, 0, events);
    await journal.release("cut", epoch);
    const model = scriptedModel(["a line"], { id: "poet", price });
    await new Team({ roles: [poet], model, journal }).run("go", { id: "done" }).result;
  });
}

const costs = async (cwd: string): Promise<unknown> => {
  const [shown] = linesIn((await command(cwd, ["runs", "show", "cut", "--json"])).stdout);
  const { cost, held, uncertain } = shown as {
    readonly cost: { readonly known: number };
    readonly held: number;
    readonly uncertain: number;
  };
  return [cost.known, held, uncertain];
};

describe("troupe runs settle", () => {
  it("settles the calls of a dead process at nothing, or at what the bill has, and tells it to people and programs", async () => {
    const cwd = await store();
    expect(await costs(cwd)).toEqual([0, 10_000, 0]);
    const { code, stdout } = await command(cwd, ["runs", "settle", "cut", "--cost", "0.004", "--json"]);
    expect([code, linesIn(stdout)]).toEqual([0, [{ type: "settled", runId: "cut", calls: 1, kept: 10_000, cost: 4_000 }]]);
    expect(await costs(cwd)).toEqual([4_000, 0, 4_000]);
    const other = await store();
    const said = await command(other, ["runs", "settle", "cu"]);
    expect(said.code).toBe(0);
    expect(`${said.stdout}${said.stderr}`).toContain("1 call of run cut");
    expect(await costs(other)).toEqual([0, 0, 0]);
    expect((await command(other, ["runs", "events", "cut", "--type", "run.settled"])).stdout).toContain("1 lost call");
  });

  it("refuses an unknown run, one that is under way, one with nothing to settle, and a wrong cost", async () => {
    const cwd = await store();
    const refused = async (words: readonly string[]): Promise<string> => {
      const { code, stderr } = await command(cwd, ["runs", "settle", ...words]);
      expect(code).not.toBe(0);
      return stderr;
    };
    expect(await refused(["nobody"])).toContain("RUN_UNKNOWN");
    expect(await refused(["done"])).toContain("NOTHING_LOST");
    expect(await refused(["cut", "--cost", "much"])).toContain("OPTION_INVALID");
    const journal = sqlite({ path: join(cwd, ".troupe/runs.db") });
    const { epoch } = await journal.claim("cut");
    expect(await refused(["cut"])).toContain("RUN_OWNED");
    await journal.release("cut", epoch);
    await journal.close();
    expect((await command(cwd, ["runs", "settle", "cut"])).code).toBe(0);
    expect(await refused(["cut"])).toContain("NOTHING_LOST");
  });
});
