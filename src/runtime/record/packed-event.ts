import { isRecord, isCount, isText } from "../../kernel/value-kind.ts";
import type { Json } from "../../kernel/json.ts";
import type { ActEnded, ActStarted, Envelope, MessagePublished, RunEvent, StepEnded, StepStarted } from "./event.ts";
import { membersBeside, withMembers } from "./members.ts";
import { packedOps, packedSaid, packedSent, type Speaker, speakerOf, unpackedOps, unpackedSaid, unpackedSent } from "./packed-said.ts";
import { actName } from "./act-name.ts";

/*
 * An event as a short list, for stores: a quarter of the letters of its JSON, beside what was said. Left out is what the place it is kept
 * at tells (run and sequence number), the names of members, and what follows from other members in nearly all events.
 *
 * P1 what is unpacked equals what was packed, as far as JSON keeps it: only the order of members can be another. An event whose members
 * are not of the kinds that are told here is not packed, and stands as its JSON. P2 a list needs no other to be read. P3 a list that no
 * packing gave throws nothing: it gives no event, or one of that run and place.
 *
 *   ["end", time, since, role, n, round, take, said, memory, working?, more?]      act.ended
 *   ["act", time, since, role, n, attempt, take, more?]                            act.started
 *   ["ask", time, act, key, kind, name, asked, try, hold, request, more?]          step.started
 *   ["got", time, since, act, key, try, ok, cost, basis, value?, usage?, more?]    step.ended
 *   ["say", time, sent]                                                            message
 *   ["round", time, round]                                                         round.ended
 *
 * `since` is `time` minus `at`, null without one. `n` stands for an act of that number at its first attempt; any other act is told whole.
 * `ok` is 1 or 0. `usage` is 1 where the value has the same. `more` has all other members by their names.
 */

/** An event as a list. */
export type PackedEvent = readonly [tag: string, ...unknown[]];

/** Version of the events that are packed. */
const PACKED_VERSION = 1;

/** The list of an event, or undefined for one that stands as its JSON: it is seldom, or it has not the shape of nearly all of its type. */
export function packedEvent(event: RunEvent): PackedEvent | undefined {
  if (event.v !== PACKED_VERSION || !Number.isSafeInteger(event.time)) return undefined;
  switch (event.type) {
    case "act.ended":
      return packEnd(event);
    case "act.started":
      return packAct(event);
    case "step.started":
      return packAsk(event);
    case "step.ended":
      return packGot(event);
    case "message":
      return packSay(event);
    case "round.ended":
      return Object.keys(event).length === ROUND_MEMBERS && isCount(event.round) ? ["round", event.time, event.round] : undefined;
    default:
      return undefined;
  }
}

/** The event a list was made of, or undefined for a list that was made of none. */
export function unpackedEvent(list: readonly unknown[], runId: string, seq: number): RunEvent | undefined {
  const time = list[1];
  if (typeof time !== "number") return undefined;
  switch (list[0]) {
    case "end":
      return unpackEnd(list, runId, seq, time);
    case "act":
      return unpackAct(list, { v: PACKED_VERSION, runId, seq, time });
    case "ask":
      return unpackAsk(list, { v: PACKED_VERSION, runId, seq, time });
    case "got":
      return unpackGot(list, { v: PACKED_VERSION, runId, seq, time });
    case "say":
      return unpackSay(list, { v: PACKED_VERSION, runId, seq, time });
    case "round":
      return isCount(list[2]) ? { v: PACKED_VERSION, runId, seq, time, type: "round.ended", round: list[2] } : undefined;
    default:
      return undefined;
  }
}

const ROUND_MEMBERS = 6;
const END: readonly string[] = ["v", "runId", "seq", "time", "type", "act", "role", "round", "take", "at", "said", "memory", "working"];
const ACT: readonly string[] = ["v", "runId", "seq", "time", "type", "act", "role", "n", "attempt", "take", "at"];
const ASK: readonly string[] = ["v", "runId", "seq", "time", "type", "act", "key", "kind", "name", "asked", "try", "hold", "request"];
const GOT: readonly string[] = ["v", "runId", "seq", "time", "type", "act", "key", "try", "ok", "cost", "basis", "at"];
const SAY: readonly string[] = ["v", "runId", "seq", "time", "type", "message", "to"];

