import type { FileWorkspace } from "../workspace/file-workspace.ts";
import type { AgentSettings } from "./agent-settings.ts";

/** What became of an agent's changes in the repository it worked in. */
export interface CommitReport {
  /** The commit's id; undefined where none was made. */
  readonly id?: string;
  /** How many of its files are in it. */
  readonly files: number;
  /** Why there is none, or which files are not in it; empty when there is nothing to say. */
  readonly note: string;
}

/** The whole of what a commit says. */
export interface AgentCommit {
  readonly task: string;
  readonly runId: string;
  /** Milliseconds since 1970. */
  readonly date: number;
  readonly signal: AbortSignal;
}

/** More paths with changes of somebody's are not kept with a run; then nothing is committed. */
const MOST_DIRTY = 2_000;
/** Characters of a task in the first line of a commit. */
const SUBJECT = 72;
const NAMED = 3;

/** What of a repository is the user's when an agent begins: paths that differ from the last commit, and whether something is under way in it. */
export async function foundBefore(workspace: FileWorkspace, signal: AbortSignal): Promise<Pick<AgentSettings, "dirty">> {
  const state = await workspace.inspectGit(signal);
  return state === undefined || state.changed.length > MOST_DIRTY ? {} : { dirty: state.changed };
}

/**
 * Commits what an agent wrote: its own files and no others. A file that had changes of the user's before, or that git ignores, is left out;
 * while a merge or a rebase is under way nothing is committed. What is left out is in the folder all the same.
 *
 * @throws WorkspaceError `WORKSPACE_GIT`; ControlError when the signal aborts
 */
export async function commitWork(
  workspace: FileWorkspace,
  { commit = true, dirty }: AgentSettings,
  { task, runId, date, signal }: AgentCommit,
): Promise<CommitReport | undefined> {
  const written = workspace.pending;
  if (written.length === 0 || workspace.git.kind !== "repository") return undefined;
  if (!commit) return { files: 0, note: "not made (--no-commit)" };
  if (dirty === undefined) return { files: 0, note: "not made: it is not known which changes were there before" };
  const state = await workspace.inspectGit(signal);
  if (state?.underWay !== undefined) return { files: 0, note: `not made, for ${state.underWay} is under way in the repository` };
  const ignored = new Set(await workspace.ignoredByGit(written, signal));
  const isTheirs = (path: string): boolean => dirty.some((one) => one === path || (one.endsWith("/") && path.startsWith(one)));
  const own = written.filter((path) => !ignored.has(path) && !isTheirs(path));
  const left = written.filter(isTheirs);
  const note = left.length === 0 ? "" : `left out, for they had changes of yours: ${namesOf(left)}`;
  if (own.length === 0) return { files: 0, note: note === "" ? "not made: git ignores what was written" : `not made; ${note}` };
  const [line = ""] = task.trim().split("\n");
  const subject = line.length <= SUBJECT ? line : `${line.slice(0, SUBJECT - 1).trimEnd()}…`;
  const id = await workspace.commit({ message: subject, author: "Agent", date, paths: own, trailers: { "Troupe-Run": runId }, signal });
  return id === undefined ? { files: 0, note } : { id, files: own.length, note };
}

function namesOf(paths: readonly string[]): string {
  const rest = paths.length > NAMED ? ` and ${paths.length - NAMED} more` : "";
  return `${paths.slice(0, NAMED).join(", ")}${rest}`;
}
