/** Ways to join two changes of one project. No way decides whether its result is right: the tests of both changes do. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** Longer than any line of a text that looks like a mark. */
const MARK = 60;
const ENDS = new RegExp(`^(?:<{${MARK}} one|\\|{${MARK}} base|={${MARK}}|>{${MARK}} other)$`);

function inFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), "cooper-"));
  try {
    return work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function git(folder, words) {
  const ended = spawnSync("git", words, {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 50_000_000,
    env: { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: "1" },
  });
  if (ended.error !== undefined) throw new Error(`Expected git to run, but it did not: ${ended.error.message}. Install git.`);
  return ended;
}

/** Merges three versions of a text by lines. @returns the text, with the marks of git around each conflicting hunk, and their base */
function mergedLines({ base, one, other }) {
  return inFolder((folder) => {
    for (const [name, text] of Object.entries({ base, one, other })) writeFileSync(join(folder, name), text);
    const labels = ["-L", "one", "-L", "base", "-L", "other"];
    const ended = git(folder, ["merge-file", "-p", "--diff3", `--marker-size=${MARK}`, ...labels, "one", "base", "other"]);
    if (ended.status === null || ended.status > 127)
      throw new Error(`Expected git to merge, but it ended with ${ended.status}: ${ended.stderr}`);
    return ended.stdout;
  });
}

/** The parts of a merged text: those that fit, and the conflicting hunks. */
function partsOf(marked) {
  const parts = [{ fits: [] }];
  let side;
  for (const line of marked.split(/(?<=\n)/)) {
    const end = ENDS.exec(line.replace(/\r?\n$/, ""))?.[0];
    const last = parts.at(-1);
    if (end?.startsWith("<") && side === undefined) {
      parts.push({ one: [], base: [], other: [] });
      side = "one";
    } else if (end?.startsWith("|") && side === "one") side = "base";
    else if (end?.startsWith("=") && side === "base") side = "other";
    else if (end?.startsWith(">") && side === "other") {
      parts.push({ fits: [] });
      side = undefined;
    } else last[side ?? "fits"].push(line);
  }
  return parts.map((part) => Object.fromEntries(Object.entries(part).map(([name, lines]) => [name, lines.join("")])));
}

const textOf = (parts, resolve) => parts.map((part) => part.fits ?? resolve(part)).join("");

const linesOf = (text) => (text === "" ? [] : text.split(/(?<=\n)/).map((line) => (line.endsWith("\n") ? line : `${line}\n`)));

/** The lines of both; those with which both begin or end are there once. */
function byLines({ one, other }) {
  const [a, b] = [one, other].map(linesOf);
  let head = 0;
  while (head < Math.min(a.length, b.length) && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(a.length, b.length) - head && a.at(-1 - tail) === b.at(-1 - tail)) tail += 1;
  return [...a.slice(0, a.length - tail), ...b.slice(head)].join("");
}

/**
 * Merges two changes of a hunk that touch but do not overlap, which git calls a conflict: one keeps all lines from some line on, and the other all
 * before it. Undefined where they overlap.
 */
function besides(hunk) {
  const [base, one, other] = [hunk.base, hunk.one, hunk.other].map(linesOf);
  const sides = [
    [one, other],
    [other, one],
  ];
  for (const [first, last] of sides) {
    const end = base.findLastIndex((line, n) => line !== first.at(n - base.length)) + 1;
    const isKept = base.slice(0, end).every((line, n) => line === last[n]);
    if (isKept) return [...first.slice(0, first.length - (base.length - end)), ...last.slice(end)].join("");
  }
  return undefined;
}

/** Merges a hunk by words, so that two parameters that were added to one line both come in; what still conflicts is there twice. */
function byWords({ base, one, other }) {
  const split = (text) =>
    text
      .split(/(\w+|\s+)/)
      .filter((word) => word !== "")
      .map((word) => `${JSON.stringify(word)}\n`)
      .join("");
  const parts = partsOf(mergedLines({ base: split(base), one: split(one), other: split(other) }));
  return textOf(parts, (hunk) => besides(hunk) ?? hunk.one + hunk.other)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line))
    .join("");
}

