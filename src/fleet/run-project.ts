import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { aText, takes } from "../kernel/argument.ts";
import { JournalError, WorkspaceError } from "../kernel/errors.ts";
import { ifThere } from "../kernel/system-error.ts";
import type { RunEvent } from "../runtime/record/event.ts";
import type { Journal } from "../runtime/record/journal.ts";
import { restoreBundle, type WorkspaceBundle } from "../workspace/bundle.ts";
import { fileWorkspace } from "../workspace/file-workspace.ts";
import { visible } from "../workspace/path-rules.ts";
import { restoreFiles } from "../workspace/restore-files.ts";

export interface RunProject {
  readonly runId: string;
  readonly journal: Pick<Journal, "read">;
  /** Its newest bundle, and the last event whose effects are in it; undefined: the project is rebuilt from the record alone. */
  readonly stored: (WorkspaceBundle & { readonly seq: number }) | undefined;
  readonly signal: AbortSignal | undefined;
}

/** A replay of a record writes what the record has, whatever its size. */
const NO_LIMITS = { files: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER, fileBytes: Number.MAX_SAFE_INTEGER };

/**
 * Writes the project of a run into a folder that is missing or empty: from its bundle, then what the steps of its record did later.
 *
 * @throws WorkspaceError `WORKSPACE_NOT_EMPTY`, and those of `restoreBundle` and `restoreFiles`; JournalError; ControlError when the signal aborts
 */
export async function restoreProject(root: string, { runId, journal, stored, signal }: RunProject): Promise<void> {
  if (await holdsFiles(root)) {
    const expected = `Expected a missing or empty folder for the project of a run at "${visible(root)}", got one with files`;
    throw new WorkspaceError("WORKSPACE_NOT_EMPTY", `${expected}. Name another folder.`, { data: { path: visible(root) } });
  }
  if (stored !== undefined) await restoreBundle({ root, bundle: stored, signal });
  const workspace = fileWorkspace({ root, limits: NO_LIMITS });
  await restoreFiles(workspace, recordOf(journal, runId), { signal, ...(stored === undefined ? {} : { after: stored.seq }) });
}

export async function holdsFiles(folder: string): Promise<boolean> {
  return ((await ifThere(readdir(folder))) ?? []).length > 0;
}

async function* recordOf(journal: Pick<Journal, "read">, runId: string): AsyncGenerator<RunEvent> {
  try {
    yield* journal.read(runId, 0);
  } catch (error) {
    if (!(error instanceof JournalError && error.code === "RUN_UNKNOWN")) throw error;
  }
}

const SAFE_ID = /^[a-z0-9][a-z0-9_-]{0,79}$/;
const HASHED = /^run_[0-9a-f]{64}$/;

export function runFolder(folder: string, runId: string): string {
  return join(folder, nameOf(runId));
}

/** The name of the folder of a run, and a part of its keys. Two ids never have one name, even where names are compared without their case. */
export function nameOf(runId: string): string {
  takes("runWorkspaces", "runId", runId, aText);
  return SAFE_ID.test(runId) && !HASHED.test(runId) ? runId : `run_${createHash("sha256").update(runId).digest("hex")}`;
}
