import { randomBytes, createHash } from "node:crypto";
import { link, mkdir, readdir, readFile, rename, unlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { z } from "zod";
import { aText, takes } from "../kernel/argument.ts";
import { JournalError, WorkspaceError } from "../kernel/errors.ts";
import { parsedJson } from "../kernel/json.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { anObjectStore, OBJECT_BYTES, type ObjectStore, ObjectStoreError, type StoredObject } from "../kernel/object-store.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { ifThere, systemCode } from "../kernel/system-error.ts";
import { valueText } from "../kernel/value-text.ts";
import type { RunEvent } from "../runtime/record/event.ts";
import type { Journal } from "../runtime/record/journal.ts";
import { bundleWorkspace, hasOpenForks, restoreBundle, type WorkspaceBundle } from "../workspace/bundle.ts";
import { fileWorkspace } from "../workspace/file-workspace.ts";
import { removeAll } from "../workspace/folders.ts";
import { visible } from "../workspace/path-rules.ts";
import { restoreFiles } from "../workspace/restore-files.ts";

/** Options of {@link runWorkspaces}. */
export interface RunWorkspacesOptions {
  /** Keeps the bundles: `fileObjects` or `s3Objects` of `troupe/objects`. */
  readonly objects: ObjectStore;
  /** The folder of this machine in which each run has one of its own. */
  readonly folder: string;
  /** Bytes of one bundle. Default 256 MiB; the store has a bound of its own. */
  readonly mostBytes?: number;
}

const runWorkspacesOptions: Known<RunWorkspacesOptions> = {
  objects: kinds.having("a store of objects", "put", "get", "list", "remove"),
  folder: kinds.text,
  mostBytes: kinds.count,
};

export interface RunWorkspaceCall {
  readonly signal?: AbortSignal | undefined;
}

/** The folders of runs, which move between machines by a store of objects. */
export interface RunWorkspaces {
  /** The folder of a run on this machine. */
  folderOf(runId: string): string;
  /**
   * Brings the folder of a run here before it continues: from its newest bundle, then from the later steps of its record. A folder that this
   * machine had last stays as it is. An older one is moved to `.left/<run>`, where the newest three stay.
   *
   * @throws ObjectStoreError, WorkspaceError, JournalError; ControlError when the signal aborts
   */
  fetch(runId: string, journal: Journal, call?: RunWorkspaceCall): Promise<"here" | "new" | "restored">;
  /**
   * Stores the folder of a run as a bundle. Call it while no step of the run is in flight. False where another machine has the run or a newer
   * bundle is stored, without a folder, and while forks of the project are open.
   *
   * @param seq number of the last event whose effects are in the folder
   * @throws ObjectStoreError, WorkspaceError; ControlError when the signal aborts
   */
  put(runId: string, seq: number, call?: RunWorkspaceCall): Promise<boolean>;
  /**
   * Writes the project of a run into a missing or empty folder, as `fetch` does. It is a copy: the run continues where it is.
   *
   * @throws ObjectStoreError, JournalError; WorkspaceError, also `WORKSPACE_NOT_EMPTY`; ControlError when the signal aborts
   */
  copy(runId: string, journal: Pick<Journal, "read">, to: string, call?: RunWorkspaceCall): Promise<void>;
  /** Removes what the store has of a run. The folder stays. @throws ObjectStoreError */
  remove(runId: string, call?: RunWorkspaceCall): Promise<void>;
}

/**
 * Keeps the folders of runs in a store of objects, so that a run finds its files on every machine.
 *
 * @throws UsageError `ARGUMENT_INVALID`, `OPTION_INVALID`, `OPTION_UNKNOWN`
 */
export function runWorkspaces(options: RunWorkspacesOptions): RunWorkspaces {
  checkGivenOptions("runWorkspaces", options, runWorkspacesOptions);
  const { objects, folder, mostBytes = OBJECT_BYTES } = options;
  takes("runWorkspaces", "objects", objects, anObjectStore);
  takes("runWorkspaces", "folder", folder, aText);
  return new StoredWorkspaces({ objects, folder: resolve(folder), mostBytes });
}

/** The machine with the folder of a run, which is empty while one is being restored, and its newest bundle: the one object of a run that changes. */
const placeSchema = z.object({
  version: z.literal(1),
  run: z.string(),
  place: z.string(),
  bundle: z.object({ key: z.string(), seq: z.int().nonnegative(), sha256: z.string(), branch: z.string().nullable() }).exactOptional(),
});

type Place = Pick<z.infer<typeof placeSchema>, "place" | "bundle">;

interface FoundPlace extends Place {
  readonly tag: string | undefined;
}

const NOWHERE = "";
const LEFT = ".left";
const MAX_LEFT = 3;
/** Limit on the reads of a place whose bundle is gone: a newer one was stored meanwhile. */
const MAX_LOOKS = 3;

/**
 * It owns the objects `<run>/place.json` and `<run>/<seq>-<sha256>.bundle`.
 *
 * RunWorkspaces.W1 (`put`) only the machine that fetched a run last stores its folder, because the place is written on condition of its tag.
 * RunWorkspaces.W2 (`fetch`) a place names this machine only after its folder is whole, so a restore that was cut off is done again.
 * RunWorkspaces.W3 (`#restore`) no file of an older folder is changed before the newer folder is whole.
 * RunWorkspaces.W4 (`#restore`) bytes are restored only if they have the sha256 that the place names, which it does once they are stored.
 * RunWorkspaces.W5 (`put`) a bundle is removed only by a newer one, so never the one that the place names.
 */
class StoredWorkspaces implements RunWorkspaces {
  readonly #o: Required<RunWorkspacesOptions>;
  #machine: Promise<string> | undefined;

  constructor(options: Required<RunWorkspacesOptions>) {
    this.#o = options;
  }

  folderOf(runId: string): string {
    return runFolder(this.#o.folder, runId);
  }

  async fetch(runId: string, journal: Journal, { signal }: RunWorkspaceCall = {}): Promise<"here" | "new" | "restored"> {
    const machine = await this.#here();
    const root = this.folderOf(runId);
    const found = await this.#placeOf(runId, signal);
    const isThere = await holdsFiles(root);
    if (found.place === machine && isThere) return "here";
    if (isThere && found.tag === undefined) {
      // The run began before it had a store: its files are these.
      await this.#write(runId, { ...found, place: machine }, signal);
      return "here";
    }
    const tag = await this.#write(runId, { ...found, place: NOWHERE }, signal);
    await this.#restore(runId, { found, journal, isThere, signal });
    await this.#write(runId, { ...found, place: machine, tag }, signal);
    return (await holdsFiles(root)) ? "restored" : "new";
  }

  async put(runId: string, seq: number, { signal }: RunWorkspaceCall = {}): Promise<boolean> {
    const root = this.folderOf(runId);
    const found = await this.#placeOf(runId, signal);
    const { bundle: before } = found;
    if (found.place !== (await this.#here()) || (before !== undefined && before.seq > seq)) return false;
    if ((await ifThere(readdir(root))) === undefined || (await hasOpenForks(root))) return false;
    const { bytes, sha256, branch = null } = await bundleWorkspace({ root, mostBytes: this.#o.mostBytes, signal });
    const key = `${nameOf(runId)}/${seq}-${sha256}.bundle`;
    if (before?.sha256 === sha256 && before.seq === seq) return true;
    await this.#o.objects.put(key, bytes, { signal });
    try {
      await this.#write(runId, { ...found, bundle: { key, seq, sha256, branch } }, signal);
    } catch (error) {
      if (isConflict(error)) return false;
      throw error;
    }
    // One that is no older may be the newest by now: another machine has stored since.
    for (const old of await this.#o.objects.list(nameOf(runId), { signal })) {
      if (seqIn(old) < seq) await this.#o.objects.remove(old, { signal });
    }
    return true;
  }

  async copy(runId: string, journal: Pick<Journal, "read">, to: string, { signal }: RunWorkspaceCall = {}): Promise<void> {
    takes("copy", "to", to, aText);
    for (let looks = 1; ; looks += 1) {
      const { bundle } = await this.#placeOf(runId, signal);
      const stored = bundle && (await this.#bundle(bundle, signal));
      if (bundle === undefined || stored !== undefined) return restoreProject(resolve(to), { runId, journal, stored, signal });
      if (looks === MAX_LOOKS) throw damaged(runId, "its bundle, but it is gone");
    }
  }

  async remove(runId: string, { signal }: RunWorkspaceCall = {}): Promise<void> {
    for (const key of await this.#o.objects.list(nameOf(runId), { signal })) await this.#o.objects.remove(key, { signal });
  }

  async #restore(
    runId: string,
    o: { readonly found: Place; readonly journal: Journal; readonly isThere: boolean; readonly signal: AbortSignal | undefined },
  ): Promise<void> {
    const { found, journal, isThere, signal } = o;
    const root = this.folderOf(runId);
    if (isThere) await this.#setAside(runId);
    await mkdir(root, { recursive: true });
    const stored = found.bundle && (await this.#bundle(found.bundle, signal));
    if (found.bundle !== undefined && stored === undefined) throw damaged(runId, "its bundle, but it is gone");
    await restoreProject(root, { runId, journal, stored, signal });
  }

  /** Keeps the files that only this machine has. Of a run the newest folders stay. */
  async #setAside(runId: string): Promise<void> {
    const above = join(this.#o.folder, LEFT, nameOf(runId));
    await mkdir(above, { recursive: true });
    const numbers = (await readdir(above)).map(Number).sort((a, b) => a - b);
    await rename(this.folderOf(runId), join(above, String((numbers.at(-1) ?? 0) + 1)));
    for (const old of numbers.slice(0, 1 - MAX_LEFT)) await removeAll(join(above, String(old)));
  }

  /** @returns undefined where the store does not have it any more */
  async #bundle(
    { key, seq, sha256, branch }: NonNullable<Place["bundle"]>,
    signal: AbortSignal | undefined,
  ): Promise<RunProject["stored"]> {
    const stored = await this.#o.objects.get(key, { signal });
    return stored && { bytes: stored.bytes, sha256, branch: branch ?? undefined, seq };
  }

  /** The id of this machine's folder. Processes that share the folder share it. */
  #here(): Promise<string> {
    this.#machine ??= machineOf(this.#o.folder).catch((error: unknown) => {
      this.#machine = undefined;
      throw error;
    });
    return this.#machine;
  }

  async #placeOf(runId: string, signal: AbortSignal | undefined): Promise<FoundPlace> {
    const stored = await this.#o.objects.get(`${nameOf(runId)}/place.json`, { signal });
    return stored === undefined ? { place: NOWHERE, tag: undefined } : { ...placeIn(runId, stored), tag: stored.tag };
  }

  #write(runId: string, { place, bundle, tag }: FoundPlace, signal: AbortSignal | undefined): Promise<string> {
    const bytes = new TextEncoder().encode(JSON.stringify({ version: 1, run: runId, place, ...(bundle === undefined ? {} : { bundle }) }));
    const condition = tag === undefined ? { ifNone: true } : { ifMatch: tag };
    return this.#o.objects.put(`${nameOf(runId)}/place.json`, bytes, { ...condition, signal });
  }
}

function seqIn(key: string): number {
  return Number(/\/(\d+)-[0-9a-f]+\.bundle$/.exec(key)?.[1]);
}

function isConflict(error: unknown): boolean {
  return error instanceof ObjectStoreError && error.code === "OBJECT_CONFLICT";
}

function damaged(runId: string, what: string): ObjectStoreError {
  const remedy = "Remove what the store has of the run; then its files come from its record.";
  return new ObjectStoreError(
    "OBJECT_DAMAGED",
    `Expected the store of objects to have the workspace of run ${valueText(runId)} with ${what}. ${remedy}`,
  );
}

function placeIn(runId: string, { bytes }: StoredObject): Place {
  const { data: place } = placeSchema.safeParse(parsedJson(new TextDecoder().decode(bytes)));
  if (place === undefined || place.run !== runId) throw damaged(runId, "a readable place, but it is damaged or newer");
  return place;
}

/** Linked into its place, so that no process reads half of it. */
async function machineOf(folder: string): Promise<string> {
  const path = join(folder, ".place");
  const mine = `${path}.${randomBytes(6).toString("hex")}`;
  await mkdir(folder, { recursive: true });
  await writeFile(mine, randomBytes(16).toString("hex"), { flag: "wx", mode: 0o600 });
  try {
    await link(mine, path);
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
  } finally {
    await unlink(mine);
  }
  return readFile(path, "utf8");
}

export interface RunProject {
  readonly runId: string;
  readonly journal: Pick<Journal, "read">;
  /** Its newest bundle, and the last event whose effects are in it; undefined: the project is rebuilt from the record alone. */
  readonly stored: (WorkspaceBundle & { readonly seq: number }) | undefined;
  readonly signal: AbortSignal | undefined;
}

/** A replay of a record writes what the record has, whatever its size. */
const NO_LIMITS = { files: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER, fileBytes: Number.MAX_SAFE_INTEGER };

/**
 * Writes the project of a run into a folder that is missing or empty: from its bundle, then what the steps of its record did later.
 *
 * @throws WorkspaceError `WORKSPACE_NOT_EMPTY`, and those of `restoreBundle` and `restoreFiles`; JournalError; ControlError when the signal aborts
 */
export async function restoreProject(root: string, { runId, journal, stored, signal }: RunProject): Promise<void> {
  if (await holdsFiles(root)) {
    const expected = `Expected a missing or empty folder for the project of a run at "${visible(root)}", got one with files`;
    throw new WorkspaceError("WORKSPACE_NOT_EMPTY", `${expected}. Name another folder.`, { data: { path: visible(root) } });
  }
  if (stored !== undefined) await restoreBundle({ root, bundle: stored, signal });
  const workspace = fileWorkspace({ root, limits: NO_LIMITS });
  await restoreFiles(workspace, recordOf(journal, runId), { signal, ...(stored === undefined ? {} : { after: stored.seq }) });
}

async function holdsFiles(folder: string): Promise<boolean> {
  return ((await ifThere(readdir(folder))) ?? []).length > 0;
}

async function* recordOf(journal: Pick<Journal, "read">, runId: string): AsyncGenerator<RunEvent> {
  try {
    yield* journal.read(runId, 0);
  } catch (error) {
    if (!(error instanceof JournalError && error.code === "RUN_UNKNOWN")) throw error;
  }
}

const SAFE_ID = /^[a-z0-9][a-z0-9_-]{0,79}$/;
const HASHED = /^run_[0-9a-f]{64}$/;

export function runFolder(folder: string, runId: string): string {
  return join(folder, nameOf(runId));
}

/** The name of the folder of a run, and a part of its keys. Two ids never have one name, even where names are compared without their case. */
export function nameOf(runId: string): string {
  takes("runWorkspaces", "runId", runId, aText);
  return SAFE_ID.test(runId) && !HASHED.test(runId) ? runId : `run_${createHash("sha256").update(runId).digest("hex")}`;
}
