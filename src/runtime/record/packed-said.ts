import { isRecord, isList } from "../../kernel/value-kind.ts";
import type { Message } from "../../message/message.ts";
import type { RecordedMemoryOp, Sent } from "./event.ts";
import { type Members, membersBeside, withMembers } from "./members.ts";
import { sharedLine } from "./shared-lines.ts";

/*
 * What was said and what is remembered, as short lists: see packed-event.ts. What is left out follows from who said it in which activation.
 *
 *   [content, causeBy, sendTo, to, parents, message?, more?]     a message on its way
 *
 * A list of one text is that text. `sendTo`, `to`, `parents`: a number stands for a list that is known, see {@link SAME}, {@link SELF},
 * {@link NOBODY} and {@link AS_BEFORE}. `message` has the other members of the message, where they are not what the speaker would give it;
 * a number there is nothing but its age, `at` of the speaker less its timestamp. `more` has those beside the message.
 *
 * What is remembered is a list: a number from 0 on is the message said at that place, one below 0 a parent of the first one said
 * (-1 the first), a text is the id of another message, and a list is a write of another kind.
 */

/** Who says something: what a message has of that. */
export interface Speaker {
  readonly role: string;
  /** What the ids of its messages begin with. */
  readonly ids: string;
  /** Milliseconds. */
  readonly at: number;
}

/** The role of an act, and what follows from both. */
export function speakerOf(role: string, act: string, at: number): Speaker {
  return { role, ids: `${act.slice(0, act.lastIndexOf("~"))}.`, at };
}

/** In `to`: as in `sendTo`. */
const SAME = 0;
/** In `to`: the speaker. */
const SELF = 1;
/** In `parents`: none. */
const NOBODY = 0;
/** In `parents`: those of the message said before. */
const AS_BEFORE = 1;

const CONTENT = 0;
const CAUSE = 1;
const SEND_TO = 2;
const TO = 3;
const PARENTS = 4;
const MESSAGE = 5;
const MORE = 6;

const SENT: readonly string[] = ["message", "to"];
const MEMBERS: readonly string[] = ["id", "content", "role", "causeBy", "sentFrom", "sendTo", "parents", "timestamp", "metadata"];

const nobody: readonly string[] = Object.freeze([]);
const noMetadata: Message["metadata"] = Object.freeze({});

/** Each of them as a list, or undefined when one is not as messages are. */
export function packedSaid(said: readonly Sent[], speaker: Speaker): readonly unknown[] | undefined {
  if (!Array.isArray(said)) return undefined;
  const lists: unknown[] = [];
  let before: Sent | undefined;
  for (const sent of said as readonly Sent[]) {
    const list = packedSent(sent, speaker, lists.length, before, SENT);
    if (list === undefined) return undefined;
    lists.push(list);
    before = sent;
  }
  return lists;
}

/**
 * A message on its way as a list, or undefined when it is not as messages are.
 *
 * @param names the members of `sent` that are told elsewhere, or here
 */
export function packedSent(
  sent: Sent,
  speaker: Speaker,
  place: number,
  before: Sent | undefined,
  names: readonly string[],
): readonly unknown[] | undefined {
  if (!isRecord(sent) || !isRecord(sent.message) || !isList(sent.to)) return undefined;
  const { message, to } = sent;
  const { content, causeBy, sendTo, parents } = message;
  if (typeof content !== "string" || typeof causeBy !== "string" || !isList(sendTo) || !isList(parents)) return undefined;
  const own = ownMembers(message, speaker, place);
  const more = membersBeside(sent, names);
  if (own === undefined || more === undefined) return undefined;
  const list = [content, causeBy, shortened(sendTo), shortTo(to, sendTo, speaker), shortParents(parents, before)];
  if (more !== null) return [...list, own ?? 0, more];
  if (own !== null) list.push(own);
  return list;
}

/** What a message has that does not follow from who says it: null for nothing, undefined when it lacks what every message has. */
function ownMembers(message: Message, { role, ids, at }: Speaker, place: number): Members | number | null | undefined {
  const { id, role: part, sentFrom, timestamp, metadata } = message;
  if (id === undefined || part === undefined || sentFrom === undefined || timestamp === undefined || metadata === undefined)
    return undefined;
  const others = membersBeside(message, MEMBERS);
  if (others === undefined) return undefined;
  const isPlain = part === "assistant" && sentFrom === role && id === `${ids}${place}` && isEmpty(metadata);
  if (isPlain && timestamp === at) return others;
  if (isPlain && others === null && Number.isSafeInteger(timestamp) && Number.isSafeInteger(at - timestamp)) return at - timestamp;
  return {
    ...(id === `${ids}${place}` ? undefined : { id }),
    ...(part === "assistant" ? undefined : { role: part }),
    ...(sentFrom === role ? undefined : { sentFrom }),
    ...(timestamp === at ? undefined : { timestamp }),
    ...(isEmpty(metadata) ? undefined : { metadata }),
    ...others,
  };
}

