import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { isAlive } from "../../../src/kernel/system-error.ts";
import { randomStream } from "../../../src/kernel/random.ts";

const here = import.meta.dirname;

export interface SweepOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly workers: number;
  readonly tries?: number;
  readonly budget?: number;
  readonly limits?: object;
}

/** Starts a sweep of a module of this folder, in a process of its own. */
export function startedSweep(file: string, name: string, out: string, { env = {}, ...options }: SweepOptions): ChildProcess {
  const words = [join(here, "sweep-process.mjs"), join(here, file), name, out, JSON.stringify(options)];
  return spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, ...env } });
}

/** The ids of the children of a process. */
export function childrenOf(pid: number): readonly number[] {
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

export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await pause(10);
}

/** Runs of an experiment that have ended in a folder. */
export function endedIn(out: string): number {
  try {
    return readFileSync(join(out, "cells.jsonl"), "utf8").split("\n").length - 1;
  } catch {
    return 0;
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

export interface Kills {
  readonly times: number;
  /** Of the moments and the victims. */
  readonly seed: string;
  /** How far the sweep is: kills come when it has grown. */
  readonly position: () => number;
  /** The most by which it may grow between two kills. */
  readonly between: number;
  readonly start: () => ChildProcess;
}

/** Kills sweeps into a folder, or processes of them, each time at a moment of its own. Returns the position at each kill. */
export async function killSweeps({ times, seed, position, between, start }: Kills): Promise<readonly number[]> {
  const random = randomStream(seed);
  const kills: number[] = [];
  let sweep: ChildProcess | undefined;
  while (kills.length < times) {
    if (sweep === undefined || hasEnded(sweep)) sweep = start();
    const present = sweep;
    const next = position() + 1 + Math.floor(random() * between);
    await until(() => hasEnded(present) || position() >= next);
    const children = sweep.pid === undefined ? [] : childrenOf(sweep.pid);
    const victim = random() < 0.6 ? sweep.pid : children[Math.floor(random() * children.length)];
    if (victim === undefined || hasEnded(sweep) || !isAlive(victim)) continue;
    kills.push(position());
    process.kill(victim, "SIGKILL");
    if (victim === sweep.pid) await once(sweep, "exit");
  }
  if (sweep !== undefined && !hasEnded(sweep)) await once(sweep, "exit");
  return kills;
}

/** The tables of a sweep, byte by byte. */
export const tablesIn = (out: string): readonly string[] =>
  ["rows.jsonl", "rows.csv", "series.jsonl"].map((file) => readFileSync(join(out, file), "utf8"));
