// @module-tag kill
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { isAlive } from "../../../src/kernel/system-error.ts";
import { scratchFolder } from "../../workspace/scratch.ts";
import { childrenOf, endedIn, killSweeps, startedSweep, tablesIn, until } from "./killed-sweep.ts";

/** Runs of `walks.mjs` that end before the one that does harm: the steps 4, and the first repetition of the steps 8. */
const BEFORE = 4;

/** Runs that may end between two kills: twenty kills come before all 240 have ended. */
const MOST_BETWEEN = 10;

describe("a sweep that is killed", () => {
  it("SweepFolder.F1 SweepFolder.F2 Sweep.W1 twenty times, itself or a process of it, ends in the table of one that was not", async () => {
    const whole = scratchFolder();
    const undisturbed = startedSweep("slow-coins.mjs", "coins", whole, { workers: 2 });
    expect(await once(undisturbed, "exit")).toEqual([0, null]);
    const out = scratchFolder();
    const seed = process.env["SEED"] ?? `${Date.now()}`;
    const start = () => startedSweep("slow-coins.mjs", "coins", out, { workers: 2, tries: 50 });
    const kills = await killSweeps({ times: 20, seed, position: () => endedIn(out), between: MOST_BETWEEN, start });
    expect(await once(startedSweep("slow-coins.mjs", "coins", out, { workers: 2 }), "exit")).toEqual([0, null]);
    expect(tablesIn(out), `SEED=${seed}`).toEqual(tablesIn(whole));
    // A kill after the last run shows little.
    const all = endedIn(whole);
    expect(kills.filter((ended) => ended > 0 && ended < all).length, `SEED=${seed}: ${kills.join(" ")} of ${all}`).toBeGreaterThan(5);
  });

  it("CellProcess.P2 leaves no process behind, also one whose run never ends", async () => {
    const out = scratchFolder();
    const sweep = startedSweep("walks.mjs", "walks", out, { workers: 1, env: { WALKS_HARM: "never" } });
    const pid = sweep.pid ?? 0;
    await until(() => childrenOf(pid).length > 0);
    // The runs before the one that never ends.
    await until(() => endedIn(out) === BEFORE);
    const children = childrenOf(pid);
    expect(children).toHaveLength(1);
    sweep.kill("SIGKILL");
    await until(() => !children.some(isAlive));
  });
});
