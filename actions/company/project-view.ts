import { WorkspaceError } from "../../src/index.ts";
import type { Workspace } from "../../src/workspace/index.ts";
import { fileInPrompt, filesInPrompt, type ProjectFile } from "../project-files.ts";
import { shortened } from "../markdown.ts";
import { isTestPath, WRITTEN_BY_MANAGER } from "./work-order.ts";

/** Files in which projects say how they are worked on. */
const CONVENTIONS = ["AGENTS.md", "CLAUDE.md", "CONTRIBUTING.md", ".github/copilot-instructions.md", ".cursorrules"];
/** Characters: some 8,000 tokens. */
const CONVENTIONS_LENGTH = 32_000;
/** Characters: some 3,000 tokens. */
const SEEN_LENGTH = 12_000;
const MOST_READ = 40;

/** Returns a file for a prompt; undefined for one that is missing, no text, or a link. */
export async function fileText(workspace: Workspace, path: string): Promise<string | undefined> {
  try {
    return await workspace.read(path);
  } catch (error) {
    if (WorkspaceError.isInstance(error)) return undefined;
    throw error;
  }
}

/** The conventions of a project, quoted: at most some 8,000 tokens. */
export async function conventionsIn(workspace: Workspace): Promise<string> {
  const shown: string[] = [];
  let room = CONVENTIONS_LENGTH;
  for (const path of CONVENTIONS) {
    const content = await fileText(workspace, path);
    if (content === undefined || room <= 0) continue;
    shown.push(fileInPrompt({ path, content: shortened(content, room) }));
    room -= content.length;
  }
  return shown.join("\n\n");
}

/** Files of a project for those who decide about its checks: those that the words name first, while they fit into some 3,000 tokens. */
export async function seenFiles(workspace: Workspace, words: string): Promise<string> {
  const apart = new Set([...WRITTEN_BY_MANAGER, ...CONVENTIONS, "README.md"]);
  const paths = (await workspace.list()).filter((path) => !apart.has(path));
  const rank = (path: string): number => (words.includes(path.split("/").at(-1) ?? path) ? 0 : isTestPath(path) ? 2 : 1);
  const files: ProjectFile[] = [];
  let room = SEEN_LENGTH;
  for (const path of paths.toSorted((one, other) => rank(one) - rank(other)).slice(0, MOST_READ)) {
    const content = await fileText(workspace, path);
    if (content === undefined || content.length > room || content.includes("\0")) continue;
    files.push({ path, content });
    room -= content.length;
  }
  return filesInPrompt(files, SEEN_LENGTH);
}
