import { type ErrorRecord, errorRecord } from "../kernel/errors.ts";
import { deepFreeze } from "../kernel/json.ts";
import type { Mask } from "../kernel/mask.ts";
import type { Message } from "../message/message.ts";
import type { ActEnded, HiredRole, RecordedMemoryOp, RunEventBody, Sent } from "./event.ts";

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
  const instructContent = masked(mask, message.instructContent);
  const metadata = masked(mask, message.metadata);
  if (content === message.content && instructContent === message.instructContent && metadata === message.metadata) return message;
  return deepFreeze({ ...message, content, metadata, ...(instructContent === undefined ? {} : { instructContent }) });
}

/**
 * An event as it may be written down. Steps and errors are masked where they are made, because what is handed out must be what is
 * recorded; here it is the words and the state of roles, and what a team says of itself. Names of roles stay: they are addresses.
 */
export function maskedBody(mask: Mask, body: RunEventBody): RunEventBody {
  switch (body.type) {
    case "message":
      return { ...body, ...maskedSent(mask, body) };
    case "act.ended":
      return maskedActivation(mask, body);
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

function maskedActivation(mask: Mask, event: ActEnded): ActEnded {
  return {
    ...event,
    said: event.said.map((sent) => maskedSent(mask, sent)),
    memory: event.memory.map((op) => maskedOp(mask, op)),
    working: event.working.map((op) => maskedOp(mask, op)),
    ...(event.state === undefined ? {} : { state: masked(mask, event.state) }),
    ...(event.plan === undefined ? {} : { plan: masked(mask, event.plan) }),
    ...(event.summary === undefined ? {} : { summary: masked(mask, event.summary) }),
  };
}

function maskedSent<S extends Sent>(mask: Mask, sent: S): S {
  const message = maskedMessage(mask, sent.message);
  return message === sent.message ? sent : { ...sent, message };
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
  let copy: unknown[] | undefined;
  for (const [place, item] of list.entries()) {
    const clean = walk(mask, item);
    if (clean !== item) (copy ??= [...list])[place] = clean;
  }
  return copy ?? list;
}

function walkRecord(mask: Mask, record: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  let changed = false;
  const entries = Object.entries(record).map(([key, member]): [string, unknown] => {
    const clean: [string, unknown] = [mask(key), walk(mask, member)];
    changed ||= clean[0] !== key || clean[1] !== member;
    return clean;
  });
  return changed ? Object.fromEntries(entries) : record;
}
