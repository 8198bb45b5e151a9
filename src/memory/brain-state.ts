import { z } from "zod";
import { UsageError } from "../kernel/errors.ts";
import { parsedJson } from "../kernel/json.ts";
import { lazily } from "../kernel/lazily.ts";
import { assertMessage, createMessage, type Message, MessageSchema, serializeMessage } from "../message/message.ts";
import { joined, NO_SUMMARY, type NextSummary, type SummaryLevels, summaryText } from "./summary-levels.ts";

/** The immutable content of a brain memory. */
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
  /** Ids of the messages deleted last, which are left out of entries stored by others. */
  readonly removed: readonly string[];
  /** Milliseconds since 1970 when everything was forgotten; 0: never. Older content stored by others is left out. */
  readonly forgotten: number;
}

const VERSION = 1;
/** Limit on the ids of summarized messages. */
const MAX_COVERED = 100;
/** Limit on the ids of deleted messages. */
const MAX_REMOVED = 1_000;

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
  if (state.knowledge.some(({ id }) => id === message.id)) return state;
  return { ...state, knowledge: [...state.knowledge, message], removed: state.removed.filter((id) => id !== message.id) };
}

/** Removes a message. A summary that covers it is removed as a whole: the words of one message cannot be removed from it. */
export function withoutMessage(state: BrainState, id: string): BrainState {
  const isHeld = [...state.history, ...state.knowledge, ...state.originals].some((message) => message.id === id);
  if (!isHeld && !state.covered.includes(id)) return state;
  return { ...leftOf(state, [id], 0), removed: [...state.removed, id].slice(-MAX_REMOVED) };
}

function leftOf(state: BrainState, removed: readonly string[], at: number): BrainState {
  const isForgotten = state.forgotten < at;
  const isLeft = ({ id, timestamp }: Message): boolean => !removed.includes(id) && (!isForgotten || timestamp > at);
  // The words of a summarized message are unknown.
  const hasLostTalk = [...state.history, ...state.knowledge].some((one) => !isLeft(one) && one.content === state.lastTalk);
  const hasLostSummary = isForgotten || removed.some((id) => state.covered.includes(id) && !state.removed.includes(id));
  return {
    ...state,
    history: state.history.filter(isLeft),
    knowledge: state.knowledge.filter(isLeft),
    originals: state.originals.filter(isLeft),
    ...(hasLostSummary ? { levels: NO_SUMMARY } : {}),
    ...(hasLostSummary || hasLostTalk ? { lastTalk: undefined } : {}),
    ...(isForgotten ? { covered: [], forgotten: at } : {}),
  };
}

export function withCovered(state: BrainState, { covers, change }: NextSummary): BrainState {
  const ids = covers.map(({ id }) => id);
  return {
    ...state,
    history: state.history.filter(({ id }) => !ids.includes(id)),
    levels: change(state.levels),
    originals: [...state.originals, ...covers],
    covered: [...state.covered, ...ids].slice(-MAX_COVERED),
  };
}

export function withOriginals(state: BrainState, limit: number): BrainState {
  const excess = state.originals.length - limit;
  return excess <= 0 ? state : { ...state, originals: state.originals.slice(excess) };
}

const stateSchema = lazily(() =>
  z.object({
    v: z.literal(VERSION),
    history: z.array(MessageSchema),
    knowledge: z.array(MessageSchema),
    levels: z.object({ oldest: z.string(), older: z.array(z.string()), recent: z.array(z.string()) }),
    originals: z.array(MessageSchema),
    covered: z.array(z.string()),
    lastTalk: z.string().optional(),
    removed: z.array(z.string()),
    forgotten: z.number(),
  }),
);

type JsonMessages = readonly ReturnType<typeof serializeMessage>[];

/** The JSON form of a brain memory. */
export interface BrainJson extends Pick<BrainState, "levels" | "covered" | "removed" | "forgotten"> {
  readonly v: number;
  readonly history: JsonMessages;
  readonly knowledge: JsonMessages;
  readonly originals: JsonMessages;
  readonly lastTalk?: string;
}

export function brainJson({ history, knowledge, originals, lastTalk, ...state }: BrainState): BrainJson {
  const json = (messages: readonly Message[]): JsonMessages => messages.map(serializeMessage);
  const messages = { history: json(history), knowledge: json(knowledge), originals: json(originals) };
  return { v: VERSION, ...state, ...messages, ...(lastTalk === undefined ? {} : { lastTalk }) };
}

