import { z } from "zod";
import type { ErrorRecord } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import { lazily } from "../../kernel/lazily.ts";
import type { Scope } from "../../kernel/scope.ts";
import { isRecord } from "../../kernel/value-kind.ts";
import type { RoleSummary } from "../../memory/summary-levels.ts";
import type { Mailbox } from "../../message/mailbox.ts";
import type { Message, MessageRole } from "../../message/message.ts";
import { EVENT_VERSION, type RunEvent, type EVENT_TYPES } from "./event.ts";
import type { StateChange } from "./state-change.ts";

/** The members of the events of each type, without their envelope. The types of events are inferred from it. */
const table = () => {
  const parts = { ...values(), ...recordedParts() };
  return { ...openings(parts), ...stepEvents(parts), ...activationEnds(parts), ...closings(parts) } satisfies {
    readonly [T in (typeof EVENT_TYPES)[number]]: z.core.$ZodLooseShape;
  };
};

type Shapes = ReturnType<typeof table>;
type Parts = ReturnType<typeof values> & ReturnType<typeof recordedParts>;
type Flat<T> = { readonly [K in keyof T]: T[K] };

/** An event without its envelope. */
export type BodyOf<T extends keyof Shapes> = Flat<{ type: T } & z.infer<z.ZodObject<Shapes[T], z.core.$strict>>>;

export type PartOf<P extends keyof ReturnType<typeof recordedParts>> = z.infer<ReturnType<typeof recordedParts>[P]>;

export const eventSchemas: () => Readonly<Record<RunEvent["type"], z.ZodType>> = lazily(() => {
  const envelope = { v: z.literal(EVENT_VERSION), runId: z.string(), seq: z.int().nonnegative(), time: z.number() };
  const all = Object.entries(table()).map(([type, fields]) => [type, z.strictObject({ ...envelope, type: z.literal(type), ...fields })]);
  return Object.fromEntries(all) as Readonly<Record<RunEvent["type"], z.ZodType>>;
});

const values = () => {
  const text = z.string();
  return {
    json: z.custom<Json>((value) => value !== undefined, "is missing"),
    jsonRecord: z.custom<{ readonly [key: string]: Json }>(isRecord, "expected an object"),
    number: z.number(),
    text,
    texts: list(text),
    whole: z.int().nonnegative(),
    yes: z.literal(true).exactOptional(),
  };
};

/** Parts that several types of events have. */
const recordedParts = () => ({ ...terms(values()), ...messageParts(values()), ...stepParts(values()) });

const terms = ({ json, jsonRecord, text, texts, whole }: ReturnType<typeof values>) => {
  const mailbox: z.ZodType<Mailbox> = closed({
    limit: whole.exactOptional(),
    overflow: z.enum(["refuse", "drop-oldest"]).exactOptional(),
  });
  /** Enough to make a stop condition again, or to find it by its name. `with`: the arguments of a condition of this package. */
  const stop = closed({ name: text, with: list(json).exactOptional() });
  const name = text.exactOptional();
  const scope: z.ZodType<Scope> = closed({ tenant: name, user: name, conversation: name });
  return {
    scope,
    stop,
    bounds: closed({
      /** Micro-dollars that the run was given for itself. Without them its budget is the team's budget for each run. */
      budget: whole.exactOptional(),
      /** Limit on the rounds of a turn; with a scheduler without rounds, on the activations of one role in it. */
      rounds: whole.exactOptional(),
      ticks: z.number().exactOptional(),
      /** Null removes the condition. */
      stopWhen: stop.nullable().exactOptional(),
      messageLimit: whole.exactOptional(),
      mailbox: mailbox.exactOptional(),
      /** Limit on concurrent activations, if it affects their order. */
      concurrency: whole.exactOptional(),
      /** Deaths of the process during one activation after which its message is given up. */
      poisonAfter: whole.exactOptional(),
    }),
    hiredRole: closed({
      name: text,
      /** Hash of `traits`, compared when a run is resumed. */
      fingerprint: text,
      /** The properties of the role that affect a run: a run resumed with another team is detected by them. */
      traits: jsonRecord,
      state: jsonRecord,
      memoryLimit: whole.exactOptional(),
      /** The bound of its mailbox, if it differs from the run's. */
      mailbox: mailbox.exactOptional(),
    }),
    recordedEdge: closed({ name: text, parameters: jsonRecord.exactOptional(), pairs: texts.exactOptional() }),
    forkPoint: closed({
      runId: text,
      /** Sequence number of the last shared event. */
      at: whole,
      /** Activations whose answers are asked for again. */
      again: texts.exactOptional(),
    }),
  };
};

