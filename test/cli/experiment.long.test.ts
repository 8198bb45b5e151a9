import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { run, start } from "./child.ts";
import { command, freshFolder, linesIn } from "./kept-run.ts";

// @module-tag company

const MODULE = join(import.meta.dirname, "../research/experiment/walks.mjs");

describe("troupe experiment, as a process", () => {
  it("runs, goes on, refuses a change, begins anew, verifies and replays", async () => {
    const cwd = freshFolder();
    const done = await run(["experiment", "run", MODULE, "--workers", "2", "--json"], { cwd });
    expect([done.code, linesIn(done.stdout).at(-1)]).toMatchObject([0, { type: "experiment", runs: 9, failed: 0, kept: 0 }]);
    const again = await run(["experiment", "run", MODULE, "--json"], { cwd });
    expect(linesIn(again.stdout).at(-1)).toMatchObject({ kept: 9 });
    const changed = await run(["experiment", "run", MODULE], { cwd, env: { WALKS_MORE: "20" } });
    expect([changed.code, changed.stderr]).toEqual([2, expect.stringContaining('cell 2 was {"steps":16} and is {"steps":20}')]);
    expect((await run(["experiment", "run", MODULE, "--anew"], { cwd, env: { WALKS_MORE: "20" } })).stderr).toContain(
      "experiment table experiments/walks-2",
    );
    const verified = await run(["experiment", "verify", MODULE, "--runs", "2"], { cwd });
    expect([verified.code, verified.stdout]).toEqual([0, "2 runs in 4 ways: equal\n"]);
    const replayed = await run(["experiment", "replay", MODULE, "--cell", "1", "--rep", "2"], { cwd });
    expect([replayed.code, replayed.stdout]).toEqual([0, expect.stringContaining("The row is the one of the sweep.")]);
    const shown = await command(cwd, ["runs", "show", "walks-1-2", "--store", "experiments/walks/records/1-2.db"]);
    expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining("Walker")]);
  });

  it("prints at most eleven lines of progress, whatever the number of runs", async () => {
    const module = join(import.meta.dirname, "../research/experiment/slow-coins.mjs");
    const { code, stderr } = await run(["experiment", "run", module], { cwd: freshFolder() });
    expect([code, stderr.match(/ of 240 runs/g)?.length]).toEqual([0, 11]);
  });

  it("ends with 1 where a run failed, and with 130 at Ctrl-C, and goes on after it", async () => {
    const cwd = freshFolder();
    const failed = await run(["experiment", "run", MODULE, "--time-limit", "12s"], { cwd, env: { WALKS_HARM: "never" } });
    expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining("1 failed")]);
    const stopped = start(["experiment", "run", MODULE, "--again", "--out", "other", "--workers", "1"], {
      cwd,
      env: { WALKS_HARM: "never" },
    });
    await stopped.until("stderr", /[1-9] of 9 runs/);
    stopped.process.kill("SIGINT");
    expect(await stopped.ended).toBe(130);
    expect((await run(["experiment", "run", MODULE, "--out", "other"], { cwd })).code).toBe(0);
    expect(readFileSync(join(cwd, "other/rows.jsonl"), "utf8").split("\n")).toHaveLength(10);
  });
});
