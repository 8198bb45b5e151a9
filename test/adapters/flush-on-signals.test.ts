import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, vi } from "vitest";
import { flushOnSignals } from "../../src/adapters/flush-on-signals.ts";
import { sqliteStore } from "../../src/adapters/sqlite-store.ts";
import { MemoryStorage } from "../../src/memory/memory-storage.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import { scratchFolder } from "../cli/fake-host.ts";

const CHILD = fileURLToPath(new URL("flush-child.mjs", import.meta.url));
const scratch = scratchFolder();

/** A process that adds messages, and is told to end before any of them is stored. */
function ended(path: string, signal: NodeJS.Signals, mode: string): Promise<{ code: number | null; signal: string | null }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CHILD, path, signal, mode], { stdio: "inherit" });
    child.on("error", reject);
    child.on("close", (code, by) => resolve({ code, signal: by }));
  });
}

describe("flushOnSignals (R097: up to 99 messages were lost)", () => {
  it.each(["SIGTERM", "SIGINT"] as const)("stores what waits when %s comes, and ends by it", async (signal) => {
    const path = join(scratch, `${signal}.db`);
    expect(await ended(path, signal, "plain")).toMatchObject({ code: null, signal });
    const storage = new MemoryStorage({ roleId: "r", store: sqliteStore({ path }) });
    expect((await storage.recover()).length).toBe(99);
    await storage.close();
  });

  it("leaves the end to a program that listens to the signal itself", async () => {
    const path = join(scratch, "own.db");
    expect(await ended(path, "SIGTERM", "own")).toMatchObject({ code: 7, signal: null });
  });

  it("has one listener for any number of calls, and none when all have stopped listening", () => {
    const before = process.listenerCount("SIGHUP");
    const stops = Array.from({ length: 20 }, () => flushOnSignals({ persist: async () => {} }, { signals: ["SIGHUP"] }));
    expect(process.listenerCount("SIGHUP")).toBe(before + 1);
    for (const stop of stops) stop();
    expect(process.listenerCount("SIGHUP")).toBe(before);
  });

  it("waits for its limit at most, reports what was not stored, and stops listening", async () => {
    const clock = simulatedClock();
    const told: unknown[] = [];
    const stuck = { persist: () => new Promise<void>(() => {}) };
    const broken = { persist: () => Promise.reject(new Error("disk full")) };
    const own = vi.fn<() => void>();
    process.on("SIGHUP", own);
    const before = process.listenerCount("SIGHUP");
    const stop = flushOnSignals([stuck, broken], { signals: ["SIGHUP"], timeout: 1_000, clock, onError: (error) => told.push(error) });
    expect(process.listenerCount("SIGHUP")).toBe(before + 1);
    process.emit("SIGHUP", "SIGHUP");
    await clock.advance(1_001);
    expect(told.map(String)).toEqual(["Error: disk full", expect.stringContaining("TimeoutError")]);
    expect([process.listenerCount("SIGHUP"), own.mock.calls.length]).toEqual([before, 1]);
    stop();
    process.off("SIGHUP", own);
  });
});

describe("other listeners", () => {
  it("a program that listens once, and listened first, ends itself", async () => {
    const path = join(scratch, "once.db");
    expect(await ended(path, "SIGTERM", "once")).toMatchObject({ code: 7, signal: null });
  });

  it("memories of several calls are all stored before the process ends", { tags: ["fleet", "long"] }, async () => {
    const path = join(scratch, "two.db");
    expect(await ended(path, "SIGTERM", "two")).toMatchObject({ code: null, signal: "SIGTERM" });
    const storage = new MemoryStorage({ roleId: "r", store: sqliteStore({ path }) });
    expect((await storage.recover()).length).toBe(99);
    await storage.close();
  });

  it("a second signal ends the process at once", async () => {
    const path = join(scratch, "twice.db");
    expect(await ended(path, "SIGINT", "twice")).toMatchObject({ code: null, signal: "SIGINT" });
  });
});