const messageParts = ({ json, jsonRecord, number, text, texts, whole }: ReturnType<typeof values>) => {
  const message: z.ZodType<Message> = closed({
    ...{ id: text, content: text, instructContent: z.unknown().exactOptional() },
    role: z.custom<MessageRole>((value) => typeof value === "string" && value !== "", "expected a string that is not empty"),
    ...{ causeBy: text, sentFrom: text, sendTo: texts, parents: texts, timestamp: number, metadata: jsonRecord },
    priority: number.exactOptional(),
    files: list(closed({ name: text, type: text, size: whole, hash: text })).exactOptional(),
    speech: text.exactOptional(),
  });
  const arrival = closed({
    /** The number of the copy, from 1. Its id is that of the message, a star and this number. Left out for the message itself. */
    copy: whole.exactOptional(),
    reads: closed({ content: text, instructContent: json.exactOptional() }).exactOptional(),
    /** The tick at which it arrives, if the edges delayed it. */
    due: number.exactOptional(),
  });
  return {
    message,
    arrival,
    fault: closed({
      to: text,
      /** The names of the policies that did something, in their order. */
      by: texts,
      /** Nothing for a lost message; more than one arrival if it was copied. */
      arrives: list(arrival),
    }),
    memoryOp: z.union([
      // A message that the run already has is named by its id.
      z.tuple([z.literal("+"), text]).readonly(),
      z.tuple([z.literal("+"), message]).readonly(),
      z.tuple([z.literal("-"), text]).readonly(),
      z.tuple([z.literal("0")]).readonly(),
    ]),
  };
};

const sentFields = ({ text, texts, number, yes, message, fault }: Parts) => ({
  message,
  to: texts,
  dead: texts.exactOptional(),
  meant: list(closed({ wrote: text, as: text })).exactOptional(),
  /** A fork has removed the message: only its sender knows of it. */
  dropped: yes,
  /** The tick of the run's clock at which it is delivered. Left out for a message without a delay. */
  due: number.exactOptional(),
  /** The changes that the edges made to it: recipients without a fault get it as it was sent. In the order of `to`. */
  faults: list(fault).exactOptional(),
});

const stepParts = ({ text, whole, yes }: ReturnType<typeof values>) => {
  const error: z.ZodType<ErrorRecord> = closed({
    ...{ name: text, code: text, message: text, data: z.unknown().exactOptional() },
    retryable: yes,
  });
  return {
    error,
    unrepeated: closed({ key: text, error }),
    settled: closed({
      ...{ act: text, key: text, try: whole, hold: whole },
      /** Micro-dollars instead of its hold; null when the price is unknown. */
      cost: whole.nullable(),
      unpriced: yes,
    }),
    status: z.enum(["finished", "rounds", "budget", "stopped", "waiting", "failed"]),
    cause: z.enum(["died", "moved", "taken", "drained"]),
  };
};

const openings = (parts: Parts, { bounds, forkPoint, hiredRole, json, recordedEdge, scope, text, whole, yes } = parts) => ({
  /** The run began: everything that is needed to rebuild it besides its team. */
  "run.started": {
    team: text,
    roles: list(hiredRole),
    seed: text,
    scheduler: text,
    parameters: json.exactOptional(),
    /** The delivery of messages. Left out for the schedulers of this package, whose names imply it. */
    delivery: z.enum(["round", "turn", "choice"]).exactOptional(),
    /** The clock of the run, if its delivery or the name of the scheduler does not imply it. */
    clock: z.enum(["rounds", "activations", "time"]).exactOptional(),
    /** The order of messages that arrive together. Left out for the order in which their senders were hired. */
    arrival: z.enum(["shuffled", "sender"]).exactOptional(),
    /** The seeds of a fork's parents, if they differ from its own: each with the last event before which it held. */
    pastSeeds: list(closed({ to: whole, seed: text })).exactOptional(),
    /** Micro-dollars. */
    budget: whole.exactOptional(),
    bounds: bounds.exactOptional(),
    edges: list(recordedEdge).exactOptional(),
    /** A value that the starter keeps with the run, such as its settings. */
    about: json.exactOptional(),
    scope: scope.exactOptional(),
    parent: forkPoint.exactOptional(),
  },
  /** A message from outside was published. */
  message: {
    ...sentFields(parts),
    /** The message came while a round was under way, and waits for its end. */
    atBarrier: yes,
  },
});

