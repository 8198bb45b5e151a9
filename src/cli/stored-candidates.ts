import { sqlite } from "../adapters/sqlite.ts";
import { newestRuns } from "../runtime/record/journal.ts";
import type { Candidate } from "./completion.ts";
import { configured } from "./config.ts";
import { rowsOf } from "./commands/runs-ls.ts";
import type { Host } from "./host.ts";
import { isStore, storePlace } from "./store.ts";

/** Runs that a shell offers. */
const MOST_OFFERED = 100;
/** Runs whose record is read to describe them: a person waits. */
const MOST_DESCRIBED = 20;

/** An id that a shell takes as it is. Others are not offered: a shell would obey what is in them. */
const PLAIN = /^[\w.@:+-]+$/;

interface Wanted {
  readonly store?: string;
  /** The beginning of the ids. */
  readonly typed: string;
  readonly isDescribed: boolean;
}

/** The newest runs of the store whose id begins with a text. @throws JournalError, UsageError where the store cannot be read */
export async function storedRuns(host: Host, { store, typed, isDescribed }: Wanted): Promise<readonly Candidate[]> {
  const { env } = await configured(host);
  const { path } = storePlace(store === undefined ? {} : { store }, { cwd: host.cwd, env });
  if (!(await isStore(path))) return [];
  const journal = sqlite({ path });
  try {
    const found = await newestRuns(journal, { limit: MOST_OFFERED, prefix: typed });
    const runs = found.filter(({ runId }) => PLAIN.test(runId) && !runId.startsWith("-"));
    const rows = isDescribed ? await rowsOf(journal, runs.slice(0, MOST_DESCRIBED), new AbortController().signal) : [];
    const texts = new Map(rows.map(({ runId, status, idea }) => [runId, `${status}: ${idea}`]));
    return runs.map(({ runId }) => ({ word: runId, text: texts.get(runId) ?? "" }));
  } finally {
    await journal.close();
  }
}
