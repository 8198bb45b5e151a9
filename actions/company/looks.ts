import { inFence, shortened } from "../markdown.ts";
import type { Complaint, Delivery } from "./delivery.ts";
import type { Review } from "./review.ts";

const MOST_LOOKS = 3;
const CHANGED_CHARACTERS = 30_000;
const LINES_AROUND = 3;

/** The parts of the project that the reviewer saw, by path. */
export type ReviewedFiles = Readonly<Record<string, string>>;

/** The reviewer looks once for each repair of what it objected to, as long as it finds failing checks, and not for ever. */
export function looksNow(earlier: readonly Delivery[]): boolean {
  const before = earlier.at(-1);
  if (before?.review === undefined || before.continued === true) return true;
  const { look } = before.review;
  const reviewed = earlier.find(({ review, continued }) => continued !== true && review?.look === look);
  return look < MOST_LOOKS && reviewed?.complaints.some(({ state }) => state === "failing") === true;
}

/**
 * A judgement that does not hold is an objection, and so is a refusal that names none. Earlier objections with a check stay, and others are
 * replaced by what is said now.
 */
export function objectionsIn({ reasons, complaints, judgements, accepts }: Review, before: readonly Complaint[]): readonly Complaint[] {
  const against = judgements
    .filter(({ holds }) => !holds)
    .map(({ id, reason }): Complaint => ({ id: `${id}-judged`, text: reason, state: "unproven" }));
  const refusal = !accepts && complaints.length === 0 && against.length === 0 ? [{ text: reasons, check: undefined }] : complaints;
  const last = Math.max(0, ...before.map(({ id }) => Number(/^R(\d+)$/.exec(id)?.[1] ?? 0)));
  const own = refusal.map(({ text, check }, index): Complaint => ({ id: `R${last + index + 1}`, text, check, state: "unproven" }));
  return [...before.filter(({ check }) => check !== undefined), ...own, ...against];
}

/** The lines of each file that differ, with some around them. */
export function repairText(before: ReviewedFiles, now: ReviewedFiles): string {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(now)])].filter((path) => before[path] !== now[path]);
  const changes = paths.map((path) => `--- ${path}\n${changedLines(before[path] ?? "", now[path] ?? "")}`);
  return changes.length === 0 ? "Nothing that you were shown." : inFence(shortened(changes.join("\n"), CHANGED_CHARACTERS), "diff");
}

function changedLines(before: string, now: string): string {
  const [old, next] = [before.split("\n"), now.split("\n")];
  const most = Math.min(old.length, next.length);
  let [start, end] = [0, 0];
  while (start < most && old[start] === next[start]) start++;
  while (end < most - start && old.at(-1 - end) === next.at(-1 - end)) end++;
  const marked = (mark: string, lines: readonly string[]): string[] => lines.map((line) => `${mark}${line}`);
  const until = next.length - end;
  return [
    ...marked(" ", next.slice(Math.max(0, start - LINES_AROUND), start)),
    ...marked("-", old.slice(start, old.length - end)),
    ...marked("+", next.slice(start, until)),
    ...marked(" ", next.slice(until, until + LINES_AROUND)),
  ].join("\n");
}
