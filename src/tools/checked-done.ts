import { listOf, takes } from "../kernel/argument.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { z } from "zod";
import { UsageError } from "../kernel/errors.ts";
import { seenText } from "../tool/shown-text.ts";
import { defineTool, type Tool, type ToolContext } from "../tool/tool.ts";
import { toolFailure, toolOutput, type ToolResult } from "../tool/tool-result.ts";
import { endText, type Sandbox } from "../workspace/sandbox.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { MachineOptions } from "./command.ts";

/** Options of {@link checkedDoneTool}. */
export interface CheckedDoneOptions extends MachineOptions {
  /** Commands, each a program and its arguments, that must end with code 0. At least one. */
  readonly checks: readonly (readonly [string, ...string[]])[];
  /** Milliseconds for each. Default 120,000. */
  readonly timeout?: number;
}

const doneOptions: Known<CheckedDoneOptions> = {
  workspace: kinds.workspace,
  sandbox: kinds.sandbox,
  checks: kinds.list(kinds.texts),
  timeout: kinds.milliseconds,
};

const TIMEOUT = 120_000;
/** Milliseconds for copying the project into the sandbox. */
const COPY_TIME = 180_000;
/** Characters of one command's output that the agent sees. */
const SHOWN = 4_000;

const parameters = z.object({
  answer: z.string().min(1).max(100_000).describe("The answer to the task: what was done, and what came of it."),
});

type Ran = { readonly isGreen: boolean; readonly said: string };

/**
 * Makes the tool `done`, by which an agent ends its work: it runs the checks in the sandbox, and refuses the end while one fails.
 *
 * @throws UsageError `OPTION_INVALID` without a check
 */
export function checkedDoneTool(options: CheckedDoneOptions): Tool<{ answer: string }> {
  checkGivenOptions("checkedDoneTool", options, doneOptions);
  const { workspace, sandbox, checks, timeout = TIMEOUT } = options;
  takes("checkedDoneTool", "checks", checks, listOf({ says: "a command", fits: isCommand }));
  if (checks.length === 0)
    throw new UsageError("OPTION_INVALID", "Expected at least one check, got none. Without checks an agent needs no such tool.");
  return defineTool({
    name: "done",
    description: `Ends the work with its answer, once these commands succeed: ${checks.map(commandText).join("; ")}. It runs them itself, and reports what fails.`,
    parameters,
    permission: "allow",
    idempotent: true,
    parallel: false,
    ends: true,
    timeout: checks.length * (timeout + COPY_TIME),
    execute: ({ answer }, ctx) => checked({ workspace, sandbox, checks, timeout }, answer, ctx),
  });
}

async function checked(options: Required<CheckedDoneOptions>, answer: string, ctx: ToolContext): Promise<ToolResult> {
  const failed: string[] = [];
  for (const command of options.checks) {
    const { isGreen, said } = await runCheck(options.workspace, options.sandbox, command, options.timeout, ctx);
    if (!isGreen) failed.push(`${commandText(command)}\n${said}`);
  }
  if (failed.length === 0) return toolOutput("All checks succeed.", { data: { status: "success", answer } });
  return toolFailure(
    `Expected all checks to succeed before the end, but ${failed.length} of ${options.checks.length} failed. Repair it and call done again.`,
    {
      output: failed.join("\n\n"),
    },
  );
}

/** Runs one command as a recorded step: a resumed run and a replay take its outcome from the record. */
function runCheck(
  workspace: Workspace,
  sandbox: Sandbox,
  command: readonly [string, ...string[]],
  timeout: number,
  ctx: ToolContext,
): Promise<Ran> {
  const request = { command: [...command], timeout };
  // It depends on the files: a fork runs it again.
  return ctx.step({ kind: "tool", name: "run a check", request, fresh: true }, async () => {
    const ran = await sandbox.run({ root: workspace.root, command, timeout, signal: ctx.signal });
    if (ran.kind === "exited" && ran.code === 0) return { isGreen: true, said: "" };
    const outputs = "stdout" in ran ? [lastOf(ran.stdout), lastOf(ran.stderr)].filter((part) => part !== "") : [];
    return { isGreen: false, said: [`It ${endText(ran, ctx.signal)}`, ...outputs].join("\n") };
  });
}

/** The end of an output: there a runner writes its summary. */
function lastOf(output: string): string {
  const text = seenText(output).trimEnd();
  return text.length <= SHOWN ? text : `...${text.slice(-SHOWN)}`;
}

function commandText(command: readonly string[]): string {
  return command.map((word) => (/^[\w./:=@-]+$/.test(word) ? word : JSON.stringify(word))).join(" ");
}

function isCommand(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === "string");
}
