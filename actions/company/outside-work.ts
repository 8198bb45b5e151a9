import { tableIn, PYTHON_TASKS } from "../../src/checks/project-commands.ts";
import { WorkspaceError } from "../../src/index.ts";
import type { Workspace } from "../../src/workspace/index.ts";
import { testHelpers } from "./test-imports.ts";
import { isTestPath, type Size, WRITTEN_BY_MANAGER } from "./work-order.ts";
import type { Dispute } from "./work-report.ts";

/*
 * The work of a coding agent that is not ours. It runs with the rights of its user, so it can change anything: what judges it is put back.
 */

interface Contract {
  readonly size: Size;
  /** Tests of the user and of QA: the worker wrote none of them. */
  readonly tests: readonly string[];
}

/** Files that decide which tests run, and how. */
const RUNNERS =
  /(?:^|\/)(?:conftest\.py|\.?pytest\.(?:ini|toml)|tox\.ini|setup\.cfg|noxfile\.py|\.npmrc|\.mocharc[^/]*|\.taprc|(?:vite|vitest|jest|ava|playwright|karma)\.config\.(?:[cm]?[jt]s|json)|(?:GNUm|[Mm])akefile|\.?[Jj]ustfile)$|(?:^|\/)tests?\/(?:.*\/)?__init__\.py$/;
/** Members of package.json that do the same. */
const MEMBERS = ["jest", "mocha", "ava", "tap", "vitest"];
const SCRIPT = /^(?:pre|post)?(?:test|build|check)\b/;
const TESTS = /^(?:pre|post)?test\b/;
const TABLES = ["tool.pytest", "tool.pytest.ini_options", ...PYTHON_TASKS.map(([table]) => table)];
/** Bytes of one file that is compared. */
const LARGEST = 64 * 1024 * 1024;

/** Puts checks, tests and what runs them back in a fork as the project has them. Returns the paths that were changed there. */
export async function putBackContract(fork: Workspace, project: Workspace, contract: Contract): Promise<readonly string[]> {
  const [before, after] = [new Set(await project.list()), await fork.list()];
  const wasTested = contract.tests.length > 0;
  const programs = wasTested ? await testPrograms(project, before) : new Set<string>();
  const helpers = wasTested ? await testHelpers(project, before, contract.tests) : new Set<string>();
  const isKept = (path: string): boolean =>
    WRITTEN_BY_MANAGER.has(path.toLowerCase()) || contract.tests.includes(path) || programs.has(path) || helpers.has(path);
  const isOthers = (path: string): boolean =>
    isKept(path) || (wasTested && RUNNERS.test(path)) || (contract.size !== "S" && isTestPath(path));
  const changed: string[] = [];
  for (const path of new Set([...before, ...after].filter(isOthers).sort())) {
    const [ours, theirs] = [await bytesOf(project, path), await bytesOf(fork, path)];
    if (ours === undefined ? theirs === undefined : theirs !== undefined && Buffer.compare(ours, theirs) === 0) continue;
    await (ours === undefined ? fork.remove(path) : fork.write(path, ours));
    changed.push(path);
  }
  if (!wasTested) return changed;
  for (const [path, mended] of [
    ["package.json", mendedManifest],
    ["pyproject.toml", mendedTables],
  ] as const) {
    const [ours, theirs] = [await project.read(path), await fork.read(path)];
    const text = ours === undefined ? undefined : mended(ours, theirs ?? "");
    if (text === undefined) continue;
    await fork.write(path, text);
    changed.push(path);
  }
  return changed;
}

