import { type ErrorRecord, errorRecord } from "../../kernel/errors.ts";
import { deepFreeze } from "../../kernel/json.ts";
import { type Mask, masked } from "../../kernel/mask.ts";
import { type Message, NO_METADATA } from "../../message/message.ts";
import type { ActEnded, HiredRole, RecordedMemoryOp, RunEventBody, RunStarted, Sent, Arrival, EdgeFault } from "./event.ts";

/*
 * Values without secrets, as they may be recorded. Each function returns the same object where it holds no secret.
 */

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
      const roles = body.roles.map((role) => maskedRole(mask, role));
      return { ...maskedRules(mask, body), team: mask(body.team), roles, ...about };
    }
    case "role.hired":
      return { ...body, roles: body.roles.map((role) => maskedRole(mask, role)) };
    case "run.resumed":
      return body.roles === undefined ? body : { ...body, roles: body.roles.map((role) => maskedRole(mask, role)) };
    default:
      return body;
  }
}

type Rules = Pick<RunStarted, "parameters" | "delivery" | "edges">;

/**
 * Returns the rules of a run with the parameters and pairs of policies masked. The schedulers of this package, which record no delivery, keep
 * theirs: they are numbers and names of roles, and a scheduler is made of them again.
 */
export function maskedRules<R extends Rules>(mask: Mask, rules: R): R {
  const { parameters, delivery, edges } = rules;
  return {
    ...rules,
    ...(parameters === undefined || delivery === undefined ? {} : { parameters: masked(mask, parameters) }),
    ...(edges === undefined ? {} : { edges: edges.map((edge) => ({ ...masked(mask, edge), name: edge.name })) }),
  };
}

function maskedRole(mask: Mask, role: HiredRole): HiredRole {
  const traits = masked(mask, role.traits);
  const state = masked(mask, role.state);
  return traits === role.traits && state === role.state ? role : { ...role, traits, state };
}

/** Returns the end of an activation without secrets. */
function maskedEnd(mask: Mask, event: ActEnded): ActEnded {
  const said = mapped(mask, event.said, maskedSent);
  const memory = maskedOps(mask, event.memory);
  const working = event.working.length === 0 ? event.working : maskedOps(mask, event.working);
  const state = event.state && masked(mask, event.state);
  const plan = event.plan && masked(mask, event.plan);
  const summary = event.summary && masked(mask, event.summary);
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
  const faults = sent.faults && mapped(mask, sent.faults, maskedFault);
  if (message === sent.message && faults === sent.faults) return sent;
  return { ...sent, message, ...(faults === undefined ? {} : { faults }) };
}

function maskedFault(mask: Mask, fault: EdgeFault): EdgeFault {
  const arrives = mapped(mask, fault.arrives, maskedArrival);
  return arrives === fault.arrives ? fault : { ...fault, arrives };
}

function maskedArrival(mask: Mask, arrival: Arrival): Arrival {
  const reads = arrival.reads && masked(mask, arrival.reads);
  return reads === undefined || reads === arrival.reads ? arrival : { ...arrival, reads };
}

function maskedOps(mask: Mask, ops: readonly RecordedMemoryOp[]): readonly RecordedMemoryOp[] {
  let changed: RecordedMemoryOp[] | undefined;
  for (const [index, op] of ops.entries()) {
    if (op[0] !== "+" || typeof op[1] === "string") continue;
    const message = maskedMessage(mask, op[1]);
    if (message !== op[1]) (changed ??= [...ops])[index] = ["+", message];
  }
  return changed ?? ops;
}

/** Returns the same list where nothing in it holds a secret. */
function mapped<T>(mask: Mask, list: readonly T[], clean: (mask: Mask, item: T) => T): readonly T[] {
  let changed: T[] | undefined;
  for (let place = 0; place < list.length; place += 1) {
    const item = clean(mask, list[place] as T);
    if (item !== list[place]) (changed ??= [...list])[place] = item;
  }
  return changed ?? list;
}
