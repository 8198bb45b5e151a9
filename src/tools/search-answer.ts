import type { SearchOutcome } from "./search-provider.ts";
import type { WebAnswer, WebOutcome } from "./web-request.ts";

/** What an answer that brings no results means for a search; undefined: it has results to read. */
export function unfitAnswer(outcome: WebOutcome, now: number): Exclude<SearchOutcome, { kind: "found" }> | undefined {
  if (outcome.kind !== "answer") return { kind: "failed", reason: outcome.reason };
  if (outcome.status === 429 || outcome.status === 503) return { kind: "busy", after: retryAfter(outcome, now) };
  if (outcome.status === 401 || outcome.status === 403)
    return { kind: "failed", reason: `it refused the key or the caller (status ${outcome.status})` };
  return outcome.status === 200 ? undefined : { kind: "failed", reason: `it answered with status ${outcome.status}` };
}

function retryAfter({ headers }: WebAnswer, now: number): number | undefined {
  const said = headers["retry-after"];
  if (said === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(said.trim()) ? Number(said) * 1000 : Date.parse(said) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
