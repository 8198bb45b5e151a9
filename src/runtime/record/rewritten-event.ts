import type { ErrorRecord } from "../../kernel/errors.ts";
import { deepFreeze } from "../../kernel/json.ts";
import { type Message, NO_METADATA } from "../../message/message.ts";
import type { ActEnded, HiredRole, RecordedMemoryOp, RunEventBody, RunStarted, Sent, StepTrace } from "./event.ts";
import type { StateChange } from "./state-change.ts";

/** What replaces the words in an event. Each function returns the same value where it replaces nothing. */
export interface Rewriting {
  /** A string of a person or a model. */
  text(text: string): string;
  /** Addresses and names, and ids. Undefined where they stay. */
  readonly names?: { name(name: string): string; id(id: string): string } | undefined;
  /** A JSON value. */
  value<T>(value: T): T;
  plan<T>(plan: T): T;
  state(change: StateChange): StateChange;
  role(role: HiredRole): HiredRole;
  start(start: RunStarted): RunStarted;
  /** Undefined where steps and errors stay. */
  readonly error?: (<E extends ErrorRecord>(error: E) => E) | undefined;
}

/** Returns an event with its words replaced; the same event where that changes nothing. */
export function rewritten<B extends RunEventBody>(body: B, r: Rewriting): B;
export function rewritten(body: RunEventBody, r: Rewriting): RunEventBody {
  switch (body.type) {
    case "run.started":
      return r.start(withChanges(body, { roles: mapped(body.roles, r.role) }));
    case "run.resumed":
    case "role.hired":
      return body.roles === undefined ? body : withChanges(body, { roles: mapped(body.roles, r.role) });
    case "message":
      return rewrittenSent(body, r);
    case "act.ended":
      return rewrittenEnd(body, r);
    case "step.started":
      return r.error === undefined ? body : withChanges(body, { request: r.value(body.request) });
    case "step.ended":
      return r.error === undefined
        ? body
        : withChanges(body, { value: body.value && r.value(body.value), error: body.error && r.error(body.error) });
    case "act.failed":
      return r.error === undefined ? body : withChanges(body, { error: r.error(body.error), ...trace(body, r.error) });
    case "run.ended":
      return body.error === undefined || r.error === undefined ? body : withChanges(body, { error: r.error(body.error) });
    default:
      return body;
  }
}

function rewrittenEnd(event: ActEnded, r: Rewriting): ActEnded {
  const { state, plan, joins, summary } = event;
  const said = mapped(event.said, rewrittenSent, r);
  const memory = rewrittenOps(event.memory, r);
  const working = event.working.length === 0 ? event.working : rewrittenOps(event.working, r);
  const isPlain = (state ?? plan ?? joins ?? summary ?? r.error) === undefined;
  if (isPlain && said === event.said && memory === event.memory && working === event.working) return event;
  return withChanges(event, {
    ...{ said, memory, working },
    state: state && r.state(state),
    plan: plan && r.plan(plan),
    joins: joins && r.names ? membersOf(joins, (needs) => membersOf(needs, r.names?.id)) : joins,
    summary:
      summary &&
      withChanges(summary, {
        oldest: r.text(summary.oldest),
        older: mapped(summary.older, r.text),
        recent: mapped(summary.recent, r.text),
        covered: mapped(summary.covered, r.names?.id),
      }),
    ...(r.error === undefined ? {} : trace(event, r.error)),
  });
}

function rewrittenSent<S extends Sent>(sent: S, r: Rewriting): S {
  const { message, faults, dead, meant } = sent;
  // Most messages have none of these: no list of members is made for them.
  if (faults === undefined && dead === undefined && meant === undefined) {
    const clean = rewrittenMessage(message, r);
    return clean === message ? sent : { ...sent, message: clean };
  }
  return withChanges<Sent>(sent, {
    message: rewrittenMessage(message, r),
    dead: dead && mapped(dead, r.names?.name),
    meant: meant && mapped(meant, (one) => withChanges(one, { wrote: r.names?.name(one.wrote) ?? one.wrote })),
    faults:
      faults &&
      mapped(faults, (fault) =>
        withChanges(fault, { arrives: mapped(fault.arrives, (one) => withChanges(one, { reads: one.reads && r.value(one.reads) })) }),
      ),
  }) as S;
}

/** Returns a message with its words replaced. */
export function rewrittenMessage(message: Message, { names, text, value }: Pick<Rewriting, "text" | "names" | "value">): Message {
  const { id, content, instructContent, parents, metadata, role, causeBy, sentFrom, sendTo } = message;
  const clean = text(content);
  const isPlain = names === undefined && instructContent === undefined && metadata === NO_METADATA;
  if (isPlain && clean === content) return message;
  const words = {
    content: clean,
    metadata: metadata === NO_METADATA ? metadata : value(metadata),
    instructContent: instructContent === undefined ? undefined : value(instructContent),
  };
  const others = names && {
    ...{ id: names.id(id), parents: mapped(parents, names.id), role: names.name(role), causeBy: names.name(causeBy) },
    ...{ sentFrom: names.name(sentFrom), sendTo: mapped(sendTo, names.name) },
  };
  const changed = withChanges(message, { ...words, ...others });
  return changed === message ? message : deepFreeze(changed);
}

function rewrittenOps(ops: readonly RecordedMemoryOp[], r: Rewriting): readonly RecordedMemoryOp[] {
  let isWhole = r.names !== undefined;
  for (const [, what] of ops) isWhole ||= typeof what === "object";
  return isWhole ? mapped(ops, rewrittenOp, r) : ops;
}

function rewrittenOp(op: RecordedMemoryOp, r: Rewriting): RecordedMemoryOp {
  if (op[0] === "0") return op;
  const [kind, what] = op;
  const changed = typeof what === "string" ? (r.names?.id(what) ?? what) : rewrittenMessage(what, r);
  return changed === what ? op : ([kind, changed] as RecordedMemoryOp);
}

function trace({ unrepeated }: StepTrace, error: NonNullable<Rewriting["error"]>): Pick<Partial<StepTrace>, "unrepeated"> {
  return unrepeated === undefined ? {} : { unrepeated: mapped(unrepeated, (step) => withChanges(step, { error: error(step.error) })) };
}

/** Returns the object with the members that are others; itself where none is. */
export function withChanges<T extends object>(object: T, members: { readonly [K in keyof T]?: T[K] | undefined }): T {
  let copy: T | undefined;
  for (const key of Object.keys(members) as (keyof T)[])
    if (members[key] !== object[key]) (copy ??= { ...object })[key] = members[key] as T[keyof T];
  return copy ?? object;
}

function membersOf<T>(record: { readonly [key: string]: T }, change: ((member: T) => T) | undefined): { readonly [key: string]: T } {
  if (change === undefined) return record;
  return withChanges(record, Object.fromEntries(Object.entries(record).map(([key, member]) => [key, change(member)])));
}

function mapped<T>(list: readonly T[], change: ((item: T) => T) | undefined): readonly T[];
function mapped<T, O>(list: readonly T[], change: (item: T, o: O) => T, o: O): readonly T[];
function mapped<T, O>(list: readonly T[], change: ((item: T, o?: O) => T) | undefined, o?: O): readonly T[] {
  if (change === undefined) return list;
  let copy: T[] | undefined;
  for (let nth = 0; nth < list.length; nth += 1) {
    const item = list[nth] as T;
    const changed = change(item, o);
    if (changed !== item) (copy ??= [...list])[nth] = changed;
  }
  return copy ?? list;
}
