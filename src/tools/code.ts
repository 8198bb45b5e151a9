import { checkGivenOptions } from "../kernel/known-options.ts";
import { z } from "zod";
import { defineTool, type Tool, type ToolContext } from "../tool/tool.ts";
import { type ToolResult, toolFailure } from "../tool/tool-result.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import { commandResult, commandTraits, keepChanges, commandToolOptions, type CommandToolOptions } from "./command.ts";
import { runStep } from "./shell.ts";
import { ToolFiles } from "./tool-files.ts";

/** Seconds. */
const TIMEOUT = 5;
const LONGEST_TIMEOUT = 300;

const parameters = z.object({
  language: z.enum(["javascript", "python"]),
  code: z.string().describe("The whole program. Only what it prints is seen: print what you want to know."),
  timeout: z.number().int().min(1).max(LONGEST_TIMEOUT).default(TIMEOUT).describe("Seconds after which it is killed with all it started."),
});

type CodeArguments = z.infer<typeof parameters>;

/** Makes a tool that runs a program in JavaScript or Python: each call is a process of its own in the sandbox, in a copy of the project. */
export function codeTool(options: CommandToolOptions): Tool {
  checkGivenOptions("codeTool", options, commandToolOptions);
  const { workspace, sandbox, refuse } = options;
  const files = new ToolFiles(workspace);
  return defineTool({
    name: "code",
    description:
      "Runs a program in JavaScript (Node.js, `import` and `require` both work) or Python 3 in the project's folder, inside a sandbox (usually without network), " +
      "and tells its exit code, stdout and stderr. Nothing lasts from one call to the next but the files it writes in the project.",
    parameters,
    ...commandTraits(LONGEST_TIMEOUT),
    execute: (args, ctx) => runCode({ sandbox, files, refuse }, args, ctx),
  });
}

async function runCode(
  { sandbox, files, refuse }: { readonly sandbox: Sandbox; readonly files: ToolFiles; readonly refuse: CommandToolOptions["refuse"] },
  { language, code, timeout }: CodeArguments,
  ctx: ToolContext,
): Promise<ToolResult> {
  const program = language === "python" ? "python" : "node";
  const command = { program, text: code, place: { cwd: "", env: {} }, timeout: timeout * 1000 } as const;
  const ran = await runStep(sandbox, files, command, ctx);
  if (ran.recorded.kind === "not run") return toolFailure(ran.recorded.reason);
  return commandResult(ran.recorded.report, await keepChanges(files, ctx, ran, refuse), timeout);
}
