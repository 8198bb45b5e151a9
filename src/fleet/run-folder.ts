import { createHash } from "node:crypto";
import { join } from "node:path";
import { aText, takes } from "../kernel/argument.ts";

const SAFE_ID = /^[a-z0-9][a-z0-9_-]{0,79}$/;
/** The form of a name that is made from an id. */
const HASHED = /^run_[0-9a-f]{64}$/;

/** The folder of a run below the folder of all of them. @throws UsageError `ARGUMENT_INVALID` */
export function runFolder(folder: string, runId: string): string {
  return join(folder, nameOf(runId));
}

/**
 * The name of the folder of a run, which is also a part of a key. Two ids never have one name, also where names that differ in case alone are one
 * folder.
 */
export function nameOf(runId: string): string {
  takes("runWorkspaces", "runId", runId, aText);
  return SAFE_ID.test(runId) && !HASHED.test(runId) ? runId : `run_${createHash("sha256").update(runId).digest("hex")}`;
}
