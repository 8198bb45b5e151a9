import type { CellEnd, FinishedCell } from "./cell-run.ts";
import { type FileHandle, appendFile, mkdir, open, readFile, rename, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { FileLock } from "../../adapters/file-lock.ts";
import { CacheError, UsageError } from "../../kernel/errors.ts";
import { ifThere } from "../../kernel/system-error.ts";
import { parsedJson } from "../../kernel/json.ts";
import { isCount, isRecord } from "../../kernel/value-kind.ts";
import { clauseText, shownText, thrownText } from "../../kernel/value-text.ts";
import { type Manifest, parsedManifest } from "./manifest.ts";
import { type Row, columnsOf, csvPieces, endsOf, errorText, jsonLinePieces, rowsOf } from "./tables.ts";
import { jobName } from "./cell.ts";
import { folderJobs } from "./sweep-plan.ts";
import { aText, takes } from "../../kernel/argument.ts";
import { type SweepSpending, sweepUse } from "./cell-use.ts";

/** Milliseconds to wait for the lock of a folder: another process may just be looking whether its owner is gone. */
const PATIENCE = 100;
const CELLS_FILE = "cells.jsonl";
const MANIFEST_FILE = "manifest.json";

/**
 * The folder of a sweep, open for writing. It owns the lock, the file of finished runs and the lines that wait to be written.
 *
 * SweepFolder.F1 (`open`) at most one sweep writes into a folder, and the lock of a dead process is taken over. SweepFolder.F2 (`add`) a
 * run is finished when its line is on the disk; a last line that a kill cut off is removed (`finishedIn`). SweepFolder.F3 (`write`) every
 * other file is replaced whole.
 */
export class SweepFolder {
  readonly path: string;
  readonly finished: readonly FinishedCell[];
  readonly #lock: FileLock;
  readonly #file: FileHandle;
  #waiting: { readonly line: string; readonly done: () => void; readonly failed: (error: unknown) => void }[] = [];
  #writing: Promise<void> | undefined;

  private constructor(
    path: string,
    parts: { readonly lock: FileLock; readonly file: FileHandle; readonly finished: readonly FinishedCell[] },
  ) {
    this.path = path;
    this.#lock = parts.lock;
    this.#file = parts.file;
    this.finished = parts.finished;
  }

  /**
   * Opens a folder, or makes it.
   *
   * @param check refuses the folder of another experiment by its manifest, undefined for a new folder
   * @throws UsageError `EXPERIMENT_BUSY` while another sweep writes there; `EXPERIMENT_DAMAGED`
   */
  static async open(path: string, check: (manifest: Manifest | undefined) => void): Promise<SweepFolder> {
    await mkdir(path, { recursive: true }).catch((cause: unknown) => {
      throw new UsageError(
        "OPTION_INVALID",
        `Expected a folder of results that can be made, got ${shownText(path)}: ${clauseText(thrownText(cause))}. Name another by out.`,
        { cause },
      );
    });
    const lock = await locked(path);
    try {
      check(await manifestIn(path));
      const { finished, length } = await finishedIn(path);
      const file = await open(join(path, CELLS_FILE), "a+", 0o666);
      await file.truncate(length);
      return new SweepFolder(path, { lock, file, finished });
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** Resolves when the line of a finished run is on the disk. Lines that come meanwhile are written together. */
  add(cell: FinishedCell): Promise<void> {
    return new Promise((done, failed) => {
      this.#waiting.push({ line: `${JSON.stringify(cell)}\n`, done, failed });
      this.#writing ??= this.#write().finally(() => (this.#writing = undefined));
    });
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        await appendFile(this.#file, batch.map(({ line }) => line).join(""));
        await this.#file.datasync();
        for (const { done } of batch) done();
      } catch (error) {
        for (const { failed } of batch) failed(error);
      }
    }
  }

  async write(name: string, content: string | Uint8Array | Iterable<string>): Promise<void> {
    const path = join(this.path, name);
    await writeFile(`${path}.new`, content);
    await rename(`${path}.new`, path);
  }

  writeManifest(manifest: object): Promise<void> {
    return this.write(MANIFEST_FILE, `${JSON.stringify(manifest, null, 2)}\n`);
  }

  async writeRows(name: "rows" | "series", rows: readonly Row[]): Promise<void> {
    await this.write(`${name}.jsonl`, jsonLinePieces(rows));
    if (columnsOf(rows).length > 0) await this.write(`${name}.csv`, csvPieces(rows));
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#file.close();
    await this.#lock.release();
  }
}

async function locked(path: string): Promise<FileLock> {
  try {
    return await FileLock.take(join(path, "sweep"), { patience: PATIENCE, abandoned: Infinity });
  } catch (cause) {
    if (!(cause instanceof CacheError)) throw cause;
    throw new UsageError(
      "EXPERIMENT_BUSY",
      `Expected a folder that no other sweep writes into, got ${shownText(path)}. Wait for that sweep, or name another folder. If none runs, on any machine, remove ${shownText(join(path, "sweep.lock"))}.`,
      { cause },
    );
  }
}

/** Returns the manifest of a folder; undefined where there is none. @throws UsageError `EXPERIMENT_DAMAGED` */
export async function manifestIn(path: string): Promise<Manifest | undefined> {
  const text = await ifThere(readFile(join(path, MANIFEST_FILE), "utf8"));
  if (text === undefined) return undefined;
  const manifest = parsedManifest(parsedJson(text), path);
  if (manifest !== undefined) return manifest;
  throw damaged(path, MANIFEST_FILE, "a manifest of this version");
}

/** Returns the manifest of the folder of a sweep. @throws UsageError `EXPERIMENT_UNKNOWN`, `EXPERIMENT_DAMAGED`, `EXPERIMENT_VERSION` */
export async function knownManifest(folder: string): Promise<Manifest> {
  const manifest = await manifestIn(folder);
  if (manifest !== undefined) return manifest;
  throw new UsageError(
    "EXPERIMENT_UNKNOWN",
    `Expected the folder of an experiment, got ${shownText(folder)}. Name the one that has the results: the out of runExperiment, or --out of troupe experiment run.`,
  );
}

/** Returns the finished runs, and the bytes of their lines without a last one that was cut off. @throws UsageError `EXPERIMENT_DAMAGED` */
async function finishedIn(path: string): Promise<{ readonly finished: readonly FinishedCell[]; readonly length: number }> {
  const bytes = (await ifThere(readFile(join(path, CELLS_FILE)))) ?? Buffer.alloc(0);
  const length = bytes.lastIndexOf(10) + 1;
  const finished: FinishedCell[] = [];
  // The lines are read one by one, because all of them may be longer than a string can be.
  for (let start = 0, end = bytes.indexOf(10); end !== -1; start = end + 1, end = bytes.indexOf(10, start)) {
    const cell = parsedJson(bytes.toString("utf8", start, end));
    if (!isFinished(cell)) throw damaged(path, `line ${finished.length + 1} of ${CELLS_FILE}`, "a finished run");
    finished.push(cell);
  }
  return { finished, length };
}

function isFinished(value: unknown): value is FinishedCell {
  if (!isRecord(value) || !isCount(value["cell"]) || !isCount(value["rep"]) || typeof value["ms"] !== "number") return false;
  const end = value["end"];
  return (
    isRecord(end) &&
    isRecord(end["use"]) &&
    (end["kind"] === "failed" ||
      (end["kind"] === "done" && isRecord(end["counts"]) && isRecord(end["measures"]) && Array.isArray(end["series"])))
  );
}

function damaged(path: string, what: string, expected: string): UsageError {
  return new UsageError(
    "EXPERIMENT_DAMAGED",
    `Expected ${expected} in ${what} of ${shownText(path)}, got something else. Restore the file, or begin anew in another folder.`,
  );
}

export interface FailedRun {
  readonly cell: number;
  readonly rep: number;
  /** Its code and its message, as its row has them. */
  readonly error: string;
  /** The file, line and column of the program at which it was thrown, where that is known. */
  readonly place: string | undefined;
}

export interface KeptExperiment extends SweepSpending {
  readonly manifest: Manifest;
  readonly total: number;
  readonly done: number;
  readonly failed: number;
  readonly failures: readonly FailedRun[];
  readonly warnings: readonly string[];
  /** Milliseconds that the ended runs took, one after another. */
  readonly ms: number;
  readonly params: readonly string[];
  readonly rows: readonly Row[];
  /** One row for each round of each run, where the experiment collects. */
  readonly series: readonly Row[];
}

const ACCEPTED =
  "The module was changed after the first runs, and the change was accepted: nothing checks that all cells still mean the same.";

/** Reads the folder of a sweep, also of one that is under way. @throws UsageError `EXPERIMENT_UNKNOWN`, `EXPERIMENT_DAMAGED` */
export async function readExperiment(folder: string): Promise<KeptExperiment> {
  takes("readExperiment", "folder", folder, aText);
  const path = resolve(folder);
  const manifest = await knownManifest(path);
  const { finished } = await finishedIn(path);
  const { cells } = manifest.experiment;
  const ends: ReadonlyMap<string, CellEnd> = endsOf(finished);
  const jobs = folderJobs(manifest);
  const { rows, series, failed, warnings } = rowsOf(jobs, ends);
  const failures = jobs.flatMap((job): readonly FailedRun[] => {
    const end = ends.get(jobName(job));
    return end?.kind === "failed" ? [{ cell: job.cell, rep: job.rep, error: errorText(end), place: end.place }] : [];
  });
  const ms = finished.reduce((sum, one) => sum + one.ms, 0);
  const { use: _use, ...spending } = sweepUse(finished);
  const params = Object.keys(cells[0] ?? {});
  const all = [...warnings, ...(manifest.formerModules.length === 0 ? [] : [ACCEPTED])];
  return { ...spending, manifest, total: jobs.length, done: rows.length, failed, failures, warnings: all, ms, params, rows, series };
}
