import { isCount, isList, isRecord, isText } from "../../kernel/value-kind.ts";
import type { Json, JsonObject } from "../../kernel/json.ts";
import { type Message, NO_METADATA } from "../../message/message.ts";
import { activationId } from "./role-state.ts";
import type { Envelope, ObservedOf, RecordedMemoryOp, RunEvent, RunEventBody, Sent } from "./event.ts";

/*
 * The short form of an event, in which stores keep it: a list with a quarter of the characters of its JSON, not counting the text of
 * messages. The list leaves out the run and the sequence number, which the store knows, the names of members, and every value that
 * follows from the other members in nearly all events.
 *
 * PackedEvent.P1 (`packedEvent`): unpacking gives an event equal to the one that was packed, as far as JSON keeps it. Only the order of its
 * members may differ. An event with members of an unexpected type is not packed; the store keeps its JSON.
 * PackedEvent.P2 (`unpackedEvent`): a list is read without any other list.
 * PackedEvent.P3 (`unpackedEvent`): a list that `packedEvent` did not make throws nothing. It gives no event, or one of that run and place.
 *
 *   ["end", time, since, role, n, round, take, said, memory, working?, more?]      act.ended
 *   ["act", time, since, role, n, attempt, take, more?]                            act.started
 *   ["ask", time, act, key, kind, name, asked, try, hold, request, more?]          step.started
 *   ["got", time, since, act, key, try, ok, cost, basis, value?, usage?, more?]    step.ended
 *   ["say", time, sent]                                                            message
 *   ["round", time, round]                                                         round.ended
 *   [content, causeBy, sendTo, to, parents, message?, more?]                       a message: `sent`, or an item of `said`
 *
 * `since` is `time` minus `at`, or null without `at`. `n` is the number of an activation at its first attempt; any other activation stands
 * by its name. `ok` is 1 or 0. `usage` is {@link NO_USAGE} or {@link USAGE_OF_VALUE} where that is so. `more` has all other members by name.
 *
 * In place of `to`, 0 is the list `sendTo` and 1 the sender alone. In place of `parents`, 0 is none and 1 those of the message before. Any
 * list of one text is that text. `message` has the members of the message that do not follow from its sender, or, where that is the
 * timestamp alone, a number: `at` of the sender minus the timestamp.
 * In `memory` and `working` a number from 0 on adds the message at that place of `said`, a number below 0 adds a parent of the first message
 * said (-1 is the first parent), a text adds the message of that id, and a list is any other operation.
 */

/** An event as a list. */
export type PackedEvent = readonly [tag: string, ...unknown[]];

/** The only version of events that is packed. */
const PACKED_VERSION = 1;

/** Returns the list of an event; undefined for an event that the store must keep as JSON. */
export function packedEvent(event: RunEvent): PackedEvent | undefined {
  if (event.v !== PACKED_VERSION || !Number.isSafeInteger(event.time)) return undefined;
  switch (event.type) {
    case "act.ended":
      return packActEnded(event);
    case "act.started":
      return packActStarted(event);
    case "step.started":
      return packStepStarted(event);
    case "step.ended":
      return packStepEnded(event);
    case "message":
      return packPublished(event);
    case "round.ended":
      return isCount(event.round) && otherMembers(event, ROUND) === null ? ["round", event.time, event.round] : undefined;
    default:
      return undefined;
  }
}

/** Returns the event of a list; undefined for a list that `packedEvent` did not make. */
export function unpackedEvent(list: readonly unknown[], runId: string, seq: number): RunEvent | undefined {
  const [tag, time, round] = list;
  if (typeof time !== "number") return undefined;
  const envelope: Envelope = { v: PACKED_VERSION, runId, seq, time };
  switch (tag) {
    case "end":
      return unpackActEnded(list, envelope);
    case "act":
      return unpackActStarted(list, envelope);
    case "ask":
      return unpackStepStarted(list, envelope);
    case "got":
      return unpackStepEnded(list, envelope);
    case "say":
      return unpackPublished(list, envelope);
    case "round":
      return isCount(round) ? { ...envelope, type: "round.ended", round } : undefined;
    default:
      return undefined;
  }
}

