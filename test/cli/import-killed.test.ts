import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { Team } from "../../src/index.ts";
import { exportRun } from "../../src/runtime/record/transfer.ts";
import { answering } from "../runtime/town.ts";
import { start } from "./child.ts";
import { command, freshFolder, linesIn } from "./kept-run.ts";

/** Large against what pipes and streams hold, so that what was taken of it was read. */
const MESSAGES = 600;
const text = "x".repeat(5_000);

let lines: readonly string[];

beforeAll(async () => {
  lines = await exportedRun();
});

async function exportedRun(): Promise<readonly string[]> {
  const speaker = answering("Ann", async (rc) => {
    for (let n = 0; n < MESSAGES; n += 1) await rc.step("say", { n }, () => Promise.resolve(text));
  });
  const team = new Team({ roles: [speaker] });
  await team.run("go", { id: "big" }).result;
  const all: string[] = [];
  for await (const line of exportRun(team.journal, "big")) all.push(line);
  return all;
}

async function runsIn(cwd: string): Promise<readonly unknown[]> {
  return linesIn((await command(cwd, ["runs", "ls", "--json"])).stdout);
}

/** Feeds the first of the lines to an import and kills it when it has read them. */
async function killedAfter(cwd: string, count: number): Promise<void> {
  const child = start(["runs", "import", "-"], { cwd, isFed: true });
  const taken = new Promise<void>((resolve) => child.process.stdin.write(`${lines.slice(0, count).join("\n")}\n`, () => resolve()));
  await Promise.race([taken, child.ended]);
  child.process.kill("SIGKILL");
  expect(await child.ended).toBe("SIGKILL");
}

describe("an import that is killed", () => {
  it.each([0.2, 0.5, 0.9, 1])("after %f of its lines leaves nothing, and the same file is imported afterwards", async (part) => {
    const cwd = freshFolder();
    writeFileSync(join(cwd, "big.ndjson"), `${lines.join("\n")}\n`);
    await killedAfter(cwd, Math.ceil(part * lines.length));
    expect(lines.length).toBeGreaterThan(2 * MESSAGES);
    expect((await runsIn(cwd)).filter((run) => (run as { events: number }).events > 0)).toEqual([]);
    expect(await command(cwd, ["runs", "import", "big.ndjson"])).toMatchObject({ code: 0 });
    const { stdout } = await command(cwd, ["runs", "export", "big"]);
    expect(stdout.trimEnd().split("\n")).toEqual(lines);
  });
});
