import { type ErrorRecord, errorRecord } from "../../kernel/errors.ts";
import { deepFreeze } from "../../kernel/json.ts";
import type { Mask } from "../../kernel/mask.ts";
import { type Message, NO_METADATA } from "../../message/message.ts";
import type { ActEnded, HiredRole, RecordedMemoryOp, RunEventBody, Sent } from "./event.ts";
import type { Effect, ToldEnd } from "./told-end.ts";

/** A JSON value with every text in it masked, keys too. What holds no secret is given back as it is, not copied. */
export function masked<T>(mask: Mask, value: T): T {
  return walk(mask, value) as T;
}

/** An error as it may be written down. */
export function maskedError(mask: Mask, error: unknown): ErrorRecord {
  return masked(mask, errorRecord(error));
}

/** A message as it may be written down: the same object when it holds no secret. */
export function maskedMessage(mask: Mask, message: Message): Message {
  const content = mask(message.content);
  const instructContent = message.instructContent === undefined ? undefined : masked(mask, message.instructContent);
  const metadata = message.metadata === NO_METADATA ? NO_METADATA : masked(mask, message.metadata);
  if (content === message.content && instructContent === message.instructContent && metadata === message.metadata) return message;
  return deepFreeze({ ...message, content, metadata, ...(instructContent === undefined ? {} : { instructContent }) });
}

/**
 * An event as it may be written down. Steps and errors are masked where they are made, because what is handed out must be what is
 * recorded; here it is the words and the state of roles, and what a team says of itself. Names of roles stay: they are addresses.
 */
export function maskedBody<B extends RunEventBody>(mask: Mask, body: B): B;
export function maskedBody(mask: Mask, body: RunEventBody): RunEventBody {
  switch (body.type) {
    case "message":
      return maskedSent(mask, body);
    case "act.ended":
      return maskedEnd(mask, body);
    case "run.started": {
      const about = body.about === undefined ? {} : { about: masked(mask, body.about) };
      return { ...body, team: mask(body.team), roles: body.roles.map((role) => maskedRole(mask, role)), ...about };
    }
    case "run.resumed":
      return body.roles === undefined ? body : { ...body, roles: body.roles.map((role) => maskedRole(mask, role)) };
    default:
      return body;
  }
}

function maskedRole(mask: Mask, role: HiredRole): HiredRole {
  const traits = masked(mask, role.traits);
  const state = masked(mask, role.state);
  return traits === role.traits && state === role.state ? role : { ...role, traits, state };
}

/** The end of an activation as it may be written down: the same object when it holds no secret. */
export function maskedEnd(mask: Mask, event: ActEnded): ActEnded;
export function maskedEnd(mask: Mask, event: ToldEnd): ToldEnd;
export function maskedEnd(mask: Mask, event: Effect): Effect {
  let { said } = event;
  // Every hop comes by here, and most say a few plain words: those are looked at in one place.
  for (let place = 0; place < event.said.length; place += 1) {
    const { content, instructContent, metadata } = (event.said[place] as Sent).message;
    if (instructContent === undefined && metadata === NO_METADATA && mask(content) === content) continue;
    said = cleanList(mask, event.said, maskedSent);
    break;
  }
  const isWords = event.state === undefined && event.plan === undefined && event.summary === undefined && event.working.length === 0;
  // Most have nothing else that could tell a secret.
  if (isWords && said === event.said && (event.memory === undefined || event.memory.length === 0)) return event;
  const memory = event.memory === undefined || event.memory.length === 0 ? event.memory : maskedOps(mask, event.memory);
  const working = event.working.length === 0 ? event.working : maskedOps(mask, event.working);
  const state = event.state === undefined ? undefined : maskedChange(mask, event.state);
  const plan = event.plan === undefined ? undefined : masked(mask, event.plan);
  const summary = event.summary === undefined ? undefined : masked(mask, event.summary);
  const isAsItWas = said === event.said && memory === event.memory && working === event.working;
  if (isAsItWas && state === event.state && plan === event.plan && summary === event.summary) return event;
  // What it took is masked long since.
  const now = new Map(event.said.map(({ message }, place) => [message, said[place]?.message]));
  return {
    ...event,
    said,
    memory,
    working,
    ...(event.remembered === undefined ? {} : { remembered: event.remembered.map((message) => now.get(message) ?? message) }),
    ...(state === undefined ? {} : { state }),
    ...(plan === undefined ? {} : { plan }),
    ...(summary === undefined ? {} : { summary }),
  };
}

function maskedChange(mask: Mask, change: NonNullable<ActEnded["state"]>): NonNullable<ActEnded["state"]> {
  const set = walkRecord(mask, change.set) as typeof change.set;
  const unset = change.unset.length === 0 ? change.unset : (cleanList(mask, change.unset, walk) as readonly string[]);
  return set === change.set && unset === change.unset ? change : { set, unset };
}

/** What somebody said as it may be written down: the same object when it holds no secret. */
function maskedSent<S extends Sent>(mask: Mask, sent: S): S {
  const message = maskedMessage(mask, sent.message);
  return message === sent.message ? sent : { ...sent, message };
}

/** Most name what they remember, and hold no words. */
function maskedOps(mask: Mask, ops: readonly RecordedMemoryOp[]): readonly RecordedMemoryOp[] {
  for (let place = 0; place < ops.length; place += 1) if (typeof ops[place]?.[1] === "object") return cleanList(mask, ops, maskedOp);
  return ops;
}

function maskedOp(mask: Mask, op: RecordedMemoryOp): RecordedMemoryOp {
  return op[0] === "+" && typeof op[1] !== "string" ? ["+", maskedMessage(mask, op[1])] : op;
}

function walk(mask: Mask, value: unknown): unknown {
  if (typeof value === "string") return mask(value);
  if (typeof value !== "object" || value === null) return value;
  return Array.isArray(value) ? walkList(mask, value) : walkRecord(mask, value as Record<string, unknown>);
}

function walkList(mask: Mask, list: readonly unknown[]): readonly unknown[] {
  return cleanList(mask, list, walk);
}

/** The same list when nothing in it changes. */
function cleanList<T>(mask: Mask, list: readonly T[], cleanOne: (mask: Mask, item: T) => T): readonly T[] {
  if (list.length === 0) return list;
  let copy: T[] | undefined;
  for (let place = 0; place < list.length; place += 1) {
    const item = list[place] as T;
    const cleaned = cleanOne(mask, item);
    if (cleaned !== item) (copy ??= [...list])[place] = cleaned;
  }
  return copy ?? list;
}

function walkRecord(mask: Mask, record: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const keys = Object.keys(record);
  let entries: [string, unknown][] | undefined;
  for (let place = 0; place < keys.length; place += 1) {
    const key = keys[place] as string;
    const cleanKey = mask(key);
    const value = record[key];
    const clean = typeof value === "number" ? value : walk(mask, value);
    if (entries === undefined && cleanKey === key && clean === value) continue;
    entries ??= keys.slice(0, place).map((before): [string, unknown] => [before, record[before]]);
    entries.push([cleanKey, clean]);
  }
  return entries === undefined ? record : Object.fromEntries(entries);
}
