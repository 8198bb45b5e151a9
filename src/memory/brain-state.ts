import { z } from "zod";
import { UsageError } from "../kernel/errors.ts";
import { lazily } from "../kernel/lazily.ts";
import { assertMessage, createMessage, type Message, MessageSchema, serializeMessage } from "../message/message.ts";
import { joined, NO_SUMMARY, type NextSummary, type SummaryLevels, summaryText } from "./summary-levels.ts";

/** The content of a brain memory. It is never changed: a change makes a new one. */
export interface BrainState {
  /** Messages that are not summarized yet, oldest first. */
  readonly history: readonly Message[];
  readonly knowledge: readonly Message[];
  readonly levels: SummaryLevels;
  /** The newest messages that the summary covers, oldest first. */
  readonly originals: readonly Message[];
  /** Ids of the messages summarized last, oldest first: added again, they are not new. */
  readonly covered: readonly string[];
  readonly lastTalk: string | undefined;
  /** Ids of the messages deleted last: what others have stored of them is left out. */
  readonly removed: readonly string[];
  /** Milliseconds since 1970 when everything was forgotten; 0: never. What others have stored of the time before is left out. */
  readonly forgotten: number;
}

export function heldIn({ history, knowledge, originals }: Pick<BrainState, "history" | "knowledge" | "originals">): number {
  return history.length + knowledge.length + originals.length;
}

const VERSION = 1;
/** Limit on the ids of summarized messages. */
const MOST_COVERED = 100;
/** Limit on the ids of deleted messages. */
const MOST_REMOVED = 1_000;

export const NO_BRAIN: BrainState = {
  history: [],
  knowledge: [],
  levels: NO_SUMMARY,
  originals: [],
  covered: [],
  lastTalk: undefined,
  removed: [],
  forgotten: 0,
};

export function withHistory(state: BrainState, message: Message, role: Message["role"]): BrainState {
  assertMessage(message);
  if (state.covered.includes(message.id) || state.history.some(({ id }) => id === message.id)) return state;
  const own = message.role === role ? message : createMessage(message.content, { ...message, role });
  return { ...state, history: [...state.history, own], removed: state.removed.filter((id) => id !== message.id) };
}

export function withKnowledge(state: BrainState, message: Message): BrainState {
  assertMessage(message);
  const isKnown = state.knowledge.some(({ id }) => id === message.id);
  return isKnown ? state : { ...state, knowledge: [...state.knowledge, message], removed: state.removed.filter((id) => id !== message.id) };
}

/** Removes a message. A summary that covers it is removed as a whole: the words of one message cannot be taken out of it. */
export function withoutMessage(state: BrainState, id: string): BrainState {
  const held = [...state.history, ...state.knowledge, ...state.originals].find((message) => message.id === id);
  if (held === undefined && !state.covered.includes(id)) return state;
  const rest = leftOf(state, [id], 0);
  return { ...rest, removed: [...state.removed, id].slice(-MOST_REMOVED) };
}

function leftOf(state: BrainState, removed: readonly string[], at: number): BrainState {
  const isRemoved = memberOf(removed);
  const isForgotten = state.forgotten < at;
  const isLeft = ({ id, timestamp }: Message): boolean => !isRemoved(id) && (!isForgotten || timestamp > at);
  const isCovered = memberOf(state.covered);
  // Of a summarized message the words are not known.
  const hasLostTalk = [...state.history, ...state.knowledge].some((one) => !isLeft(one) && one.content === state.lastTalk);
  const hasLostSummary = isForgotten || removed.some((id) => isCovered(id) && !state.removed.includes(id));
  return {
    ...state,
    history: state.history.filter(isLeft),
    knowledge: state.knowledge.filter(isLeft),
    originals: state.originals.filter(isLeft),
    ...(hasLostSummary ? { levels: NO_SUMMARY } : {}),
    ...(hasLostSummary || hasLostTalk ? { lastTalk: undefined } : {}),
    ...(isForgotten ? { covered: [], lastTalk: undefined, forgotten: at } : {}),
  };
}