const stepEvents = ({ error, json, number, settled, text, whole, yes }: Parts) => ({
  /** A role began to act. Recorded with its first step, so that a hop without a step is one event. */
  "act.started": {
    /** `role#n~attempt` */
    act: text,
    role: text,
    n: whole,
    attempt: whole,
    /** The number of messages it takes from its mailbox. */
    take: whole,
    /** The value of `now()` until the first answer. */
    at: number,
    /** The number of changes of the team before it began, if more came before this event: an activation knows the team as it was then. */
    teamAt: whole.exactOptional(),
  },
  /** An activation that a crash had left open began again. Recorded before its body runs, and only while the cause of a crash is searched. */
  "act.resumed": { act: text },
  /** A try of a side effect began. Durable before the effect starts. */
  "step.started": {
    ...{ act: text, key: text, kind: text, name: text },
    /** Index in the order of asking, within the enclosing step or the activation. */
    asked: whole,
    /** Key of the enclosing step. */
    in: text.exactOptional(),
    try: whole,
    /** Micro-dollars reserved. */
    hold: whole,
    unpriced: yes,
    request: json,
    /** Milliseconds since 1970: when a question to a person ends without an answer. The same in every try. */
    deadline: number.exactOptional(),
    /** The effect must not run again when it is unknown whether it happened. */
    idempotent: z.literal(false).exactOptional(),
    /** Sequence number of the parent's event that answered it: nothing was called. */
    reused: whole.exactOptional(),
    /** The server drops a request whose idempotency key it has seen: tries with the same number here have the same key. */
    dropsRepeats: whole.exactOptional(),
    /** The model that was asked, where it is one of several that the step may ask. */
    model: text.exactOptional(),
  },
  /** A try of a side effect ended. With `retry` another one follows; else this is the step's answer. */
  "step.ended": {
    ...{ act: text, key: text, try: whole, retry: yes, ok: z.boolean(), value: json.exactOptional(), error: error.exactOptional() },
    /** Micro-dollars; null when the price is unknown. */
    cost: whole.nullable(),
    basis: z.enum(["usage", "hold", "none"]),
    usage: json.exactOptional(),
    /** Milliseconds: the value of `now()` once the answer is released. */
    at: number,
    /** Micro-dollars that the answer had cost the run it was taken from. */
    saved: z.int().exactOptional(),
    /** The answer is the default of a question to a person, because its deadline passed. */
    byDeadline: yes,
    /** Lost tries of the same request, which count at the cost of this one from here on. */
    settles: list(settled).exactOptional(),
  },
});

const activationEnds = (parts: Parts) => {
  const { error, memoryOp, json, number, text, texts, whole, unrepeated } = parts;
  const end = {
    ...{ act: text, role: text, round: whole, take: whole },
    /** Milliseconds: when it began, if no `act.started` has it. */
    at: number.exactOptional(),
    /** As in `act.started`, if there is none. */
    teamAt: whole.exactOptional(),
    /** Keys of its own steps in the order its last attempt asked for them, if that differs from the recorded order. */
    asked: texts.exactOptional(),
    /** Recorded steps whose effect was repeated and failed. Their recorded answers stay. */
    unrepeated: list(unrepeated).exactOptional(),
  };
  const summary: z.ZodType<RoleSummary> = closed({
    oldest: text,
    older: texts,
    recent: texts,
    covered: texts,
    waits: whole.exactOptional(),
  });
  return {
    /** An activation took effect: all its changes, in one event. */
    "act.ended": {
      ...end,
      said: list(closed(sentFields(parts))),
      memory: list(memoryOp),
      working: list(memoryOp),
      /** Changed keys of the custom state; the keys in `unset` are removed. */
      state: stateChange.exactOptional(),
      plan: json.exactOptional(),
      joins: record(record(text)).exactOptional(),
      summary: summary.exactOptional(),
    },
    /** An activation failed and changed nothing. */
    "act.failed": {
      ...end,
      error,
      /** True when one of its steps failed: then a retry reuses the good answers. */
      stepFailed: z.boolean(),
      /** `isolate`: its messages are tried one by one, to find the faulty one. */
      then: z.enum(["retry", "isolate", "dead", "stop"]),
    },
  };
};