/** What was said, or undefined for what is no such list. */
export function unpackedSaid(lists: unknown, speaker: Speaker): readonly Sent[] | undefined {
  if (!Array.isArray(lists)) return undefined;
  const said: Sent[] = [];
  let before: Sent | undefined;
  for (const list of lists as readonly unknown[]) {
    before = unpackedSent(list, speaker, said.length, before);
    if (before === undefined) return undefined;
    said.push(before);
  }
  return said;
}

/** A message on its way, or undefined for what is no such list. */
export function unpackedSent(given: unknown, { role, ids, at }: Speaker, place: number, before: Sent | undefined): Sent | undefined {
  if (!Array.isArray(given)) return undefined;
  const list = given as readonly unknown[];
  const content = list[CONTENT];
  const causeBy = list[CAUSE];
  const sendTo = lengthened(list[SEND_TO]);
  const to = list[TO] === SAME ? sendTo : list[TO] === SELF ? sharedLine(role) : lengthened(list[TO]);
  const parents = longParents(list[PARENTS], before);
  if (typeof content !== "string" || typeof causeBy !== "string" || sendTo === undefined || to === undefined || parents === undefined)
    return undefined;
  const id = `${ids}${place}`;
  const cause = sharedLine(causeBy)[0];
  const plain: Message = {
    id,
    content,
    role: "assistant",
    causeBy: cause,
    sentFrom: role,
    sendTo,
    parents,
    timestamp: at,
    metadata: noMetadata,
  };
  if (list.length <= MESSAGE) return { message: plain, to };
  const own = list[MESSAGE];
  if (isRecord(own) && NEVER_OWN.some((name) => Object.hasOwn(own, name))) return undefined;
  const message = isRecord(own) ? { ...plain, ...own } : typeof own === "number" ? { ...plain, timestamp: at - own } : plain;
  return withMembers({ message, to }, list[MORE]);
}

/** What is remembered as a list, or undefined when it is not as such writes are. */
export function packedOps(ops: readonly RecordedMemoryOp[], said: readonly Sent[]): readonly unknown[] | undefined {
  if (!Array.isArray(ops)) return undefined;
  const parents = said[0]?.message.parents ?? nobody;
  const list: unknown[] = [];
  // They are remembered in the order in which they came and were said.
  let parent = 0;
  let place = 0;
  for (const op of ops as readonly RecordedMemoryOp[]) {
    if (!isList(op)) return undefined;
    const id: unknown = op[1];
    if (op.length !== 2 || op[0] !== "+" || typeof id !== "string") list.push(op);
    else if (id === said[place]?.message.id) list.push(place++);
    else if (id === parents[parent]) list.push(-(parent += 1));
    else list.push(id);
  }
  return list;
}

/** What is remembered, or undefined for what is no such list. */
export function unpackedOps(list: unknown, said: readonly Sent[]): readonly RecordedMemoryOp[] | undefined {
  if (!Array.isArray(list)) return undefined;
  const ops: RecordedMemoryOp[] = [];
  for (const each of list as readonly unknown[]) {
    const id = typeof each === "number" ? idAt(each, said) : each;
    if (typeof id === "string") ops.push(["+", id]);
    else if (isList(id)) ops.push(id as unknown as RecordedMemoryOp);
    else return undefined;
  }
  return ops;
}

/** What stands in the list itself. */
const NEVER_OWN = ["content", "causeBy", "sendTo", "parents"] as const;

function idAt(place: number, said: readonly Sent[]): string | undefined {
  return place < 0 ? said[0]?.message.parents[-place - 1] : said[place]?.message.id;
}

/** Of a list of one text, the text. */
function shortened(list: readonly string[]): unknown {
  return list.length === 1 && typeof list[0] === "string" ? list[0] : list;
}

function shortTo(to: readonly string[], sendTo: readonly string[], { role }: Speaker): unknown {
  if (to.length === sendTo.length && to.every((name, place) => name === sendTo[place])) return SAME;
  return to.length === 1 && to[0] === role ? SELF : shortened(to);
}

function shortParents(parents: readonly string[], before: Sent | undefined): unknown {
  if (parents.length === 0) return NOBODY;
  const others = before?.message.parents;
  const areSame = parents.length === others?.length && parents.every((id, place) => id === others[place]);
  return areSame ? AS_BEFORE : shortened(parents);
}

/** Ids are each their own: only lists of names are worth sharing. */
function longParents(short: unknown, before: Sent | undefined): readonly string[] | undefined {
  if (typeof short === "string") return [short];
  if (short === NOBODY) return nobody;
  return short === AS_BEFORE ? before?.message.parents : lengthened(short);
}

function lengthened(short: unknown): readonly string[] | undefined {
  if (typeof short === "string") return sharedLine(short);
  return Array.isArray(short) ? (short as readonly string[]) : undefined;
}

function isEmpty(metadata: unknown): boolean {
  return isRecord(metadata) && Object.getPrototypeOf(metadata) === Object.prototype && Object.keys(metadata).length === 0;
}
