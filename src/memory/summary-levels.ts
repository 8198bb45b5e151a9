/*
 * The summary of a long conversation has three levels, each ten times as coarse as the one before. Ten messages make one summary of `recent`,
 * ten of those make one of `older`, and ten of those are merged into `oldest`, which is one text. A level never has more than ten summaries.
 */

/** Summaries, oldest first in each level. */
export interface SummaryLevels {
  readonly oldest: string;
  readonly older: readonly string[];
  readonly recent: readonly string[];
}

/** Summaries of one level that are merged into one of the next. */
export const FAN_IN = 10;

export const NO_SUMMARY: SummaryLevels = { oldest: "", older: [], recent: [] };

/** The summary of a role's memory in a run. */
export interface RoleSummary extends SummaryLevels {
  /** Ids of the messages summarized last, oldest first. All earlier messages are covered too. */
  readonly covered: readonly string[];
  /** After a failure the model is asked again when so many messages are not summarized. */
  readonly waits?: number;
}

export const NOTHING_SUMMED_UP: RoleSummary = { ...NO_SUMMARY, covered: [] };

/** Summaries to merge into one, with the earlier summary. */
export interface Merge {
  readonly level: "recent" | "older";
  readonly items: readonly string[];
  readonly earlier: string;
}

/** All summaries as one text, oldest first. */
export function summaryText({ oldest, older, recent }: SummaryLevels): string {
  return [oldest, ...older, ...recent].filter((text) => text !== "").join("\n\n");
}

/** Returns the merge that is due, of the coarser level first. */
export function dueMerge({ oldest, older, recent }: SummaryLevels): Merge | undefined {
  if (older.length >= FAN_IN) return { level: "older", items: older.slice(0, FAN_IN), earlier: oldest };
  if (recent.length < FAN_IN) return undefined;
  return { level: "recent", items: recent.slice(0, FAN_IN), earlier: summaryText({ oldest, older, recent: [] }) };
}

/**
 * Applies a merge. A merge of the coarsest level replaces `oldest`. Levels that have changed since, because others were loaded, stay unchanged.
 */
export function merged(levels: SummaryLevels, { level, items }: Merge, text: string): SummaryLevels {
  if (items.some((item, place) => levels[level][place] !== item)) return levels;
  if (level === "older") return { ...levels, oldest: text, older: levels.older.slice(items.length) };
  return { ...levels, older: [...levels.older, text], recent: levels.recent.slice(items.length) };
}

export function withRecent(levels: SummaryLevels, text: string): SummaryLevels {
  return { ...levels, recent: [...levels.recent, text] };
}

/** Appends the local summaries to the stored ones. */
export function joined(stored: SummaryLevels, here: SummaryLevels): SummaryLevels {
  const known = new Set([stored.oldest, ...stored.older, ...stored.recent]);
  const news = [here.oldest, ...here.older, ...here.recent].filter((text) => text !== "" && !known.has(text));
  return { ...stored, recent: [...stored.recent, ...news] };
}