/** Scripts of the project that its test commands name, and those that these name. */
async function testPrograms(project: Workspace, paths: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const scripts = [...paths].filter((path) => /\.(?:ba)?sh$|^(?:scripts?|tools?|ci|\.ci)\//.test(path));
  const found = new Set<string>();
  const { scripts: commands = {} } = manifestIn((await project.read("package.json")) ?? "") ?? {};
  const texts = [
    testScripts(commands, TESTS)
      .map(([, command]) => String(command))
      .join("\n"),
  ];
  for (const path of [...paths].filter((one) => RUNNERS.test(one))) texts.push((await project.read(path)) ?? "");
  for (let text = texts.pop(); text !== undefined; text = texts.pop()) {
    for (const path of scripts) {
      if (found.has(path) || !text.includes(path)) continue;
      found.add(path);
      texts.push((await project.read(path)) ?? "");
    }
  }
  return found;
}

/** Those that test, and those that these run, such as `unit` of `npm run unit`. */
function testScripts(scripts: Readonly<Record<string, unknown>>, judging: RegExp = SCRIPT): [string, unknown][] {
  const all = Object.entries(scripts);
  const found = new Map(all.filter(([name]) => judging.test(name)));
  for (const [, command] of found) {
    const words = new Set(String(command).split(/[\s"';&|]+/));
    for (const [name, text] of all) if (words.has(name)) found.set(name, text);
  }
  return [...found];
}

/** The bytes of a plain file; what is none, such as a link or a folder, is like no file. @throws WorkspaceError for one that is too large */
async function bytesOf(workspace: Workspace, path: string): Promise<Uint8Array | undefined> {
  try {
    return await workspace.readBytes(path, LARGEST);
  } catch (error) {
    if (!WorkspaceError.isInstance(error) || error.code === "WORKSPACE_LIMIT") throw error;
    return undefined;
  }
}

/** The manifest with the scripts of the tests as they were; undefined where they are. */
function mendedManifest(before: string, after: string): string | undefined {
  const [ours, theirs] = [manifestIn(before), manifestIn(after)];
  if (ours === undefined) return undefined;
  if (theirs === undefined) return before;
  const kept = new Map(testScripts(ours.scripts ?? {}));
  const isJudging = (name: string): boolean => kept.has(name) || SCRIPT.test(name);
  const judging = ({ scripts = {}, ...rest }: Manifest): object => ({
    scripts: Object.entries(scripts).filter(([name]) => isJudging(name)),
    more: MEMBERS.map((name) => rest[name]),
  });
  if (JSON.stringify(judging(ours)) === JSON.stringify(judging(theirs))) return undefined;
  const others = (scripts: Manifest["scripts"] = {}, isWanted: boolean): [string, unknown][] =>
    Object.entries(scripts).filter(([name]) => isJudging(name) === isWanted);
  const scripts = Object.fromEntries([...others(theirs.scripts, false), ...others(ours.scripts, true)]);
  const members = Object.fromEntries(MEMBERS.flatMap((name) => (name in ours || name in theirs ? [[name, ours[name]]] : [])));
  const mended = { ...theirs, scripts, ...members };
  const sorted = (manifest: Manifest): string => JSON.stringify(Object.entries(manifest).sort(([one], [other]) => (one < other ? -1 : 1)));
  return sorted(mended) === sorted(ours) ? before : `${JSON.stringify(mended, undefined, 2)}\n`;
}

interface Manifest {
  readonly scripts?: Readonly<Record<string, unknown>>;
  readonly [member: string]: unknown;
}

function manifestIn(text: string): Manifest | undefined {
  try {
    const read: unknown = JSON.parse(text);
    return typeof read === "object" && read !== null && !Array.isArray(read) ? (read as Manifest) : undefined;
  } catch {
    return undefined;
  }
}

/** All of the file: a table cannot be put back alone without a writer of TOML. */
function mendedTables(before: string, after: string): string | undefined {
  return TABLES.some((table) => tableIn(before, table) !== tableIn(after, table)) ? before : undefined;
}

interface LastWords {
  readonly summary: string;
  readonly disputes: readonly Dispute[];
  readonly questions: readonly string[];
  /** Why the work cannot be done. */
  readonly gaveUp: string | undefined;
}

const MARKED = /^[ \t*>`-]*(DISPUTE|QUESTION|GIVE UP)[*`]*[ :][ \t]*(\S.*)$/gm;
const MOST_QUESTIONS = 5;

/** Reads the lines by which a worker hands something back, asks, or gives up. @param ids of the criteria */
export function lastWords(text: string, ids: readonly string[]): LastWords {
  const found = [...text.matchAll(MARKED)].map(([, mark = "", words = ""]) => [mark, words.replace(/[*`]+$/, "").trim()] as const);
  const all = (mark: string): readonly string[] => found.filter(([one]) => one === mark).map(([, words]) => words);
  const disputes = all("DISPUTE").map((words): Dispute => {
    const [, what = "", why = ""] = /^[*`]*([^\s:]+?)[*`]*:\s*(.*)$/.exec(words) ?? [];
    return ids.includes(what) ? { criterion: what, why: `${what}: ${why}` } : { why: words };
  });
  return {
    disputes,
    questions: all("QUESTION").slice(0, MOST_QUESTIONS),
    gaveUp: all("GIVE UP").at(-1),
    summary: text.replace(MARKED, "").trim(),
  };
}
