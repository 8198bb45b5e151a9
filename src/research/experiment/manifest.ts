import { execFile } from "node:child_process";
import { arch, cpus, platform, release, totalmem } from "node:os";
import { dirname, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { UsageError } from "../../kernel/errors.ts";
import { textHash } from "../../kernel/json.ts";
import { isCount, isList, isRecord } from "../../kernel/value-kind.ts";
import { shownText, thrownText, valueText } from "../../kernel/value-text.ts";
import { isCellValue } from "./cell.ts";
import type { AskedModel, CellUse, UsedModel } from "./cell-use.ts";
import type { ExperimentPlan } from "./experiment.ts";
import type { WorldFacts } from "./odd.ts";
import { type FolderPlan, planDifference } from "./sweep-plan.ts";
import { readFile } from "node:fs/promises";
import { readFileSync } from "node:fs";

export interface Manifest extends FolderPlan {
  readonly v: typeof MANIFEST_VERSION;
  /** Null for an experiment that was run without a module. */
  readonly module: ModuleFiles | null;
  /** The files of former modules, whose changes were accepted. */
  readonly formerModules: readonly ModuleFiles[];
  readonly versions: { readonly troupe: string; readonly node: string; readonly v8: string };
  /** The commit of the folder that the module is in, and whether files there differed from it; null outside git. */
  readonly commit: { readonly id: string; readonly changed: boolean } | null;
  readonly machine: { readonly platform: string; readonly cpu: string; readonly cores: number; readonly memory: number };
  readonly began: string;
  /** The declarations of the program, from its first run; null until then. Left out by older versions. */
  readonly world?: WorldFacts | null;
  /** The usage of the runs that ended; null until the sweep ends. */
  readonly used: UsedByRuns | null;
}

const MANIFEST_VERSION = 3;
/** The version of folders that never grew. */
const BEFORE_ASKED = 2;

export interface UsedByRuns {
  /** The models that were asked, each with the price that its calls were settled by; null where none is known. One may have had several. */
  readonly models: readonly UsedModel[];
  /** How they were asked, and the versions and fingerprints that providers say answered. */
  readonly asked: readonly AskedModel[];
  /** The number of different system prompts, and a sha256 over all of them. */
  readonly prompts: { readonly count: number; readonly sha256: string };
}

export function usedBy({ models, asked = [], prompts }: CellUse): UsedByRuns {
  return { models, asked, prompts: { count: prompts.length, sha256: textHash(prompts.join("\n")) } };
}

const PATIENCE = 10_000;

export async function manifestOf(
  plan: FolderPlan,
  module: string | undefined,
  o: { readonly troupe: string; readonly now: number },
): Promise<Manifest> {
  const [cpu] = cpus();
  return {
    v: MANIFEST_VERSION,
    ...plan,
    formerModules: [],
    module: module === undefined ? null : await moduleFiles(module),
    versions: { troupe: o.troupe, node: process.versions.node, v8: process.versions.v8 },
    commit: module === undefined ? null : await commitOf(dirname(fileURLToPath(module))),
    machine: { platform: `${platform()} ${arch()} ${release()}`, cpu: cpu?.model ?? "unknown", cores: cpus().length, memory: totalmem() },
    began: new Date(o.now).toISOString(),
    world: null,
    used: null,
  };
}

async function commitOf(folder: string): Promise<Manifest["commit"]> {
  const id = await git(folder, "rev-parse", "HEAD");
  if (id === undefined) return null;
  return { id: id.trim(), changed: (await git(folder, "status", "--porcelain", "--", ".")) !== "" };
}

function git(cwd: string, ...words: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile("git", ["--no-optional-locks", ...words], { cwd, timeout: PATIENCE }, (error, stdout) =>
      resolve(error === null ? stdout : undefined),
    );
  });
}

/** Refuses a folder of another experiment or module. @param isAccepted true if the module may have changed */
export function assertSame(known: Manifest, now: Pick<Manifest, keyof FolderPlan | "module">, folder: string, isAccepted: boolean): void {
  const plan = planDifference(known, now);
  const module = plan === undefined && !isAccepted ? moduleDifference(known.module ?? undefined, now.module ?? undefined) : undefined;
  if (plan === undefined && module === undefined) return;
  const todo =
    module === undefined
      ? "Undo the change to continue, or begin anew in another folder."
      : "Undo the change to continue, or begin anew in another folder. If each cell still means the same, as after more values or repetitions, accept the change: --accept-change, or acceptChange.";
  throw new UsageError(
    "EXPERIMENT_CHANGED",
    `Expected the experiment that ${shownText(folder)} was started with, got another one: ${plan ?? module}. ${todo}`,
  );
}

/** Keeps the former module of a folder beside the present one. */
export function withModule(known: Manifest, module: ModuleFiles | null): Manifest {
  const isSame = moduleDifference(known.module ?? undefined, module ?? undefined) === undefined;
  const former = isSame || known.module === null ? [] : [known.module];
  return { ...known, ...(isSame ? {} : { world: null }), module, formerModules: [...known.formerModules, ...former] };
}

