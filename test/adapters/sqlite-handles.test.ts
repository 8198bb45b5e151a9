import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { tries } from "../long.ts";
import { sourceProgram } from "../kernel/source-program.ts";
import type { Left } from "./sqlite-handles-child.ts";

/*
 * Real files in a process that may have few of them open. `npm test` opens 100 stores and 100 journals, `npm run long -- numbers` 1,000 of
 * each. They lie in memory where that is possible: thousands of writes that wait for a disk would take a minute.
 */

const root = fileURLToPath(new URL("../..", import.meta.url));
const program = await sourceProgram(fileURLToPath(new URL("sqlite-handles-child.ts", import.meta.url)));
const count = tries(100, 1_000);
const dir = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "troupe-handles-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Runs the child where only so many files may be open at once. Rejects when it does not end by itself. */
function leftBy(openFiles: number): Promise<Left> {
  const task = JSON.stringify({ dir, count });
  return new Promise((resolve, reject) => {
    const script = `ulimit -n ${openFiles}; exec "$0" --input-type=module - "$1"`;
    const child = execFile("/bin/sh", ["-c", script, process.execPath, task], { cwd: root, maxBuffer: 1e8 }, (error, out, trouble) =>
      error === null ? resolve(JSON.parse(out) as Left) : reject(new Error(`${error.message}\n${trouble}`, { cause: error })),
    );
    child.stdin?.end(program);
  });
}

describe.runIf(process.platform === "linux")("a process that has closed many memory stores and journals", () => {
  it(
    "SqliteStore.S6 SqliteJournal.J7 Database.D1 Database.D2 Database.D3 holds none of them; each main file alone is whole",
    { tags: ["numbers", "long"] },
    async () => {
      const left = await leftBy(256);
      expect(left).toEqual({
        handles: [],
        mapped: [],
        logs: [],
        errors: ["MEMORY_FOREIGN", "JOURNAL_FOREIGN", "JOURNAL_UNWRITABLE"],
        messages: 4 * count,
        events: count / 5,
      });
    },
  );
});
