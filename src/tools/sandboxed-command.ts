import { randomBytes } from "node:crypto";
import { z } from "zod";
import { type JsonObject, parsedJson } from "../kernel/json.ts";
import { visible } from "../workspace/path-rules.ts";
import type { BinaryContent } from "../workspace/recorded-files.ts";
import { driverIn } from "../workspace/sandbox-mounts.ts";
import { endText, type Sandbox, type SandboxRequest, type SandboxResult } from "../workspace/sandbox.ts";

export interface ShellPlace {
  /** Relative to the project, empty for its root; or absolute. */
  readonly cwd: string;
  /** Differences from the environment of the sandbox; null removes a variable. */
  readonly env: Readonly<Record<string, string | null>>;
}

export interface SandboxedCommand {
  readonly program: "sh" | "node" | "python" | "cells";
  /** The command, the text of the program, or the list of cells as JSON. */
  readonly text: string;
  readonly place: ShellPlace;
  /** Milliseconds. */
  readonly timeout: number;
}

export interface CommandReport {
  readonly code?: number | null | undefined;
  readonly signal?: string | null | undefined;
  readonly timedOut: boolean;
  readonly isThere: boolean;
  readonly stdout: string;
  readonly stderr: string;
  /** True when the command ran in a shell that was begun for it; left out where each command has a process of its own. */
  readonly isNew?: boolean | undefined;
  /** True when that shell ended with the command. */
  readonly hasEnded?: boolean | undefined;
  readonly left?: { readonly cwd: string; readonly env: Readonly<Record<string, string | null>> } | undefined;
  readonly changes: {
    readonly written: readonly ({ readonly path: string; readonly content: string } | ({ readonly path: string } & BinaryContent))[];
    readonly removed: readonly string[];
    readonly skipped: readonly { readonly path: string; readonly reason: string }[];
    readonly files: number;
  };
}

export type FileChanges = CommandReport["changes"];

export type CommandOutcome =
  | { readonly kind: "ran"; readonly report: CommandReport }
  | { readonly kind: "not run"; readonly reason: string };

