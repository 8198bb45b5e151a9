import { realpath } from "node:fs/promises";
import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { WorkspaceError } from "../kernel/errors.ts";
import { listed } from "../kernel/value-text.ts";
import { type FileWorkspace, fileWorkspace } from "./file-workspace.ts";
import { GitRepository } from "./git.ts";
import { GitProgram } from "./git-program.ts";
import type { IsOwn } from "./kept-files.ts";
import { openWorkspace, type OpenWorkspaceOptions } from "./open-workspace.ts";
import { visible } from "./path-rules.ts";
import { ioError } from "./folders.ts";
import { committedChanges, folderChanges, type ProjectChanges, uncommittedPaths, type UntrackedLimit } from "./project-changes.ts";
import type { CommitRequest } from "./workspace.ts";
import { checkTreeName, type EarlierWork, Worktrees } from "./worktrees.ts";

/** Options of {@link openExisting}. */
export interface ExistingProjectOptions {
  readonly root: string;
  /** Names the work, such as a run: the same name continues it. 1 to 80 letters, digits, `-`, `_` and `.`. */
  readonly name: string;
  /** Of a run that continues: the contents that it wrote. Default: none. */
  readonly isOwn?: IsOwn;
  /** Of a run that continues: the paths that it wrote, which are reported as changes where there is no repository. Default: none. */
  readonly earlier?: readonly string[];
  /** Works in the folder itself, without commits. Default false. */
  readonly inFolder?: boolean;
  readonly signal?: AbortSignal;
}

/**
 * The place of the work on an existing project.
 *
 * `in place`: the user's folder, a repository in which everything is committed; commits are made on the present branch. `worktree`: a folder
 * with the present files, on a branch of its own, whose first commit has what was not committed; the user's folder stays as it is. `folder`:
 * the user's folder, without commits; the earlier contents of changed files are kept in `.troupe/kept`. A branch whose first commit has what
 * was not committed is not mergeable: git refuses to merge over these files.
 */
export type ProjectPlace =
  | { readonly kind: "in place"; readonly base: string; readonly branch: string }
  | { readonly kind: "worktree"; readonly base: string; readonly branch: string; readonly reason: string; readonly isMergeable: boolean }
  | { readonly kind: "folder"; readonly reason: string };

export interface ExistingProject {
  readonly workspace: FileWorkspace;
  readonly place: ProjectPlace;
  /** Returns what has changed since the work began, with the diff. @throws WorkspaceError `WORKSPACE_GIT` */
  changes(signal?: AbortSignal): Promise<ProjectChanges>;
  /** Commits what is not committed and not ignored, and returns the changes. A worktree's folder goes, its branch stays. May be repeated. */
  finish(request: CommitRequest): Promise<ProjectChanges>;
}

/**
 * Opens an existing project so that nothing the user has not committed is lost or mixed in. A repository with uncommitted changes, without
 * a branch, or with a merge under way is worked on in a worktree; a folder without a commit of its own in place, without commits. Work that
 * was opened before continues where its commits are.
 */
export async function openExisting(options: ExistingProjectOptions): Promise<ExistingProject> {
  const { name, signal } = options;
  checkTreeName(name);
  const root = await realRoot(options.root);
  const trees = await Worktrees.open(root, signal);
  if (typeof trees === "string") return folderProject(options, root, await folderReason(root, trees, signal));
  if (options.inFolder === true) return folderProject(options, root, "the work was to be done in the folder itself");
  if ((await trees.find(name, signal)) !== undefined) return treeProject(options, trees, { reason: "the work began there" });
  const branch = await trees.git.branch(signal);
  const earlier = await trees.earlier(name, signal);
  const isOpen = (await trees.baseOf(name, signal)) !== undefined;
  if (earlier !== undefined && earlier.branch === branch && isOpen) return placeProject(options, trees, earlier);
  const start = await startOf(root, trees, branch, signal);
  if (earlier !== undefined && earlier.branch !== branch && !(await trees.isIn(earlier, start.at, signal)))
    return treeProject(options, trees, { reason: "the work began there", earlier });
  if (start.reason !== undefined || branch === undefined) return treeProject(options, trees, { reason: NO_BRANCH, ...start });
  return placeProject(options, trees, { base: earlier?.branch === branch ? earlier.base : start.at, branch });
}

