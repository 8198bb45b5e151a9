import { isRecord } from "../../kernel/value-kind.ts";
import { readable, takes } from "../../kernel/argument.ts";
import { z } from "zod";
import { JournalError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import { lazily } from "../../kernel/lazily.ts";
import { shownText, valueText } from "../../kernel/value-text.ts";
import type { MessageRole } from "../../message/message.ts";
import { EVENT_VERSION, type RunEvent } from "./event.ts";
import { plainFault } from "./plain-json.ts";
import type { StateChange } from "./state-change.ts";

/**
 * Checks an event that came from outside: from a file, a store or another process. Returns the event itself, not a copy.
 *
 * @throws JournalError `EVENT_NEWER` for an event of a newer version of this package; `EVENT_INVALID` for an unknown type, for a field that
 * is missing, unknown or of another kind, for values that are not plain JSON, and for keys that name a prototype.
 *
 * @example
 * import { parseEvent, type RunEvent } from "troupe";
 *
 *  // Reads what `troupe run --json` prints.
 * export function readEvents(lines: string): RunEvent[] {
 *   return lines.trim().split("\n").map((line) => parseEvent(JSON.parse(line)));
 * }
 */
export function parseEvent(json: unknown): RunEvent {
  takes("parseEvent", "event", json, readable);
  const fault = plainFault(json);
  if (fault !== undefined) throw invalid(json, `got ${fault}`);
  const { v, type } = isRecord(json) ? json : {};
  if (typeof v === "number" && v > EVENT_VERSION) throw newer(v);
  const known = schemas();
  const schema = typeof type === "string" && Object.hasOwn(known, type) ? known[type as RunEvent["type"]] : undefined;
  if (schema === undefined) throw invalid(json, `got the type ${shownText(valueText(type))}; known are ${Object.keys(known).join(", ")}`);
  const parsed = schema.safeParse(json);
  if (!parsed.success) throw invalid(json, `got one that does not fit: ${issuesText(parsed.error)}`);
  return json as RunEvent;
}

/** The schemas of what events and the state of a run have in common. @internal */
export const recordedParts: () => Parts = lazily(() => {
  const values = valueSchemas();
  return { ...values, ...termSchemas(values), ...partSchemas(values) };
});

const table = () => {
  const parts = recordedParts();
  return { ...openings(parts), ...stepEvents(parts), ...activationEnds(parts), ...closings(parts) };
};

/** The schemas by type of event. */
const schemas: () => Exact<ReturnType<typeof table>> = lazily(table);

type Exact<T extends { readonly [type: string]: z.ZodType }> = {
  readonly [K in keyof T | RunEvent["type"]]: K extends keyof T
    ? SameFields<z.infer<T[K]>, Extract<RunEvent, { readonly type: K }>> extends true
      ? z.ZodType
      : never
    : never;
};

const valueSchemas = () => {
  const text = z.string();
  const json = z.custom<Json>((value) => value !== undefined, "is missing");
  const jsonRecord = z.custom<{ readonly [key: string]: Json }>(isRecord, "expected an object");
  return { json, jsonRecord, number: z.number(), text, texts: list(text), whole: z.int().nonnegative() };
};

type Values = ReturnType<typeof valueSchemas>;

/** The bounds and the roles with which a run begins or is resumed. */
const termSchemas = ({ json, jsonRecord, text, texts, whole }: Values) => {
  const mailbox = closed({
    limit: whole.exactOptional(),
    overflow: z.enum(["refuse", "drop-oldest", "block"]).exactOptional(),
  }).exactOptional();

  const bounds = closed({
    budget: whole.exactOptional(),
    rounds: whole.exactOptional(),
    stopWhen: closed({ name: text, with: list(json).exactOptional() })
      .nullable()
      .exactOptional(),
    messageLimit: whole.exactOptional(),
    mailbox,
    concurrency: whole.exactOptional(),
    poisonAfter: whole.exactOptional(),
  });

  const definition = { fingerprint: text, traits: jsonRecord, state: jsonRecord, memoryLimit: whole.exactOptional(), mailbox };
  const recordedEdge = closed({ name: text, parameters: jsonRecord.exactOptional(), pairs: texts.exactOptional() });
  const scope = closed({ tenant: text.exactOptional(), user: text.exactOptional(), conversation: text.exactOptional() });
  return { bounds, scope, hiredAs: closed(definition), hiredRole: closed({ name: text, ...definition }), recordedEdge };
};

/** Parts that several types of events have. */
const partSchemas = ({ json, jsonRecord, number, text, texts, whole }: Values) => {
  const fault = { name: text, code: text, message: text };
  const error = closed({ ...fault, data: z.unknown().exactOptional(), retryable: z.literal(true).exactOptional() });

  const message = closed({
    id: text,
    content: text,
    instructContent: z.unknown().exactOptional(),
    role: z.custom<MessageRole>((value) => typeof value === "string" && value !== "", "expected a text that is not empty"),
    causeBy: text,
    sentFrom: text,
    sendTo: texts,
    parents: texts,
    timestamp: number,
    metadata: jsonRecord,
    priority: number.exactOptional(),
  });

  const arrival = closed({
    copy: whole.exactOptional(),
    reads: closed({ content: text, instructContent: json.exactOptional() }).exactOptional(),
    due: number.exactOptional(),
  });
  const faults = list(closed({ to: text, by: texts, arrives: list(arrival) }));

  const sentFields = {
    message,
    to: texts,
    dead: texts.exactOptional(),
    meant: list(closed({ wrote: text, as: text })).exactOptional(),
    dropped: z.literal(true).exactOptional(),
    due: number.exactOptional(),
    faults: faults.exactOptional(),
  };

  const memoryOp = z.union([
    z.tuple([z.literal("+"), text]).readonly(),
    z.tuple([z.literal("+"), message]).readonly(),
    z.tuple([z.literal("-"), text]).readonly(),
    z.tuple([z.literal("0")]).readonly(),
  ]);

  const lastLife = { asked: texts.exactOptional(), unrepeated: list(closed({ key: text, error })).exactOptional() };

  const envelope = { v: z.literal(EVENT_VERSION), runId: text, seq: whole, time: number };
  const event = <T extends RunEvent["type"], F extends z.core.$ZodLooseShape>(type: T, fields: F) =>
    closed({ ...envelope, type: z.literal(type), ...fields });
  const settles = list(
    closed({ act: text, key: text, try: whole, hold: whole, cost: whole.nullable(), unpriced: z.literal(true).exactOptional() }),
  );
  return { error, event, faults, lastLife, memoryOp, sentFields, settles };
};

type Parts = Values & ReturnType<typeof termSchemas> & ReturnType<typeof partSchemas>;

const openings = ({ bounds, event, hiredRole, json, recordedEdge, scope, sentFields, text, whole }: Parts) => ({
  "run.started": event("run.started", {
    team: text,
    roles: list(hiredRole),
    seed: text,
    scheduler: text,
    parameters: json.exactOptional(),
    delivery: z.enum(["round", "turn"]).exactOptional(),
    clock: z.enum(["rounds", "activations", "time"]).exactOptional(),
    arrival: z.enum(["shuffled", "sender"]).exactOptional(),
    pastSeeds: list(closed({ to: whole, seed: text })).exactOptional(),
    budget: whole.exactOptional(),
    bounds: bounds.exactOptional(),
    edges: list(recordedEdge).exactOptional(),
    about: json.exactOptional(),
    scope: scope.exactOptional(),
    parent: closed({ runId: text, at: whole }).exactOptional(),
  }),
  message: event("message", { ...sentFields, atBarrier: z.literal(true).exactOptional(), order: z.int().min(0).exactOptional() }),
});

const stepEvents = ({ error, event, json, number, settles, text, whole }: Parts) => ({
  "act.started": event("act.started", {
    act: text,
    role: text,
    n: whole,
    attempt: whole,
    take: whole,
    at: number,
    teamAt: whole.exactOptional(),
  }),
  "act.resumed": event("act.resumed", { act: text }),
  "step.started": event("step.started", {
    act: text,
    key: text,
    kind: text,
    name: text,
    asked: whole,
    in: text.exactOptional(),
    try: whole,
    hold: whole,
    unpriced: z.literal(true).exactOptional(),
    request: json,
    deadline: number.exactOptional(),
    idempotent: z.literal(false).exactOptional(),
    reused: whole.exactOptional(),
    dropsRepeats: whole.exactOptional(),
  }),
  "step.ended": event("step.ended", {
    act: text,
    key: text,
    try: whole,
    retry: z.literal(true).exactOptional(),
    ok: z.boolean(),
    value: json.exactOptional(),
    error: error.exactOptional(),
    cost: whole.nullable(),
    basis: z.enum(["usage", "hold", "none"]),
    usage: json.exactOptional(),
    at: number,
    saved: z.int().exactOptional(),
    byDeadline: z.literal(true).exactOptional(),
    settles: settles.exactOptional(),
  }),
});

const activationEnds = ({ error, event, json, lastLife, memoryOp, number, sentFields, text, texts, whole }: Parts) => ({
  "act.ended": event("act.ended", {
    act: text,
    role: text,
    round: whole,
    take: whole,
    said: list(closed(sentFields)),
    memory: list(memoryOp),
    working: list(memoryOp),
    state: stateChange.exactOptional(),
    plan: json.exactOptional(),
    joins: record(record(text)).exactOptional(),
    summary: closed({ oldest: text, older: texts, recent: texts, covered: texts, waits: whole.exactOptional() }).exactOptional(),
    at: number.exactOptional(),
    teamAt: whole.exactOptional(),
    ...lastLife,
  }),
  "act.failed": event("act.failed", {
    act: text,
    role: text,
    round: whole,
    take: whole,
    error,
    stepFailed: z.boolean(),
    then: z.enum(["retry", "isolate", "dead", "stop"]),
    at: number.exactOptional(),
    teamAt: whole.exactOptional(),
    ...lastLife,
  }),
});

const closings = ({ bounds, error, event, hiredRole, number, settles, text, whole }: Parts) => ({
  "round.ended": event("round.ended", { round: whole, stage: whole.exactOptional() }),
  "clock.advanced": event("clock.advanced", { tick: number, role: text.exactOptional() }),
  "role.hired": event("role.hired", { roles: list(hiredRole) }),
  "role.retired": event("role.retired", { role: text, keeps: whole }),
  "run.resumed": event("run.resumed", {
    cause: z.enum(["died", "moved", "taken", "drained"]).exactOptional(),
    uncertain: list(closed({ act: text, key: text, hold: whole })),
    budget: whole.exactOptional(),
    bounds: bounds.exactOptional(),
    roles: list(hiredRole).exactOptional(),
    forked: z.literal(true).exactOptional(),
    afresh: z.literal(true).exactOptional(),
    saved: whole.exactOptional(),
  }),
  "run.settled": event("run.settled", { settles, saved: z.int().exactOptional() }),
  "run.ended": event("run.ended", {
    status: z.enum(["finished", "rounds", "budget", "stopped", "waiting", "failed"]),
    error: error.exactOptional(),
  }),
  "run.erased": event("run.erased", { texts: whole, partly: z.literal(true).exactOptional() }),
});

function issuesText({ issues }: z.ZodError): string {
  const told = issues.slice(0, 3).map((issue) => `${issue.path.map(String).join(".") || "the event"}: ${issue.message}`);
  return shownText(told.join("; "), 500);
}

function newer(v: number): JournalError {
  return new JournalError(
    "EVENT_NEWER",
    `Expected an event of version ${EVENT_VERSION} or older, got one of version ${v}. Update this program to read the run.`,
    { data: { version: v } },
  );
}

function invalid(came: unknown, what: string): JournalError {
  const seq = isRecord(came) && typeof came["seq"] === "number" ? came["seq"] : null;
  const which = seq === null ? "an event of a run" : `event ${seq} of a run`;
  const advice = "Read it with the version of this program that wrote it, or from a copy that is whole.";
  return new JournalError("EVENT_INVALID", `Expected ${which}, ${what}. ${advice}`, { data: { seq } });
}

/** True for two types of objects with exactly the same members: names, types, optional and readonly ones. */
export type SameFields<A, B> = (<T>() => T extends Flat<A> ? 1 : 2) extends <T>() => T extends Flat<B> ? 1 : 2 ? true : false;

type Flat<T> = { [K in keyof T]: T[K] };

/** A change holds changes of members. */
const stateChange: z.ZodType<StateChange> = z.lazy(() =>
  closed({
    set: z.custom<StateChange["set"]>(isRecord, "expected an object"),
    unset: list(z.string()),
    within: z.record(z.string(), stateChange).exactOptional(),
  }),
);

/** Returns the schema of an object with these members and no others. */
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
