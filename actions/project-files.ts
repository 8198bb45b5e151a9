import { createHash } from "node:crypto";
import type { EffectDoor, RoleContext } from "../src/index.ts";
import { commitFiles, forkIn, mayWrite, namesIn, type Workspace, WRITE_STEP, type WrittenFile } from "../src/workspace/index.ts";
import { z } from "zod";
import { bullets, sections, inFence, shortened } from "./markdown.ts";

export interface ProjectFile {
  readonly path: string;
  readonly content: string;
}

export interface ActionCommit {
  readonly message: string;
  readonly paths: readonly string[];
  /** Id of the message that tells of it. */
  readonly messageId: string;
}

/**
 * The project as actions see it: every touch of the workspace is a step of their activation. Reading is answered from the record, so
 * that a resumed activation sees what it saw, but not from that of the run that was forked: a fork has files of its own. Writing is done
 * again, so that a workspace that lost something gets it back. A replay writes into an empty workspace and leaves every other alone.
 */
export class ProjectFiles {
  readonly #workspace: Workspace;

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  /** Writes a text file: lines end in `\n`, the last one too. @throws WorkspaceError */
  write(ctx: RoleContext, { path, content }: ProjectFile): Promise<WrittenFile> {
    const text = textOf(content);
    const effect = async ({ mode }: EffectDoor): Promise<WrittenFile> =>
      (await mayWrite(this.#workspace, mode)) ? this.#workspace.write(path, text) : writtenFile(path, text);
    return ctx.step(WRITE_STEP, { path, content: text, ...forkIn(this.#workspace) }, effect, { again: true });
  }

  /** The files that are there, in the order given. @throws WorkspaceError */
  read(ctx: RoleContext, paths: readonly string[]): Promise<readonly ProjectFile[]> {
    return ctx.step("read files", { paths }, () => this.#read(paths), { fresh: true });
  }

  /** Hashes of the files by path: part of the address of an answer that depends on files. */
  digests(ctx: RoleContext, paths: readonly string[]): Promise<Readonly<Record<string, string>>> {
    const hashed = async (): Promise<Readonly<Record<string, string>>> => {
      const files = await this.#read(paths);
      return Object.fromEntries(files.map(({ path, content }) => [path, createHash("sha256").update(content).digest("hex").slice(0, 32)]));
    };
    return ctx.step("hash files", { paths }, hashed, { fresh: true });
  }

  /** Commits files in the name of the role. @throws WorkspaceError `WORKSPACE_GIT` */
  async commit(ctx: RoleContext, { message, paths, messageId }: ActionCommit): Promise<void> {
    const request = { message, author: ctx.name, date: ctx.now(), paths, trailers: { "Troupe-Message": messageId } };
    await commitFiles(ctx.steps, this.#workspace, request);
  }

  async #read(paths: readonly string[]): Promise<ProjectFile[]> {
    const files: ProjectFile[] = [];
    for (const path of paths) {
      const content = await this.#workspace.read(path);
      if (content !== undefined) files.push({ path, content });
    }
    return files;
  }
}

function textOf(content: string): string {
  const text = content.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
  return text.endsWith("\n") ? text : `${text}\n`;
}

/** The result of a write; in a replay the record has it already. */
function writtenFile(path: string, text: string): WrittenFile {
  return { path, bytes: new TextEncoder().encode(text).length, sha256: createHash("sha256").update(text).digest("hex") };
}

/** Files that were written. */
export interface WrittenFiles {
  readonly files: readonly { readonly path: string; readonly bytes: number; readonly sha256: string }[];
}

/** Guards {@link WrittenFiles}. */
export const WrittenFilesSchema: z.ZodType<WrittenFiles> = z.object({
  files: z.array(z.object({ path: z.string(), bytes: z.number(), sha256: z.string() })),
});

export function renderWrittenFiles(title: string, { files }: WrittenFiles): string {
  return sections(title, [
    ["Files", files.length === 0 ? "None." : bullets(files.map(({ path, bytes }) => `\`${path}\` (${bytes} bytes)`))],
  ]);
}

/** Characters of whole files in one prompt: some 15,000 tokens, which every current model reads well. */
const WHOLE_FILES = 60_000;
/** Characters of the outline of a file that does not fit. */
const OUTLINE = 600;
/** Lines of its beginning an outline shows. */
const OUTLINE_LINES = 6;

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
  const names = shortened(namesIn(path, content).join(", "), OUTLINE);
  return `${path} (${content.length} characters, of which only the beginning is shown)\n${inFence(head)}\nIt names: ${names === "" ? "nothing" : names}`;
}
