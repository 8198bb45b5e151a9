import { createHmac, randomBytes } from "node:crypto";
import { link, lstat, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { JournalError, UsageError } from "../kernel/errors.ts";
import { succeeds, systemCode } from "../kernel/system-error.ts";
import { type Journal, newestRuns } from "../runtime/record/journal.ts";
import { keepLessons } from "../model/dialect.ts";
import type { RunAbout } from "./about.ts";
import { type Host, valueIn } from "./host.ts";
import { keptDialects } from "./kept-dialects.ts";
import { invalidOption } from "./option-words.ts";
import type { Flags } from "./options.ts";
import { shellWord, shown } from "./screen/text.ts";
import type { Session } from "./session.ts";
import { isPrivate } from "./text-file.ts";

const FOLDER = ".troupe";

export interface StoreKind {
  readonly file: string;
  readonly variable: string;
}

const RUNS: StoreKind = { file: "runs.db", variable: "TROUPE_STORE" };

export interface StorePlace {
  readonly path: string;
  /** The path as the user would type it. */
  readonly name: string;
  readonly option: string;
  readonly isDefault: boolean;
}

export interface Store extends StorePlace {
  readonly journal: Journal;
  /** Creates the store where there is none, and makes sure that it can be used. */
  ready(): Promise<void>;
}

export function storePlace(flags: Flags, { cwd, env }: Pick<Host, "cwd" | "env">, kind: StoreKind = RUNS): StorePlace {
  const given = flags.store ?? valueIn(env, kind.variable);
  if (given === undefined) {
    const name = join(FOLDER, kind.file);
    return { path: resolve(cwd, name), name, option: "", isDefault: true };
  }
  if (given.trim() === "" || given.includes("\0")) throw invalidOption("--store", "a file", "");
  const path = resolve(cwd, given);
  const short = relative(cwd, path);
  const option = flags.store === undefined ? "" : ` --store ${shellWord(given)}`;
  return { path, name: short.startsWith("..") ? path : short, option, isDefault: false };
}

/** Works with the store. A missing one is created when the work calls `ready`, so that a refused command leaves nothing behind. */
export async function withStore<T>(session: Session, flags: Flags, work: (store: Store) => Promise<T>): Promise<T> {
  const place = storePlace(flags, session.host);
  const { sqlite } = await import("../adapters/sqlite.ts");
  const journal = sqlite({ path: place.path });
  const ready = async (): Promise<void> => {
    await newestRuns(journal, { limit: 1 }).catch((error: unknown) => {
      if (!(error instanceof JournalError)) throw error;
      const message = `${error.message} Runs can be kept elsewhere: --store <file>.`;
      throw new JournalError(error.code, message, { cause: error, data: error.data });
    });
    if (place.isDefault) await hideFromGit(dirname(place.path), session);
  };
  const stopKeeping = keepLessons(keptDialects(session, place));
  try {
    if (await isStore(place.path)) await ready();
    return await work({ ...place, journal, ready });
  } finally {
    stopKeeping();
    await journal.close().catch((error: unknown) => session.screen.warn(`The store was not closed in good order: ${String(error)}`));
  }
}

export async function withRuns<T>(session: Session, flags: Flags, work: (store: Store) => Promise<T>): Promise<T> {
  const { path, name } = storePlace(flags, session.host);
  if (await isStore(path)) return withStore(session, flags, work);
  const expected = `Expected runs in ${shown(name, 300)}, but there is no such file`;
  throw new UsageError("STORE_MISSING", `${expected}. Go to the folder they were begun in, or name it: --store <file>.`);
}

export function isStore(path: string): Promise<boolean> {
  return succeeds(stat(path));
}

export async function hideFromGit(folder: string, { screen }: Session): Promise<void> {
  try {
    await writeFile(join(folder, ".gitignore"), "*\n", { flag: "wx", mode: 0o600 });
  } catch (error) {
    if (systemCode(error) !== "EEXIST") screen.warn(`Git cannot be made to ignore ${folder}: ${String(error)}`);
  }
}

const KEY = /^[0-9a-f]{64}\n$/;
const MAX_TRIES = 3;

/** A record says where files are written and who gets a key, and it may be imported: with another seal it continues only with `--force`. */
export async function sealOf(place: StorePlace, runId: string): Promise<string> {
  const key = await keyOf(`${place.path}-key`);
  return createHmac("sha256", key).update(runId).digest("hex").slice(0, 32);
}

export async function isOurs(place: StorePlace, runId: string, { seal }: RunAbout): Promise<boolean> {
  return seal === (await sealOf(place, runId));
}

export async function assertOurs(place: StorePlace, runId: string, about: RunAbout, isForced: boolean): Promise<void> {
  if (isForced || (await isOurs(place, runId, about))) return;
  const { id: model, baseURL } = about.model;
  const asks = about.demo === undefined ? `asks ${model}${baseURL === undefined ? "" : ` at ${baseURL}`}` : "plays a script";
  const id = shown(runId, 60);
  const expected = `Expected a run that was begun with this store, but ${id} came from elsewhere, and it does what its record says`;
  const starts =
    about.crew.kind === "software-company" && about.crew.worker !== undefined ? `, starts ${shown(about.crew.worker, 2_000)}` : "";
  const does = `it works in ${shown(about.out, 200)}, ${shown(asks, 200)}${starts}, sandbox ${about.sandbox}`;
  throw new UsageError("RUN_ELSEWHERE", `${expected}: ${does}. Look at it: troupe runs show ${id}. If you trust it, say --force.`);
}

/** The key in a file, which is made where there is none. A key that others can read, or have put there, is replaced. */
export async function keyOf(file: string): Promise<string> {
  for (let tries = 0; ; tries++) {
    const known = await knownKey(file);
    if (known !== undefined && known !== "") return known;
    try {
      if (known === "") await rm(file, { force: true });
      await makeKey(file);
    } catch (error) {
      // Another process made its key first: that one counts.
      if (systemCode(error) !== "EEXIST" || tries >= MAX_TRIES) throw unusableKey(file, error);
    }
  }
}

/** Undefined when there is no file, empty when it holds no key of ours. */
async function knownKey(file: string): Promise<string | undefined> {
  const stats = await lstat(file).catch(() => undefined);
  if (stats === undefined) return undefined;
  const text = isPrivate(stats) ? await readFile(file, "utf8").catch(() => "") : "";
  return KEY.test(text) ? text : "";
}

/** Links a complete draft to its name, so that no process reads half a key. */
async function makeKey(file: string): Promise<void> {
  const draft = `${file}-${randomBytes(6).toString("hex")}`;
  try {
    await writeFile(draft, `${randomBytes(32).toString("hex")}\n`, { flag: "wx", mode: 0o600 });
    await link(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
}

function unusableKey(file: string, cause: unknown): UsageError {
  const reason = shown(cause instanceof Error ? cause.message : String(cause), 200);
  const text = `Expected to keep a key beside the store, in ${shown(file, 300)}, but ${reason}. Check its folder.`;
  return new UsageError("STORE_KEY", text, { cause });
}