/** The place where new work begins, and the reason if it is not the user's folder. */
interface Start {
  readonly at: string;
  readonly reason?: string;
}

/** Untracked files that a branch begins with; more would take seconds to read. */
const UNTRACKED: UntrackedLimit = { files: 20_000, bytes: 64 * 1024 * 1024 };
const NAMED = 3;

async function startOf(root: string, trees: Worktrees, branch: string | undefined, signal: AbortSignal | undefined): Promise<Start> {
  const repository = await GitRepository.open(root, signal);
  if (typeof repository === "string") return { at: await trees.head(signal), reason: repository };
  const { changed, underWay, isUnmerged } = await repository.state(signal);
  const isDirty = changed.some((path) => path !== ".troupe" && !path.startsWith(".troupe/"));
  const causes = [...(branch === undefined ? [NO_BRANCH] : []), ...(underWay === undefined ? [] : [`${underWay} is under way`])];
  if (!isDirty) return { at: await trees.head(signal), ...(causes.length === 0 ? {} : { reason: causes.join(", and ") }) };
  if (isUnmerged) {
    const reason = [...causes, "there are conflicts, so the branch begins with the last commit"].join(", and ");
    return { at: await trees.head(signal), reason };
  }
  const { commit, left } = await trees.snapshot(signal, UNTRACKED);
  const without =
    left.length === 0
      ? ""
      : `, without ${listed(
          left.map((path) => visible(path, 60)),
          NAMED,
        )}, which would take too long to read`;
  return { at: commit, reason: [...causes, `there are uncommitted changes, with which the branch begins${without}`].join(", and ") };
}

const NO_BRANCH = "no branch is checked out";

async function realRoot(root: string): Promise<string> {
  try {
    return await realpath(resolve(root));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw ioError(error, "open the project", root);
    const text = `Expected a project in the folder "${visible(root)}", but nothing is there. Name the folder of a project.`;
    throw new WorkspaceError("WORKSPACE_NOT_A_FOLDER", text, { data: { path: visible(root) }, cause: error });
  }
}

async function folderReason(root: string, reason: string, signal: AbortSignal | undefined): Promise<string> {
  const git = GitProgram.find(root);
  if (git === undefined) return reason;
  const asked = await git.call(["rev-parse", "--is-inside-work-tree", "--show-toplevel"], { signal, isInit: true });
  if (asked.kind !== "exited") return reason;
  const [isInside, top = ""] = asked.stdout.trim().split("\n");
  if (isInside === "false") {
    throw new WorkspaceError(
      "WORKSPACE_BARE",
      `Expected a project with files, but "${visible(root)}" is a bare repository or the inside of one. Clone it, and name the clone.`,
      { data: { path: visible(root) } },
    );
  }
  return top === "" || resolve(top) === root ? reason : `it is a part of the larger repository ${visible(top)}`;
}

async function folderProject(options: ExistingProjectOptions, root: string, reason: string): Promise<ExistingProject> {
  const workspace = await openWorkspace({ ...ownOptions(options), root, git: false });
  const changes = (signal?: AbortSignal): Promise<ProjectChanges> => folderChanges(workspace, { signal, earlier: options.earlier });
  return { workspace, place: { kind: "folder", reason }, changes, finish: ({ signal }) => changes(signal) };
}

