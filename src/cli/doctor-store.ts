import { dirname } from "node:path";
import { type Check, nearestFolder, probeFolder } from "./doctor-checks.ts";
import { toldError } from "./errors.ts";
import type { Host } from "./host.ts";
import { bytesText, plural, shown } from "./screen/text.ts";
import type { Flags } from "./settings.ts";
import { isStore, storePlace } from "./store.ts";

/** Whether runs can be kept, and what is kept already. */
export async function checkStore(host: Host, flags: Flags): Promise<Check> {
  const { path, name } = storePlace(flags, host);
  const hint = "Keep runs elsewhere: --store <file>, or TROUPE_STORE.";
  try {
    const text = (await isStore(path)) ? await factsText(path) : await newText(path);
    return { name: "store", state: "ok", text: `${shown(name, 300)}: ${text}` };
  } catch (error) {
    return { name: "store", state: "fail", text: toldError(error, host.env).message, hint };
  }
}

/** What nobody can see is said: a run whose last commits were lost looks like one that was killed before them. */
async function factsText(path: string): Promise<string> {
  const { journalFacts } = await import("../adapters/sqlite-upkeep.ts");
  const { version, runs, bytes } = await journalFacts(path);
  return `version ${version}, ${plural(runs, "run")}, ${bytesText(bytes)}, can be written; whether last commits were lost cannot be told`;
}

async function newText(path: string): Promise<string> {
  await probeFolder(await nearestFolder(dirname(path)));
  return "not there yet, made with the first run";
}
