import { aText, having, listOf, object, takes, type Shape } from "../kernel/argument.ts";
import { WorkspaceError } from "../kernel/errors.ts";
import { visible } from "./path-rules.ts";
import { ABSENT, type FileState, type RecordedFiles, sha256Of } from "./recorded-files.ts";
import type { Workspace } from "./workspace.ts";

/** A file of a project that is not as a run left it. */
export interface ChangedFile {
  readonly path: string;
  /** `added`: it is there, and the run has never written it. */
  readonly change: "changed" | "removed" | "added";
}

/** Files that an error names. */
const SHOWN = 20;

const aRecord: Shape = having("what a run recorded of its files", "expected");

/**
 * In what a project differs from what a run's record says, sorted by path.
 *
 * @param present what is there, by path: the sha256 of each content
 */
export function changedFiles(recorded: RecordedFiles, present: ReadonlyMap<string, FileState>): readonly ChangedFile[] {
  takes("changedFiles", "recorded", recorded, aRecord);
  takes("changedFiles", "present", present, having("a map of what is there", "get", "forEach"));
  const changes: ChangedFile[] = [];
  for (const path of recorded.paths) {
    const state = present.get(path) ?? ABSENT;
    if (recorded.expected(path)?.has(state) !== true) changes.push({ path, change: state === ABSENT ? "removed" : "changed" });
  }
  for (const [path, state] of present) {
    if (state !== ABSENT && recorded.expected(path) === undefined) changes.push({ path, change: "added" });
  }
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/**
 * Looks at a workspace and tells in what it differs from what a run's record says. To be asked before the run goes on: what a role writes
 * replaces what is there.
 *
 * @throws WorkspaceError `WORKSPACE_IO` and its kin
 */
export async function changesSince(recorded: RecordedFiles, workspace: Workspace): Promise<readonly ChangedFile[]> {
  takes("changesSince", "recorded", recorded, aRecord);
  takes("changesSince", "workspace", workspace, having("a workspace", "list", "read"));
  const present = new Map<string, FileState>();
  // Of a file the run never wrote it is enough to know that it is there.
  for (const path of await workspace.list()) present.set(path, "there");
  for (const path of recorded.paths) present.set(path, await stateOf(path, workspace));
  return changedFiles(recorded, present);
}

/**
 * Refuses a workspace that somebody has changed since the run stopped.
 *
 * @throws WorkspaceError `WORKSPACE_CHANGED` naming the files; its data has them all
 */
export function assertUnchanged(changes: readonly ChangedFile[], root: string): void {
  takes("assertUnchanged", "changes", changes, listOf(object("a changed file", { path: aText, change: aText })));
  takes("assertUnchanged", "root", root, aText);
  if (changes.length === 0) return;
  const some = changes.slice(0, SHOWN).map(({ path, change }) => `${visible(path)} (${change})`);
  const rest = changes.length > some.length ? ` and ${changes.length - some.length} more` : "";
  throw new WorkspaceError(
    "WORKSPACE_CHANGED",
    `Expected the files in "${visible(root)}" as the run left them, but these are not: ${some.join(", ")}${rest}. ` +
      "Going on may write over them. Put them back, or say --force (skip this check in a program) to go on with them as they are.",
    { data: { changes } },
  );
}

/** A link, a folder or a file that is too large stands where the run's file was: that is a change too. */
async function stateOf(path: string, workspace: Workspace): Promise<FileState> {
  try {
    const content = await workspace.read(path);
    return content === undefined ? ABSENT : sha256Of(content);
  } catch (error) {
    if (error instanceof WorkspaceError && (error.code === "WORKSPACE_PATH" || error.code === "WORKSPACE_LIMIT")) return error.code;
    throw error;
  }
}
