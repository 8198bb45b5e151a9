import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { GitProgram } from "./git-program.ts";
import { temporaryFolder } from "./project-copy.ts";

/** A text, or undefined where there is no file. */
export type MaybeText = string | undefined;

/** One file in three versions: the common one, and two that came of it. */
export interface ThreeVersions {
  readonly base: MaybeText;
  readonly ours: MaybeText;
  readonly theirs: MaybeText;
}

/** The merged file, or a conflict with a text that marks both sides, where both have one. */
export type MergedFile = { readonly kind: "clean"; readonly text: MaybeText } | { readonly kind: "conflict"; readonly marked: MaybeText };

/**
 * Merges one file: the side that changed counts; where both did, `git merge-file` merges their lines. Without git, and for a file that one
 * side removed or both made, that is a conflict.
 *
 * @throws ControlError when the signal aborts
 */
export async function mergeFile({ base, ours, theirs }: ThreeVersions, signal?: AbortSignal): Promise<MergedFile> {
  if (ours === theirs || theirs === base) return { kind: "clean", text: ours };
  if (ours === base) return { kind: "clean", text: theirs };
  if (ours === undefined || theirs === undefined) return { kind: "conflict", marked: undefined };
  if (isBinary(ours) || isBinary(theirs) || isBinary(base ?? "")) return { kind: "conflict", marked: undefined };
  return mergeLines({ base: base ?? "", ours, theirs }, signal);
}

function isBinary(text: string): boolean {
  return text.includes("\0") || text.includes("\ufffd");
}

async function mergeLines(versions: Readonly<Record<keyof ThreeVersions, string>>, signal: AbortSignal | undefined): Promise<MergedFile> {
  const scratch = temporaryFolder("troupe-merge-");
  try {
    const git = GitProgram.find(scratch.path);
    if (git === undefined) return { kind: "conflict", marked: undefined };
    for (const side of ["ours", "base", "theirs"] as const) await writeFile(join(scratch.path, side), versions[side]);
    const labels = ["-L", "project", "-L", "before", "-L", "fork"];
    const result = await git.call(["merge-file", "-p", ...labels, "ours", "base", "theirs"], { signal, isInit: true });
    signal?.throwIfAborted();
    if (result.kind !== "exited" || result.isCut || result.code > 127) return { kind: "conflict", marked: undefined };
    return result.code === 0 ? { kind: "clean", text: result.stdout } : { kind: "conflict", marked: result.stdout };
  } finally {
    await scratch.remove();
  }
}