/** The members that the list itself has, by type of event. */
const ROUND = membersOf("round");
const END = membersOf("act role round take at said memory working");
const ACT = membersOf("act role n attempt take at");
const ASK = membersOf("act key kind name asked try hold request");
const GOT = membersOf("act key try ok cost basis at");
const GOT_VALUE = membersOf("act key try ok cost basis at value");
const GOT_USAGE = membersOf("act key try ok cost basis at value usage");
const PUBLISHED = membersOf("message to");

function membersOf(names: string): ReadonlySet<string> {
  return new Set(["v", "runId", "seq", "time", "type", ...names.split(" ")]);
}

function packActEnded(event: ObservedOf<"act.ended">): PackedEvent | undefined {
  const { time, act, role, round, take, at } = event;
  const since = at === undefined ? null : sinceOf(time, at);
  if (!isText(act) || !isText(role) || !isCount(round) || !isCount(take) || since === undefined) return undefined;
  const said = packMessages(event.said, senderOf(role, act, at ?? time));
  if (said === undefined) return undefined;
  const memory = packMemory(event.memory, event.said);
  const working = packMemory(event.working, event.said);
  const more = otherMembers(event, END);
  if (memory === undefined || working === undefined || more === undefined) return undefined;
  const n = Number(act.slice(role.length + 1, -2));
  const isFirstAttempt = isCount(n) && act === activationId(role, n, 1);
  const list = ["end", time, since, role, isFirstAttempt ? n : act, round, take, said, memory] as const;
  if (more !== null) return [...list, working, more];
  return working.length > 0 ? [...list, working] : list;
}

function unpackActEnded(list: readonly unknown[], envelope: Envelope): RunEvent | undefined {
  const [, , since, role, n, round, take, messages, memoryOps, workingOps = [], more] = list;
  if (!isText(role) || !isCount(round) || !isCount(take) || (since !== null && typeof since !== "number")) return undefined;
  const act = typeof n === "number" ? activationId(role, n, 1) : n;
  if (!isText(act)) return undefined;
  const at = since === null ? envelope.time : envelope.time - since;
  const said = unpackMessages(messages, senderOf(role, act, at));
  if (said === undefined) return undefined;
  const memory = unpackMemory(memoryOps, said);
  const working = unpackMemory(workingOps, said);
  if (memory === undefined || working === undefined) return undefined;
  const begun = { type: "act.ended", act, role, round, take } as const;
  return withMembers(Object.assign(envelope, begun, since === null ? {} : { at }, { said, memory, working }), more);
}

function packActStarted(event: ObservedOf<"act.started">): PackedEvent | undefined {
  const { time, act, role, n, attempt, take, at } = event;
  const since = sinceOf(time, at);
  if (!isText(role) || ![n, attempt, take].every(isCount) || since === undefined || act !== activationId(role, n, attempt))
    return undefined;
  return withOthers(["act", time, since, role, n, attempt, take], event, ACT);
}

function unpackActStarted([, , since, role, n, attempt, take, more]: readonly unknown[], envelope: Envelope): RunEvent | undefined {
  if (!isText(role) || !isCount(n) || !isCount(attempt) || !isCount(take) || typeof since !== "number") return undefined;
  const act = activationId(role, n, attempt);
  return withMembers(
    Object.assign(envelope, { type: "act.started", act, role, n, attempt, take, at: envelope.time - since } as const),
    more,
  );
}

function packStepStarted(event: ObservedOf<"step.started">): PackedEvent | undefined {
  const { time, act, key, kind, name, asked, try: nth, hold, request } = event;
  const list = ["ask", time, act, key, kind, name, asked, nth, hold, request] as const;
  return isStepStarted(list) ? withOthers(list, event, ASK) : undefined;
}