/** Returns both sides without what either has deleted. */
function agreed({ theirs, mine, base }: BrainSides): BrainSides {
  const at = Math.max(theirs.forgotten, mine.forgotten);
  const removed = [...new Set([...theirs.removed, ...mine.removed])].slice(-MOST_REMOVED);
  if (at === 0 && removed.length === 0) return { theirs, mine, base };
  const [them, me, both] = [theirs, mine, base].map((state) => state && { ...leftOf(state, removed, at), removed });
  return { theirs: them ?? theirs, mine: me ?? mine, base: both };
}

export function withCovered(state: BrainState, next: NextSummary): BrainState {
  const ids = next.covers.map(({ id }) => id);
  const isCovered = memberOf(ids);
  return {
    ...state,
    history: state.history.filter(({ id }) => !isCovered(id)),
    levels: next.change(state.levels),
    originals: [...state.originals, ...next.covers],
    covered: [...state.covered, ...ids].slice(-MOST_COVERED),
  };
}

export function withOriginals(state: BrainState, most: number): BrainState {
  const { originals } = state;
  return originals.length <= most ? state : { ...state, originals: originals.slice(originals.length - most) };
}

const stateSchema = lazily(() =>
  z.object({
    v: z.literal(VERSION),
    history: z.array(MessageSchema),
    knowledge: z.array(MessageSchema),
    levels: z.object({ oldest: z.string(), older: z.array(z.string()), recent: z.array(z.string()) }),
    originals: z.array(MessageSchema).default([]),
    covered: z.array(z.string()),
    lastTalk: z.string().optional(),
    removed: z.array(z.string()).default([]),
    forgotten: z.number().default(0),
  }),
);

/** The JSON form of a brain memory. */
export type BrainJson = ReturnType<typeof brainJson>;

export function brainJson({ history, knowledge, levels, originals, covered, lastTalk, removed, forgotten }: BrainState): {
  readonly v: number;
  readonly history: readonly ReturnType<typeof serializeMessage>[];
  readonly knowledge: readonly ReturnType<typeof serializeMessage>[];
  readonly levels: SummaryLevels;
  readonly originals?: readonly ReturnType<typeof serializeMessage>[];
  readonly covered: readonly string[];
  readonly lastTalk?: string;
  readonly removed?: readonly string[];
  readonly forgotten?: number;
} {
  return {
    v: VERSION,
    history: history.map(serializeMessage),
    knowledge: knowledge.map(serializeMessage),
    levels,
    ...(originals.length === 0 ? {} : { originals: originals.map(serializeMessage) }),
    covered,
    ...(lastTalk === undefined ? {} : { lastTalk }),
    ...(removed.length === 0 ? {} : { removed }),
    ...(forgotten === 0 ? {} : { forgotten }),
  };
}

/**
 * Reads the JSON of {@link brainJson}. Returns a text that says what is wrong with anything else.
 *
 * @throws UsageError `BRAIN_NEWER` when a newer version of this package wrote it.
 */
export function readBrainState(text: string): BrainState | string {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return "it is no JSON";
  }
  const version = (json as { readonly v?: unknown } | null)?.v;
  if (typeof version === "number" && version > VERSION) {
    throw new UsageError(
      "BRAIN_NEWER",
      `Expected a brain memory of version ${VERSION} at most, got ${version}. Update this program; until then it is left as it is.`,
    );
  }
  const parsed = stateSchema().safeParse(json);
  if (!parsed.success) return `it is no brain memory: ${z.prettifyError(parsed.error)}`;
  const { v: _version, ...state } = parsed.data;
  return { ...state, lastTalk: state.lastTalk };
}

/** Two states of one conversation, and their common base where it is known. */
export interface BrainSides {
  /** The stored state. */
  readonly theirs: BrainState;
  /** The local state. */
  readonly mine: BrainState;
  readonly base?: BrainState | undefined;
}

/**
 * Merges both states: messages by id, stored ones first. Only messages that the kept summary covers are left out.
 *
 * @returns undefined when both changed the summary since their base, and neither covers all messages of the other
 */
export function mergedBrain(given: BrainSides): BrainState | undefined {
  const sides = agreed(given);
  const choice = chosenSummary(sides);
  return choice === undefined ? undefined : withSummary(sides, choice);
}

