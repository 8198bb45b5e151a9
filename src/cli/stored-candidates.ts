import { sqlite } from "../adapters/sqlite.ts";
import { scopeOfKey, scopeText } from "../memory/memory-scope.ts";
import { type Journal, newestRuns } from "../runtime/record/journal.ts";
import { pendingQuestions } from "../runtime/record/questions.ts";
import { aboutOf, crewIn } from "./about.ts";
import type { Candidate } from "./completion.ts";
import { configured } from "./config.ts";
import { summariesOf } from "./commands/runs-ls.ts";
import type { Host } from "./host.ts";
import { MEMORIES } from "./memory-store.ts";
import { isStore, type StoreKind, storePlace } from "./store.ts";
import { loadRun, storedRun } from "./stored-run.ts";

/** Runs that a shell offers. */
const MOST_OFFERED = 100;
/** Runs whose record is read to describe them: a person waits. */
const MOST_DESCRIBED = 20;

/** A word that a shell takes as it is. Others are not offered: a shell would obey what is in them. */
const PLAIN = /^[\p{L}\p{N}_.@:+-]+$/u;

/** The parts of a run that a shell offers. */
export type StoredPart = "questions" | "members" | "candidates";

interface Wanted {
  readonly store?: string;
  /** The beginning of the ids. */
  readonly typed: string;
  readonly isDescribed: boolean;
}

/** The newest runs of the store whose id begins with a text. @throws JournalError, UsageError where the store cannot be read */
export async function storedRuns(host: Host, wanted: Wanted): Promise<readonly Candidate[]> {
  return withJournal(host, wanted, async (journal) => {
    const found = await newestRuns(journal, { limit: MOST_OFFERED, prefix: wanted.typed, tallies: wanted.isDescribed });
    const runs = found.filter(({ runId }) => isPlain(runId));
    const { signal } = new AbortController();
    const described = wanted.isDescribed ? await summariesOf(journal, runs.slice(0, MOST_DESCRIBED), signal) : [];
    const texts = new Map(described.map(({ id, status, idea, team }) => [id, `${status}: ${idea === "" ? team : idea}`]));
    return runs.map(({ runId }) => ({ word: runId, text: texts.get(runId) ?? "" }));
  });
}

/** Parts of one run. @throws JournalError, UsageError where the run cannot be read */
export function storedParts(host: Host, part: StoredPart, given: string, wanted: Wanted): Promise<readonly Candidate[]> {
  return withJournal(host, wanted, async (journal) => {
    const runId = await storedRun(journal, given);
    const { state } = await loadRun(journal, runId);
    if (part === "questions") return pendingQuestions(state).map(({ id, role, text }) => ({ word: id, text: `${role}: ${text}` }));
    if (part === "members") {
      const team = [...state.roles.values()].filter(({ isHired }) => isHired);
      return plain(team.map(({ name }) => name));
    }
    // A Tab runs no code of a crew.
    if (crewIn(aboutOf(runId, state.about)).kind === "module") return [];
    const { definingTeam } = await import("./commands/hire.ts");
    const { roleNames, reserveNames } = await definingTeam({ journal }, runId, state);
    return plain([...reserveNames, ...roleNames]);
  });
}

/** The roles with a memory. @throws MemoryError, UsageError where the store cannot be read */
export async function storedMemories(host: Host, wanted: Wanted): Promise<readonly Candidate[]> {
  const path = await storeOf(host, wanted, MEMORIES);
  if (path === undefined) return [];
  const { storedRoles } = await import("../adapters/sqlite-store-file.ts");
  return plain((await storedRoles(path)).map(({ roleId }) => scopeText(scopeOfKey(roleId))));
}

async function withJournal(
  host: Host,
  wanted: Wanted,
  work: (journal: Journal) => Promise<readonly Candidate[]>,
): Promise<readonly Candidate[]> {
  const path = await storeOf(host, wanted);
  if (path === undefined) return [];
  const journal = sqlite({ path });
  try {
    return await work(journal);
  } finally {
    await journal.close();
  }
}

/** The file that is meant; undefined where there is none. */
async function storeOf(host: Host, { store }: Wanted, kind?: StoreKind): Promise<string | undefined> {
  const { env } = await configured(host);
  const { path } = storePlace(store === undefined ? {} : { store }, { cwd: host.cwd, env }, kind);
  return (await isStore(path)) ? path : undefined;
}

function plain(words: readonly string[]): readonly Candidate[] {
  return words.filter(isPlain).map((word) => ({ word, text: "" }));
}

function isPlain(word: string): boolean {
  return PLAIN.test(word) && !word.startsWith("-");
}
