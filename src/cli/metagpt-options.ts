import { stat } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { UsageError } from "../kernel/errors.ts";
import type { Flags } from "./options.ts";
import { shown } from "./screen/text.ts";
import { isInside } from "./text-file.ts";

/** Refuses options of MetaGPT that this command does not have, so that none is taken and ignored. */
export function checkMetaGPT(flags: Flags): void {
  const { maxAutoSummarizeCode = "0", projectName, out } = flags;
  if (maxAutoSummarizeCode.trim() !== "0")
    throw unsupported("--max-auto-summarize-code", "code is not summarized: it is run, and what fails is repaired. Only 0 can be said");
  if (projectName !== undefined && out !== undefined) {
    throw new UsageError(
      "OPTION_CONFLICT",
      "Expected --project-name or --out, which both name the project's folder, got both. Leave one out.",
    );
  }
}

/** The change that `--reqa-file` asks for: the tests of one file are written again. Undefined without that option. */
export async function testsAgain(cwd: string, flags: Flags): Promise<string | undefined> {
  const { reqaFile: file, in: folder } = flags;
  if (file === undefined) return undefined;
  if (folder === undefined) {
    throw new UsageError("OPTION_CONFLICT", "Expected --in with --reqa-file, got none. Name the project whose file it is.");
  }
  const root = resolve(cwd, folder);
  for (const path of [resolve(root, file), resolve(cwd, file)]) {
    if (!isInside(root, path) || !(await stat(path).catch(() => undefined))?.isFile()) continue;
    return `Write the tests of \`${relative(root, path)}\` again, from what the project and its documents say that it does. Every function that it exports has a test that fails when the function is broken. Change nothing but tests, unless a test shows a fault.`;
  }
  throw new UsageError(
    "OPTION_INVALID",
    `Expected --reqa-file to be a file of the project, got "${shown(file, 200)}". Give its path in the project.`,
  );
}

function unsupported(option: string, why: string): UsageError {
  return new UsageError("OPTION_UNSUPPORTED", `Expected no ${option}: ${why}.`);
}

/** Stores of a folder, the nearest first. */
const STORES = ["runs.db", join(".troupe", "runs.db")];

/** The store that `--recover-path` names: a file, or a folder that holds one. */
export async function recoveredStore(cwd: string, path: string): Promise<string> {
  const place = resolve(cwd, path);
  for (const candidate of [place, ...STORES.map((name) => join(place, name))]) {
    const found = await stat(candidate).catch(() => undefined);
    if (found?.isFile() === true) return candidate;
  }
  throw new UsageError(
    "STORE_MISSING",
    `Expected --recover-path to be a store of runs, or a folder with ${STORES.join(" or ")}, got "${shown(path, 200)}".`,
  );
}
