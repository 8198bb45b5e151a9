import { type ErrorRecord, errorRecord } from "../../kernel/errors.ts";
import { isList, isRecord } from "../../kernel/value-kind.ts";
import { deepFreeze } from "../../kernel/json.ts";
import type { Mask } from "../../kernel/mask.ts";
import { type Message, NO_METADATA } from "../../message/message.ts";
import type { ActEnded, HiredRole, RecordedMemoryOp, RunEventBody, Sent } from "./event.ts";

/*
 * Values without secrets, as they may be recorded. Each function returns the same object where it holds no secret.
 */

/** A JSON value with every text in it masked, keys too. */
export function masked<T>(mask: Mask, value: T): T {
  return maskedValue(mask, value) as T;
}

/** Returns the record of an error with its texts masked. */
export function maskedError(mask: Mask, error: unknown): ErrorRecord {
  return masked(mask, errorRecord(error));
}

export function maskedMessage(mask: Mask, message: Message): Message {
  const content = mask(message.content);
  const instructContent = message.instructContent === undefined ? undefined : masked(mask, message.instructContent);
  const metadata = message.metadata === NO_METADATA ? NO_METADATA : masked(mask, message.metadata);
  if (content === message.content && instructContent === message.instructContent && metadata === message.metadata) return message;
  return deepFreeze({ ...message, content, metadata, ...(instructContent === undefined ? {} : { instructContent }) });
}

/**
 * Returns an event with its messages, the state of its roles and its description of the team masked. Steps and errors are masked where they
 * are made, because a role must get the recorded value. Names of roles stay, because they are addresses.
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

/** Returns the end of an activation without secrets. */
function maskedEnd(mask: Mask, event: ActEnded): ActEnded {
  const said = mapped(event.said, (sent) => maskedSent(mask, sent));
  const memory = mapped(event.memory, (op) => maskedOp(mask, op));
  const working = mapped(event.working, (op) => maskedOp(mask, op));
  const state = event.state === undefined ? undefined : masked(mask, event.state);
  const plan = event.plan === undefined ? undefined : masked(mask, event.plan);
  const summary = event.summary === undefined ? undefined : masked(mask, event.summary);
  const isSame = said === event.said && memory === event.memory && working === event.working;
  if (isSame && state === event.state && plan === event.plan && summary === event.summary) return event;
  return {
    ...event,
    said,
    memory,
    working,
    ...(state === undefined ? {} : { state }),
    ...(plan === undefined ? {} : { plan }),
    ...(summary === undefined ? {} : { summary }),
  };
}

function maskedSent<S extends Sent>(mask: Mask, sent: S): S {
  const message = maskedMessage(mask, sent.message);
  return message === sent.message ? sent : { ...sent, message };
}

function maskedOp(mask: Mask, op: RecordedMemoryOp): RecordedMemoryOp {
  if (op[0] !== "+" || typeof op[1] === "string") return op;
  const message = maskedMessage(mask, op[1]);
  return message === op[1] ? op : ["+", message];
}

function maskedValue(mask: Mask, value: unknown): unknown {
  if (typeof value === "string") return mask(value);
  if (isList(value)) return mapped(value, (item) => maskedValue(mask, item));
  return isRecord(value) ? maskedRecord(mask, value) : value;
}

function maskedRecord(mask: Mask, record: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const entries = Object.entries(record);
  const clean = entries.map(([key, value]) => [mask(key), maskedValue(mask, value)] as const);
  const isSame = clean.every(([key, value], place) => key === entries[place]?.[0] && value === entries[place][1]);
  return isSame ? record : Object.fromEntries(clean);
}

function mapped<T>(list: readonly T[], change: (item: T) => T): readonly T[] {
  const changed = list.map(change);
  return changed.every((item, place) => item === list[place]) ? list : changed;
}