const noOps: readonly never[] = Object.freeze([]);

function packEnd(event: Envelope & ActEnded): PackedEvent | undefined {
  const { time, act, role, round, take, at } = event;
  const since = at === undefined ? null : sinceOf(time, at);
  if (typeof act !== "string" || typeof role !== "string" || !isCount(round) || !isCount(take) || since === undefined) return undefined;
  const speaker = speakerOf(role, act, at ?? time);
  const said = packedSaid(event.said, speaker);
  if (said === undefined) return undefined;
  const memory = packedOps(event.memory, event.said);
  const working = packedOps(event.working, event.said);
  const more = membersBeside(event, END);
  if (memory === undefined || working === undefined || more === undefined) return undefined;
  const n = firstTry(role, act) ?? act;
  if (more !== null) return ["end", time, since, role, n, round, take, said, memory, working, more];
  if (working.length > 0) return ["end", time, since, role, n, round, take, said, memory, working];
  return ["end", time, since, role, n, round, take, said, memory];
}

function unpackEnd(list: readonly unknown[], runId: string, seq: number, time: number): RunEvent | undefined {
  const since = list[2];
  const role = list[3];
  const n = list[4];
  const round = list[5];
  const take = list[6];
  if (typeof role !== "string" || !isCount(round) || !isCount(take) || (since !== null && typeof since !== "number")) return undefined;
  const at = since === null ? time : time - since;
  const act = typeof n === "number" ? actName(role, n, 1) : n;
  if (typeof act !== "string") return undefined;
  const said = unpackedSaid(list[7], typeof n === "number" ? { role, ids: `${role}#${n}.`, at } : speakerOf(role, act, at));
  if (said === undefined) return undefined;
  const memory = unpackedOps(list[8], said);
  const working = list.length > 9 ? unpackedOps(list[9], said) : noOps;
  if (memory === undefined || working === undefined) return undefined;
  const v = PACKED_VERSION;
  const type = "act.ended";
  const event: RunEvent =
    since === null
      ? { v, runId, seq, time, type, act, role, round, take, said, memory, working }
      : { v, runId, seq, time, type, act, role, round, take, at, said, memory, working };
  return withMembers(event, list[10]);
}

function packAct(event: Envelope & ActStarted): PackedEvent | undefined {
  const { time, act, role, n, attempt, take, at } = event;
  const since = sinceOf(time, at);
  const areCounts = isCount(n) && isCount(attempt) && isCount(take);
  if (typeof role !== "string" || !areCounts || since === undefined || act !== actName(role, n, attempt)) return undefined;
  return endingWith(["act", time, since, role, n, attempt, take], event, ACT);
}

function unpackAct([, , since, role, n, attempt, take, more]: readonly unknown[], envelope: Envelope): RunEvent | undefined {
  if (typeof role !== "string" || !isCount(n) || !isCount(attempt) || !isCount(take) || typeof since !== "number") return undefined;
  const act = actName(role, n, attempt);
  return withMembers({ ...envelope, type: "act.started", act, role, n, attempt, take, at: envelope.time - since }, more);
}

function packAsk(event: Envelope & StepStarted): PackedEvent | undefined {
  const { time, act, key, kind, name, asked, try: nth, hold, request } = event;
  const list = ["ask", time, act, key, kind, name, asked, nth, hold, request] as const;
  return isAsk(list) ? endingWith(list, event, ASK) : undefined;
}

function unpackAsk(list: readonly unknown[], envelope: Envelope): RunEvent | undefined {
  if (!isAsk(list)) return undefined;
  const [, , act, key, kind, name, asked, nth, hold, request, more] = list;
  return withMembers({ ...envelope, type: "step.started", act, key, kind, name, asked, try: nth, hold, request }, more);
}

type Ask = readonly [
  tag: unknown,
  time: unknown,
  act: string,
  key: string,
  kind: string,
  name: string,
  asked: number,
  nth: number,
  hold: number,
  request: Json,
  more?: unknown,
];

