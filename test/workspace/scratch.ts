import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";
import { TroupeError } from "../../src/kernel/errors.ts";
import { afterEachFile } from "../after-file.ts";

const made: string[] = [];

afterEachFile(() => {
  // A program that a test has killed may write until it is gone.
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
});

/** An empty folder that is gone after the tests of the file. */
export function scratchFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "troupe-test-")));
  made.push(folder);
  return folder;
}

/** Waits for what another process does. It looks now and then, so that the other process has the processor. Not under fake timers. */
export async function until(isSo: () => boolean): Promise<void> {
  await vi.waitUntil(isSo, { timeout: 60_000, interval: 10 });
}

/** The typed error some work is expected to end with. */
export async function errorOf(work: () => Promise<unknown>): Promise<TroupeError> {
  try {
    await work();
  } catch (error) {
    if (error instanceof TroupeError) return error;
    throw error;
  }
  throw new Error("expected the work to fail");
}

/** Programs called sleep that have a mark among their arguments. */
export function sleepersWith(mark: string): string[] {
  if (!existsSync("/proc/self/cmdline"))
    return execFileSync("ps", ["-eo", "args"], { encoding: "utf8" })
      .split("\n")
      .filter((line) => /^\S*sleep /.test(line) && line.includes(mark));
  return readdirSync("/proc").flatMap((pid) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      return /(^|\/)sleep$/.test(words[0] ?? "") && words.includes(mark) ? [words.join(" ")] : [];
    } catch {
      // No process, or one that has just ended.
      return [];
    }
  });
}
