import { z } from "zod";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { defineTool, type Tool, type ToolContext } from "../tool/tool.ts";
import { toolFailure, toolOutput, type ToolResult } from "../tool/tool-result.ts";
import { checkPath, visible } from "../workspace/path-rules.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { editingOf, type EditHistory } from "./edit-history.ts";
import { fenced, lineView } from "./text-edit.ts";
import { reasonOf, ToolFiles } from "./tool-files.ts";

export interface ReadFilesOptions {
  readonly workspace: Workspace;
  /** Characters of the files of one call together. Default 48,000, some 12,000 tokens. */
  readonly limit?: number;
}

const readFilesOptions: Known<ReadFilesOptions> = { workspace: kinds.workspace, limit: kinds.count };

const LIMIT = 48_000;
const MAX_FILES = 50;
const AROUND_FILES = 20_000;

const line = z.number().int().min(1);
const lines = z.object({
  path: z.string().describe("Relative to the project, as src/app.js."),
  from: line.optional().describe("First line. Default: the first of the file."),
  to: line.optional().describe("Last line. Default: the last of the file."),
});

type AskedFile = z.infer<typeof lines>;

const parameters = z.object({
  files: z
    .array(z.union([z.string().transform((path): AskedFile => ({ path })), lines]))
    .min(1)
    .max(MAX_FILES)
    .describe("Paths, or objects with a path and lines."),
});

/** Makes a tool that reads text files, or lines of them, many in one call. What it shows counts as seen by the agent. */
export function readFilesTool(options: ReadFilesOptions): Tool {
  checkGivenOptions("readFilesTool", options, readFilesOptions);
  const { workspace, limit = LIMIT } = options;
  const files = new ToolFiles(workspace);
  const { histories } = editingOf("readFilesTool", workspace);
  return defineTool({
    name: "read_files",
    description: "Reads text files of the project, or lines of them, many in one call. Ask at once for all that you need.",
    parameters,
    effect: "read",
    // Again: after a resume the agent has seen what it had seen before.
    again: true,
    maxOutput: limit + AROUND_FILES,
    execute: ({ files: asked }, ctx) => readFiles(files, histories.of(ctx), ctx, { asked, limit }),
  });
}

type Read = { readonly kind: "shown" | "fault"; readonly text: string; readonly missing?: string };

async function readFiles(
  files: ToolFiles,
  history: EditHistory,
  ctx: ToolContext,
  { asked, limit }: { readonly asked: readonly AskedFile[]; readonly limit: number },
): Promise<ToolResult> {
  let room = limit;
  const read = async ({ path: given, from, to }: AskedFile): Promise<Read> => {
    const path = checkPath(given);
    const found = await files.read(ctx, path);
    if (found.kind === "unfit") return { kind: "fault", text: found.reason };
    if (found.kind === "missing") {
      return { kind: "fault", text: `Expected a file at ${visible(path)}, but nothing is there.`, missing: path };
    }
    if (room <= 0) return { kind: "fault", text: `Not read: ${path}. It is too much at once; ask for it in another call.` };
    const range = from === undefined && to === undefined ? undefined : { from: from ?? 1, to: to ?? Infinity };
    const view = lineView(found.text, { range, limit: room, isNumbered: false });
    room -= view.text.length;
    history.see(path, found.text, view.shown);
    return { kind: "shown", text: `${path}\n${fenced(view.text)}` };
  };
  const all: Read[] = [];
  for (const file of asked) all.push(await read(file).catch((error: unknown): Read => ({ kind: "fault", text: reasonOf(error) })));
  const textsOf = (kind: Read["kind"]): string[] => all.filter((one) => one.kind === kind).map(({ text }) => text);
  const [output, faults] = [textsOf("shown").join("\n\n"), textsOf("fault").join("\n")];
  if (faults === "") return toolOutput(output);
  const [missing] = all.flatMap((one) => one.missing ?? []);
  return toolFailure(faults, { ...(output === "" ? {} : { output }), ...(missing === undefined ? {} : { data: { missing } }) });
}
