import { createHash } from "node:crypto";
import type { RoleContext, EffectDoor } from "../src/index.ts";
import { commitFiles, type Workspace, WRITE_STEP } from "../src/workspace/index.ts";
import { namesIn } from "../src/workspace/outline.ts";
import { forkIn, mayWrite, REMOVE_STEP } from "../src/workspace/recorded-files.ts";
import type { WrittenFile } from "../src/workspace/workspace.ts";
import { z } from "zod";
import { bullets, sections, inFence, shortened } from "./markdown.ts";

export interface ProjectFile {
  readonly path: string;
  readonly content: string;
}

export interface ActionCommit {
  readonly message: string;
  readonly paths: readonly string[];
  readonly messageId: string;
}

/**
 * The project as actions see it: every access is a step. Reads are answered from the record, but not from that of the run that was forked:
 * a fork has its own files. Writes are repeated, so that a workspace that lost something gets it back. A replay writes into an empty
 * workspace only.
 */
export class ProjectFiles {
  readonly #workspace: Workspace;

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  /** Lines end in `\n`, the last one too. @throws WorkspaceError */
  write(ctx: RoleContext, { path, content }: ProjectFile): Promise<WrittenFile> {
    const text = textOf(content);
    const effect = async ({ mode }: EffectDoor): Promise<WrittenFile> =>
      (await mayWrite(this.#workspace, mode)) ? this.#workspace.write(path, text) : writtenFile(path, text);
    return ctx.step(WRITE_STEP, { path, content: text, ...forkIn(this.#workspace) }, effect, { again: true });
  }

  /** @throws WorkspaceError */
  async remove(ctx: RoleContext, path: string): Promise<void> {
    const effect = async ({ mode }: EffectDoor): Promise<null> => {
      if (await mayWrite(this.#workspace, mode)) await this.#workspace.remove(path);
      return null;
    };
    await ctx.step(REMOVE_STEP, { path, ...forkIn(this.#workspace) }, effect, { again: true });
  }

  /** The files that exist, in the order given. @throws WorkspaceError */
  read(ctx: RoleContext, paths: readonly string[]): Promise<readonly ProjectFile[]> {
    return ctx.step("read files", { paths }, () => this.#read(paths), { fresh: true });
  }

  /** By path: part of the address of an answer that depends on files. */
  digests(ctx: RoleContext, paths: readonly string[]): Promise<Readonly<Record<string, string>>> {
    const hashed = async (): Promise<Readonly<Record<string, string>>> => {
      const files = await this.#read(paths);
      return Object.fromEntries(files.map(({ path, content }) => [path, createHash("sha256").update(content).digest("hex").slice(0, 32)]));
    };
    return ctx.step("hash files", { paths }, hashed, { fresh: true });
  }

  /** @throws WorkspaceError `WORKSPACE_GIT` */
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

/** In a replay the record has it already. */
function writtenFile(path: string, text: string): WrittenFile {
  return { path, bytes: new TextEncoder().encode(text).length, sha256: createHash("sha256").update(text).digest("hex") };
}

/** Guards {@link WrittenFiles}. */
export const WrittenFilesSchema = z.object({
  files: z.array(z.object({ path: z.string(), bytes: z.number(), sha256: z.string() })),
});

/** Files that were written. */
export type WrittenFiles = z.infer<typeof WrittenFilesSchema>;

export function renderWrittenFiles(title: string, { files }: WrittenFiles): string {
  return sections(title, [
    ["Files", files.length === 0 ? "None." : bullets(files.map(({ path, bytes }) => `\`${path}\` (${bytes} bytes)`))],
  ]);
}

/** Some 15,000 tokens. */
const WHOLE_FILES = 60_000;
const OUTLINE = 600;
const OUTLINE_LINES = 6;

export function fileInPrompt({ path, content }: ProjectFile): string {
  return `${path}\n${inFence(content)}`;
}

/** Whole files while they fit into a budget of characters, outlines of the others. */
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
