import { chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { isAlive } from "../src/kernel/system-error.ts";

/*
 * Keeps the temporary files of all tests in memory, where the machine has a place for that. Databases and repositories flush what they write, and
 * nothing that a test writes must outlive it. `TMPDIR` names another place.
 */

/** The file system in memory that Linux has. */
const MEMORY = "/dev/shm";
/** Bytes that must be free in it. Containers often have 64 MiB there. */
const ENOUGH = 4 * 1024 ** 3;
/** Milliseconds without a new folder in it after which a folder has been left. */
const OLD = 3_600_000;
const NAME = /^troupe-tests-(\d+)-/;

let made: string | undefined;

/** Called by vitest before all tests, for each of its projects: the workers inherit the environment. */
export function setup(): void {
  if (process.env["TMPDIR"] !== undefined || !hasRoom()) return;
  removeOld();
  made = mkdtempSync(join(MEMORY, `troupe-tests-${process.pid}-`));
  // As /tmp: the code of a project runs as another user.
  chmodSync(made, 0o1777);
  if (runsPrograms(made)) process.env["TMPDIR"] = made;
}

/** Called by vitest after all tests, for each of its projects. */
export function teardown(): void {
  if (made !== undefined) rmSync(made, { recursive: true, force: true, maxRetries: 3 });
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ENOUGH;
  } catch {
    return false;
  }
}

/** Containers often forbid it. */
function runsPrograms(folder: string): boolean {
  const program = join(folder, "program");
  writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
  const { status } = spawnSync(program);
  rmSync(program);
  return status === 0;
}

/** Removes what a killed run of the tests left. One in another container, whose processes cannot be seen, makes folders all the time. */
function removeOld(): void {
  for (const name of readdirSync(MEMORY)) {
    const [, pid] = NAME.exec(name) ?? [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    const { mtimeMs, uid } = statSync(join(MEMORY, name));
    if (uid === process.getuid?.() && Date.now() - mtimeMs > OLD) rmSync(join(MEMORY, name), { recursive: true, force: true });
  }
}
