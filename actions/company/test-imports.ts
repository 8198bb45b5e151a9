import { posix } from "node:path";
import { WorkspaceError } from "../../src/index.ts";
import type { Workspace } from "../../src/workspace/index.ts";
import { isTestPath } from "./work-order.ts";

const SOURCE = /(?:\/(?:index|__init__))?\.(?:[cm]?[jt]sx?|py)$/;
/** The use of a library that products have no use for, or `assert`, which some have. */
const LIBRARY =
  /["'](?:node:)?(?:assert(?:\/strict)?|test)["']|["'](?:vitest|@jest\/globals|chai|expect|sinon|@testing-library\/[^"']+)["']|^\s*(?:import|from)\s+(?:pytest|unittest|hypothesis)\b/m;
const NAMED = /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)["'](\.{1,2}\/[^"']+)["']/g;
const NAMED_IN_PYTHON = /^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]+\(?([\w, \t]+)|import[ \t]+([\w.]+))/gm;

/**
 * The helpers of tests in folders of other names, such as `dev/expect.mjs`: files that use a library for tests, and that tests import and no file of
 * the product does.
 */
export async function testHelpers(project: Workspace, paths: ReadonlySet<string>, tests: readonly string[]): Promise<ReadonlySet<string>> {
  const sources = new Map([...paths].filter((path) => SOURCE.test(path)).map((path) => [stemOf(path), path]));
  const helpers = new Set<string>();
  const queue = [...tests];
  for (const path of queue) {
    for (const one of importsOf(path, await textOf(project, path), sources)) {
      if (helpers.has(one) || tests.includes(one) || isTestPath(one) || !LIBRARY.test(await textOf(project, one))) continue;
      helpers.add(one);
      queue.push(one);
    }
  }
  if (helpers.size === 0) return helpers;
  const manifest = await textOf(project, "package.json");
  for (const path of sources.values()) {
    if (manifest.includes(path)) helpers.delete(path);
    if (helpers.has(path) || tests.includes(path) || isTestPath(path)) continue;
    for (const one of importsOf(path, await textOf(project, path), sources)) helpers.delete(one);
  }
  return helpers;
}

function stemOf(path: string): string {
  return path.replace(SOURCE, "");
}

/** Files of the project that a file imports. */
function importsOf(path: string, text: string, sources: ReadonlyMap<string, string>): readonly string[] {
  const folder = posix.dirname(path);
  const found = path.endsWith(".py")
    ? [...text.matchAll(NAMED_IN_PYTHON)].flatMap(([, from = "", names = "", plain = from]) => {
        const [, dots = "", rest = ""] = /^(\.*)(.*)$/.exec(plain) ?? [];
        const module = rest.replaceAll(".", "/");
        const above = dots === "" ? ["", folder] : [posix.join(folder, "../".repeat(dots.length - 1))];
        return above.flatMap((top) => ["", ...names.split(",")].map((name) => posix.join(top, module, name.trim().split(/\s/)[0] ?? "")));
      })
    : [...text.matchAll(NAMED)].map(([, named = ""]) => posix.join(folder, named));
  return found.flatMap((named) => sources.get(stemOf(named)) ?? []);
}

async function textOf(project: Workspace, path: string): Promise<string> {
  try {
    return (await project.read(path)) ?? "";
  } catch (error) {
    // A link, or more than a workspace reads.
    if (!WorkspaceError.isInstance(error)) throw error;
    return "";
  }
}
