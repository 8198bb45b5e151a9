/** The project of a pair: a repository at the base commit of its task, its forks, and what git knows of it. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileWorkspace, workspaceForks } from "../../dist/src/workspace/index.js";

const SETTINGS = ["-c", "core.autocrlf=false", "-c", "core.hooksPath=/dev/null", "-c", "advice.detachedHead=false"];
const LARGEST = 4 * 1024 ** 2;

/** Runs git. @returns its standard output @throws Error with what it wrote to stderr */
export function git(folder, words, { input, env = {} } = {}) {
  const given = { PATH: process.env.PATH, HOME: tmpdir(), GIT_CONFIG_NOSYSTEM: "1", ...env };
  const ended = spawnSync("git", [...SETTINGS, ...words], { cwd: folder, input, encoding: "utf8", maxBuffer: 100_000_000, env: given });
  if (ended.status !== 0)
    throw new Error(`Expected git ${words[0]} to work, but it did not: ${ended.error?.message ?? ended.stderr.trim()}`);
  return ended.stdout;
}

/** Makes the project of a pair in a folder, anew unless its run is known. @returns `{ root, base, workspace, forks }` */
export function makeProject({ task, repositories, folder, isKnown }) {
  if (isKnown && existsSync(folder)) return openProject({ task, folder });
  const from = join(resolve(repositories), task.repository);
  if (!existsSync(from))
    throw new Error(`Expected a clone of ${task.repository} in ${from}, but it is not there. Clone it there with its history.`);
  try {
    git(from, ["cat-file", "-e", `${task.base}^{commit}`]);
  } catch {
    throw new Error(
      `Expected the commit ${task.base} of ${task.id} in ${from}, but it is not there. Clone the repository with its whole history.`,
    );
  }
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(dirname(folder), { recursive: true });
  git(dirname(folder), ["clone", "-q", "--shared", "--no-checkout", from, folder]);
  git(folder, ["checkout", "-q", "-B", "work", task.base]);
  return openProject({ task, folder });
}

function openProject({ task, folder }) {
  const workspace = fileWorkspace({ root: folder, limits: { fileBytes: LARGEST } });
  return { root: folder, base: task.base, workspace, forks: workspaceForks({ workspace, limits: { fileBytes: LARGEST } }) };
}

/** The files that a patch changes, as it leaves them; null where it removes one. Neither the project nor its index changes. */
export function patchedFiles({ root, base }, patch) {
  const scratch = mkdtempSync(join(tmpdir(), "cooper-index-"));
  const own = { env: { GIT_INDEX_FILE: join(scratch, "index") } };
  try {
    git(root, ["read-tree", base], own);
    git(root, ["apply", "--cached", "--ignore-whitespace", "-"], { ...own, input: patch.endsWith("\n") ? patch : `${patch}\n` });
    const left = new Set(git(root, ["ls-files", "-z"], own).split("\0"));
    const paths = git(root, ["diff", "--cached", "--name-only", "--no-renames", "-z", base], own)
      .split("\0")
      .filter((path) => path !== "");
    return paths.map((path) => ({ path, content: left.has(path) ? git(root, ["show", `:${path}`], own) : null }));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** The content of a path at the base commit; undefined where it was not there. */
export function atBase({ root, base }, path) {
  const [found] = git(root, ["ls-tree", "-z", "--name-only", base, "--", path]).split("\0");
  return found === path ? git(root, ["show", `${base}:${path}`]) : undefined;
}

/** All files of a folder that git would see, with their contents: what tests of it depend on. */
export function filesOf(folder) {
  const paths = git(folder, ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).split("\0");
  return [...new Set(paths)]
    .filter((path) => path !== "" && existsSync(join(folder, path)) && statSync(join(folder, path)).isFile())
    .sort()
    .map((path) => ({ path, bytes: readFileSync(join(folder, path)) }));
}

const TEST = /(^|\/)tests?\/|_test\.go$|(^|\/)test_[^/]*\.py$/;

/** Puts the tests of a project back as they are at its base commit, and removes those that a crew wrote: the benchmark judges by its own. */
export function putBackTests({ root, base }) {
  const changed = git(root, ["diff", "--name-only", "--no-renames", "-z", base]).split("\0");
  const added = git(root, ["ls-files", "-z", "--others", "--exclude-standard"]).split("\0");
  for (const path of [...changed, ...added].filter((one) => TEST.test(one))) {
    if (git(root, ["ls-tree", "--name-only", base, "--", path]).trim() === "") rmSync(join(root, path), { force: true });
    else git(root, ["checkout", "-q", base, "--", path]);
  }
}
