/*
 * What is left of a long conversation: three levels, each ten times as coarse as the one before. Ten messages make one summary of `recent`, ten of
 * those one of `older`, ten of those are worked into `oldest`, which stays one text. So a level never has more than ten.
 */

/** Summaries, the oldest of a level first. */
export interface SummaryLevels {
  readonly oldest: string;
  readonly older: readonly string[];
  readonly recent: readonly string[];
}

/** So many summaries of one level become one of the next. */
export const FAN_IN = 10;

export const NO_SUMMARY: SummaryLevels = { oldest: "", older: [], recent: [] };

/** What a role's memory is summed up to in a run. */
export interface RoleSummary extends SummaryLevels {
  /** Ids of the messages that were summed up last, oldest first: with them all that came before is covered. */
  readonly covered: readonly string[];
  /** The model failed to sum up: it is asked again when so many messages are not summed up. */
  readonly waits?: number;
}

export const NOTHING_SUMMED_UP: RoleSummary = { ...NO_SUMMARY, covered: [] };

/** Summaries that have to become one, and what the model must know besides: everything older. */
export interface Merge {
  readonly level: "recent" | "older";
  readonly items: readonly string[];
  readonly earlier: string;
}

/** The whole of it as one text, from the oldest to the newest. */
export function summaryText({ oldest, older, recent }: SummaryLevels): string {
  return [oldest, ...older, ...recent].filter((text) => text !== "").join("\n\n");
}

/** What is due, the coarser level first so that there is room for what comes from the finer. */
export function dueMerge({ oldest, older, recent }: SummaryLevels): Merge | undefined {
  if (older.length >= FAN_IN) return { level: "older", items: older.slice(0, FAN_IN), earlier: oldest };
  if (recent.length < FAN_IN) return undefined;
  return { level: "recent", items: recent.slice(0, FAN_IN), earlier: summaryText({ oldest, older, recent: [] }) };
}

/**
 * After `text` has been made of a merge's items; of the coarsest level it takes the place of `oldest`, which it was made with. Levels that
 * are not those of the merge any more, because others were loaded meanwhile, stay as they are.
 */
export function merged(levels: SummaryLevels, { level, items }: Merge, text: string): SummaryLevels {
  if (items.some((item, place) => levels[level][place] !== item)) return levels;
  if (level === "older") return { ...levels, oldest: text, older: levels.older.slice(items.length) };
  return { ...levels, older: [...levels.older, text], recent: levels.recent.slice(items.length) };
}

export function withRecent(levels: SummaryLevels, text: string): SummaryLevels {
  return { ...levels, recent: [...levels.recent, text] };
}

/** What was stored, then what was summed up here before it was known. */
export function joined(stored: SummaryLevels, here: SummaryLevels): SummaryLevels {
  const known = new Set([stored.oldest, ...stored.older, ...stored.recent]);
  const news = [here.oldest, ...here.older, ...here.recent].filter((text) => text !== "" && !known.has(text));
  return { ...stored, recent: [...stored.recent, ...news] };
}