/** Returns the manifest in a value; undefined if it is none. @throws UsageError `EXPERIMENT_VERSION` for one of another version */
export function parsedManifest(value: unknown, folder: string): Manifest | undefined {
  const { v, experiment, asked, formerModules } = isRecord(value) ? value : {};
  if (isCount(v) && v !== MANIFEST_VERSION && v !== BEFORE_ASKED)
    throw new UsageError(
      "EXPERIMENT_VERSION",
      `Expected a folder of version ${MANIFEST_VERSION} or ${BEFORE_ASKED} at ${shownText(folder)}, got one of version ${v}. Use the version of Troupe that made it, or begin anew in another folder.`,
    );
  if (!isPlan(experiment)) return undefined;
  if (v === MANIFEST_VERSION && isList(asked) && isList(formerModules)) return value as Manifest;
  if (v !== BEFORE_ASKED) return undefined;
  const reps = experiment.cells.map(() => experiment.reps);
  return { ...(value as Manifest), v: MANIFEST_VERSION, asked: reps, part: null, formerModules: [] };
}

function isPlan(value: unknown): value is ExperimentPlan {
  if (!isRecord(value)) return false;
  const { name, cells, reps, seed, seeds } = value;
  const isNamed = typeof name === "string" && typeof seed === "string" && (seeds === "common" || seeds === "independent");
  return isNamed && isCount(reps) && isList(cells) && cells.every((cell) => isRecord(cell) && Object.values(cell).every(isCellValue));
}

export interface ModuleFiles {
  readonly sha256: string;
  /** The sha256 of each imported file, by its path from the folder of the module. */
  readonly imports: { readonly [path: string]: string };
}

const MAX_FILES = 1_000;
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
  for (let address = open.pop(); address !== undefined && known.size < MAX_FILES; address = open.pop()) {
    if (address === module || known.has(address) || address.includes("/node_modules/") || own.some((one) => address?.startsWith(one)))
      continue;
    const found = await firstText(address);
    if (found === undefined || known.has(found.address)) continue;
    known.set(found.address, textHash(found.text));
    if (CODE.test(found.address)) open.push(...importedIn(found.text, found.address));
  }
  const imports = [...known].map(([address, sha256]) => [relative(folder, fileURLToPath(address)), sha256] as const);
  return { sha256: textHash(text), imports: Object.fromEntries(imports.sort(([a], [b]) => (a < b ? -1 : 1))) };
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

export function moduleDifference(known: ModuleFiles | undefined, now: ModuleFiles | undefined): string | undefined {
  if (known === undefined || now === undefined) {
    const [before, after] = [known, now].map((files) => (files === undefined ? "none" : "a file"));
    return known === now ? undefined : `its module was ${before} and is ${after}`;
  }
  return known.sha256 === now.sha256 ? importsDifference(known.imports, now.imports) : "its module has changed";
}

function importsDifference(known: ModuleFiles["imports"], now: ModuleFiles["imports"]): string | undefined {
  const path = Object.keys({ ...known, ...now }).find((one) => known[one] !== now[one]);
  if (path === undefined) return undefined;
  const change =
    now[path] === undefined ? "is gone or no longer imported" : known[path] === undefined ? "was not imported before" : "has changed";
  return `${shownText(path)}, which its module imports, ${change}`;
}

const MAX_CAUSES = 10;
const MAX_READ = 10_000;

/** Returns file, line and column of the first line of a stack that is neither of Node.js nor of a package; undefined where there is none. */
export function placeOfError(thrown: unknown): string | undefined {
  let error = thrown;
  for (let n = 0; n < MAX_CAUSES && error instanceof Error && error.cause instanceof Error; n += 1) error = error.cause;
  const stack: unknown = error instanceof Error ? error.stack : undefined;
  if (typeof stack !== "string") return undefined;
  const own = ownFolders();
  const place = stack
    .slice(0, MAX_READ)
    .split("\n")
    .map((line) => /^\s+at (?:async |.*\()?((?:file:\/\/)?\/[^()]*:\d+:\d+)\)?$/.exec(line)?.[1])
    .find((found) => found !== undefined && isOfProgram(found, own));
  return place?.startsWith("file:") === true ? fileURLToPath(place) : place;
}

function isOfProgram(place: string, own: readonly string[]): boolean {
  const address = place.startsWith("file:") ? place : pathToFileURL(place).href;
  return !address.includes("/node_modules/") && !own.some((folder) => address.startsWith(folder));
}

/** The most folders between a file of this package and its manifest: the sources are nearer to it than what is built. */
const MAX_DEPTH = 5;

interface OwnPackage {
  /** The address of its folder, with a slash at the end. */
  readonly folder: string;
  readonly version: string;
}

/** Returns this package by its manifest, which is some folders up: more in the build than in the source. */
export function ownPackage(): OwnPackage | undefined {
  for (let up = 1; up <= MAX_DEPTH; up += 1) {
    const folder = new URL("../".repeat(up), import.meta.url);
    try {
      const manifest: unknown = JSON.parse(readFileSync(new URL("package.json", folder), "utf8"));
      if (isRecord(manifest) && manifest["name"] === "troupe" && typeof manifest["version"] === "string")
        return { folder: folder.href, version: manifest["version"] };
    } catch {
      // The manifest is at another place.
    }
  }
  return undefined;
}

/** Returns the version in the manifest of this package; "unknown" where it is not found. */
export function ownVersion(): string {
  return ownPackage()?.version ?? "unknown";
}

function ownFolders(): readonly string[] {
  const { folder } = ownPackage() ?? {};
  return folder === undefined ? [] : ["src/", "dist/src/", "dist/chunks/"].map((part) => `${folder}${part}`);
}
