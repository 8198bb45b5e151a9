import { inFence } from "./fenced-block.ts";
import { shortened } from "./markdown.ts";
import type { ProjectFile } from "./project-files.ts";

/** Characters of whole files in one prompt: some 15,000 tokens, which every current model reads well. */
const WHOLE_FILES = 60_000;
/** Characters of the outline of a file that does not fit. */
const OUTLINE = 600;
/** Lines of its beginning an outline shows. */
const OUTLINE_LINES = 6;

/** What a file offers by name, in script, page and style. */
const NAMES = [
  /\b(?:function\*?|class|const|let|var)\s+([\w$]+)/g,
  /\b(?:globalThis|window|exports)\.([\w$.]+)\s*=/g,
  /\bid=["']([\w-]+)["']/g,
];

/** One file in full. */
export function fileInPrompt({ path, content }: ProjectFile): string {
  return `${path}\n${inFence(content)}`;
}

/** Files of the project: whole ones while they fit into a budget of characters, of the others how they begin and what they name. */
export function filesInPrompt(files: readonly ProjectFile[], budget: number = WHOLE_FILES): string {
  let room = budget;
  const shown = files.map((file) => {
    if (file.content.length > room) return outlineOf(file);
    room -= file.content.length;
    return fileInPrompt(file);
  });
  return shown.join("\n\n");
}

function outlineOf({ path, content }: ProjectFile): string {
  const head = shortened(content.slice(0, OUTLINE).split("\n").slice(0, OUTLINE_LINES).join("\n"), OUTLINE);
  const names = shortened([...namesIn(content)].join(", "), OUTLINE);
  return `${path} (${content.length} characters, of which only the beginning is shown)\n${inFence(head)}\nIt names: ${names === "" ? "nothing" : names}`;
}

function namesIn(content: string): ReadonlySet<string> {
  const names = new Set<string>();
  for (const pattern of NAMES) for (const [, name = ""] of content.matchAll(pattern)) names.add(name);
  return names;
}
