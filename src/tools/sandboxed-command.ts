import { randomBytes } from "node:crypto";
import { z } from "zod";
import { type JsonObject, parsedJson } from "../kernel/json.ts";
import type { ToolContext } from "../tool/tool.ts";
import { visible } from "../workspace/path-rules.ts";
import { driverIn } from "../workspace/sandbox-mounts.ts";
import { endText, type Sandbox, type SandboxRequest, type SandboxResult } from "../workspace/sandbox.ts";

/** The folder and the environment in which a command begins. */
export interface ShellState {
  /** Relative to the project, empty for its root; or absolute. */
  readonly cwd: string;
  /** Differences from the environment of the sandbox; null removes a variable. */
  readonly env: Readonly<Record<string, string | null>>;
}

export const START: ShellState = { cwd: "", env: {} };

export interface SandboxedCommand {
  readonly program: "sh" | "node" | "python" | "cells";
  readonly text: string;
  readonly state: ShellState;
  /** Milliseconds. */
  readonly timeout: number;
}

/** Represents the project's folder in an environment, which is another for each command. No environment can have it by itself. */
const PROJECT_MARK = "\0project\0";
export const UNSEEN: readonly string[] = [".git", ".troupe", "node_modules", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"];
/** Linux takes no single argument of 128 KiB or more. */
const MAX_TEXT = 120_000;
const OUTPUT_BYTES = 100_000;
const CHANGED_BYTES = 4 * 1024 ** 2;
const CHANGED_FILES = 500;
export const MAX_FILES: number = 100_000;
const MAX_SKIPPED = 50;
const FILE_BYTES = 1024 ** 2;
const MAX_ENVIRONMENT = 60_000;
export const REPORT_BYTES: number = 6 * CHANGED_BYTES + 8 * OUTPUT_BYTES;
/** Milliseconds for copying and comparing the project around the command. */
export const DRIVER_TIME: number = 60_000;

const bounds: JsonObject = {
  outputBytes: OUTPUT_BYTES,
  changedBytes: CHANGED_BYTES,
  changedFiles: CHANGED_FILES,
  mostFiles: MAX_FILES,
  mostSkipped: MAX_SKIPPED,
  projectMark: PROJECT_MARK,
  fileBytes: FILE_BYTES,
  unseen: UNSEEN,
};

const plain = z.string().refine((text) => !text.replaceAll(PROJECT_MARK, "").includes("\0"));

const Report = z.object({
  code: z.number().int().nullish(),
  signal: z.string().max(20).nullish(),
  timedOut: z.boolean(),
  /** False when the working folder no longer exists. */
  isThere: z.boolean(),
  /** True when a shell that stays was begun for the command, or ended with it. Undefined where each command has a process of its own. */
  isNew: z.boolean().optional(),
  hasEnded: z.boolean().optional(),
  stdout: z.string(),
  stderr: z.string(),
  left: z.object({ cwd: plain.max(4096), env: z.record(z.string().regex(/^[^=\0]+$/), plain.nullable()) }).optional(),
  changes: z.object({
    written: z
      .array(z.union([z.object({ path: z.string(), content: z.string() }), z.object({ path: z.string(), base64: z.string() })]))
      .max(CHANGED_FILES),
    removed: z.array(z.string()).max(MAX_FILES),
    skipped: z.array(z.object({ path: z.string(), reason: z.string().max(200) })).max(MAX_SKIPPED),
    files: z.number().int(),
  }),
});

export type CommandReport = z.infer<typeof Report>;
export type FileChanges = CommandReport["changes"];

export type CommandOutcome =
  | { readonly kind: "ran"; readonly report: CommandReport }
  | { readonly kind: "not run"; readonly reason: string };

interface RanCommand {
  /** Without secrets, as in the record: results and state are the same live and from there. */
  readonly recorded: CommandOutcome;
  /** The changes, with secrets if the command ran now. */
  readonly changes: FileChanges | undefined;
  readonly fromRecord: boolean;
}

/** Runs a command as one step: recorded with its outcome, and never repeated. */
export async function runCommand(
  run: (command: SandboxedCommand, signal: AbortSignal) => Promise<CommandOutcome>,
  command: SandboxedCommand,
  ctx: ToolContext,
): Promise<RanCommand> {
  const { program, text, state, timeout } = command;
  const request = { program, text, ...state, timeout };
  let ran: CommandOutcome | undefined;
  const recorded = await ctx.step({ kind: "tool", name: "run in sandbox", request, idempotent: false }, async () => {
    const fault = faultOf(text);
    ran = fault === undefined ? await run(command, ctx.signal) : { kind: "not run", reason: fault };
    return ran;
  });
  const outcome = ran ?? recorded;
  return { recorded, changes: outcome.kind === "ran" ? outcome.report.changes : undefined, fromRecord: ran === undefined };
}

/** Runs a command as a process of its own, on a copy of a project. */
export async function runSandboxed(
  sandbox: Sandbox,
  root: string,
  command: SandboxedCommand,
  signal: AbortSignal,
): Promise<CommandOutcome> {
  const { line, reportIn } = orderFor(command);
  const result = await sandbox.run({
    ...driverRequest(sandbox, root),
    input: line,
    timeout: command.timeout + DRIVER_TIME,
    outputLimit: REPORT_BYTES,
    signal,
  });
  const report = "stdout" in result ? reportIn(result.stdout) : undefined;
  return report === undefined ? { kind: "not run", reason: reasonFor(result, signal) } : { kind: "ran", report };
}

export function driverRequest(sandbox: Sandbox, root: string): Pick<SandboxRequest, "root" | "command" | "mounts"> {
  const { path, mounts } = driverIn(sandbox, "tools", "shell.mjs");
  return { root, command: ["node", path], mounts };
}

interface Order {
  readonly line: string;
  /** Undefined where no report can be read, perhaps because the command has forged it. */
  readonly reportIn: (output: string) => CommandReport | undefined;
}

/** A line for the driver, with the reader of its report. @param more where the shell stays */
export function orderFor({ program, text, state, timeout }: SandboxedCommand, more?: object): Order {
  const mark = randomBytes(16).toString("hex");
  const line = `${JSON.stringify({ program, text, ...state, timeout, mark, bounds, ...more })}\n`;
  const reportIn = (output: string): CommandReport | undefined => {
    const found = output.split("\n").find((one) => one.startsWith(`${mark} `)) ?? "";
    const report = Report.safeParse(parsedJson(found.slice(mark.length + 1))).data;
    const isSmall = Buffer.byteLength(JSON.stringify(report?.left?.env ?? {})) <= MAX_ENVIRONMENT;
    return report?.left === undefined || isSmall ? report : { ...report, left: { cwd: report.left.cwd, env: state.env } };
  };
  return { line, reportIn };
}

function faultOf(text: string): string | undefined {
  if (text.trim() === "") return "Expected something to run, got nothing but space.";
  if (text.includes("\0")) return "Expected text without NUL characters. Write the character as an escape of the language.";
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_TEXT) return undefined;
  return `Expected at most ${MAX_TEXT} bytes to run, got ${bytes}. Write them into a file of the project with the editor, then run that.`;
}

/** @param fault why the command was ended here */
export function reasonFor(result: SandboxResult, signal: AbortSignal, fault?: string): string {
  if (result.kind === "refused") return `Nothing is run here: ${result.reason}. ${result.hint}`;
  const lost = result.kind === "limit" || result.kind === "timeout" ? "; nothing it changed is kept" : "";
  const stderr = result.kind === "exited" ? result.stderr.trim() : "";
  const why = fault ?? (stderr === "" ? `it ${endText(result, signal)}${lost}` : stderr);
  return `Expected the command to end and be reported, but ${visible(why, 500)}.`;
}