function unpackStepStarted(list: readonly unknown[], envelope: Envelope): RunEvent | undefined {
  if (!isStepStarted(list)) return undefined;
  const [, , act, key, kind, name, asked, nth, hold, request, more] = list;
  return withMembers(
    Object.assign(envelope, { type: "step.started", act, key, kind, name, asked, try: nth, hold, request } as RunEventBody),
    more,
  );
}

function isStepStarted(list: readonly unknown[]): boolean {
  return list.slice(2, 6).every(isText) && list.slice(6, 9).every(isCount) && list[9] !== undefined;
}

/** Stands for the usage of a step: none, or the member `usage` of the value. */
const NO_USAGE = 0;
const USAGE_OF_VALUE = 1;

function packStepEnded(event: ObservedOf<"step.ended">): PackedEvent | undefined {
  const { time, act, key, try: nth, ok, value, cost, basis, usage: used, at } = event;
  const since = sinceOf(time, at);
  const hasValue = ok === true && value !== undefined;
  const isUsual = (hasValue || ok === false) && (cost === null || isCount(cost)) && isCount(nth);
  if (!isText(act) || !isText(key) || !isBasis(basis) || !isUsual || since === undefined) return undefined;
  const list = ["got", time, since, act, key, nth, ok ? 1 : 0, cost, basis] as const;
  if (!hasValue) return withOthers(list, event, GOT);
  const isOfValue = isRecord(value) && JSON.stringify(value["usage"]) === JSON.stringify(used);
  const usage = !isRecord(used) ? NO_USAGE : isOfValue ? USAGE_OF_VALUE : used;
  const more = otherMembers(event, usage === NO_USAGE ? GOT_VALUE : GOT_USAGE);
  if (more === undefined) return undefined;
  if (more !== null) return [...list, value, usage, more];
  return usage === NO_USAGE ? [...list, value] : [...list, value, usage];
}

function unpackStepEnded(list: readonly unknown[], envelope: Envelope): RunEvent | undefined {
  const [, , since, act, key, nth, ok, cost, basis, value, used = NO_USAGE, more] = list;
  if (typeof since !== "number" || !isText(act) || !isText(key) || !isCount(nth) || !isBasis(basis)) return undefined;
  if (cost !== null && !isCount(cost)) return undefined;
  const at = envelope.time - since;
  const tried = Object.assign(envelope, { type: "step.ended", act, key, try: nth } as const);
  if (ok === 0) return withMembers(Object.assign(tried, { ok: false, cost, basis, at }), value);
  if (ok !== 1 || value === undefined) return undefined;
  const usage = used === USAGE_OF_VALUE && isRecord(value) ? value["usage"] : used;
  if (usage !== NO_USAGE && !isRecord(usage)) return undefined;
  const end = usage === NO_USAGE ? { at } : { usage: usage as JsonObject, at };
  return withMembers(Object.assign(tried, { ok: true, value: value as Json, cost, basis }, end), more);
}

function packPublished(event: ObservedOf<"message">): PackedEvent | undefined {
  const sent = packMessage([event], 0, { role: "", idPrefix: "", at: event.time }, PUBLISHED);
  return sent === undefined ? undefined : ["say", event.time, sent];
}

function unpackPublished([, , sent]: readonly unknown[], envelope: Envelope): RunEvent | undefined {
  const published = unpackMessage(sent, { role: "", idPrefix: "", at: envelope.time }, 0, undefined);
  return published === undefined ? undefined : withMembers(Object.assign(envelope, { type: "message" }) as RunEvent, published);
}

/** The members of a message that others follow from; empty texts for a message from outside. An id is `idPrefix` and a number. */
interface Sender {
  readonly role: string;
  readonly idPrefix: string;
  readonly at: number;
}

function senderOf(role: string, act: string, at: number): Sender {
  return { role, idPrefix: `${act.slice(0, act.lastIndexOf("~"))}.`, at };
}

const SENT: ReadonlySet<string> = new Set(["message", "to"]);
/** The members of a message that the list itself has. */
const LISTED = ["content", "causeBy", "sendTo", "parents"] as const;
const MESSAGE: ReadonlySet<string> = new Set(["id", "role", "sentFrom", "timestamp", "metadata", ...LISTED]);
const none: readonly string[] = Object.freeze([]);

