import { ifThere } from "../kernel/system-error.ts";
import { aText, takes } from "../kernel/argument.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { readdir, realpath, rm, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { UsageError, WorkspaceError } from "../kernel/errors.ts";
import { listed } from "../kernel/value-text.ts";
import { type FileWorkspace, fileWorkspace, fileWorkspaceOptions, type FileWorkspaceOptions } from "./file-workspace.ts";
import { ioError, makeFolders, statsOf } from "./folders.ts";
import { visible } from "./path-rules.ts";
import { sweepProject } from "./sweep.ts";
import { temporaryName } from "./temporary-owner.ts";

/** Entries of an output folder that still counts as empty: a repository made beforehand, and the runs of this package. */
const NOT_COUNTED: readonly string[] = [".git", ".troupe"];

/** Options of {@link openWorkspace}. */
export interface OpenWorkspaceOptions extends FileWorkspaceOptions {
  /** Work in a folder that holds files: they stay, and what the company overwrites is kept in `.troupe/kept`. Default false. */
  readonly force?: boolean;
  readonly signal?: AbortSignal;
}

const openWorkspaceOptions: Known<OpenWorkspaceOptions> = { ...fileWorkspaceOptions, force: kinds.boolean, signal: kinds.signal };

/**
 * Opens the output folder of a run, after making sure that it is usable: makes it when it is missing, tries to write into it, and
 * looks for git. Nothing that is there is ever deleted but what killed runs left half written.
 *
 * @throws WorkspaceError `WORKSPACE_NOT_EMPTY` without `force`, `WORKSPACE_NOT_A_FOLDER` when a file has its name or is above it,
 * `WORKSPACE_UNWRITABLE`, `WORKSPACE_FULL`, `WORKSPACE_IO`, `WORKSPACE_GIT` when git is demanded and cannot be used.
 * @throws UsageError `WORKSPACE_ROOT` for a name no folder can have.
 * @example
 * import { openWorkspace } from "troupe/workspace";
 *
 * export async function save(folder: string, text: string): Promise<void> {
 *   const workspace = await openWorkspace({ root: folder });
 *   await workspace.write("notes.md", text);
 *   await workspace.commit({ message: "Add notes", author: "Ada", date: Date.now() });
 * }
 */
export async function openWorkspace(options: OpenWorkspaceOptions): Promise<FileWorkspace> {
  checkGivenOptions("openWorkspace", options, openWorkspaceOptions);
  takes("openWorkspace", "root", options.root, aText);
  if (options.root === "" || options.root.includes("\0")) {
    throw new UsageError("WORKSPACE_ROOT", `Expected the path of a folder for the project, got "${visible(options.root)}".`);
  }
  const root = resolve(options.root);
  try {
    await makeRoot(root);
    // Half-written files of a killed run do not count.
    await sweepProject(await realpath(root));
    if (options.force !== true) await checkEmpty(root);
    await tryWriting(root);
  } catch (error) {
    throw ioError(error, "use the output folder", root);
  }
  const { force: _force, signal, ...own } = options;
  const workspace = fileWorkspace({ isOwn: () => false, ...own });
  await workspace.prepareGit(signal);
  return workspace;
}

async function makeRoot(root: string): Promise<void> {
  const found = await ifThere(stat(root));
  if (found?.isDirectory() === true) return;
  if (found !== undefined || (await statsOf(root)) !== undefined) {
    throw new WorkspaceError(
      "WORKSPACE_NOT_A_FOLDER",
      `Expected a folder at "${visible(root)}", got ${found === undefined ? "a link that leads nowhere" : "a file"}. Choose another output folder.`,
      { data: { path: visible(root) } },
    );
  }
  await makeFolders(root);
}

async function checkEmpty(root: string): Promise<void> {
  const names = (await readdir(root)).filter((name) => !NOT_COUNTED.includes(name)).sort();
  if (names.length === 0) return;
  const some = names.map((name) => visible(name, 40));
  throw new WorkspaceError(
    "WORKSPACE_NOT_EMPTY",
    `Expected an empty output folder, but "${visible(root)}" holds ${listed(some, 3)}. ` +
      "Choose another folder, or say --force (`force: true` in a program): then existing files stay, and of those that the company writes a copy is kept.",
    { data: { path: visible(root), entries: names.length } },
  );
}

/** Permissions do not show read-only mounts, quotas and full disks: only a real file does. */
async function tryWriting(root: string): Promise<void> {
  const probe = join(root, temporaryName("probe"));
  try {
    await writeFile(probe, "troupe\n", { flag: "wx" });
  } finally {
    await rm(probe, { force: true });
  }
}
