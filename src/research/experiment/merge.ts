import { access, mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { UsageError } from "../../kernel/errors.ts";
import { canonicalJson } from "../../kernel/json.ts";
import { succeeds } from "../../kernel/system-error.ts";
import { shownText } from "../../kernel/value-text.ts";
import { type CellJob, jobName } from "./cell.ts";
import { copyJournal, recordOf } from "./cell-record.ts";
import type { FinishedCell } from "./cell-run.ts";
import { type Manifest, moduleDifference } from "./manifest.ts";
import { knownManifest, SweepFolder } from "./sweep-folder.ts";
import { cellDifference, folderJobs, joinedPlan, planDifference } from "./sweep-plan.ts";
import { writtenResults } from "./sweep-results.ts";
import { endsOf, rowsOf } from "./tables.ts";

interface MergedParts {
  readonly total: number;
  readonly done: number;
  readonly failed: number;
}

interface OpenPart {
  readonly path: string;
  readonly folder: SweepFolder;
}

/**
 * Joins the folders of parts of one sweep in a folder, which may be new. Runs that the folder has stay. The records of runs come along, also of
 * those that have not ended.
 *
 * @throws UsageError `EXPERIMENT_CHANGED` for parts of different sweeps; `EXPERIMENT_UNKNOWN`, `EXPERIMENT_BUSY`, `EXPERIMENT_VERSION`
 */
export async function mergeParts(out: string, parts: readonly string[]): Promise<MergedParts> {
  const target = resolve(out);
  // A folder that is named twice, or is the one to join in, has its runs already.
  const paths = [...new Set(parts.map((part) => resolve(part)))].filter((path) => path !== target);
  const manifests: Manifest[] = [];
  for (const path of paths) manifests.push(await knownManifest(path));
  const open: OpenPart[] = [];
  try {
    for (const path of paths) open.push({ path, folder: await SweepFolder.open(path, () => undefined) });
    let joined: Manifest | undefined;
    const folder = await SweepFolder.open(target, (known) => {
      joined = joinedManifest(known === undefined ? manifests : [known, ...manifests], known === undefined ? paths : [target, ...paths]);
    });
    open.push({ path: folder.path, folder });
    return await merged(folder, joined, open.slice(0, -1));
  } finally {
    for (const { folder } of open) await folder.close();
  }
}

/** Joins the plans of folders. Each is compared with all before it: one may have cells that the first has not. */
function joinedManifest([first, ...others]: readonly Manifest[], [path = "", ...paths]: readonly string[]): Manifest | undefined {
  let joined = first && { ...first, part: null, used: null };
  let largest = path;
  for (const [n, other] of others.entries()) {
    if (joined === undefined) break;
    const difference =
      planDifference(joined, { ...other, part: null }) ??
      cellDifference(joined, other) ??
      moduleDifference(joined.module ?? undefined, other.module ?? undefined);
    if (difference !== undefined)
      throw new UsageError(
        "EXPERIMENT_CHANGED",
        `Expected parts of one sweep, got two in ${shownText(largest)} and ${shownText(paths[n] ?? "")}: ${difference}. Merge those of one sweep.`,
      );
    if (other.asked.length > joined.asked.length) largest = paths[n] ?? "";
    joined = { ...joined, ...joinedPlan(joined, other), world: joined.world ?? other.world ?? null };
  }
  return joined;
}

async function merged(folder: SweepFolder, plan: Manifest | undefined, parts: readonly OpenPart[]): Promise<MergedParts> {
  if (plan === undefined) throw new UsageError("ARGUMENT_INVALID", "Expected at least one folder to merge, got none.");
  await folder.writeManifest(plan);
  const finished = [...folder.finished];
  for (const { path, folder: part } of parts) {
    const ended = new Set(finished.filter(({ end }) => end.kind === "done").map(jobName));
    const fresh = part.finished.filter((one) => !ended.has(jobName(one)) && !finished.some((other) => isSameLine(one, other)));
    const names = new Set(fresh.map(jobName));
    for (const job of folderJobs(plan))
      if (names.has(jobName(job)) || !ended.has(jobName(job))) await copyRecord(path, folder.path, plan.experiment.name, job);
    await Promise.all(fresh.map((one) => folder.add(one)));
    finished.push(...fresh);
  }
  const jobs = folderJobs(plan);
  const { rows, series, failed } = rowsOf(jobs, endsOf(finished));
  await writtenResults(folder, { rows, series, finished });
  return { total: jobs.length, done: rows.length, failed };
}

function isSameLine(one: FinishedCell, other: FinishedCell): boolean {
  return jobName(one) === jobName(other) && canonicalJson(one) === canonicalJson(other);
}

async function copyRecord(from: string, to: string, name: string, job: CellJob): Promise<void> {
  const [source, target] = [recordOf(from, name, job).path, recordOf(to, name, job).path];
  if (!(await succeeds(access(source)))) return;
  await mkdir(join(to, "records"), { recursive: true });
  await copyJournal(source, target);
}