function isAsk(list: readonly unknown[]): list is Ask {
  return list.slice(2, 6).every(isText) && list.slice(6, 9).every(isCount) && list[9] !== undefined;
}

function packGot(event: Envelope & StepEnded): PackedEvent | undefined {
  const { time, act, key, try: nth, ok, value, cost, basis, usage, at } = event;
  const since = sinceOf(time, at);
  const hasValue = ok === true && value !== undefined;
  const isUsual = (hasValue || ok === false) && (cost === null || isCount(cost)) && isCount(nth);
  if (!isText(act) || !isText(key) || !isBasis(basis) || !isUsual || since === undefined) return undefined;
  const list = ["got", time, since, act, key, nth, ok ? 1 : 0, cost, basis] as const;
  const more = membersBeside(event, hasValue ? (isRecord(usage) ? [...GOT, "value", "usage"] : [...GOT, "value"]) : GOT);
  if (more === undefined) return undefined;
  if (!hasValue) return more === null ? list : [...list, more];
  const use = isRecord(usage) ? (isUsageOf(value, usage) ? OF_VALUE : usage) : NO_USAGE;
  if (more !== null) return [...list, value, use, more];
  return use === NO_USAGE ? [...list, value] : [...list, value, use];
}

function unpackGot(list: readonly unknown[], envelope: Envelope): RunEvent | undefined {
  const [, , since, act, key, nth, ok, cost, basis, value, use, rest] = list;
  if (typeof since !== "number" || !isText(act) || !isText(key) || !isCount(nth) || !isBasis(basis)) return undefined;
  if (cost !== null && !isCount(cost)) return undefined;
  const at = envelope.time - since;
  const type = "step.ended";
  if (ok === 0) return withMembers({ ...envelope, type, act, key, try: nth, ok: false, cost, basis, at }, value);
  if (ok !== 1 || value === undefined) return undefined;
  const usage = use === OF_VALUE && isRecord(value) ? value["usage"] : use;
  const ended = { ...envelope, type, act, key, try: nth, ok: true, value: value as Json, cost, basis } as const;
  if (isRecord(usage)) return withMembers({ ...ended, usage: usage as Json, at }, rest);
  return usage === undefined || usage === NO_USAGE ? withMembers({ ...ended, at }, rest) : undefined;
}

/** In place of what a step used: nothing is told, or what its value tells. */
const NO_USAGE = 0;
const OF_VALUE = 1;

function isUsageOf(value: Json, usage: Json): boolean {
  return isRecord(value) && value["usage"] !== undefined && JSON.stringify(value["usage"]) === JSON.stringify(usage);
}

function packSay(event: Envelope & MessagePublished): PackedEvent | undefined {
  const sent = packedSent(event, stranger(event.time), 0, undefined, SAY);
  return sent === undefined ? undefined : ["say", event.time, sent];
}

function unpackSay([, , sent]: readonly unknown[], envelope: Envelope): RunEvent | undefined {
  const said = unpackedSent(sent, stranger(envelope.time), 0, undefined);
  return said === undefined ? undefined : withMembers({ ...envelope, type: "message" } as RunEvent, said);
}

/** Who is not of the team, and numbers nothing. */
function stranger(at: number): Speaker {
  return { role: "", ids: "", at };
}

function endingWith(list: PackedEvent, event: RunEvent, names: readonly string[]): PackedEvent | undefined {
  const more = membersBeside(event, names);
  return more === null ? list : more === undefined ? undefined : [...list, more];
}

/** The number in the name of an act at its first attempt. */
function firstTry(role: string, act: string): number | undefined {
  const n = Number(act.slice(role.length + 1, -2));
  return isCount(n) && act === actName(role, n, 1) ? n : undefined;
}

/** What leads back from `time` to `at`, exactly. */
function sinceOf(time: number, at: number): number | undefined {
  return Number.isSafeInteger(at) && Number.isSafeInteger(time - at) ? time - at : undefined;
}

function isBasis(value: unknown): value is StepEnded["basis"] {
  return value === "usage" || value === "hold" || value === "none";
}
