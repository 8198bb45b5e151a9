import type { ToolContext } from "../tool/tool.ts";
import { visible } from "../workspace/path-rules.ts";
import type { FileChanges } from "./sandboxed-command.ts";
import { reasonOf, type ToolFiles } from "./tool-files.ts";

/** What of a command's changes reached the project, and what did not and why. */
export interface KeptChanges {
  readonly written: readonly string[];
  readonly removed: readonly string[];
  readonly refused: readonly { readonly path: string; readonly reason: string }[];
}

/** Changes, and whether they come from a record, which holds no secrets. */
export interface FoundChanges {
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
export function changesText({ written, removed, refused }: KeptChanges): string | undefined {
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