function packMessages(said: readonly Sent[], sender: Sender): readonly unknown[] | undefined {
  if (!isList(said)) return undefined;
  const lists: unknown[] = [];
  for (let place = 0; place < said.length; place += 1) {
    const list = packMessage(said, place, sender, SENT);
    if (list === undefined) return undefined;
    lists.push(list);
  }
  return lists;
}

function unpackMessages(lists: unknown, sender: Sender): readonly Sent[] | undefined {
  if (!isList(lists)) return undefined;
  const said: Sent[] = [];
  for (const list of lists) {
    const sent = unpackMessage(list, sender, said.length, said.at(-1));
    if (sent === undefined) return undefined;
    said.push(sent);
  }
  return said;
}

/** @param names the members beside the message that `more` leaves out */
function packMessage(said: readonly Sent[], place: number, sender: Sender, names: ReadonlySet<string>): readonly unknown[] | undefined {
  const sent = said[place];
  if (!isRecord(sent) || !isRecord(sent.message) || !isList(sent.to)) return undefined;
  const { message, to } = sent;
  const { content, causeBy, sendTo, parents } = message;
  if (!isText(content) || !isText(causeBy) || !isList(sendTo) || !isList(parents)) return undefined;
  const own = ownMembers(message, sender, place);
  const more = otherMembers(sent, names);
  if (own === undefined || more === undefined) return undefined;
  const shortTo = shortList(to, [sendTo, [sender.role]]);
  const list = [content, causeBy, shortList(sendTo), shortTo, shortList(parents, [none, said[place - 1]?.message.parents])];
  if (more !== null) return [...list, own ?? 0, more];
  return own === null ? list : [...list, own];
}

function unpackMessage(list: unknown, sender: Sender, place: number, before: Sent | undefined): Sent | undefined {
  if (!isList(list)) return undefined;
  const [content, cause, shortSendTo, shortTo, shortParents, own, more] = list;
  const sendTo = longList(shortSendTo, [], sharedList);
  const to = longList(shortTo, [sendTo, sharedList(sender.role)], sharedList);
  // Ids hardly ever repeat, so their lists are not shared.
  const parents = longList(shortParents, [none, before?.message.parents], (id) => [id]);
  if (!isText(content) || !isText(cause) || sendTo === undefined || to === undefined || parents === undefined) return undefined;
  if (isRecord(own) && LISTED.some((name) => Object.hasOwn(own, name))) return undefined;
  const { role: sentFrom, at } = sender;
  const [causeBy] = sharedList(cause);
  const timestamp = typeof own === "number" ? at - own : at;
  const id = `${sender.idPrefix}${place}`;
  const message: Message = { id, content, role: "assistant", causeBy, sentFrom, sendTo, parents, timestamp, metadata: NO_METADATA };
  return withMembers({ message: isRecord(own) ? { ...message, ...own } : message, to }, more);
}

/** The members of a message that do not follow from its sender. Null for none; undefined when a member that every message has is missing. */
function ownMembers(message: Message, sender: Sender, place: number): JsonObject | number | null | undefined {
  const { id, role, sentFrom, timestamp, metadata } = message;
  const others = otherMembers(message, MESSAGE);
  if ([id, role, sentFrom, timestamp, metadata, others].includes(undefined)) return undefined;
  const own: Record<string, Json> = {};
  if (id !== `${sender.idPrefix}${place}`) own["id"] = id;
  if (role !== "assistant") own["role"] = role;
  if (sentFrom !== sender.role) own["sentFrom"] = sentFrom;
  if (timestamp !== sender.at) own["timestamp"] = timestamp;
  if (JSON.stringify(metadata) !== "{}") own["metadata"] = metadata;
  const names = Object.keys(own);
  if (names.length === 0) return others;
  const isTimestampOnly = others === null && names.length === 1 && names[0] === "timestamp";
  return (isTimestampOnly ? sinceOf(sender.at, timestamp) : undefined) ?? { ...own, ...others };
}

