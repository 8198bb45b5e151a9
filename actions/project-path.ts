import { z } from "zod";
import { WorkspaceError } from "../src/index.ts";
import { checkPath } from "../src/workspace/path-rules.ts";

/** One answer plans no larger project well. */
const MAX_FILES = 60;
const MAX_ENTRIES = 1_000;

/** A plan may not write the company's own documents. */
const OWN_DOCUMENTS = /^docs\/(requirement\.txt$|(prd|system_design|task)\/)/i;

const TEST_FILE = /^tests\/(.+\.test\.mjs|(.+\/)?test_[^/]+\.py)$/;

export function isTestFile(path: string): boolean {
  return TEST_FILE.test(path);
}

/** A path that a model proposes, by the rules of the workspace, in normal form. */
const ProjectPathSchema: z.ZodType<string, string> = z
  .string()
  .describe("path relative to the project, such as src/app.js")
  .transform((path, context) => {
    const fault = faultOf(path);
    if (fault === undefined) return checkPath(path);
    context.addIssue({ code: "custom", message: fault });
    return z.NEVER;
  });

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

export function tooMany(count: number): string | undefined {
  return count > MAX_FILES ? `names ${count} files, and a project may have ${MAX_FILES}` : undefined;
}

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

/** A name in kebab-case that is also a file name everywhere: without Latin letters it is `project`. */
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