/** Reads the JSON of {@link brainJson}; a string names the fault of anything else. @throws UsageError `BRAIN_NEWER` for that of a newer version. */
export function readBrainState(text: string): BrainState | string {
  const json: unknown = parsedJson(text);
  if (json === undefined) return "it is no JSON";
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

/** Two states of one conversation, and their common base if it is known. */
export interface BrainSides {
  readonly theirs: BrainState;
  readonly mine: BrainState;
  readonly base?: BrainState | undefined;
}

/** Merges both states: messages by id, stored ones first. Both summaries are kept if neither covers all messages of the other. */
export function joinedBrain(given: BrainSides): BrainState {
  const sides = agreed(given);
  return withSummary(sides, chosenSummary(sides));
}

/** Returns both sides without what either has deleted. */
function agreed({ theirs, mine, base }: BrainSides): BrainSides {
  const at = Math.max(theirs.forgotten, mine.forgotten);
  const removed = [...new Set([...theirs.removed, ...mine.removed])].slice(-MAX_REMOVED);
  if (at === 0 && removed.length === 0) return { theirs, mine, base };
  const left = (state: BrainState): BrainState => ({ ...leftOf(state, removed, at), removed });
  return { theirs: left(theirs), mine: left(mine), base: base && left(base) };
}

type SummaryChoice = "theirs" | "mine" | "both";

function withSummary({ theirs, mine, base }: BrainSides, choice: SummaryChoice): BrainState {
  const both = {
    levels: joined(theirs.levels, mine.levels),
    covered: [...new Set([...theirs.covered, ...mine.covered])].slice(-MAX_COVERED),
  };
  const { levels, covered } = { theirs, mine, both }[choice];
  const stored = theirs.history.filter(({ id }) => choice === "theirs" || !mine.covered.includes(id));
  const own = mine.history.filter(({ id }) => choice === "mine" || !theirs.covered.includes(id));
  const history = eachOnce([...stored, ...own]);
  const isInHistory = (message: Message): boolean => history.some(({ id }) => id === message.id);
  return {
    history,
    // The oldest are dropped first, from either side.
    originals: eachOnce([...theirs.originals, ...mine.originals])
      .filter((message) => !isInHistory(message))
      .sort((one, other) => one.timestamp - other.timestamp),
    knowledge: eachOnce([...theirs.knowledge, ...mine.knowledge]),
    levels,
    covered,
    lastTalk: base?.lastTalk === mine.lastTalk ? theirs.lastTalk : mine.lastTalk,
    removed: mine.removed,
    forgotten: mine.forgotten,
  };
}

/** Without a base, a summary that covers all messages of the other replaces it. */
function chosenSummary({ theirs, mine, base }: BrainSides): SummaryChoice {
  if (isSameSummary(theirs, mine)) return "both";
  if (base === undefined) {
    if (replaces(theirs, mine)) return "theirs";
    return replaces(mine, theirs) ? "mine" : "both";
  }
  const isMineChanged = !isSameSummary(mine, base);
  const isTheirsChanged = !isSameSummary(theirs, base);
  if (!isMineChanged && hasCovered(theirs, mine)) return "theirs";
  return (!isMineChanged || !isTheirsChanged) && hasCovered(mine, theirs) ? "mine" : "both";
}

/** A summary of unknown origin may cover messages without known ids. */
function replaces(one: BrainState, other: BrainState): boolean {
  return hasCovered(one, other) && (other.covered.length > 0 || summaryText(other.levels) === "");
}

/** True when `one` has summarized every message that `other` has, as far as the limited lists of ids show. */
function hasCovered(one: BrainState, other: BrainState): boolean {
  if (one.covered.length < MAX_COVERED) return other.covered.every((id) => one.covered.includes(id));
  // A full list has lost its oldest ids.
  const newest = other.covered.at(-1);
  return newest === undefined || one.covered.includes(newest) || other.covered.length < MAX_COVERED;
}

function isSameSummary({ levels: one }: BrainState, { levels: other }: BrainState): boolean {
  return JSON.stringify([one.oldest, one.older, one.recent]) === JSON.stringify([other.oldest, other.older, other.recent]);
}

function eachOnce(messages: readonly Message[]): Message[] {
  const known = new Set<string>();
  return messages.filter(({ id }) => known.size < known.add(id).size);
}