export function joinedBrain(given: BrainSides): BrainState {
  const sides = agreed(given);
  return withSummary(sides, chosenSummary(sides) ?? "both");
}

type SummaryChoice = "theirs" | "mine" | "both";

function withSummary({ theirs, mine, base }: BrainSides, choice: SummaryChoice): BrainState {
  const isCoveredByThem = memberOf(choice === "mine" ? [] : theirs.covered);
  const isCoveredByMe = memberOf(choice === "theirs" ? [] : mine.covered);
  const stored = theirs.history.filter(({ id }) => !isCoveredByMe(id));
  const own = mine.history.filter(({ id }) => !isCoveredByThem(id));
  const both = {
    levels: joined(theirs.levels, mine.levels),
    covered: [...new Set([...theirs.covered, ...mine.covered])].slice(-MOST_COVERED),
  };
  const { levels, covered } = { theirs, mine, both }[choice];
  const history = eachOnce([...stored, ...own]);
  const isInHistory = memberOf(history.map(({ id }) => id));
  return {
    history,
    // The oldest leave first, whoever has them.
    originals: eachOnce([...theirs.originals, ...mine.originals])
      .filter(({ id }) => !isInHistory(id))
      .sort((one, other) => one.timestamp - other.timestamp),
    knowledge: eachOnce([...theirs.knowledge, ...mine.knowledge]),
    levels,
    covered,
    lastTalk: base?.lastTalk === mine.lastTalk ? theirs.lastTalk : mine.lastTalk,
    removed: mine.removed,
    forgotten: mine.forgotten,
  };
}

function chosenSummary({ theirs, mine, base }: BrainSides): SummaryChoice | undefined {
  if (isSameSummary(theirs.levels, mine.levels)) return "both";
  if (base === undefined) return unrelated(theirs, mine);
  const isMineChanged = !isSameSummary(mine.levels, base.levels);
  const isTheirsChanged = !isSameSummary(theirs.levels, base.levels);
  if (!isMineChanged && (covers(theirs, mine) || isFarAhead(theirs, mine))) return "theirs";
  if ((!isMineChanged || !isTheirsChanged) && covers(mine, theirs)) return "mine";
  return undefined;
}

/** Without a base, a summary that covers all messages of the other replaces it; otherwise both are kept. */
function unrelated(theirs: BrainState, mine: BrainState): SummaryChoice {
  const [isTheirsMore, isMineMore] = [covers(theirs, mine), covers(mine, theirs)];
  if (isTheirsMore && isNothingOrNamed(mine)) return "theirs";
  return isMineMore && isNothingOrNamed(theirs) ? "mine" : "both";
}

/** A summary from elsewhere may cover messages without known ids. */
function isNothingOrNamed({ covered, levels }: BrainState): boolean {
  return covered.length > 0 || summaryText(levels) === "";
}

/** True when `one` has summarized every message that `other` has. A full list has lost its oldest ids. */
function covers(one: BrainState, other: BrainState): boolean {
  const isCovered = memberOf(one.covered);
  const first = other.covered.findIndex(isCovered);
  if (first === -1) return other.covered.length === 0;
  if (first > 0 && one.covered.length < MOST_COVERED) return false;
  return other.covered.slice(first).every(isCovered);
}

/** True when `one` is so much later that it has lost all ids that `other` covers. An older state never has more ids than a later one. */
function isFarAhead(one: BrainState, other: BrainState): boolean {
  return one.covered.length >= MOST_COVERED && other.covered.length < MOST_COVERED;
}

function isSameSummary(one: SummaryLevels, other: SummaryLevels): boolean {
  return JSON.stringify([one.oldest, one.older, one.recent]) === JSON.stringify([other.oldest, other.older, other.recent]);
}

export function eachOnce(messages: readonly Message[]): Message[] {
  const known = new Set<string>();
  return messages.filter(({ id }) => known.size < known.add(id).size);
}

function memberOf(ids: readonly string[]): (id: string) => boolean {
  const all = new Set(ids);
  return (id) => all.has(id);
}