function packMemory(ops: readonly RecordedMemoryOp[], said: readonly Sent[]): readonly unknown[] | undefined {
  if (!isList(ops)) return undefined;
  const parents = said[0]?.message.parents ?? none;
  const list: unknown[] = [];
  // Messages are nearly always added in the order in which they came and were sent.
  let parent = 0;
  let place = 0;
  for (const op of ops) {
    if (!isList(op)) return undefined;
    const [sign, id] = op as readonly unknown[];
    if (op.length !== 2 || sign !== "+" || !isText(id)) list.push(op);
    else if (id === said[place]?.message.id) list.push(place++);
    else if (id === parents[parent]) list.push(-(parent += 1));
    else list.push(id);
  }
  return list;
}

function unpackMemory(list: unknown, said: readonly Sent[]): readonly RecordedMemoryOp[] | undefined {
  if (!isList(list)) return undefined;
  const ops: RecordedMemoryOp[] = [];
  for (const item of list) {
    const op = typeof item !== "number" ? item : item < 0 ? said[0]?.message.parents[-item - 1] : said[item]?.message.id;
    if (isText(op)) ops.push(["+", op]);
    else if (isList(op)) ops.push(op as unknown as RecordedMemoryOp);
    else return undefined;
  }
  return ops;
}

/** Lists that stand as a number, which is their place in this one. */
type KnownLists = readonly (readonly string[] | undefined)[];

function shortList(list: readonly string[], known: KnownLists = []): unknown {
  const place = known.findIndex((other) => other?.length === list.length && list.every((text, nth) => text === other[nth]));
  if (place !== -1) return place;
  return list.length === 1 && isText(list[0]) ? list[0] : list;
}

function longList(short: unknown, known: KnownLists, listOf: (text: string) => readonly string[]): readonly string[] | undefined {
  if (typeof short === "number") return known[short];
  if (isText(short)) return listOf(short);
  return isList(short) ? (short as readonly string[]) : undefined;
}

/** Limits on the number of shared lists and the length of a name in one: names from outside must not fill the memory. */
const MOST_SHARED = 1_000;
const sharedLists = new Map<string, readonly [string]>();

/** Returns a list of one name. Reading a run of a million events needs few different lists. */
function sharedList(name: string): readonly [string] {
  const known = sharedLists.get(name);
  if (known !== undefined) return known;
  const list = Object.freeze([name] as const);
  if (sharedLists.size < MOST_SHARED && name.length < MOST_SHARED) sharedLists.set(name, list);
  return list;
}

/**
 * Returns all members but those of these names. Null for none; undefined when a member is named `__proto__`, which no other object can
 * take.
 */
function otherMembers(object: object, names: ReadonlySet<string>): JsonObject | null | undefined {
  let others: Record<string, Json> | null = null;
  for (const key of Object.keys(object)) {
    if (names.has(key)) continue;
    if (key === "__proto__") return undefined;
    const member = (object as JsonObject)[key];
    if (member !== undefined) (others ??= {})[key] = member;
  }
  return others;
}

function withOthers(list: PackedEvent, event: RunEvent, names: ReadonlySet<string>): PackedEvent | undefined {
  const more = otherMembers(event, names);
  return more === null ? list : more && [...list, more];
}

/** Returns the object with more members. Undefined when it has one of them already, or `members` is no object. */
function withMembers<T extends object>(object: T, members: unknown): T | undefined {
  if (members === undefined) return object;
  if (!isRecord(members)) return undefined;
  return Object.keys(members).some((key) => Object.hasOwn(object, key)) ? undefined : { ...object, ...members };
}

/** Returns the milliseconds from `at` to `time`; undefined where they do not lead back exactly. */
function sinceOf(time: number, at: number): number | undefined {
  return Number.isSafeInteger(at) && Number.isSafeInteger(time - at) ? time - at : undefined;
}

function isBasis(value: unknown): value is ObservedOf<"step.ended">["basis"] {
  return value === "usage" || value === "hold" || value === "none";
}
