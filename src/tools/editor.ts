import { checkGivenOptions } from "../kernel/known-options.ts";
import { z } from "zod";
import { defineTool, type Tool, type ToolContext } from "../tool/tool.ts";
import { toolFailure, toolOutput, type ToolResult } from "../tool/tool-result.ts";
import { checkPath, visible } from "../workspace/path-rules.ts";
import { sha256Of } from "../workspace/recorded-files.ts";
import { surveyFiles } from "../workspace/survey.ts";
import { checkWritten, editingOf, type EditHistory, type EditOptions, editOptions, type EditRules } from "./edit-history.ts";
import { insertLines, lineView, type LineRange, replaceOnce, type TextEdit } from "./text-edit.ts";
import { reasonOf, ToolFiles } from "./tool-files.ts";

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
export function editorTool(options: EditOptions): Tool {
  checkGivenOptions("editorTool", options, editOptions);
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
      turns
        .take(() => edited({ files, history: histories.of(ctx), ctx, rules }, args))
        .catch((error: unknown) => toolFailure(reasonOf(error))),
  });
}

interface Editing {
  readonly files: ToolFiles;
  readonly history: EditHistory;
  readonly ctx: ToolContext;
  readonly rules: EditRules;
}

async function edited(editing: Editing, args: EditorArguments): Promise<ToolResult> {
  const { command, content, old, new: replacement, line } = args;
  if (command === "view" && /^\.?\/?$/.test(args.path)) return listed(editing, undefined);
  const path = checkPath(args.path.replace(/\/+$/, ""));
  if (command === "view") return viewed(editing, path, args.range);
  const refusal = editing.rules.refuse?.(path);
  if (refusal !== undefined) return toolFailure(refusal);
  switch (command) {
    case "create":
      return content === undefined ? missing("content") : created(editing, path, content, args.overwrite);
    case "replace":
      if (old === undefined) return missing("old");
      return replacement === undefined ? missing("new") : changed(editing, path, (text) => replaceOnce(text, old, replacement));
    case "insert":
      if (line === undefined) return missing("line");
      return replacement === undefined ? missing("new") : changed(editing, path, (text) => insertLines(text, line, replacement));
    case "undo":
      return undone(editing, path);
  }
}

async function viewed(editing: Editing, path: string, range: readonly number[] | undefined): Promise<ToolResult> {
  const { files, history, ctx } = editing;
  const found = await files.read(ctx, path);
  if (found.kind === "text") {
    const view = lineView(found.text, { range: range && { from: range[0] ?? 1, to: range[1] ?? 1 } });
    history.see(path, found.text, view.shown);
    return toolOutput(view.text);
  }
  const list = await listed(editing, path);
  return list.error === undefined ? list : found.kind === "unfit" ? toolFailure(found.reason) : absent(path);
}

async function listed({ files, ctx }: Editing, under: string | undefined): Promise<ToolResult> {
  const request = { under: under ?? "" };
  const all = await ctx.step({ kind: "step", name: "list files", request }, async () => {
    const { paths } = await surveyFiles(files.workspace, { under, signal: ctx.signal });
    return { count: paths.length, paths: paths.slice(0, LISTED) };
  });
  if (all.count === 0) return under === undefined ? toolOutput("(the project has no files)") : absent(under);
  const rest = all.count > LISTED ? `\n[${LISTED} of ${all.count} files; view a folder below, or search]` : "";
  return toolOutput(all.paths.join("\n") + rest);
}

async function created(editing: Editing, path: string, content: string, overwrite: boolean): Promise<ToolResult> {
  const { files, history, ctx, rules } = editing;
  const found = await files.read(ctx, path);
  if (found.kind === "unfit") return toolFailure(found.reason);
  const before = found.kind === "text" ? found.text : undefined;
  if (before !== undefined && !overwrite)
    return toolFailure(`Expected no file at ${path}, but there is one. Edit it with replace or insert, or create it with overwrite.`);
  history.seeFirst(path, rules.shown?.(path));
  const fault = before === undefined ? undefined : history.overwriteFault(path, before);
  if (fault !== undefined) return toolFailure(fault);
  await files.write(ctx, path, content);
  history.record(path, before, content);
  return checked(editing, path, `${before === undefined ? "Created" : "Wrote over"} ${path}: ${Buffer.byteLength(content)} bytes.`);
}

async function checked({ rules, ctx }: Editing, path: string, done: string): Promise<ToolResult> {
  const faults = await checkWritten(rules, ctx, [path]);
  return faults === undefined ? toolOutput(done) : toolFailure(faults, { output: done });
}

async function changed(editing: Editing, path: string, change: (text: string) => TextEdit): Promise<ToolResult> {
  const { files, history, ctx, rules } = editing;
  const found = await files.read(ctx, path);
  if (found.kind !== "text") return found.kind === "unfit" ? toolFailure(found.reason) : absent(path);
  history.seeFirst(path, rules.shown?.(path));
  if (history.isChanged(path, found.text))
    return toolFailure(`Expected ${path} as you saw it, but someone has changed it since. View it again, then edit.`);
  const edit = change(found.text);
  if (edit.kind === "refused") return toolFailure(edit.reason);
  await files.write(ctx, path, edit.text, found.fromRecord);
  history.record(path, found.text, edit.text, false);
  return checked(editing, path, `Edited ${path}. It now reads:\n${lineView(edit.text, { range: around(edit, found.text) }).text}`);
}

async function undone({ files, history, ctx }: Editing, path: string): Promise<ToolResult> {
  const edit = history.last(path);
  if (edit === undefined) return toolFailure(`Expected an edit of ${path} to take back, but there is none of yours.`);
  const found = await files.read(ctx, path);
  if (found.kind !== "text" || sha256Of(found.text) !== edit.afterHash)
    return toolFailure(`Expected ${path} as your last edit left it, but it has changed since. View it, then edit it as it should be.`);
  if (edit.before === undefined) await files.remove(ctx, path);
  else await files.write(ctx, path, edit.before, found.fromRecord);
  history.forget(edit);
  return toolOutput(edit.before === undefined ? `${path} is gone again.` : `Took back the last edit of ${path}.`);
}

function around(edit: Extract<TextEdit, { kind: "edited" }>, before: string): LineRange {
  const grown = edit.text.split("\n").length - before.split("\n").length;
  return { from: Math.max(1, edit.line - AROUND), to: edit.line + Math.max(0, grown) + AROUND };
}

function absent(path: string): ToolResult {
  const text = `Expected a file at ${visible(path)}, but nothing is there. View the folder to see what is.`;
  return toolFailure(text, { data: { missing: path } });
}

function missing(name: string): ToolResult {
  return toolFailure(`Expected the argument \`${name}\` with this command.`);
}
