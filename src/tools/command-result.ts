import { stripVTControlCharacters } from "node:util";
import type { Json } from "../kernel/json.ts";
import { type ToolResult, toolFailure, toolOutput } from "../tool/tool-result.ts";
import { changesText, type KeptChanges } from "./kept-changes.ts";
import { seenText } from "../tool/outside-text.ts";
import type { CommandReport } from "./sandboxed-command.ts";

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
