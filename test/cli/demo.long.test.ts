import { describe, expect, it } from "vitest";
import type { DeliveryReport } from "../../src/cli/delivery.ts";
import { command, eventsIn, freshFolder, linesIn, newestIn } from "./kept-run.ts";

// @module-tag company

type Result = { readonly type: "result"; readonly exitCode: number; readonly delivery: DeliveryReport };

const resultsIn = (stdout: string): readonly Result[] =>
  linesIn(stdout).filter((line): line is Result => (line as { type?: unknown }).type === "result");

const outcomes = ({ delivery }: Result): Readonly<Record<string, string>> =>
  Object.fromEntries(delivery.verification.verdicts.map(({ id, outcome }) => [id, outcome]));

describe("troupe demo", () => {
  it("that was stopped in the middle is finished by another process, which gets the same replies", async () => {
    const cwd = freshFolder();
    expect((await command(cwd, ["demo", "--rounds", "2", "--out", "project", "--quiet"])).code).toBe(4);
    const { code, stdout } = await command(cwd, ["resume", "--json"]);
    expect(code).toBe(0);
    expect(resultsIn(stdout).map(outcomes)).toEqual([{ A1: "proven", A2: "proven", A3: "proven", A4: "proven" }]);
    const id = await newestIn(cwd);
    const told = await command(cwd, ["tell", id, "Add a command that clears away what is ticked off", "--rounds", "4", "--json"]);
    expect(told.code).toBe(4);
    const last = await command(cwd, ["resume", "--rounds", "20", "--json"]);
    expect(last.code).toBe(0);
    expect(resultsIn(last.stdout).map(outcomes)).toEqual([{ A1: "proven", A2: "proven", A3: "proven", A4: "proven", A5: "proven" }]);
  });

  it("prints events and one result for each part with --json, and nothing else there", async () => {
    const { code, stdout } = await command(freshFolder(), ["demo", "--json", "--rounds", "9", "--out", "project", "--store", "x.db"]);
    expect(code).toBe(0);
    const results = resultsIn(stdout);
    expect(results.map(({ exitCode, delivery }) => [exitCode, delivery.isDone])).toEqual([
      [0, true],
      [0, true],
    ]);
    expect(eventsIn(stdout).length + results.length).toBe(linesIn(stdout).length);
  });
});