const closings = ({ bounds, cause, error, hiredRole, number, settled, status, text, whole, yes }: Parts) => ({
  /** A round ended, or a stage of it (from 0; the round continues): its messages are delivered. */
  "round.ended": { round: whole, stage: whole.exactOptional() },
  /** The clock of the run moved on without an activation: the messages that are due are delivered. */
  "clock.advanced": {
    /** The new tick; with rounds, the number of the next round. */
    tick: number,
    /** The role that acts at this tick, if the scheduler drew both. */
    role: text.exactOptional(),
  },
  /** A scheduler that delivers by choice chose the fate of a message `id` on its way to a role, or that the role crashes. */
  "choice.made": { fate: z.enum(["delivered", "lost", "copied", "crashed"]), role: text, id: text.exactOptional() },
  /** Roles were hired on the way: they get the messages that are routed from here on. */
  "role.hired": { roles: list(hiredRole) },
  /** A role was retired on the way: it gets no further message, and its unread ones are dead letters. */
  "role.retired": {
    role: text,
    /** The messages that the activation under way had taken: it ends and takes effect. 0: none, or one that is given up, with its messages. */
    keeps: whole,
  },
  /** A person took a role: what it asks its model goes to that person, until it is given `back`. */
  "role.taken": { role: text, by: text.exactOptional(), back: yes },
  "run.resumed": {
    /** Left out after a recorded end. */
    cause: cause.exactOptional(),
    /** Steps that were in flight: their holds count as spent until they are settled. */
    uncertain: list(closed({ act: text, key: text, hold: whole })),
    budget: whole.exactOptional(),
    bounds: bounds.exactOptional(),
    /** The team, if it differs from the team before. */
    roles: list(hiredRole).exactOptional(),
    /** The run did not stop: it is a fork that continues another run's past. */
    forked: yes,
    /** Answers of failed attempts are not reused; in a fork, neither are the parent's answers after the shared past. */
    afresh: yes,
    /** Micro-dollars that steps in flight had cost the run it was copied from. */
    saved: whole.exactOptional(),
  },
  /** Lost tries were settled by a person, or because their time was over. */
  "run.settled": {
    settles: list(settled),
    /** Micro-dollars that the settlements added in the run it was copied from: below 0 if they were less than the holds. */
    saved: z.int().exactOptional(),
  },
  /** The run ended. It can be resumed, after the status `finished` only with a message that came since. */
  "run.ended": { status, stoppedBy: text.exactOptional(), error: error.exactOptional() },
  /** Strings of the run were erased: all its words, or those of other runs that it repeated. `texts` is their number. */
  "run.erased": { texts: whole, partly: yes },
});

/** A change holds changes of members. */
const stateChange: z.ZodType<StateChange> = z.lazy(() =>
  closed({
    set: z.custom<StateChange["set"]>(isRecord, "expected an object"),
    unset: list(z.string()),
    within: z.record(z.string(), stateChange).exactOptional(),
  }),
);

function closed<F extends z.core.$ZodLooseShape>(fields: F): z.ZodType<Readonly<z.infer<z.ZodObject<F, z.core.$strict>>>> {
  return z.strictObject(fields);
}

/** Returns the schema of a list. It reports only the first invalid item: the faults of a million items would fill the memory. */
export function list<T>(item: z.ZodType<T>): z.ZodType<readonly T[]> {
  return z.custom<readonly T[]>(Array.isArray, "expected a list").check(({ value, issues }) => {
    firstFault(item, (Array.isArray(value) ? value : []).entries(), issues);
  });
}

/** Returns the schema of an object with any keys. It reports only the first invalid member. */
export function record<T>(member: z.ZodType<T>): z.ZodType<{ readonly [key: string]: T }> {
  return z.custom<{ readonly [key: string]: T }>(isRecord, "expected an object").check(({ value, issues }) => {
    firstFault(member, isRecord(value) ? Object.entries(value) : [], issues);
  });
}

function firstFault(schema: z.ZodType, members: Iterable<[PropertyKey, unknown]>, issues: z.core.$ZodRawIssue[]): void {
  for (const [key, member] of members) {
    const parsed = schema.safeParse(member);
    if (parsed.success) continue;
    for (const issue of parsed.error.issues)
      issues.push({ code: "custom", message: issue.message, input: member, path: [key, ...issue.path] });
    return;
  }
}
