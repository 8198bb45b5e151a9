import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { z } from "zod";
import { defineTool, type Tool, type ToolContext } from "../tool/tool.ts";
import { toolFailure, toolOutput, type ToolResult } from "../tool/tool-result.ts";
import { checkPath, visible } from "../workspace/path-rules.ts";
import { sha256Of } from "../workspace/recorded-files.ts";
import { Turns, type Workspace } from "../workspace/workspace.ts";
import { insertLines, type LineRange, numberedLines, replaceOnce, type TextEdit } from "./text-edit.ts";
import { reasonOf, ToolFiles, ToolStates } from "./tool-files.ts";

/** Options of the editor. */
export interface EditorOptions {
  readonly workspace: Workspace;
}

const editorOptions: Known<EditorOptions> = { workspace: true };

const LISTED = 500;
/** Lines shown around an edit. */
const AROUND = 4;

const parameters = z.object({
  command: z.enum(["view", "create", "replace", "insert", "undo"]),
  path: z.string().describe("Relative to the project, as src/app.js. To view a folder, its path; `.` is the project."),
  range: z
    .tuple([z.number().int().min(1), z.number().int().min(1)])
    .optional()
    .describe("view: first and last line to show, from 1."),
  content: z.string().optional().describe("create: all of the file."),
  overwrite: z.boolean().default(false).describe("create: write over a file that is there."),
  old: z.string().optional().describe("replace: the text to replace, exactly as it stands in the file, and only once in it."),
  new: z.string().optional().describe("replace: the text in its place. insert: the lines to add."),
  line: z.number().int().min(0).optional().describe("insert: the line after which to add; 0 adds before the first."),
});

type EditorArguments = z.infer<typeof parameters>;

/** One editor at a time changes a workspace, across all agents. */
const turns = new WeakMap<Workspace, Turns>();

/** Makes a tool that views and edits text files of a workspace. Unchanged parts stay byte for byte. */
export function editorTool(options: EditorOptions): Tool {
  checkGivenOptions("editorTool", options, editorOptions);
  const { workspace } = options;
  const files = new ToolFiles(workspace);
  const histories = new ToolStates(() => new EditHistory());
  return defineTool({
    name: "editor",
    description:
      "Views and edits text files of the project: view (a file with line numbers, or the files of a folder), create, replace (a text that is in " +
      "the file exactly once), insert (lines after a line), undo (takes back your last edit of a file). Tabs and line ends stay as they are.",
    parameters,
    effect: "write",
    permission: [{ args: { command: "view" }, decide: "allow" }],
    idempotent: true,
    again: true,
    parallel: false,
    execute: (args, ctx) => {
      const turn = turns.get(workspace) ?? new Turns();
      turns.set(workspace, turn);
      return turn.take(() => editSafely(new Editing(files, histories.of(ctx), ctx), args));
    },
  });
}

async function editSafely(editing: Editing, args: EditorArguments): Promise<ToolResult> {
  try {
    return await editing.run(args);
  } catch (error) {
    return toolFailure(reasonOf(error));
  }
}

class Editing {
  readonly #files: ToolFiles;
  readonly #history: EditHistory;
  readonly #ctx: ToolContext;

  constructor(files: ToolFiles, history: EditHistory, ctx: ToolContext) {
    this.#files = files;
    this.#history = history;
    this.#ctx = ctx;
  }

  async run(args: EditorArguments): Promise<ToolResult> {
    if (args.command === "view" && /^\.?\/?$/.test(args.path)) return this.#list(undefined);
    const path = checkPath(args.path.replace(/\/+$/, ""));
    switch (args.command) {
      case "view":
        return this.#view(path, args.range);
      case "create":
        return args.content === undefined ? missing("content") : this.#create(path, args.content, args.overwrite);
      case "replace": {
        const { old, new: replacement } = args;
        if (old === undefined) return missing("old");
        return replacement === undefined ? missing("new") : this.#edit(path, (text) => replaceOnce(text, old, replacement));
      }
      case "insert": {
        const { line, new: lines } = args;
        if (line === undefined) return missing("line");
        return lines === undefined ? missing("new") : this.#edit(path, (text) => insertLines(text, line, lines));
      }
      case "undo":
        return this.#undo(path);
    }
  }