async function placeProject(options: ExistingProjectOptions, trees: Worktrees, { base, branch }: EarlierWork): Promise<ExistingProject> {
  const { signal, isOwn = () => false, name } = options;
  const { git } = trees;
  const isCommitted = committedContents(git, signal);
  const workspace = await openWorkspace({
    ...ownOptions(options),
    root: git.root,
    git: true,
    isOwn: async (path, content) => (await isOwn(path, content)) || isCommitted(path, content),
  });
  await trees.keep(name, { base, branch }, signal);
  const changes = (now?: AbortSignal): Promise<ProjectChanges> => committedChanges(git, { base, head: "HEAD" }, now);
  const finish = async (request: CommitRequest): Promise<ProjectChanges> => {
    const left = await commitRest(workspace, git, request);
    return { ...(await changes(request.signal)), left };
  };
  return { workspace, place: { kind: "in place", base, branch }, changes, finish };
}

interface TreeStart extends Partial<Start> {
  readonly reason: string;
  readonly earlier?: EarlierWork;
}

async function treeProject(options: ExistingProjectOptions, trees: Worktrees, start: TreeStart): Promise<ExistingProject> {
  const { name } = options;
  const { reason, ...rest } = start;
  const { root, base, branch } = await trees.add(name, { ...rest, signal: options.signal });
  const closed = await submodulesOf(trees.git, base, options.signal);
  const workspace = fileWorkspace({ root, git: true, closed });
  await workspace.prepareGit(options.signal);
  const changes = (signal?: AbortSignal): Promise<ProjectChanges> =>
    committedChanges(trees.git, { base, head: `refs/heads/${branch}` }, signal);
  const finish = async (request: CommitRequest): Promise<ProjectChanges> => {
    const { signal } = request;
    const inside = GitProgram.find(root);
    if (inside === undefined || (await trees.find(name, signal)) === undefined) return changes(signal);
    await inside.disarm(signal);
    const left = await commitRest(workspace, inside, request);
    const done = { ...(await changes(signal)), left };
    // Files in no commit would be lost with the folder.
    if (left.length === 0) await trees.close(name, signal);
    return done;
  };
  const isMergeable = await trees.isAncestor(base, "HEAD", options.signal);
  return { workspace, place: { kind: "worktree", base, branch, reason, isMergeable }, changes, finish };
}

function ownOptions({ signal, isOwn = () => false }: ExistingProjectOptions): Omit<OpenWorkspaceOptions, "root"> {
  return { isOwn, force: true, ...(signal === undefined ? {} : { signal }) };
}

async function commitRest(workspace: FileWorkspace, git: GitProgram, request: CommitRequest): Promise<readonly string[]> {
  const { signal } = request;
  const changed = (await uncommittedPaths(git, signal)).filter((path) => path !== ".troupe" && !path.startsWith(".troupe/"));
  const written = workspace.pending;
  const paths = await workspace.adopt(changed);
  if (paths.length > 0) await workspace.commit({ ...request, paths });
  const left = new Set([...changed.filter((path) => !paths.includes(path)), ...(await workspace.ignoredByGit(written, signal))]);
  return [...left].sort();
}

/** The folders of submodules: in a worktree they are empty, and nothing distinguishes them from others. */
async function submodulesOf(git: GitProgram, commit: string, signal: AbortSignal | undefined): Promise<readonly string[]> {
  const asked = ["config", "--blob", `${commit}:.gitmodules`, "-z", "--get-regexp", "^submodule\\..*\\.path$"];
  const found = await git.call(asked, { signal });
  if (found.kind !== "exited" || found.code !== 0) return [];
  // A key, a line break, and the value.
  return found.stdout.split("\0").flatMap((pair) => (pair === "" ? [] : [pair.slice(pair.indexOf("\n") + 1)]));
}

/** True for contents that the commit at HEAD has: git keeps them, so that no one else has to. */
function committedContents(git: GitProgram, signal: AbortSignal | undefined): IsOwn {
  return async (path, content) => {
    const id = await git.idOf(`HEAD:${path}`, signal);
    if (id === undefined) return false;
    const hash = createHash(id.length === 64 ? "sha256" : "sha1")
      .update(`blob ${content.length}\0`)
      .update(content);
    return hash.digest("hex") === id;
  };
}
