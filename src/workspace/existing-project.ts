import { realpath } from "node:fs/promises";
import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { WorkspaceError } from "../kernel/errors.ts";
import { type FileWorkspace, fileWorkspace } from "./file-workspace.ts";
import { GitRepository } from "./git.ts";
import { GitProgram } from "./git-program.ts";
import type { IsOwn } from "./kept-files.ts";
import { openWorkspace, type OpenWorkspaceOptions } from "./open-workspace.ts";
import { visible } from "./path-rules.ts";
import { ioError } from "./folders.ts";
import { committedChanges, folderChanges, type ProjectChanges, uncommittedPaths } from "./project-changes.ts";
import type { CommitRequest } from "./workspace.ts";
import { checkTreeName, Worktrees } from "./worktrees.ts";

/** Options of {@link openExisting}. */
export interface ExistingProjectOptions {
  readonly root: string;
  /** Names the work, such as a run: the same name continues it. 1 to 80 letters, digits, `-`, `_` and `.`. */
  readonly name: string;
  /** Of a run that continues: the contents that it wrote. Default: none. */
  readonly isOwn?: IsOwn;
  /** Of a run that continues: the paths that it wrote, which are reported as changes where there is no repository. Default: none. */
  readonly earlier?: readonly string[];
  readonly signal?: AbortSignal;
}

/**
 * The place of the work on an existing project.
 *
 * `in place`: the user's folder, a repository in which everything is committed; commits are made on the present branch. `worktree`: a folder with
 * the last commit's files, on a branch of its own; the user's folder stays as it is. `folder`: the user's folder, without commits; the
 * earlier contents of changed files are kept in `.troupe/kept`.
 */
export type ProjectPlace =
  | { readonly kind: "in place"; readonly base: string; readonly branch: string }
  | { readonly kind: "worktree"; readonly base: string; readonly branch: string; readonly reason: string }
  | { readonly kind: "folder"; readonly reason: string };

export interface ExistingProject {
  readonly workspace: FileWorkspace;
  readonly place: ProjectPlace;
  /** Returns what has changed since the work began, with the diff. @throws WorkspaceError `WORKSPACE_GIT` */
  changes(signal?: AbortSignal): Promise<ProjectChanges>;
  /**
   * Commits what is not committed and not ignored, and returns the changes. A worktree's folder goes, its branch stays. May be repeated.
   */
  finish(request: CommitRequest): Promise<ProjectChanges>;
}

/**
 * Opens an existing project so that nothing the user has not committed is lost or mixed in. A repository with uncommitted changes, without
 * a branch, or with a merge under way is worked on in a worktree; a folder without a commit of its own in place, without commits.
 */
export async function openExisting(options: ExistingProjectOptions): Promise<ExistingProject> {
  checkTreeName(options.name);
  const root = await realRoot(options.root);
  const trees = await Worktrees.open(root, options.signal);
  if (typeof trees === "string") return folderProject(options, root, await folderReason(root, trees, options.signal));
  const begun = await trees.find(options.name, options.signal);
  if (begun !== undefined) return treeProject(options, trees, "the work was begun there");
  const base = await trees.baseOf(options.name, options.signal);
  const branch = await trees.git.branch(options.signal);
  const reason = base === undefined ? await whyNotInPlace(root, branch, options) : undefined;
  if (reason !== undefined || branch === undefined) return treeProject(options, trees, reason ?? NO_BRANCH);
  return placeProject(options, trees, { base, branch });
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

async function whyNotInPlace(root: string, branch: string | undefined, { signal }: ExistingProjectOptions): Promise<string | undefined> {
  if (branch === undefined) return NO_BRANCH;
  const repository = await GitRepository.open(root, signal);
  if (typeof repository === "string") return repository;
  const { changed, underWay } = await repository.state(signal);
  if (underWay !== undefined) return `${underWay} is under way`;
  const isDirty = changed.some((path) => path !== ".troupe" && !path.startsWith(".troupe/"));
  return isDirty ? "there are uncommitted changes" : undefined;
}

async function folderProject(options: ExistingProjectOptions, root: string, reason: string): Promise<ExistingProject> {
  const workspace = await openWorkspace({ ...ownOptions(options), root, git: false });
  const changes = (signal?: AbortSignal): Promise<ProjectChanges> => folderChanges(workspace, { signal, earlier: options.earlier });
  return { workspace, place: { kind: "folder", reason }, changes, finish: ({ signal }) => changes(signal) };
}

async function placeProject(
  options: ExistingProjectOptions,
  trees: Worktrees,
  known: { readonly base: string | undefined; readonly branch: string },
): Promise<ExistingProject> {
  const { signal, isOwn = () => false, name } = options;
  const { git } = trees;
  const base = known.base ?? (await trees.head(signal));
  const isCommitted = committedContents(git, signal);
  const workspace = await openWorkspace({
    ...ownOptions(options),
    root: git.root,
    git: true,
    isOwn: async (path, content) => (await isOwn(path, content)) || isCommitted(path, content),
  });
  if (known.base === undefined) await trees.keepBase(name, base, signal);
  const changes = (now?: AbortSignal): Promise<ProjectChanges> => committedChanges(git, { base, head: "HEAD" }, now);
  const finish = async (request: CommitRequest): Promise<ProjectChanges> => {
    const left = await commitRest(workspace, git, request);
    return { ...(await changes(request.signal)), left };
  };
  return { workspace, place: { kind: "in place", base, branch: known.branch }, changes, finish };
}

async function treeProject(options: ExistingProjectOptions, trees: Worktrees, reason: string): Promise<ExistingProject> {
  const { name } = options;
  const { root, base, branch } = await trees.add(name, { signal: options.signal });
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
    if (left.length === 0) await trees.remove(name, { signal });
    return done;
  };
  return { workspace, place: { kind: "worktree", base, branch, reason }, changes, finish };
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
