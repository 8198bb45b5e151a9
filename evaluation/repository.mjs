import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { HERE } from "./check-list.mjs";

/** The history of a repository: which of its files each commit adds. The last one adds the rest. */
const HISTORY = [
  { message: "Begin", files: /^(LICENSE|README|\.|package\.json|pyproject)/ },
  { message: "Add the sources", files: /^(src|bin|shelfmark)\b/ },
  { message: "Add tests", files: /^tests?\b/ },
  { message: "Add pages, examples and the list of changes", files: /./ },
];

function git(folder, words, date) {
  const who = {
    GIT_AUTHOR_NAME: "Ada",
    GIT_AUTHOR_EMAIL: "ada@example.org",
    GIT_COMMITTER_NAME: "Ada",
    GIT_COMMITTER_EMAIL: "ada@example.org",
  };
  const when = { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
  const settings = ["-c", "core.autocrlf=false", "-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false"];
  const ended = spawnSync("git", [...settings, ...words], { cwd: folder, encoding: "utf8", env: { ...process.env, ...who, ...when } });
  if (ended.status !== 0) throw new Error(`git ${words.join(" ")}: ${ended.stderr}`);
}

/** Sets a repository up in a folder, with a history of its own. */
export function setUpRepository(name, folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(join(HERE, "repositories", name), folder, { recursive: true });
  git(folder, ["init", "-q"]);
  const left = new Set(readdirSync(folder).filter((entry) => entry !== ".git"));
  for (const [n, { message, files }] of HISTORY.entries()) {
    const taken = [...left].filter((entry) => files.test(entry));
    for (const entry of taken) left.delete(entry);
    if (taken.length === 0) continue;
    git(folder, ["add", "--", ...taken]);
    git(folder, ["commit", "-q", "-m", message], `2025-0${n + 1}-01T12:00:00Z`);
  }
}