/** Stands in an environment for the project's folder, which is another for each command. No environment can have it by itself. */
const PROJECT_MARK = "\0project\0";
/** Folders of others, and caches that Python's programs leave wherever they run. Their changes are not seen. */
export const UNSEEN: readonly string[] = [".git", ".troupe", "node_modules", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"];
/** Linux takes no single argument of 128 KiB or more. */
const LONGEST_TEXT = 120_000;
const OUTPUT_BYTES = 100_000;
const CHANGED_BYTES = 4 * 1024 ** 2;
const CHANGED_FILES = 500;
export const MOST_FILES: number = 100_000;
const MOST_SKIPPED = 50;
/** The default limit of a file of a workspace. */
const FILE_BYTES = 1024 ** 2;
/** Most bytes of a shell's environment, as JSON. */
const LONGEST_ENVIRONMENT = 60_000;
/** JSON may write a character of a change as six. */
export const REPORT_BYTES: number = 6 * CHANGED_BYTES + 8 * OUTPUT_BYTES;
/** Milliseconds for copying and comparing the project around the command. */
export const DRIVER_TIME: number = 60_000;

/** What a driver is told of its bounds, whatever it runs. */
const driverBounds: JsonObject = {
  outputBytes: OUTPUT_BYTES,
  changedBytes: CHANGED_BYTES,
  changedFiles: CHANGED_FILES,
  mostFiles: MOST_FILES,
  mostSkipped: MOST_SKIPPED,
  projectMark: PROJECT_MARK,
  fileBytes: FILE_BYTES,
  unseen: UNSEEN,
};

/** A text that systems take in paths and environments; it may hold the mark of the project's folder. */
const plain = z.string().refine((text) => !text.replaceAll(PROJECT_MARK, "").includes("\0"));

const Report = z.object({
  code: z.number().int().nullish(),
  signal: z.string().max(20).nullish(),
  timedOut: z.boolean(),
  /** False when the working folder no longer exists. */
  isThere: z.boolean(),
  isNew: z.boolean().optional(),
  hasEnded: z.boolean().optional(),
  stdout: z.string(),
  stderr: z.string(),
  left: z.object({ cwd: plain.max(4096), env: z.record(z.string().regex(/^[^=\0]+$/), plain.nullable()) }).optional(),
  changes: z.object({
    written: z
      .array(z.union([z.object({ path: z.string(), content: z.string() }), z.object({ path: z.string(), base64: z.string() })]))
      .max(CHANGED_FILES),
    removed: z.array(z.string()).max(MOST_FILES),
    skipped: z.array(z.object({ path: z.string(), reason: z.string().max(200) })).max(MOST_SKIPPED),
    /** Files of the project before the command. */
    files: z.number().int(),
  }),
});

/** Runs a command on a copy of a project, and returns its end and the files it changed there. */
export async function runSandboxed(
  sandbox: Sandbox,
  root: string,
  command: SandboxedCommand,
  signal: AbortSignal,
): Promise<CommandOutcome> {
  const { program, text, place, timeout } = command;
  const fault = faultOf(text);
  if (fault !== undefined) return { kind: "not run", reason: fault };
  const mark = randomBytes(16).toString("hex");
  const order = { program, text, cwd: place.cwd, env: place.env, timeout, files: { written: [], removed: [] }, mark };
  const result = await sandbox.run({
    root,
    ...driverRequest(sandbox, { once: true }),
    input: `${JSON.stringify(order)}\n`,
    timeout: timeout + DRIVER_TIME,
    outputLimit: REPORT_BYTES,
    signal,
  });
  const line = "stdout" in result ? result.stdout.split("\n").find((one) => one.startsWith(`${mark} `)) : undefined;
  const outcome = line === undefined ? undefined : readReport(line.slice(mark.length + 1), place);
  if (outcome?.kind !== "ran") return outcome ?? outcomeOf(result, signal);
  const { isNew: _new, hasEnded: _ended, ...report } = outcome.report;
  return { kind: "ran", report };
}

/** The driver of a shell, as a request of a sandbox. */
export function driverRequest(sandbox: Sandbox, more: JsonObject = {}): Pick<SandboxRequest, "command" | "mounts"> {
  const { path, mounts } = driverIn(sandbox, "tools", "shell.mjs");
  return { command: ["node", path, JSON.stringify({ ...driverBounds, ...more })], mounts };
}

/** Why a text cannot be run; undefined when it can. */
export function faultOf(text: string): string | undefined {
  if (text.trim() === "") return "Expected something to run, got nothing but space.";
  if (text.includes("\0")) return "Expected text without NUL characters. Write the character as an escape of the language.";
  const bytes = Buffer.byteLength(text);
  if (bytes <= LONGEST_TEXT) return undefined;
  return `Expected at most ${LONGEST_TEXT} bytes to run, got ${bytes}. Write them into a file of the project with the editor, then run that.`;
}

export function outcomeOf(result: SandboxResult, signal: AbortSignal): CommandOutcome {
  if (result.kind === "refused") return { kind: "not run", reason: `Nothing is run here: ${result.reason}. ${result.hint}` };
  const lost = result.kind === "limit" || result.kind === "timeout" ? "; nothing it changed is kept" : "";
  const stderr = result.kind === "exited" ? result.stderr : "";
  return notRun(stderr === "" ? `it ${endText(result, signal)}${lost}` : stderr);
}

export function notRun(why: string): CommandOutcome {
  return { kind: "not run", reason: `Expected the command to end and be reported, but ${visible(why.trim(), 500)}.` };
}

/** Undefined for a text that is no report: the command may have written it. */
export function readReport(stdout: string, place: ShellPlace): CommandOutcome | undefined {
  const read = Report.safeParse(parsedJson(stdout));
  if (!read.success) return undefined;
  const { left, ...report } = read.data;
  if (left === undefined) return { kind: "ran", report };
  const isSmall = Buffer.byteLength(JSON.stringify(left.env)) <= LONGEST_ENVIRONMENT;
  return { kind: "ran", report: { ...report, left: isSmall ? left : { cwd: left.cwd, env: place.env } } };
}
