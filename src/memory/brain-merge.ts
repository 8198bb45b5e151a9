import type { Message } from "../message/message.ts";
import { type BrainState, MOST_COVERED } from "./brain-state.ts";
import { joined, type SummaryLevels, summaryText } from "./summary-levels.ts";

/** Two states of one conversation, and the last state that both were made of, where it is known. */
export interface BrainSides {
  /** What is stored. */
  readonly theirs: BrainState;
  /** What is held here. */
  readonly mine: BrainState;
  readonly base?: BrainState | undefined;
}

/**
 * Both states in one: messages by their ids, those that are stored first. A message that is covered by a summary that stays is not taken again; nothing
 * else is left out.
 *
 * @returns undefined when both have changed the summary since their base, so that neither covers what the other does
 */
export function mergedBrain(sides: BrainSides): BrainState | undefined {
  const choice = chosenSummary(sides);
  return choice === undefined ? undefined : withSummary(sides, choice);
}

/** The same, but two summaries stand one behind the other: the stored one first. */
export function joinedBrain(sides: BrainSides): BrainState {
  return withSummary(sides, chosenSummary(sides) ?? "both");
}

type Choice = "theirs" | "mine" | "both";

function withSummary({ theirs, mine, base }: BrainSides, choice: Choice): BrainState {
  const isCoveredByThem = memberOf(choice === "mine" ? [] : theirs.covered);
  const isCoveredByMe = memberOf(choice === "theirs" ? [] : mine.covered);
  const stored = theirs.history.filter(({ id }) => !isCoveredByMe(id));
  const own = mine.history.filter(({ id }) => !isCoveredByThem(id));
  return {
    history: inOne(stored, own),
    knowledge: inOne(theirs.knowledge, mine.knowledge),
    levels: choice === "both" ? joined(theirs.levels, mine.levels) : choice === "mine" ? mine.levels : theirs.levels,
    covered:
      choice === "both"
        ? [...new Set([...theirs.covered, ...mine.covered])].slice(-MOST_COVERED)
        : choice === "mine"
          ? mine.covered
          : theirs.covered,
    lastTalk: base?.lastTalk === mine.lastTalk ? theirs.lastTalk : mine.lastTalk,
  };
}

function chosenSummary({ theirs, mine, base }: BrainSides): Choice | undefined {
  if (isSameSummary(theirs.levels, mine.levels)) return "both";
  if (base === undefined) return unrelated(theirs, mine);
  const isMineChanged = !isSameSummary(mine.levels, base.levels);
  const isTheirsChanged = !isSameSummary(theirs.levels, base.levels);
  if (!isMineChanged && (covers(theirs, mine) || isFarAhead(theirs, mine))) return "theirs";
  if ((!isMineChanged || !isTheirsChanged) && covers(mine, theirs)) return "mine";
  return undefined;
}

/** Where nothing is known of what both were made of, a summary that covers all the other covers takes its place; else none is given up. */
function unrelated(theirs: BrainState, mine: BrainState): Choice {
  const [isTheirsMore, isMineMore] = [covers(theirs, mine), covers(mine, theirs)];
  if (isTheirsMore && isNothingOrNamed(mine)) return "theirs";
  return isMineMore && isNothingOrNamed(theirs) ? "mine" : "both";
}

/** A summary from elsewhere may cover nothing that has an id. */
function isNothingOrNamed({ covered, levels }: BrainState): boolean {
  return covered.length > 0 || summaryText(levels) === "";
}

/** Whether one has summed up every message that the other has. A full list has lost its oldest ids. */
function covers(one: BrainState, other: BrainState): boolean {
  const isCovered = memberOf(one.covered);
  const first = other.covered.findIndex(isCovered);
  if (first === -1) return other.covered.length === 0;
  if (first > 0 && one.covered.length < MOST_COVERED) return false;
  return other.covered.slice(first).every(isCovered);
}

/** Whether one has lost the ids of all that the other covers, because it has gone on so far. An older state has no more ids than a later one. */
function isFarAhead(one: BrainState, other: BrainState): boolean {
  return one.covered.length >= MOST_COVERED && other.covered.length < MOST_COVERED;
}

function isSameSummary(one: SummaryLevels, other: SummaryLevels): boolean {
  return JSON.stringify([one.oldest, one.older, one.recent]) === JSON.stringify([other.oldest, other.older, other.recent]);
}

function inOne(first: readonly Message[], second: readonly Message[]): Message[] {
  const isKnown = memberOf(first.map(({ id }) => id));
  return [...first, ...second.filter(({ id }) => !isKnown(id))];
}

function memberOf(ids: readonly string[]): (id: string) => boolean {
  const all = new Set(ids);
  return (id) => all.has(id);
}