  async #view(path: string, range: readonly [number, number] | undefined): Promise<ToolResult> {
    const found = await this.#files.read(this.#ctx, path);
    if (found.kind === "text") {
      this.#history.see(path, found.text);
      return toolOutput(numberedLines(found.text, range === undefined ? undefined : { from: range[0], to: range[1] }));
    }
    const listed = await this.#list(path);
    return listed.error === undefined ? listed : toolFailure(found.kind === "unfit" ? found.reason : absent(path));
  }

  async #list(under: string | undefined): Promise<ToolResult> {
    const { workspace } = this.#files;
    const request = { under: under ?? "" };
    const all = await this.#ctx.step({ kind: "step", name: "list files", request }, async () => {
      const paths = await workspace.list(under);
      return { count: paths.length, paths: paths.slice(0, LISTED) };
    });
    if (all.count === 0) return under === undefined ? toolOutput("(the project has no files)") : toolFailure(absent(under));
    const rest = all.count > LISTED ? `\n[${LISTED} of ${all.count} files; view a folder below, or search]` : "";
    return toolOutput(all.paths.join("\n") + rest);
  }

  async #create(path: string, content: string, overwrite: boolean): Promise<ToolResult> {
    const found = await this.#files.read(this.#ctx, path);
    if (found.kind === "unfit") return toolFailure(found.reason);
    if (found.kind === "text" && !overwrite) {
      return toolFailure(`Expected no file at ${path}, but there is one. Edit it with replace or insert, or create it with overwrite.`);
    }
    if (found.kind === "text" && !this.#history.hasSeen(path)) {
      return toolFailure(`Expected ${path} to be viewed before it is written over, but you have not seen what it holds. View it first.`);
    }
    if (found.kind === "text" && this.#history.isChanged(path, found.text)) {
      return toolFailure(`Expected ${path} as you saw it, but somebody has changed it since. View it again before you write over it.`);
    }
    await this.#write(path, found.kind === "text" ? found.text : undefined, content);
    return toolOutput(`${found.kind === "text" ? "Wrote over" : "Created"} ${path}: ${Buffer.byteLength(content)} bytes.`);
  }

  async #edit(path: string, change: (text: string) => TextEdit): Promise<ToolResult> {
    const found = await this.#files.read(this.#ctx, path);
    if (found.kind !== "text") return toolFailure(found.kind === "unfit" ? found.reason : absent(path));
    if (this.#history.isChanged(path, found.text)) {
      return toolFailure(`Expected ${path} as you saw it, but somebody has changed it since. View it again, then edit.`);
    }
    const edit = change(found.text);
    if (edit.kind === "refused") return toolFailure(edit.reason);
    await this.#write(path, found.text, edit.text, found.fromRecord);
    return toolOutput(`Edited ${path}. It now reads:\n${numberedLines(edit.text, around(edit, found.text))}`);
  }

  async #undo(path: string): Promise<ToolResult> {
    const edit = this.#history.last(path);
    if (edit === undefined) return toolFailure(`Expected an edit of ${path} to take back, but there is none of yours.`);
    const found = await this.#files.read(this.#ctx, path);
    if (found.kind !== "text" || sha256Of(found.text) !== edit.afterHash) {
      return toolFailure(`Expected ${path} as your last edit left it, but it has changed since. View it, then edit it as it should be.`);
    }
    if (edit.before === undefined) await this.#files.remove(this.#ctx, path);
    else await this.#files.write(this.#ctx, path, edit.before, found.fromRecord);
    this.#history.forget(edit);
    return toolOutput(edit.before === undefined ? `${path} is gone again.` : `Took back the last edit of ${path}.`);
  }

  async #write(path: string, before: string | undefined, after: string, fromRecord = false): Promise<void> {
    await this.#files.write(this.#ctx, path, after, fromRecord);
    this.#history.record(path, before, after);
  }
}

function around(edit: Extract<TextEdit, { kind: "edited" }>, before: string): LineRange {
  const grown = edit.text.split("\n").length - before.split("\n").length;
  return { from: Math.max(1, edit.line - AROUND), to: edit.line + Math.max(0, grown) + AROUND };
}

function absent(path: string): string {
  return `Expected a file at ${visible(path)}, but nothing is there. View the folder to see what is.`;
}

function missing(name: string): ToolResult {
  return toolFailure(`Expected the argument \`${name}\` with this command.`);
}

interface PastEdit {
  readonly path: string;
  /** The earlier content; undefined when there was no file. */
  readonly before: string | undefined;
  readonly afterHash: string;
}

const MOST_EDITS = 100;
const MOST_CHARACTERS = 5_000_000;

/**
 * The files that one agent has seen, and its edits of them.
 *
 * `EditHistory.H1` a file counts as changed when it differs from the version last seen (`isChanged`). `EditHistory.H2` edits are undone
 * newest first, file by file (`last`, `forget`). `EditHistory.H3` the oldest edits are forgotten: number and size are bounded (`record`).
 */
export class EditHistory {
  readonly #seen = new Map<string, string>();
  #edits: PastEdit[] = [];

  see(path: string, text: string): void {
    this.#seen.set(path, sha256Of(text));
  }

  isChanged(path: string, text: string): boolean {
    const seen = this.#seen.get(path);
    return seen !== undefined && seen !== sha256Of(text);
  }

  hasSeen(path: string): boolean {
    return this.#seen.has(path);
  }

  record(path: string, before: string | undefined, after: string): void {
    this.#edits.push({ path, before, afterHash: sha256Of(after) });
    this.see(path, after);
    let size = this.#edits.reduce((sum, edit) => sum + (edit.before?.length ?? 0), 0);
    while (this.#edits.length > MOST_EDITS || (size > MOST_CHARACTERS && this.#edits.length > 1))
      size -= this.#edits.shift()?.before?.length ?? 0;
  }

  last(path: string): PastEdit | undefined {
    return this.#edits.findLast((edit) => edit.path === path);
  }

  forget(edit: PastEdit): void {
    this.#edits = this.#edits.filter((other) => other !== edit);
    if (edit.before === undefined) this.#seen.delete(edit.path);
    else this.see(edit.path, edit.before);
  }
}
