import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { z } from "zod";
import { defineTool, type Tool, type ToolContext } from "../tool/tool.ts";
import { toolFailure, toolOutput, type ToolResult } from "../tool/tool-result.ts";
import { checkPath, visible } from "../workspace/path-rules.ts";
import { sha256Of } from "../workspace/recorded-files.ts";
import { surveyFiles } from "../workspace/survey.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { checkWritten, editingOf, type EditHistory, type EditRules } from "./edit-history.ts";
import { insertLines, lineView, type LineRange, replaceOnce, type TextEdit } from "./text-edit.ts";
import { reasonOf, ToolFiles } from "./tool-files.ts";

export interface EditorOptions extends EditRules {
  readonly workspace: Workspace;
}

const editorOptions: Known<EditorOptions> = {
  workspace: kinds.workspace,
  refuse: kinds.function,
  shown: kinds.function,
  check: kinds.function,
};

const LISTED = 500;
const AROUND = 4;
/** Milliseconds of one command, with the check of what it wrote. */
export const EDIT_TIME = 180_000;

const parameters = z.object({
  command: z.enum(["view", "create", "replace", "insert", "undo"]),
  path: z.string().describe("Relative to the project, as src/app.js. To view a folder, its path; `.` is the project."),
  range: z.array(z.number().int().min(1)).length(2).optional().describe("view: first and last line to show, from 1."),
  content: z.string().optional().describe("create: all of the file."),
  overwrite: z.boolean().default(false).describe("create: write over a file that is there."),
  old: z.string().optional().describe("replace: the text to replace, exactly as it is in the file, and only once in it."),
  new: z.string().optional().describe("replace: the text in its place. insert: the lines to add."),
  line: z.number().int().min(0).optional().describe("insert: the line after which to add; 0 adds before the first."),
});

type EditorArguments = z.infer<typeof parameters>;

/** Characters of a result: above those of a view, which is cut at a line. */
const MAX_OUTPUT = 20_000;

/** Makes a tool that views and edits text files. A file is written over only when the agent has seen all of it as it is. */
export function editorTool(options: EditorOptions): Tool {
  checkGivenOptions("editorTool", options, editorOptions);
  const { workspace, ...rules } = options;
  const files = new ToolFiles(workspace);
  const { turns, histories } = editingOf("editorTool", workspace);
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
    maxOutput: MAX_OUTPUT,
    timeout: EDIT_TIME,
    execute: (args, ctx) =>
      turns.take(() => new Editing(files, histories.of(ctx), ctx, rules).run(args)).catch((error: unknown) => toolFailure(reasonOf(error))),
  });
}

class Editing {
  readonly #files: ToolFiles;
  readonly #history: EditHistory;
  readonly #ctx: ToolContext;
  readonly #rules: EditRules;

  constructor(files: ToolFiles, history: EditHistory, ctx: ToolContext, rules: EditRules) {
    this.#files = files;
    this.#history = history;
    this.#ctx = ctx;
    this.#rules = rules;
  }

  async run(args: EditorArguments): Promise<ToolResult> {
    if (args.command === "view" && /^\.?\/?$/.test(args.path)) return this.#list(undefined);
    const path = checkPath(args.path.replace(/\/+$/, ""));
    const refusal = args.command === "view" ? undefined : this.#rules.refuse?.(path);
    if (refusal !== undefined) return toolFailure(refusal);
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

  async #view(path: string, range: readonly number[] | undefined): Promise<ToolResult> {
    const found = await this.#files.read(this.#ctx, path);
    if (found.kind === "text") {
      const view = lineView(found.text, { range: range && { from: range[0] ?? 1, to: range[1] ?? 1 } });
      this.#history.see(path, found.text, view.shown);
      return toolOutput(view.text);
    }
    const listed = await this.#list(path);
    return listed.error === undefined ? listed : toolFailure(found.kind === "unfit" ? found.reason : absent(path));
  }

  async #list(under: string | undefined): Promise<ToolResult> {
    const { workspace } = this.#files;
    const request = { under: under ?? "" };
    const all = await this.#ctx.step({ kind: "step", name: "list files", request }, async () => {
      const { paths } = await surveyFiles(workspace, { under, signal: this.#ctx.signal });
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
    this.#history.seeFirst(path, this.#rules.shown?.(path));
    const fault = found.kind === "text" ? this.#history.overwriteFault(path, found.text) : undefined;
    if (fault !== undefined) return toolFailure(fault);
    await this.#files.write(this.#ctx, path, content);
    this.#history.record(path, found.kind === "text" ? found.text : undefined, content);
    return this.#checked(path, `${found.kind === "text" ? "Wrote over" : "Created"} ${path}: ${Buffer.byteLength(content)} bytes.`);
  }

  async #checked(path: string, done: string): Promise<ToolResult> {
    const faults = await checkWritten(this.#rules, this.#ctx, [path]);
    return faults === undefined ? toolOutput(done) : toolFailure(faults, { output: done });
  }

  async #edit(path: string, change: (text: string) => TextEdit): Promise<ToolResult> {
    const found = await this.#files.read(this.#ctx, path);
    if (found.kind !== "text") return toolFailure(found.kind === "unfit" ? found.reason : absent(path));
    this.#history.seeFirst(path, this.#rules.shown?.(path));
    if (this.#history.isChanged(path, found.text)) {
      return toolFailure(`Expected ${path} as you saw it, but someone has changed it since. View it again, then edit.`);
    }
    const edit = change(found.text);
    if (edit.kind === "refused") return toolFailure(edit.reason);
    await this.#files.write(this.#ctx, path, edit.text, found.fromRecord);
    this.#history.record(path, found.text, edit.text, false);
    return this.#checked(path, `Edited ${path}. It now reads:\n${lineView(edit.text, { range: around(edit, found.text) }).text}`);
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
