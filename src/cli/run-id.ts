import { UsageError } from "../kernel/errors.ts";
import { shown } from "./screen/text.ts";

/** Fewest characters of an id that is shown: the time in it, without its random part. */
const LEAST = 8;
/** Runs that an error names. */
const NAMED = 6;

/**
 * The run that an id, or the beginning of one, means.
 *
 * @param ids the oldest first
 * @throws UsageError `RUN_UNKNOWN`, `RUN_AMBIGUOUS`, both with the ids that may be meant
 */
export function findRun(ids: readonly string[], given: string): string {
  if (ids.includes(given)) return given;
  const meant = given === "" ? [] : ids.filter((id) => id.startsWith(given));
  const [only] = meant;
  if (only !== undefined && meant.length === 1) return only;
  const text = shown(given, 80);
  if (meant.length > 1)
    throw new UsageError(
      "RUN_AMBIGUOUS",
      `Expected the beginning of one run's id, got "${text}", which ${listed(meant)} have. Say more of it.`,
    );
  const known = ids.length === 0 ? "There is none yet." : `There ${ids.length === 1 ? "is" : "are"} ${listed(ids)}.`;
  throw new UsageError("RUN_UNKNOWN", `Expected the id of a run, or its beginning, got "${text}". ${known} See: troupe runs ls`);
}

/** The shortest beginning of an id that no other run has, but no shorter than its time. */
export function shortId(id: string, ids: readonly string[]): string {
  const dash = id.indexOf("-");
  for (let length = dash >= LEAST ? dash : LEAST; length < id.length; length++) {
    const short = id.slice(0, length);
    if (!ids.some((other) => other !== id && other.startsWith(short))) return short;
  }
  return id;
}

/** The newest first. */
function listed(ids: readonly string[]): string {
  const newest = ids
    .toReversed()
    .slice(0, NAMED)
    .map((id) => shown(id, 60));
  return `${newest.join(", ")}${ids.length > newest.length ? ` and ${ids.length - newest.length} more` : ""}`;
}
