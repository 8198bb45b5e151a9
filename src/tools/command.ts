import { having, object, type Shape } from "../kernel/argument.ts";
import type { Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import type { Tool, ToolContext } from "../tool/tool.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { stripVTControlCharacters } from "node:util";
import type { Json } from "../kernel/json.ts";
import { listed } from "../kernel/value-text.ts";
import { toolFailure, toolOutput, type ToolResult } from "../tool/tool-result.ts";
import { seenText } from "../tool/shown-text.ts";
import type { CommandReport, FileChanges } from "./sandboxed-command.ts";
import { visible } from "../workspace/path-rules.ts";
import type { EditRules } from "./edit-history.ts";
import { reasonOf, type ToolFiles } from "./tool-files.ts";

export interface MachineOptions {
  readonly workspace: Workspace;
  readonly sandbox: Sandbox;
}

export const aMachine: Shape = object("an object with workspace and sandbox", {
  workspace: having("a workspace", "read"),
  sandbox: having("a sandbox", "run"),
});

export interface CommandToolOptions extends MachineOptions, Pick<EditRules, "refuse"> {}

export const commandToolOptions: Known<CommandToolOptions> = { workspace: kinds.workspace, sandbox: kinds.sandbox, refuse: kinds.function };

/** Milliseconds for copying the project into the sandbox and the changes back. */
const COPY_TIME = 180_000;

/** Tools that run commands may change anything: they need permission, run alone, and are not repeated; their changes of the project are. */
export function commandTraits(mostSeconds: number): Pick<Tool, "effect" | "idempotent" | "again" | "parallel" | "timeout"> {
  return { effect: "write", idempotent: false, again: true, parallel: false, timeout: mostSeconds * 1_000 + COPY_TIME };
}

export function commandResult(
  report: CommandReport,
  kept: KeptChanges,
  timeout: number,
  more: { readonly notes?: readonly string[]; readonly cwd?: string } = {},
): ToolResult {
  const { stdout, stderr } = report;
  const printed = [...(stdout === "" ? [] : [shownOutput(stdout)]), ...(stderr === "" ? [] : [`[stderr]\n${shownOutput(stderr)}`])];
  const output = printed.join("\n");
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

function failureOf({ timedOut, signal, code }: CommandReport, timeout: number): string | undefined {
  if (timedOut)
    return `Expected it to end within ${timeout} s, but it did not; it was killed with all it had started. What it printed and wrote until then is kept.`;
  if (signal !== undefined && signal !== null)
    return `It was ended by ${signal}, perhaps because it used more memory or processor time than it may.`;
  return code === 0 ? undefined : `exit code ${code ?? "unknown"}`;
}

function shownOutput(text: string): string {
  return seenText(stripVTControlCharacters(text)).trimEnd();
}

interface KeptChanges {
  readonly written: readonly string[];
  readonly removed: readonly string[];
  readonly refused: readonly { readonly path: string; readonly reason: string }[];
}

const NONE: FileChanges = { written: [], removed: [], skipped: [], files: 0 };

const MANY = 20;
const MOST = 500;
const SHOWN = 10;

export async function keepChanges(
  files: ToolFiles,
  ctx: ToolContext,
  { changes = NONE, fromRecord }: { readonly changes?: FileChanges | undefined; readonly fromRecord: boolean },
  refuse?: EditRules["refuse"],
): Promise<KeptChanges> {
  const written: string[] = [];
  const removed: string[] = [];
  const refused = [...changes.skipped];
  const attempt = async (path: string, kept: string[], work: () => Promise<unknown>): Promise<void> => {
    const reason = refuse?.(path);
    if (reason !== undefined) {
      refused.push({ path, reason });
      return;
    }
    try {
      await work();
      kept.push(path);
    } catch (error) {
      refused.push({ path, reason: reasonOf(error) });
    }
  };
  // Removals come first: one may make room for a folder or a file of the same name.
  const isMistake = removesTooMuch(changes);
  for (const path of changes.removed) {
    if (isMistake) refused.push({ path, reason: "too much was removed at once; remove less, or name the files" });
    else await attempt(path, removed, () => files.remove(ctx, path));
  }
  for (const change of changes.written) {
    const { path } = change;
    if (!("base64" in change)) await attempt(path, written, () => files.write(ctx, path, change.content, fromRecord));
    else if (files.isFork) refused.push({ path, reason: "it is no text, and files of a fork are merged as texts" });
    else await attempt(path, written, () => files.write(ctx, path, { base64: change.base64 }));
  }
  return { written, removed, refused };
}

function changesText({ written, removed, refused }: KeptChanges): string | undefined {
  const lines = [
    ...(written.length === 0 ? [] : [`Files written: ${named(written)}.`]),
    ...(removed.length === 0 ? [] : [`Files removed: ${named(removed)}.`]),
    ...reasonsOf(refused),
  ];
  return lines.length === 0 ? undefined : lines.join("\n");
}

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
  const lines = [...byReason].slice(0, SHOWN).map(([reason, paths]) => `Not kept: ${named(paths)}: ${visible(reason, 300)}`);
  return [...lines, ...rest];
}

function named(paths: readonly string[]): string {
  return listed(
    paths.map((path) => visible(path, 100)),
    SHOWN,
  );
}
