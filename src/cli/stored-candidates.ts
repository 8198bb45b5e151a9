import { sqlite } from "../adapters/sqlite.ts";
import { scopeOfKey, scopeText } from "../memory/memory-scope.ts";
import { type Journal, newestRuns } from "../runtime/record/journal.ts";
import { pendingQuestions } from "../runtime/record/questions.ts";
import { aboutOf } from "./about.ts";
import { summariesOf } from "./commands/runs-ls.ts";
import { configured } from "./config.ts";
import type { Host } from "./host.ts";
import { MEMORIES } from "./memory-store.ts";
import { isStore, storePlace } from "./store.ts";
import { loadRun, storedRun } from "./stored-run.ts";

export interface Candidate {
  readonly word: string;
  readonly text: string;
}

const MOST_OFFERED = 100;
/** Runs whose record is read to describe them: a person waits. */
const MOST_DESCRIBED = 20;
/** A word that a shell takes as it is. Others are not offered: a shell would obey what is in them. */
const PLAIN = /^[\p{L}\p{N}_.@:+][\p{L}\p{N}_.@:+-]*$/u;

export type StoredPart = "questions" | "members" | "candidates";

interface Wanted {
  readonly store: string | undefined;
  /** The run whose parts are wanted. */
  readonly first: string;
  readonly typed: string;
  readonly isDescribed: boolean;
}

export async function storedWords(host: Host, source: "runs" | "memories" | StoredPart, wanted: Wanted): Promise<readonly Candidate[]> {
  const { env } = await configured(host);
  const place = { cwd: host.cwd, env };
  const { path } = storePlace({ store: wanted.store }, place, source === "memories" ? MEMORIES : undefined);
  if (!(await isStore(path))) return [];
  const found = source === "memories" ? await memoriesIn(path) : await inJournal(path, source, wanted);
  return found.filter(({ word }) => PLAIN.test(word));
}

async function memoriesIn(path: string): Promise<readonly Candidate[]> {
  const { storedRoles } = await import("../adapters/sqlite-store-file.ts");
  return named((await storedRoles(path)).map(({ roleId }) => scopeText(scopeOfKey(roleId))));
}

async function inJournal(path: string, source: "runs" | StoredPart, wanted: Wanted): Promise<readonly Candidate[]> {
  const journal = sqlite({ path });
  try {
    return source === "runs" ? await runsIn(journal, wanted) : await partsOf(journal, source, wanted.first);
  } finally {
    await journal.close();
  }
}

async function runsIn(journal: Journal, { typed, isDescribed }: Wanted): Promise<readonly Candidate[]> {
  const runs = await newestRuns(journal, { limit: MOST_OFFERED, prefix: typed, tallies: isDescribed });
  const { signal } = new AbortController();
  const described = isDescribed ? await summariesOf(journal, runs.slice(0, MOST_DESCRIBED), signal) : [];
  const texts = new Map(described.map(({ id, status, idea, team }) => [id, `${status}: ${idea === "" ? team : idea}`]));
  return runs.map(({ runId }) => ({ word: runId, text: texts.get(runId) ?? "" }));
}

async function partsOf(journal: Journal, part: StoredPart, given: string): Promise<readonly Candidate[]> {
  const runId = await storedRun(journal, given);
  const { state } = await loadRun(journal, runId);
  if (part === "questions") return pendingQuestions(state).map(({ id, role, text }) => ({ word: id, text: `${role}: ${text}` }));
  if (part === "members") return named([...state.roles.values()].flatMap(({ name, isHired }) => (isHired ? [name] : [])));
  // A Tab runs no code of a crew.
  if (aboutOf(runId, state.about).crew.kind === "module") return [];
  const { definingTeam } = await import("./commands/hire.ts");
  const { roleNames, reserveNames } = await definingTeam({ journal }, runId, state);
  return named([...reserveNames, ...roleNames]);
}

function named(words: readonly string[]): readonly Candidate[] {
  return words.map((word) => ({ word, text: "" }));
}
