import { appendFile, mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { maskSecrets } from "../kernel/mask.ts";
import { secretsIn } from "./host.ts";
import { plural, shown, type Style } from "./screen/text.ts";
import type { Session } from "./session.ts";

export type Unseen = ReadonlyMap<string, number>;

const PRINTED = 5;
const LENGTH = 300;
const KEPT_LENGTH = 2_000;

function folderOf(store: string): string {
  return `${store}-warnings`;
}

function fileOf(store: string, runId: string): string {
  return join(folderOf(store), `${encodeURIComponent(runId)}.log`);
}

/** Keeps the warnings that a summary has no room for, in a file beside the store. Returns its path; undefined where all are printed. */
export async function keepWarnings(
  { host }: Pick<Session, "host">,
  unseen: Unseen,
  run: { readonly store: string; readonly runId: string },
) {
  if (unseen.size <= PRINTED) return undefined;
  const file = fileOf(run.store, run.runId);
  const at = new Date(host.clock.now()).toISOString();
  const mask = maskSecrets(secretsIn(host.env));
  const lines = [...unseen].map(([text, times]) => `${at}  ${shown(mask(text), KEPT_LENGTH)}${timesText(times)}\n`);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await appendFile(file, lines.join(""), { mode: 0o600 });
  return file;
}

export async function removeWarnings(store: string, runId?: string): Promise<void> {
  await rm(runId === undefined ? folderOf(store) : fileOf(store, runId), { force: true, recursive: true });
}

export function warningLines(unseen: Unseen, file: string | undefined, style: Style): readonly string[] {
  const printed = file === undefined ? unseen.size : PRINTED;
  const lines = [...unseen].slice(0, printed).map(([text, times]) => style.warn(`  ${shown(text, LENGTH)}${timesText(times)}`));
  const rest = unseen.size - lines.length;
  return rest === 0 ? lines : [...lines, style.faint(`  and ${plural(rest, "other warning")}, see: ${shown(file ?? "", 300)}`)];
}

function timesText(times: number): string {
  return times === 1 ? "" : ` (${times} times)`;
}
