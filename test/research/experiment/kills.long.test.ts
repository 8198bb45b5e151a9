// @module-tag kill
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { isAlive } from "../../../src/kernel/system-error.ts";
import { randomStream } from "../../../src/kernel/random.ts";
import { scratchFolder } from "../../workspace/scratch.ts";

const here = import.meta.dirname;

function started(
  file: string,
  name: string,
  out: string,
  { env = {}, ...options }: { readonly env?: NodeJS.ProcessEnv; readonly workers: number; readonly tries?: number },
): ChildProcess {
  const words = [join(here, "sweep-process.mjs"), join(here, file), name, out, JSON.stringify(options)];
  return spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, ...env } });
}

/** The ids of the children of a process. */
function childrenOf(pid: number): readonly number[] {
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .filter((entry) => {
      try {
        return new RegExp(`^PPid:\\s*${pid}$`, "m").test(readFileSync(`/proc/${entry}/status`, "utf8"));
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** Runs of `walks.mjs` that end before the one that does harm: the steps 4, and the first repetition of the steps 8. */
const BEFORE = 4;

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await pause(10);
}

/** Runs of the experiment that have ended in a folder. */
function endedIn(out: string): number {
  try {
    return readFileSync(join(out, "cells.jsonl"), "utf8").split("\n").length - 1;
  } catch {
    return 0;
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

/** Runs that may end between two kills: twenty kills come before all 240 have ended. */
const MOST_BETWEEN = 10;

/**
 * Kills sweeps into a folder, or processes of them, so many times, each at a moment of its own. Returns how many runs had ended at each kill.
 *
 * @param seed of the moments and the victims
 */
async function killed(out: string, times: number, seed: string): Promise<readonly number[]> {
  const random = randomStream(seed);
  const kills: number[] = [];
  let sweep: ChildProcess | undefined;
  while (kills.length < times) {
    if (sweep === undefined || hasEnded(sweep)) sweep = started("slow-coins.mjs", "coins", out, { workers: 2, tries: 50 });
    const present = sweep;
    const next = endedIn(out) + 1 + Math.floor(random() * MOST_BETWEEN);
    await until(() => hasEnded(present) || endedIn(out) >= next);
    const children = sweep.pid === undefined ? [] : childrenOf(sweep.pid);
    const victim = random() < 0.6 ? sweep.pid : children[Math.floor(random() * children.length)];
    if (victim === undefined || hasEnded(sweep) || !isAlive(victim)) continue;
    kills.push(endedIn(out));
    process.kill(victim, "SIGKILL");
    if (victim === sweep.pid) await once(sweep, "exit");
  }
  if (sweep !== undefined && !hasEnded(sweep)) await once(sweep, "exit");
  return kills;
}

const contents = (out: string): readonly string[] =>
  ["rows.jsonl", "rows.csv", "series.jsonl"].map((file) => readFileSync(join(out, file), "utf8"));

describe("a sweep that is killed", () => {
  it("SweepFolder.F1 SweepFolder.F2 Sweep.W1 twenty times, itself or a process of it, ends in the table of one that was not", async () => {
    const whole = scratchFolder();
    const undisturbed = started("slow-coins.mjs", "coins", whole, { workers: 2 });
    expect(await once(undisturbed, "exit")).toEqual([0, null]);
    const out = scratchFolder();
    const seed = process.env["SEED"] ?? `${Date.now()}`;
    const kills = await killed(out, 20, seed);
    expect(await once(started("slow-coins.mjs", "coins", out, { workers: 2 }), "exit")).toEqual([0, null]);
    expect(contents(out), `SEED=${seed}`).toEqual(contents(whole));
    // A kill after the last run shows little.
    const all = endedIn(whole);
    expect(kills.filter((ended) => ended > 0 && ended < all).length, `SEED=${seed}: ${kills.join(" ")} of ${all}`).toBeGreaterThan(5);
  });

  it("CellProcess.P2 leaves no process behind, also one whose run never ends", async () => {
    const out = scratchFolder();
    const sweep = started("walks.mjs", "walks", out, { workers: 1, env: { WALKS_HARM: "never" } });
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
