import { z } from "zod";
import { WorkspaceError } from "../src/index.ts";
import { checkPath } from "../src/workspace/index.ts";

/** Most files a plan may name. The largest projects one answer can plan well are far smaller. */
const MAX_FILES = 60;
/** Most entries that are looked at, one by one, before a list is refused as a whole. */
const MAX_ENTRIES = 1_000;

/** The folder of the company's own documents; a plan may not write there. */
const OWN_DOCUMENTS = /^docs\/(requirement\.txt$|(prd|system_design|task)\/)/i;

/** The folder of test files, and the end of their names. */
const TEST_FILE = /^tests\/.+\.test\.mjs$/;

/** True when a path is a test file's. */
export function isTestFile(path: string): boolean {
  return TEST_FILE.test(path);
}

/** A path a model proposes: checked by the rules of the workspace, in normal form. */
const ProjectPathSchema: z.ZodType<string, string> = z
  .string()
  .describe("path relative to the project, such as src/app.js")
  .transform((path, context) => {
    const fault = faultOf(path);
    if (fault === undefined) return checkPath(path);
    context.addIssue({ code: "custom", message: fault });
    return z.NEVER;
  });

/** Paths a model proposes, each once. At most 60. */
export const ProjectPathsSchema: z.ZodType<string[], string[]> = z.array(z.string()).transform((paths, context) => {
  const normal = new Set<string>();
  for (const [index, path] of paths.slice(0, MAX_ENTRIES).entries()) {
    const parsed = ProjectPathSchema.safeParse(path);
    if (parsed.success) normal.add(parsed.data);
    else for (const { message } of parsed.error.issues) context.addIssue({ code: "custom", message, path: [index] });
  }
  const count = paths.length > MAX_ENTRIES ? paths.length : normal.size;
  for (const message of [tooMany(count), fileAndFolder(normal)]) if (message !== undefined) context.addIssue({ code: "custom", message });
  return [...normal];
});

/** The fault of a number of files, if any. */
export function tooMany(count: number): string | undefined {
  return count > MAX_FILES ? `names ${count} files, and a project may have ${MAX_FILES}` : undefined;
}

/** No disk can hold a file and a folder of one name. */
function fileAndFolder(paths: ReadonlySet<string>): string | undefined {
  const folders = new Set([...paths].flatMap((path) => foldersAbove(path)));
  const both = [...paths].find((path) => folders.has(path));
  return both === undefined ? undefined : `has "${both}" as a file and as a folder`;
}

function foldersAbove(path: string): string[] {
  const segments = path.split("/");
  return segments.slice(1).map((_segment, index) => segments.slice(0, index + 1).join("/"));
}

function faultOf(path: string): string | undefined {
  try {
    return OWN_DOCUMENTS.test(checkPath(path)) ? "is where the company keeps its own documents" : undefined;
  } catch (error) {
    if (!(error instanceof WorkspaceError)) throw error;
    return error.message;
  }
}

const PROJECT_NAME_LENGTH = 50;

/** A name in kebab-case that is also a file name. Letters of other scripts have no place in a file name that must work everywhere: a name of nothing else becomes `project`. */
export function projectNameOf(name: string): string {
  const words = name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, PROJECT_NAME_LENGTH)
    .replace(/^-+|-+$/g, "");
  if (words === "") return "project";
  return isFileName(words) ? words : `project-${words}`;
}

function isFileName(name: string): boolean {
  try {
    return checkPath(`${name}.json`) === `${name}.json`;
  } catch {
    return false;
  }
}
