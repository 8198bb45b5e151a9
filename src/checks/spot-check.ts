import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { contentHash } from "../kernel/json.ts";
import { ioError, walkFiles } from "../workspace/folders.ts";
import { isHidden, isNormalPath, visible } from "../workspace/path-rules.ts";
import { copyProject } from "../workspace/project-copy.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import { LISTED_FILES } from "../workspace/workspace.ts";
import { inspectJavaScript, inspectPython, type Inspection, type SourceFunction } from "./inspection.ts";
import { runSuites } from "./suites.ts";
import type { Fault, SuiteReport } from "./verification.ts";

/** Tests that have passed, and whether they can fail. */
export interface SpotCheckRequest {
  /** The project's folder. */
  readonly root: string;
  readonly sandbox: Sandbox;
  /** The reports of its tests. Those that have passed are checked. */
  readonly suites: readonly SuiteReport[];
  /** Chooses the functions; an equal seed chooses equal ones. Default 0. */
  readonly seed?: number | undefined;
  /** Milliseconds for one run of the tests. Default 60,000. */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Functions that are broken, one after another, before the tests are called weak. */
const TRIES = 3;
/** Most weak tests that are named. */
const MOST_NAMES = 10;

type Language = SuiteReport["language"];

const LANGUAGES: Readonly<Record<Language, { readonly name: string; readonly source: RegExp }>> = {
  javascript: { name: "JavaScript", source: /(?<!\.config)\.[cm]?js$/ },
  python: { name: "Python", source: /(?<!(^|\/)(setup|conftest|__init__))\.py$/ },
};
const TEST_FILE = /(^|\/)(tests?|__tests__|spec)\/|\.(test|spec)\.[cm]?js$|(^|\/)(test_[^/]*|[^/]*_test)\.py$/;

/** Finds tests that assert nothing, or about constants alone, by reading them. */
export async function findWeakTests(request: SpotCheckRequest): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const { language, files } of ranSuites(request.suites)) {
    const { weak } = await inspect(request, language, files);
    for (const file of new Set(weak.map((each) => each.file))) {
      const names = weak.filter((each) => each.file === file).map(({ name }) => `"${visible(name, 120)}"`);
      const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : "";
      faults.push({ kind: "weak tests", file, message: `These tests assert nothing: ${names.slice(0, MOST_NAMES).join(", ")}${more}.` });
    }
  }
  return faults;
}

/**
 * Empties a function that the tests lead to, in a copy of the project, and expects that they fail; up to three functions when they do not.
 * Functions that the tests name come first. Tests that use no file of the project cannot fail either.
 */
export async function spotCheck(request: SpotCheckRequest): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const { language, files, kind } of ranSuites(request.suites)) {
    if (kind !== "passed") continue;
    const { functions, isAlone } = await inspect(request, language, files);
    if (isAlone && (await hasSources(request, language))) {
      faults.push({
        kind: "weak tests",
        message: `The tests in ${LANGUAGES[language].name} use no file of the project, so they cannot fail when it is wrong.`,
      });
      continue;
    }
    const chosen = chosenFrom(functions, request.seed ?? 0);
    const isNoticed = chosen.length === 0 || (await isAnyNoticed(request, language, chosen));
    if (isNoticed) continue;
    const names = chosen.map(({ name, file }) => `${visible(name, 120)} (${visible(file, 200)})`).join(", ");
    const message = `All tests still pass when the body of ${chosen.length === 1 ? "this function is" : "each of these functions is"} emptied: ${names}.`;
    faults.push({ kind: "weak tests", message });
  }
  return faults;
}

function ranSuites(suites: readonly SuiteReport[]): readonly SuiteReport[] {
  return suites.filter(({ kind, files }) => kind !== "not run" && files.length > 0);
}

/** True for a project with source files of a language besides its tests. */
async function hasSources({ root, signal }: SpotCheckRequest, language: Language): Promise<boolean> {
  const { files } = await walkFiles(root, { skip: isHidden, limit: LISTED_FILES, signal });
  return files.some((file) => LANGUAGES[language].source.test(file) && !TEST_FILE.test(file));
}

function inspect({ root, sandbox, signal }: SpotCheckRequest, language: Language, files: readonly string[]): Promise<Inspection> {
  return language === "javascript" ? inspectJavaScript(root, files) : inspectPython(root, files, { sandbox, signal });
}

/** The functions to break: those that tests name before others, and one of each file before a second of it. */
function chosenFrom(found: readonly SourceFunction[], seed: number): readonly SourceFunction[] {
  const functions = found.filter(({ file }) => isNormalPath(file));
  const named = functions.filter(({ isNamed }) => isNamed);
  const order = new Map(
    (named.length > 0 ? named : functions).map((each) => [contentHash([seed, each.file, each.name, each.start]), each]),
  );
  const mixed = [...order.keys()].sort().flatMap((key) => order.get(key) ?? []);
  const turns = mixed.map((each, at) => ({ each, turn: mixed.slice(0, at).filter(({ file }) => file === each.file).length }));
  return turns
    .sort((a, b) => a.turn - b.turn)
    .slice(0, TRIES)
    .map(({ each }) => each);
}

async function isAnyNoticed(
  { root, sandbox, timeout, signal }: SpotCheckRequest,
  language: Language,
  chosen: readonly SourceFunction[],
): Promise<boolean> {
  const copy = await copyProject(root, { signal });
  try {
    for (const each of chosen) {
      const path = join(copy.project, each.file);
      const text = await readFile(path, "utf8");
      await writeFile(path, text.slice(0, each.start) + each.replacement + text.slice(each.end));
      const reports = await runSuites({ root: copy.project, sandbox, timeout, signal, languages: [language] });
      await writeFile(path, text);
      if (reports.some((report) => report.language === language && (report.kind === "failed" || report.kind === "timeout"))) return true;
    }
    return false;
  } catch (error) {
    throw ioError(error, "break a function in a copy of the project", "");
  } finally {
    await copy.remove();
  }
}
