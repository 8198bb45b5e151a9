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

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await pause(10);
}

const contents = (out: string): readonly string[] =>
  ["rows.jsonl", "rows.csv", "series.jsonl"].map((file) => readFileSync(join(out, file), "utf8"));

describe("a sweep that is killed", () => {
  it("SweepFolder.F1 SweepFolder.F2 Sweep.W1 twenty times, itself or a process of it, ends in the table of one that was not", async () => {
    const whole = scratchFolder();
    const undisturbed = started("slow-coins.mjs", "coins", whole, { workers: 2 });
    expect(await once(undisturbed, "exit")).toEqual([0, null]);
    const out = scratchFolder();
    const random = randomStream(`${Date.now()}`);
    let kills = { sweep: 0, process: 0 };
    let sweep: ChildProcess | undefined;
    while (kills.sweep + kills.process < 20) {
      if (sweep === undefined || sweep.exitCode !== null || sweep.signalCode !== null)
        sweep = started("slow-coins.mjs", "coins", out, { workers: 2, tries: 50 });
      await pause(random() * 500);
      const children = sweep.pid === undefined ? [] : childrenOf(sweep.pid);
      const victim = random() < 0.6 ? sweep.pid : children[Math.floor(random() * children.length)];
      if (victim === undefined || sweep.exitCode !== null || !isAlive(victim)) continue;
      process.kill(victim, "SIGKILL");
      if (victim !== sweep.pid) kills = { ...kills, process: kills.process + 1 };
      else {
        kills = { ...kills, sweep: kills.sweep + 1 };
        await once(sweep, "exit");
      }
    }
    if (sweep !== undefined && sweep.exitCode === null && sweep.signalCode === null) await once(sweep, "exit");
    expect(await once(started("slow-coins.mjs", "coins", out, { workers: 2 }), "exit")).toEqual([0, null]);
    expect(contents(out)).toEqual(contents(whole));
  });

  it("CellProcess.P2 leaves no process behind, also one whose run never ends", async () => {
    const sweep = started("walks.mjs", "walks", scratchFolder(), { workers: 1, env: { WALKS_HARM: "never" } });
    const pid = sweep.pid ?? 0;
    await until(() => childrenOf(pid).length > 0);
    // Until it is in the run that never ends, and for some time after that.
    await pause(2_000);
    const children = childrenOf(pid);
    expect(children).toHaveLength(1);
    sweep.kill("SIGKILL");
    await until(() => !children.some(isAlive));
  });
});
