import { createHmac, randomBytes } from "node:crypto";
import { link, lstat, readFile, rm, writeFile } from "node:fs/promises";
import { UsageError } from "../kernel/errors.ts";
import type { RunAbout } from "./about.ts";
import { shown } from "./screen/text.ts";
import type { StorePlace } from "./store.ts";

/*
 * A run's record says where files are written, whom a key is sent to, and whether tests run without isolation. A store can hold runs that
 * somebody else made: imported ones, or all of a folder that was downloaded. So each run is sealed with a key that stays beside the store,
 * and one without a seal of this store is gone on with only when the user says so.
 */

const KEY = /^[0-9a-f]{64}\n$/;

/** What tells a run of this store from one that came from elsewhere. */
export async function sealOf(place: StorePlace, runId: string): Promise<string> {
  return createHmac("sha256", await keyOf(`${place.path}-key`))
    .update(runId)
    .digest("hex")
    .slice(0, 32);
}

/**
 * Refuses to act on the record of a run that was not begun with this store.
 *
 * @throws UsageError `RUN_ELSEWHERE`
 */
export async function assertOurs(place: StorePlace, runId: string, about: RunAbout, isForced: boolean): Promise<void> {
  if (isForced || about.seal === (await sealOf(place, runId))) return;
  const model =
    about.demo === undefined
      ? `asks ${about.model.id}${about.model.baseURL === undefined ? "" : ` at ${about.model.baseURL}`}`
      : "plays a script";
  const id = shown(runId, 60);
  throw new UsageError(
    "RUN_ELSEWHERE",
    `Expected a run that was begun with this store, but ${id} came from elsewhere, and what it does is what its record says: it works in ${shown(about.out, 200)}, ${shown(model, 200)}, sandbox ${about.sandbox}. ` +
      `Look at it: troupe runs show ${id}. If you trust it, say --force.`,
  );
}

/** A key that others can read, or have put there, is none. */
async function keyOf(file: string): Promise<string> {
  for (let tries = 0; ; tries++) {
    const known = await knownKey(file);
    if (known !== undefined && known !== "") return known;
    try {
      if (known === "") await rm(file, { force: true });
      await makeKey(file);
    } catch (error) {
      // Somebody else was quicker: theirs counts.
      if ((error as NodeJS.ErrnoException).code !== "EEXIST" || tries > 2) throw unusable(file, error);
    }
  }
}

/** It is there whole or not at all. */
async function makeKey(file: string): Promise<void> {
  const draft = `${file}-${randomBytes(6).toString("hex")}`;
  try {
    await writeFile(draft, `${randomBytes(32).toString("hex")}\n`, { flag: "wx", mode: 0o600 });
    await link(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
}

/** Undefined when there is none, empty when what is there is no key of ours. */
async function knownKey(file: string): Promise<string | undefined> {
  const stats = await lstat(file).catch(() => undefined);
  if (stats === undefined) return undefined;
  const isOwn = process.getuid === undefined || stats.uid === process.getuid();
  const isPrivate = process.platform === "win32" || (stats.mode & 0o077) === 0;
  const text = stats.isFile() && isOwn && isPrivate ? await readFile(file, "utf8").catch(() => "") : "";
  return KEY.test(text) ? text : "";
}

function unusable(file: string, cause: unknown): UsageError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new UsageError(
    "STORE_KEY",
    `Expected to keep a key beside the store, in ${shown(file, 300)}, but ${shown(reason, 200)}. See to its folder.`,
    { cause },
  );
}
