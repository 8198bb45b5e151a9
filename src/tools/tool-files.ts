import { ControlError, TroupeError } from "../kernel/errors.ts";
import type { ToolContext } from "../tool/tool.ts";
import { type BinaryContent, contentToWrite, forkIn, mayWrite, REMOVE_STEP, WRITE_STEP } from "../workspace/recorded-files.ts";
import { type Workspace, type WrittenFile, writtenFile } from "../workspace/workspace.ts";

type FoundFile =
  | { readonly kind: "text"; readonly text: string; readonly fromRecord?: boolean }
  | { readonly kind: "missing" }
  | { readonly kind: "unfit"; readonly reason: string };

/** The project as tools see it: reads and writes are recorded, and repeated from the record. */
export class ToolFiles {
  readonly workspace: Workspace;

  constructor(workspace: Workspace) {
    this.workspace = workspace;
  }

  /** Reads a file, or takes its text from the record; masked secrets come from the file if it is unchanged. */
  async read(ctx: ToolContext, path: string): Promise<FoundFile> {
    let found: FoundFile | undefined;
    const recorded = await ctx.step(
      { kind: "step", name: "read file", request: { path } },
      async () => (found = await readText(this.workspace, path)),
    );
    if (found !== undefined || recorded.kind !== "text") return found ?? recorded;
    return { kind: "text", text: await this.#unmasked(ctx, path, recorded.text), fromRecord: true };
  }

  /** @param fromRecord the content may have lost secrets to a record: a file that may still have them stays as it is */
  write(ctx: ToolContext, path: string, content: string | BinaryContent, fromRecord = false): Promise<WrittenFile> {
    const request = { path, ...(typeof content === "string" ? { content } : content), ...forkIn(this.workspace) };
    return ctx.step({ kind: "step", name: WRITE_STEP, request, again: true }, async ({ mode }) => {
      const given = contentToWrite(content);
      const hasMore = fromRecord && typeof content === "string" && (await this.#hasMore(path, content));
      return !(await mayWrite(this.workspace, mode)) || hasMore ? writtenFile(path, given) : this.workspace.write(path, given);
    });
  }

  /** True for a fork of a project: its files are merged as texts. */
  get isFork(): boolean {
    return forkIn(this.workspace).fork !== undefined;
  }

  remove(ctx: ToolContext, path: string): Promise<null> {
    return ctx.step({ kind: "step", name: REMOVE_STEP, request: { path, ...forkIn(this.workspace) }, again: true }, async ({ mode }) => {
      if (await mayWrite(this.workspace, mode)) await this.workspace.remove(path);
      return null;
    });
  }

  async #unmasked(ctx: ToolContext, path: string, masked: string): Promise<string> {
    if (ctx.mode === "replay" || !isMasked(masked)) return masked;
    const found = await readText(this.workspace, path);
    return found.kind === "text" && fitsMasked(found.text, masked) ? found.text : masked;
  }

  async #hasMore(path: string, content: string): Promise<boolean> {
    if (!isMasked(content)) return false;
    const found = await readText(this.workspace, path);
    return found.kind === "text" && !isMasked(found.text);
  }
}

export async function readText(workspace: Workspace, path: string): Promise<FoundFile> {
  let text: string | undefined;
  try {
    text = await workspace.read(path);
  } catch (error) {
    return { kind: "unfit", reason: reasonOf(error) };
  }
  if (text === undefined) return { kind: "missing" };
  // A file that is no UTF-8 would change when it is written back.
  if (text.includes("\0") || text.includes("\ufffd"))
    return { kind: "unfit", reason: `Expected a text file in UTF-8, but ${path} is binary.` };
  return { kind: "text", text };
}

export function reasonOf(error: unknown): string {
  if (error instanceof ControlError || !TroupeError.isInstance(error)) throw error;
  return error.message;
}

/** Stands for a secret in a record. */
const MASK = "[secret]";

function isMasked(text: string): boolean {
  return text.includes(MASK);
}

/** True when a text equals a masked one but for the secrets; a secret has one line. */
function fitsMasked(text: string, masked: string): boolean {
  const [first = "", ...pieces] = masked.split(MASK);
  if (!text.startsWith(first)) return false;
  let place = first.length;
  for (const [number, piece] of pieces.entries()) {
    const found = number === pieces.length - 1 ? text.length - piece.length : text.indexOf(piece, place);
    if (found < place || !text.startsWith(piece, found) || text.slice(place, found).includes("\n")) return false;
    place = found + piece.length;
  }
  return place === text.length;
}

/** The state of a tool for each session. Callers without a session share one. */
export class ToolStates<S> {
  readonly #make: () => S;
  readonly #states = new WeakMap<object, S>();

  constructor(make: () => S) {
    this.#make = make;
  }

  of({ session = this }: { readonly session?: object }): S {
    const known = this.#states.get(session);
    if (known !== undefined) return known;
    const made = this.#make();
    this.#states.set(session, made);
    return made;
  }
}
