import { createHash } from "node:crypto";
import { ControlError, TroupeError } from "../kernel/errors.ts";
import { fitsGlob } from "../tool/glob.ts";
import type { ToolContext } from "../tool/tool.ts";
import { REMOVE_STEP, WRITE_STEP } from "../workspace/recorded-files.ts";
import { mayWrite } from "../workspace/replay-writes.ts";
import type { Workspace, WrittenFile } from "../workspace/workspace.ts";

/** Stands in a record for a secret. */
const LEFT_OUT = "[secret]";

/** What a read found: a text, nothing, or something no tool works on, and why. Plain JSON. */
export type FoundFile =
  | { readonly kind: "text"; readonly text: string; readonly fromRecord?: boolean }
  | { readonly kind: "missing" }
  | { readonly kind: "unfit"; readonly reason: string };

/**
 * The project as tools see it: reading is recorded, so that a tool that runs again sees what it saw; writing is recorded and done again, and in a
 * replay only in a scratch place.
 */
export class ToolFiles {
  readonly workspace: Workspace;

  constructor(workspace: Workspace) {
    this.workspace = workspace;
  }

  /**
   * The text of a file as it is; from the record where it has the answer. A record holds no secrets, so what they stand for is taken from the file
   * where that still is what was read.
   *
   * @throws ControlError
   */
  async read(ctx: ToolContext, path: string): Promise<FoundFile> {
    let found: FoundFile | undefined;
    const recorded = await ctx.step(
      { kind: "step", name: "read file", request: { path } },
      async () => (found = await readText(this.workspace, path)),
    );
    if (found !== undefined || recorded.kind !== "text") return found ?? recorded;
    return { kind: "text", text: (await this.#unmasked(path, recorded.text)) ?? recorded.text, fromRecord: true };
  }

  /**
   * @param fromRecord whether the content may have lost secrets to a record: then a file that has it with them stays as it is
   * @throws WorkspaceError
   */
  write(ctx: ToolContext, path: string, content: string, fromRecord = false): Promise<WrittenFile> {
    return ctx.step({ kind: "step", name: WRITE_STEP, request: { path, content }, again: true }, async ({ mode }) => {
      if (!(await mayWrite(this.workspace, mode))) return writtenFile(path, content);
      const whole = fromRecord ? await this.#unmasked(path, content) : undefined;
      return whole === undefined ? this.workspace.write(path, content) : writtenFile(path, whole);
    });
  }

  /** @throws WorkspaceError */
  remove(ctx: ToolContext, path: string): Promise<null> {
    return ctx.step({ kind: "step", name: REMOVE_STEP, request: { path }, again: true }, async ({ mode }) => {
      if (await mayWrite(this.workspace, mode)) await this.workspace.remove(path);
      return null;
    });
  }

  /** What is in a file, when it is this text but for what a record leaves out. */
  async #unmasked(path: string, masked: string): Promise<string | undefined> {
    if (!masked.includes(LEFT_OUT)) return undefined;
    const found = await readText(this.workspace, path);
    return found.kind === "text" && fitsGlob(found.text.replaceAll("*", "\0"), masked.replaceAll("*", "\0").replaceAll(LEFT_OUT, "*"))
      ? found.text
      : undefined;
  }
}

/** A file as text, or why it is none. */
export async function readText(workspace: Workspace, path: string): Promise<FoundFile> {
  let text: string | undefined;
  try {
    text = await workspace.read(path);
  } catch (error) {
    return { kind: "unfit", reason: reasonOf(error) };
  }
  if (text === undefined) return { kind: "missing" };
  // What is no UTF-8 would come back changed when it is written.
  if (text.includes("\0") || text.includes("\ufffd"))
    return { kind: "unfit", reason: `Expected a text file in UTF-8, but ${path} is binary.` };
  return { kind: "text", text };
}

/** The words of an error that a model can act on. @throws ControlError when it is one, and what is nobody's words as it is */
export function reasonOf(error: unknown): string {
  if (error instanceof ControlError || !TroupeError.isInstance(error)) throw error;
  return error.message;
}

function writtenFile(path: string, content: string): WrittenFile {
  const bytes = Buffer.from(content, "utf8");
  return { path, bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
}
