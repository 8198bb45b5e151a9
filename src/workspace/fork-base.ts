import { constants } from "node:fs";
import { copyFile, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { WorkspaceError } from "../kernel/errors.ts";
import { throwIfAborted } from "../kernel/abort.ts";
import { type FileWorkspace, fileWorkspace } from "./file-workspace.ts";
import { GitProgram } from "./git-program.ts";
import { contentOf } from "./kept-files.ts";
import { makeOwnFolder, removeOwnFolder, withHeld } from "./own-folder.ts";
import { isNormalPath } from "./path-rules.ts";
import { copyInto } from "./project-copy.ts";
import type { MaybeText } from "./three-way.ts";
import type { Worktrees } from "./worktrees.ts";

/** The common version of a project and its fork. */
export interface ForkBase {
  readonly kind: "worktree" | "copy";
  /** Makes the fork's folder with the project's present files. What is left of an earlier one is removed. */
  make(name: string, signal?: AbortSignal): Promise<void>;
  /** Paths that may differ between the common version and the fork, or the project. */
  changedIn(where: FileWorkspace, name: string, signal?: AbortSignal): Promise<readonly string[]>;
  textOf(name: string, path: string, signal?: AbortSignal): Promise<MaybeText>;
  /** Makes the project's present files the common version. */
  renew(name: string, signal?: AbortSignal): Promise<void>;
  remove(name: string, signal?: AbortSignal): Promise<void>;
}

const DIFF = ["diff", "--no-ext-diff", "--no-renames", "--ignore-submodules=all", "--name-only", "-z"] as const;

/** The common version is a commit, and the fork a worktree. */
export class TreeBase implements ForkBase {
  readonly kind = "worktree";
  readonly #project: FileWorkspace;
  readonly #trees: Worktrees;

  constructor(project: FileWorkspace, trees: Worktrees) {
    this.#project = project;
    this.#trees = trees;
  }

  async make(name: string, signal?: AbortSignal): Promise<void> {
    await this.#trees.remove(name, { signal });
    await this.#trees.add(name, { at: await this.#trees.snapshot(signal), signal });
  }

  async changedIn(where: FileWorkspace, name: string, signal?: AbortSignal): Promise<readonly string[]> {
    const base = await this.#base(name, signal);
    const git = where === this.#project ? this.#trees.git : await programAt(where.root, signal);
    const differing = (await git.run([...DIFF, base, "--"], { signal })).split("\0");
    const others = (await git.run(["ls-files", "-z", "--others", "--exclude-standard"], { signal })).split("\0");
    return [...new Set([...differing, ...others, ...where.pending])].filter(isNormalPath).sort();
  }

  async textOf(name: string, path: string, signal?: AbortSignal): Promise<MaybeText> {
    const base = await this.#base(name, signal);
    // With filters: in the form in which a checkout writes it.
    const found = await this.#trees.git.call(["cat-file", "--filters", `${base}:${path}`], { signal });
    return found.kind === "exited" && found.code === 0 ? found.stdout : undefined;
  }

  async renew(name: string, signal?: AbortSignal): Promise<void> {
    await this.#trees.keepBase(name, await this.#trees.snapshot(signal), signal);
  }

  remove(name: string, signal?: AbortSignal): Promise<void> {
    return this.#trees.remove(name, { drop: true, signal });
  }

  async #base(name: string, signal: AbortSignal | undefined): Promise<string> {
    const base = await this.#trees.baseOf(name, signal);
    if (base !== undefined) return base;
    throw new WorkspaceError("WORKSPACE_FORK", `Expected the fork ${name} to be open, but there is none. Open it first.`);
  }
}

/** The common version is a copy of the project's files, and so is the fork. */
export class CopyBase implements ForkBase {
  readonly kind = "copy";
  readonly #project: FileWorkspace;
  readonly #root: string;

  /** @param root of the project, as `realpath` gives it */
  constructor(project: FileWorkspace, root: string) {
    this.#project = project;
    this.#root = root;
  }

  async make(name: string, signal?: AbortSignal): Promise<void> {
    await this.remove(name);
    const fork = await makeOwnFolder(this.#root, `trees/${name}`);
    await copyInto(this.#root, fork, { signal });
    await this.renew(name, signal);
  }

  async changedIn(where: FileWorkspace, name: string, _signal?: AbortSignal): Promise<readonly string[]> {
    const before = fileWorkspace({ root: join(this.#root, ".troupe", BASES, name), git: false });
    return [...new Set([...(await where.list()), ...(await before.list())])].sort();
  }

  async textOf(name: string, path: string): Promise<MaybeText> {
    const at = `.troupe/${BASES}/${name}/${path}`;
    return withHeld(this.#root, at, false, async (file) => (await contentOf(file, path))?.content.toString("utf8"));
  }

  async renew(name: string, signal?: AbortSignal): Promise<void> {
    await removeOwnFolder(this.#root, `${BASES}/${name}`);
    const base = await makeOwnFolder(this.#root, `${BASES}/${name}`);
    for (const path of await this.#project.list()) {
      throwIfAborted(signal);
      await mkdir(dirname(join(base, path)), { recursive: true });
      await copyFile(join(this.#root, path), join(base, path), constants.COPYFILE_FICLONE);
    }
  }

  async remove(name: string): Promise<void> {
    await removeOwnFolder(this.#root, `trees/${name}`);
    await removeOwnFolder(this.#root, `${BASES}/${name}`);
  }
}

/** The folder of common versions, below `.troupe`. */
const BASES = "bases";

async function programAt(root: string, signal: AbortSignal | undefined): Promise<GitProgram> {
  const git = GitProgram.find(root);
  if (git === undefined) throw new WorkspaceError("WORKSPACE_GIT", "Expected git on the PATH, but it is gone. Install it, then resume.");
  await git.disarm(signal);
  return git;
}
