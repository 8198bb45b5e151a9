import { UsageError } from "../../kernel/errors.ts";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { relative } from "node:path";
import { textHash } from "../../kernel/json.ts";
import { isRecord } from "../../kernel/value-kind.ts";
import { shownText, thrownText, valueText } from "../../kernel/value-text.ts";
import { ownFolders } from "../own-version.ts";

/** The text of the module of an experiment, and the files of the program that it imports. */
export interface ModuleFiles {
  readonly sha256: string;
  readonly text: string;
  /** The sha256 of each imported file, by its path from the folder of the module. Left out in manifests of older versions. */
  readonly imports?: { readonly [path: string]: string };
}

/** Limit on the imported files that are compared. */
const MOST_FILES = 1_000;
/** What a file imports from a path of its own: packages begin with their names. */
const IMPORTED = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*(["'])(\.{1,2}\/[^"'\n]+)\1/g;
const CODE = /\.[cm]?[jt]sx?$/;

/** Reads the module of an experiment and what it imports, directly or through others. Packages are left out: their versions do not change alone. */
export async function moduleFiles(module: string): Promise<ModuleFiles> {
  const text = await readFile(fileURLToPath(module), "utf8").catch((cause: unknown) => {
    throw new UsageError("EXPERIMENT_UNREADABLE", `Expected the file of an experiment, got ${valueText(module)}: ${thrownText(cause)}.`, {
      cause,
    });
  });
  const folder = fileURLToPath(new URL(".", module));
  const own = ownFolders();
  const known = new Map<string, string>();
  const open = importedIn(text, module);
  for (let address = open.pop(); address !== undefined && known.size < MOST_FILES; address = open.pop()) {
    if (address === module || known.has(address) || address.includes("/node_modules/") || own.some((one) => address?.startsWith(one)))
      continue;
    const found = await firstText(address);
    if (found === undefined || known.has(found.address)) continue;
    known.set(found.address, textHash(found.text));
    if (CODE.test(found.address)) open.push(...importedIn(found.text, found.address));
  }
  const imports = [...known].map(([address, sha256]) => [relative(folder, fileURLToPath(address)), sha256] as const);
  return { sha256: textHash(text), text, imports: Object.fromEntries(imports.sort(([a], [b]) => (a < b ? -1 : 1))) };
}

function importedIn(text: string, from: string): string[] {
  return [...text.matchAll(IMPORTED)].map(([, , path = ""]) => {
    const address = new URL(path, from);
    [address.search, address.hash] = ["", ""];
    return address.href;
  });
}

/** The name that is written, or the one that a compiler or a loader takes for it. */
async function firstText(address: string): Promise<{ readonly address: string; readonly text: string } | undefined> {
  const names = [address, address.replace(/js(x?)$/, "ts$1"), `${address}.ts`, `${address}.js`];
  for (const name of names) {
    const text = await readFile(fileURLToPath(name), "utf8").catch(() => undefined);
    if (text !== undefined) return { address: name, text };
  }
  return undefined;
}

/** Returns the first difference of two modules, for the middle of a sentence. */
export function moduleDifference(known: ModuleFiles | undefined, now: ModuleFiles | undefined): string | undefined {
  if (known === undefined || now === undefined) {
    const [before, after] = [known, now].map((files) => (files === undefined ? "none" : "a file"));
    return known === now ? undefined : `its module was ${before} and is ${after}`;
  }
  return textDifference(known.text, now.text) ?? importsDifference(known.imports, now.imports);
}

function textDifference(known: string, now: string): string | undefined {
  if (known === now) return undefined;
  const [before, after] = [known.split("\n"), now.split("\n")];
  const place = after.findIndex((line, nth) => line !== before[nth]);
  const at = place === -1 ? after.length : place;
  return `line ${at + 1} of its module was ${valueText(before[at] ?? "missing")} and is ${valueText(after[at] ?? "missing")}`;
}

function importsDifference(known: unknown, now: ModuleFiles["imports"] = {}): string | undefined {
  if (!isRecord(known)) return undefined;
  const path = [...Object.keys(known), ...Object.keys(now)].find((one) => known[one] !== now[one]);
  if (path === undefined) return undefined;
  const what =
    now[path] === undefined ? "is no longer there or imported" : known[path] === undefined ? "was not imported before" : "has another text";
  return `${shownText(path)}, which its module imports, ${what}`;
}
