import { execFile } from "node:child_process";
import { arch, cpus, platform, release, totalmem } from "node:os";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { UsageError } from "../../kernel/errors.ts";
import { canonicalJson, textHash } from "../../kernel/json.ts";
import { isCount, isList, isRecord } from "../../kernel/value-kind.ts";
import { shownText, valueText } from "../../kernel/value-text.ts";
import { isCellValue } from "./cell.ts";
import type { CellUse, UsedModel } from "./cell-use.ts";
import type { ExperimentPlan } from "./experiment.ts";
import { moduleDifference, type ModuleFiles, moduleFiles } from "./module-files.ts";

/** What a folder of results was made from, and where. */
export interface Manifest {
  /** The form of the folder. */
  readonly v: 2;
  readonly experiment: ExperimentPlan;
  /** Null for an experiment that was run without a module. */
  readonly module: ModuleFiles | null;
  readonly versions: { readonly troupe: string; readonly node: string; readonly v8: string };
  /** The commit of the folder that the module is in, and whether files there differed from it; null outside git. */
  readonly commit: { readonly id: string; readonly changed: boolean } | null;
  readonly machine: { readonly platform: string; readonly cpu: string; readonly cores: number; readonly memory: number };
  /** When the sweep began. */
  readonly began: string;
  /** What the runs that ended used; null until the sweep ends. */
  readonly used: UsedByRuns | null;
}

/** The models and prompts of the runs of a sweep. */
export interface UsedByRuns {
  /** The models that were asked, each with the price that its calls were settled by; null where none is known. One may have had several. */
  readonly models: readonly UsedModel[];
  /** The number of different system prompts, and a sha256 over all of them. */
  readonly prompts: { readonly count: number; readonly sha256: string };
}

/** Returns what runs used, the failed ones too. */
export function usedBy({ models, prompts }: CellUse): UsedByRuns {
  return { models, prompts: { count: prompts.length, sha256: textHash(prompts.join("\n")) } };
}

/** Milliseconds that git may take. */
const PATIENCE = 10_000;

/** Returns the manifest of a sweep that begins now. */
export async function manifestOf(
  plan: ExperimentPlan,
  module: string | undefined,
  o: { readonly troupe: string; readonly now: number },
): Promise<Manifest> {
  const [cpu] = cpus();
  return {
    v: 2,
    experiment: plan,
    module: module === undefined ? null : await moduleFiles(module),
    versions: { troupe: o.troupe, node: process.versions.node, v8: process.versions.v8 },
    commit: module === undefined ? null : await commitOf(dirname(fileURLToPath(module))),
    machine: { platform: `${platform()} ${arch()} ${release()}`, cpu: cpu?.model ?? "unknown", cores: cpus().length, memory: totalmem() },
    began: new Date(o.now).toISOString(),
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

/**
 * Refuses to go on with the results of another experiment.
 *
 * @throws UsageError `EXPERIMENT_CHANGED` with the first difference; `EXPERIMENT_DAMAGED`
 */
export function assertSame(known: unknown, now: Pick<Manifest, "experiment" | "module">, folder: string): void {
  if (!isManifest(known))
    throw new UsageError(
      "EXPERIMENT_DAMAGED",
      `Expected the manifest of ${shownText(folder)} to be one of this version, got another form. Begin anew in another folder.`,
    );
  const difference =
    planDifference(known.experiment, now.experiment) ?? moduleDifference(known.module ?? undefined, now.module ?? undefined);
  if (difference === undefined) return;
  throw new UsageError(
    "EXPERIMENT_CHANGED",
    `Expected the experiment that ${shownText(folder)} was begun with, got another one: ${difference}. Undo the change to go on, or begin anew in another folder.`,
  );
}

/** True for the manifest of this version. */
export function isManifest(value: unknown): value is Manifest {
  if (!isRecord(value) || value["v"] !== 2 || !isPlan(value["experiment"])) return false;
  const { module, versions, machine } = value;
  return (module === null || (isRecord(module) && typeof module["text"] === "string")) && isRecord(versions) && isRecord(machine);
}

function isPlan(value: unknown): value is ExperimentPlan {
  if (!isRecord(value)) return false;
  const { name, cells, reps, seed, seeds } = value;
  const isNamed = typeof name === "string" && typeof seed === "string" && (seeds === "common" || seeds === "independent");
  return isNamed && isCount(reps) && isList(cells) && cells.every((cell) => isRecord(cell) && Object.values(cell).every(isCellValue));
}

function planDifference(known: ExperimentPlan, now: ExperimentPlan): string | undefined {
  const names = [...new Set([...Object.keys(now), ...Object.keys(known)])] as (keyof ExperimentPlan)[];
  for (const name of names) {
    if (canonicalJson(known[name] ?? null) === canonicalJson(now[name] ?? null)) continue;
    if (name !== "cells") return `${name} was ${valueText(known[name])} and is ${valueText(now[name])}`;
    const place = now.cells.findIndex((cell, nth) => canonicalJson(cell) !== canonicalJson(known.cells[nth] ?? null));
    const at = place === -1 ? now.cells.length : place;
    return `cell ${at} was ${valueText(known.cells[at] ?? "none")} and is ${valueText(now.cells[at] ?? "none")}`;
  }
  return undefined;
}
