import type { Known } from "../kernel/known-options.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import type { Tool, ToolContext } from "../tool/tool.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { stripVTControlCharacters } from "node:util";
import type { Json } from "../kernel/json.ts";
import { toolFailure, toolOutput, type ToolResult } from "../tool/tool-result.ts";
import { seenText } from "../tool/outside-text.ts";
import type { CommandReport, FileChanges } from "./sandboxed-command.ts";
import { visible } from "../workspace/path-rules.ts";
import { reasonOf, type ToolFiles } from "./tool-files.ts";

/** What tools that run commands and code work with. */
export interface MachineOptions {
  /** A workspace on disk: the project that is worked on. */
  readonly workspace: Workspace;
  /** Where commands and code run, as `chooseSandbox` of `troupe/workspace` gives it. */
  readonly sandbox: Sandbox;
}

/** Their names. @internal */
export const machineOptions: Known<MachineOptions> = { workspace: true, sandbox: true };

/** Milliseconds for taking the project into the sandbox and bringing back what was changed. */
const COPY_TIME = 180_000;

/**
 * What tools that run something have in common: they may change anything, so they ask, run alone, and are not made again by themselves;
 * what they changed in the project is.
 *
 * @param longest seconds that a command may take at most
 */
export function commandTraits(longest: number): Pick<Tool, "effect" | "idempotent" | "again" | "parallel" | "timeout"> {
  return { effect: "write", idempotent: false, again: true, parallel: false, timeout: longest * 1_000 + COPY_TIME };
}

/** What a command came to, as a model and a program read it. It failed when it did not end with code 0. */
export function commandResult(
  report: CommandReport,
  kept: KeptChanges,
  timeout: number,
  more: { readonly notes?: readonly string[]; readonly cwd?: string } = {},
): ToolResult {
  const { stdout, stderr } = report;
  const output = [...(stdout === "" ? [] : [shownOutput(stdout)]), ...(stderr === "" ? [] : [`[stderr]\n${shownOutput(stderr)}`])].join(
    "\n",
  );
  const system = [...(more.notes ?? []), changesText(kept)].filter((line) => line !== undefined).join("\n");
  const data: Json = {
    exitCode: report.code ?? null,
    timedOut: report.timedOut,
    ...(more.cwd === undefined ? {} : { cwd: more.cwd }),
    written: kept.written,
    removed: kept.removed,
  };
  const rest = { data, ...(system === "" ? {} : { system }) };
  const failure = failureOf(report, timeout);
  if (failure === undefined) return toolOutput(output === "" ? "(no output, exit code 0)" : output, rest);
  return toolFailure(failure, output === "" ? rest : { ...rest, output });
}

function failureOf({ missing, timedOut, signal, code }: CommandReport, timeout: number): string | undefined {
  if (missing !== undefined) return `The program that runs it is not there (${missing}). Use another language or the shell.`;
  if (timedOut)
    return `Expected it to end within ${timeout} s, but it did not; it was killed with all it had started. What it printed and wrote until then is kept.`;
  if (signal !== undefined && signal !== null)
    return `It was ended by ${signal}, perhaps because it used more memory or processor time than it may.`;
  return code === 0 ? undefined : `exit code ${code ?? "unknown"}`;
}

/** Without colours and what else steers a terminal. */
function shownOutput(text: string): string {
  return seenText(stripVTControlCharacters(text)).trimEnd();
}

/** What of a command's changes reached the project, and what did not and why. */
interface KeptChanges {
  readonly written: readonly string[];
  readonly removed: readonly string[];
  readonly refused: readonly { readonly path: string; readonly reason: string }[];
}

/** Changes, and whether they come from a record, which holds no secrets. */
interface FoundChanges {
  readonly changes?: FileChanges | undefined;
  readonly fromRecord: boolean;
}

const NONE: FileChanges = { written: [], removed: [], skipped: [], files: 0 };

/** A removal of more files than this, and of more than half of the project, is more likely a slip than a wish. */
const MANY = 20;
/** So many removals are never one command's. */
const MOST = 500;
/** Paths, and reasons, named one by one. */
const SHOWN = 10;

/** Brings the changes of a command from its copy into the project, through the rules of the workspace. */
export async function keepChanges(files: ToolFiles, ctx: ToolContext, { changes = NONE, fromRecord }: FoundChanges): Promise<KeptChanges> {
  const written: string[] = [];
  const removed: string[] = [];
  const refused = [...changes.skipped];
  const attempt = async (path: string, kept: string[], work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
      kept.push(path);
    } catch (error) {
      refused.push({ path, reason: reasonOf(error) });
    }
  };
  // A removal may make room for a folder or a file of the same name.
  const isSlip = removesTooMuch(changes);
  for (const path of changes.removed) {
    if (isSlip) refused.push({ path, reason: "too much was removed at once; remove less, or name the files" });
    else await attempt(path, removed, () => files.remove(ctx, path));
  }
  for (const { path, content } of changes.written) await attempt(path, written, () => files.write(ctx, path, content, fromRecord));
  return { written, removed, refused };
}

/** In words for a model; undefined when nothing changed. */
function changesText({ written, removed, refused }: KeptChanges): string | undefined {
  const lines = [
    ...(written.length === 0 ? [] : [`Files written: ${named(written)}.`]),
    ...(removed.length === 0 ? [] : [`Files removed: ${named(removed)}.`]),
    ...reasonsOf(refused),
  ];
  return lines.length === 0 ? undefined : lines.join("\n");
}

/** All of a project, or most of one that is not small, with little in its place. */
function removesTooMuch({ removed, written, files }: FileChanges): boolean {
  if (removed.length > MOST) return true;
  if (written.length * 2 >= removed.length) return false;
  return (removed.length > 1 && removed.length >= files) || (removed.length > MANY && removed.length * 2 > files);
}

function reasonsOf(refused: KeptChanges["refused"]): string[] {
  const byReason = new Map<string, string[]>();
  for (const { path, reason } of refused) {
    const paths = byReason.get(reason);
    if (paths === undefined) byReason.set(reason, [path]);
    else paths.push(path);
  }
  const rest = byReason.size > SHOWN ? [`Not kept for other reasons: ${byReason.size - SHOWN} more.`] : [];
  const told = [...byReason].slice(0, SHOWN).map(([reason, paths]) => `Not kept: ${named(paths)}: ${visible(reason, 300)}`);
  return [...told, ...rest];
}

function named(paths: readonly string[]): string {
  const rest = paths.length > SHOWN ? ` and ${paths.length - SHOWN} more` : "";
  return `${paths
    .slice(0, SHOWN)
    .map((path) => visible(path, 100))
    .join(", ")}${rest}`;
}
