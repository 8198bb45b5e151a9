import { stat, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { JournalError, UsageError } from "../kernel/errors.ts";
import type { Journal } from "../runtime/record/journal.ts";
import type { Host } from "./host.ts";
import { shown } from "./screen/text.ts";
import type { Session } from "./session.ts";
import type { Flags } from "./settings.ts";
import { shellWord } from "./shell-word.ts";

/** Where things are kept when nobody says where: in the folder one works in. */
const FOLDER = ".troupe";

/** What a store is for: its file when nobody names one, and the variable that may. */
export interface StoreKind {
  readonly file: string;
  readonly variable: string;
}

const RUNS: StoreKind = { file: "runs.db", variable: "TROUPE_STORE" };

/** Where a store is, and how it was said. */
export interface StorePlace {
  /** Absolute. */
  readonly path: string;
  /** As the user would type it. */
  readonly name: string;
  /** What a command that shall find it again has to say: ` --store ...`, or nothing. */
  readonly option: string;
  readonly isDefault: boolean;
}

/** A store of runs. */
export interface Store extends StorePlace {
  readonly journal: Journal;
  /**
   * Makes sure that it is there and can be used.
   *
   * @throws JournalError `JOURNAL_FOREIGN`, `JOURNAL_NEWER`, `JOURNAL_UNWRITABLE`, `JOURNAL_DAMAGED`, `JOURNAL_FULL`
   */
  ready(): Promise<void>;
}

/**
 * Where runs, or what the kind says, are kept: where `--store` says, else its variable, TROUPE_STORE, else its file in `.troupe`.
 *
 * @throws UsageError `OPTION_INVALID`
 */
export function storePlace(flags: Flags, { cwd, env }: Pick<Host, "cwd" | "env">, kind: StoreKind = RUNS): StorePlace {
  const fromEnv = env[kind.variable]?.trim() ?? "";
  const given = flags.store ?? (fromEnv === "" ? undefined : fromEnv);
  if (given === undefined) {
    const name = join(FOLDER, kind.file);
    return { path: resolve(cwd, name), name, option: "", isDefault: true };
  }
  if (given.trim() === "" || given.includes("\0"))
    throw new UsageError("OPTION_INVALID", "Expected --store to be a file, got an empty text.");
  const path = resolve(cwd, given);
  const short = relative(cwd, path);
  const option = flags.store === undefined ? "" : ` --store ${shellWord(given)}`;
  return { path, name: short.startsWith("..") ? path : short, option, isDefault: false };
}

/**
 * Works with the store. One that is there is known to be fit before the work begins; one that is not is made when the work says that it is
 * ready for it, so that what is refused leaves nothing behind.
 *
 * @throws JournalError as {@link Store.ready}
 */
export async function withStore<T>(session: Session, flags: Flags, work: (store: Store) => Promise<T>): Promise<T> {
  const place = storePlace(flags, session.host);
  const { sqlite } = await import("../adapters/sqlite.ts");
  const journal = sqlite({ path: place.path });
  const ready = async (): Promise<void> => {
    await opened(journal);
    if (place.isDefault) await hideFromGit(dirname(place.path), session);
  };
  try {
    if (await isStore(place.path)) await ready();
    return await work({ ...place, journal, ready });
  } finally {
    await journal.close().catch((error: unknown) => session.screen.warn(`The store was not closed in good order: ${String(error)}`));
  }
}

/** Works with a store that is there. @throws UsageError `STORE_MISSING` */
export async function withRuns<T>(session: Session, flags: Flags, work: (store: Store) => Promise<T>): Promise<T> {
  const place = storePlace(flags, session.host);
  if (!(await isStore(place.path))) throw noStore(place);
  return withStore(session, flags, work);
}

/** Whether something is where a store would be. */
export function isStore(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

async function opened(journal: Journal): Promise<void> {
  try {
    await journal.runs();
  } catch (error) {
    if (!(error instanceof JournalError)) throw error;
    const message = `${error.message} Runs can be kept elsewhere: --store <file>.`;
    throw new JournalError(error.code, message, { cause: error, data: error.data });
  }
}

/** What is kept is no part of anybody's project, whatever they add to it. */
export async function hideFromGit(folder: string, { screen }: Session): Promise<void> {
  try {
    await writeFile(join(folder, ".gitignore"), "*\n", { flag: "wx", mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") screen.warn(`Git is not told to leave ${folder} alone: ${String(error)}`);
  }
}

function noStore({ name }: StorePlace): UsageError {
  return new UsageError(
    "STORE_MISSING",
    `Expected runs in ${shown(name, 300)}, but there is no such file. Go to the folder they were begun in, or name it: --store <file>.`,
  );
}
