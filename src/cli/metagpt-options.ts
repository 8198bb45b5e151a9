import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { UsageError } from "../kernel/errors.ts";
import { shown } from "./screen/text.ts";

/** The options of MetaGPT's command that have other names here, or none. */
export interface MetaGPTFlags {
  readonly implement?: boolean;
  readonly projectName?: string;
  readonly inc?: boolean;
  readonly projectPath?: string;
  readonly reqaFile?: string;
  readonly maxAutoSummarizeCode?: string;
  readonly recoverPath?: string;
  readonly initConfig?: boolean;
}

/**
 * Refuses options of MetaGPT that this command does not have, so that none is taken and ignored.
 *
 * @throws UsageError `OPTION_UNSUPPORTED`, `OPTION_CONFLICT`
 */
export function checkMetaGPT(flags: MetaGPTFlags & { readonly out?: string }): void {
  const { reqaFile, maxAutoSummarizeCode = "0", projectName, out } = flags;
  if (reqaFile !== undefined)
    throw unsupported(
      "--reqa-file",
      'this company has no step that writes the tests of one file alone. Ask for it as a change, which is checked like any other: troupe "Write the tests of src/add.js again" --in <folder>',
    );
  if (maxAutoSummarizeCode.trim() !== "0")
    throw unsupported("--max-auto-summarize-code", "code is not summarized: it is run, and what fails is repaired. Only 0 can be said");
  if (projectName !== undefined && out !== undefined) {
    throw new UsageError(
      "OPTION_CONFLICT",
      "Expected --project-name or --out, which both name the project's folder, got both. Leave one out.",
    );
  }
  if (projectName !== undefined && projectName.trim() === "")
    throw new UsageError("OPTION_INVALID", "Expected --project-name to be a name, got an empty text.");
}

function unsupported(option: string, why: string): UsageError {
  return new UsageError("OPTION_UNSUPPORTED", `Expected no ${option}: ${why}.`);
}

/** Stores of a folder, the nearest first. */
const STORES = ["runs.db", join(".troupe", "runs.db")];

/**
 * The store that `--recover-path` names: a file, or a folder that holds one.
 *
 * @throws UsageError `STORE_MISSING`
 */
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
