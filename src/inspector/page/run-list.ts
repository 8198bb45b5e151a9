import type { RunSummary } from "../../runtime/record/run-summary.ts";

/** The runs that a page lists, the newest first, and the cursor of those that it does not list yet. */
export interface RunList {
  readonly runs: readonly RunSummary[];
  readonly next?: string;
}

/**
 * Returns a list after its newest runs were read again. Runs that came meanwhile are in it, and those that were removed from the part that was read
 * are not.
 */
export function refreshed(known: RunList | undefined, { runs, next }: RunList): RunList {
  const last = runs.at(-1);
  const end = known?.runs.findIndex(({ id }) => id === last?.id) ?? -1;
  // Without a next page it is the whole list. Where the last run is not known, so many came that the known ones are older pages.
  if (known === undefined || next === undefined || end === -1) return { runs, ...(next === undefined ? {} : { next }) };
  return { runs: [...runs, ...known.runs.slice(end + 1)], ...(known.next === undefined ? {} : { next: known.next }) };
}

/** Returns a list with the next page at its end. */
export function extended(known: RunList | undefined, { runs, next }: RunList): RunList {
  const added = new Set(runs.map(({ id }) => id));
  return { runs: [...(known?.runs ?? []).filter(({ id }) => !added.has(id)), ...runs], ...(next === undefined ? {} : { next }) };
}