/** Lines where both only add, or change lines beside each other; words where both change the same lines. */
function byHunk(hunk) {
  return hunk.base === "" ? byLines(hunk) : (besides(hunk) ?? byWords(hunk));
}

/** A file of three trees; a tree has undefined where the file is not there. */
function eachFile({ base, one, other }, merge) {
  const tree = new Map(one);
  for (const path of new Set([...base.keys(), ...one.keys(), ...other.keys()])) {
    const [before, ours, theirs] = [base.get(path), one.get(path), other.get(path)];
    if (ours === theirs || theirs === before) continue;
    if (ours === before) tree.set(path, theirs);
    else if (ours === undefined || theirs === undefined) throw new Conflict(path, "one side removes the file that the other changes");
    else tree.set(path, merge(path, { base: before ?? "", one: ours, other: theirs }));
  }
  return tree;
}

/** Names the hunk in which two changes do not fit. */
class Conflict extends Error {
  constructor(path, hunk) {
    super(`${path}: ${hunk}`);
  }
}

function resolved(trees, resolve) {
  return eachFile(trees, (path, versions) => textOf(partsOf(mergedLines(versions)), (hunk) => resolve(hunk, path)));
}

const lineOf = (text) => (text.split("\n").find((line) => line.trim() !== "") ?? "(nothing)").trim().slice(0, 100);
const refuse = ({ one, other }, path) => {
  throw new Conflict(path, `"${lineOf(one)}" against "${lineOf(other)}"`);
};

/** Applies the change from `base` to `other` on `one`: one line of context on each side of a hunk has to be as it was. */
function applied({ base, one, other }) {
  return eachFile({ base, one, other }, (path, versions) =>
    inFolder((folder) => {
      for (const [side, text] of [
        ["a", versions.base],
        ["b", versions.other],
      ]) {
        mkdirSync(dirname(join(folder, side, path)), { recursive: true });
        writeFileSync(join(folder, side, path), text);
      }
      const patch = git(folder, ["diff", "--no-index", "--no-color", "--no-prefix", "-U3", join("a", path), join("b", path)]).stdout;
      writeFileSync(join(folder, "patch"), patch);
      writeFileSync(join(folder, "a", path), versions.one);
      const ended = git(folder, ["apply", "-p1", "-C1", `--directory=a`, "--recount", "patch"]);
      if (ended.status !== 0)
        throw new Conflict(path, (ended.stderr.split("\n").find((line) => line.startsWith("error:")) ?? ended.stderr).trim());
      return readFileSync(join(folder, "a", path), "utf8");
    }),
  );
}

const swapped = ({ base, one, other }) => ({ base, one: other, other: one });

/** The ways, in the order in which they are tried: the ones that keep most of both texts as they are come first. */
export const WAYS = [
  { way: "applied, 1 then 2", joins: (trees) => applied(trees) },
  { way: "applied, 2 then 1", joins: (trees) => applied(swapped(trees)) },
  { way: "union of hunks, 1 first", joins: (trees) => resolved(trees, byHunk) },
  { way: "union of hunks, 2 first", joins: (trees) => resolved(swapped(trees), byHunk) },
  { way: "union of words, 1 first", joins: (trees) => resolved(trees, byWords) },
  { way: "union of words, 2 first", joins: (trees) => resolved(swapped(trees), byWords) },
  { way: "union of lines, 1 first", joins: (trees) => resolved(trees, byLines) },
  { way: "union of lines, 2 first", joins: (trees) => resolved(swapped(trees), byLines) },
];

/** Tries a way. @returns `{ tree }`, or `{ conflict }` with the hunk */
export function tried(joins, trees) {
  try {
    return { tree: joins(trees) };
  } catch (error) {
    if (error instanceof Conflict) return { conflict: error.message };
    throw error;
  }
}

/** The first conflicting hunk of a three-way merge, or undefined where all fit. */
export function conflictOf(trees) {
  return tried((given) => resolved(given, refuse), trees).conflict;
}
