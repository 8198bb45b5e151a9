import { type ErrorRecord, errorRecord } from "../../kernel/errors.ts";
import { deepFreeze } from "../../kernel/json.ts";
import { copyOf, type MessageFile } from "../../message/file.ts";
import { type Message, NO_METADATA } from "../../message/message.ts";
import type { ActEnded, HiredRole, RecordedMemoryOp, RunEventBody, RunStarted, Sent } from "./event.ts";
import type { StateChange } from "./state-change.ts";
import { type Mask, masked } from "../../kernel/mask.ts";

type Change<T> = (value: T) => T;
type AnyChange = ((value: never) => unknown) | undefined;

/** The replacements of the words in an event. A member left out changes nothing. */
export interface Words {
  /** A string of a person or a model. */
  readonly text?: Change<string>;
  readonly value?: <T>(value: T) => T;
  /** Default: `value`. */
  readonly plan?: <T>(plan: T) => T;
  /** Default: `value`. */
  readonly state?: Change<StateChange>;
  readonly name?: Change<string>;
  readonly id?: Change<string>;
  readonly file?: Change<MessageFile>;
  readonly role?: Change<HiredRole>;
  readonly start?: Change<RunStarted>;
  /** If given, the values of steps are replaced too. */
  readonly error?: Change<ErrorRecord>;
}

export type Rewriting = { readonly [T in RunEventBody["type"]]?: AnyChange };

/** Returns an event with its words replaced; the same object if it has no such words. */
export function rewritten<B extends RunEventBody>(body: B, changes: Rewriting): B {
  const change = changes[body.type] as Change<B> | undefined;
  return change === undefined ? body : change(body);
}

export function rewriting(words: Words): Rewriting {
  const { text, value, plan = value, state = value, name, id, role, start, error } = words;
  const message = messageChange(words);
  const others = members<Sent>({
    dead: items(name),
    meant: name && items(members({ wrote: name })),
    faults: value && items(members({ arrives: items(members({ reads: value })) })),
  });
  // Most messages have no other members, so the search is skipped.
  const sent = <S extends Sent>(given: S): S => {
    const { message: before, dead, meant, faults } = given;
    const now = message(before);
    const changed = now === before ? given : { ...given, message: now };
    return dead === undefined && meant === undefined && faults === undefined ? changed : (others(changed) as S);
  };
  const all = items<Sent>(sent) as Change<readonly Sent[]>;
  const ops = opsChange(message, id);
  const kept = members<ActEnded>({
    ...{ state, plan, joins: id && record(record(id)), unrepeated: error && items(members({ error })) },
    summary: members({ oldest: text, older: items(text), recent: items(text), covered: items(id) }),
  });
  const ended: Change<ActEnded> = (event) => {
    const said = all(event.said);
    const memory = ops(event.memory);
    const working = event.working.length === 0 ? event.working : ops(event.working);
    const isSame = said === event.said && memory === event.memory && working === event.working;
    const changed = isSame ? event : { ...event, said, memory, working };
    const isPlain = (event.state ?? event.plan ?? event.joins ?? event.summary ?? event.unrepeated) === undefined;
    return isPlain ? changed : kept(changed);
  };
  const roles = members({ roles: items(role) }) as <E extends object>(event: E) => E;
  return {
    "run.started": (event: RunStarted) => (start === undefined ? roles(event) : start(roles(event))),
    "run.resumed": roles,
    "role.hired": roles,
    message: sent,
    "act.ended": ended,
    "act.failed": error && members({ error, unrepeated: items(members({ error })) }),
    "step.started": error && members({ request: value }),
    "step.ended": error && members({ value, error }),
    "run.ended": error && members({ error }),
  };
}

function opsChange(message: Change<Message>, id: Change<string> | undefined): Change<readonly RecordedMemoryOp[]> {
  const change = items<RecordedMemoryOp>((op) => {
    const [kind, what] = op;
    if (kind === "0") return op;
    const changed = typeof what === "string" ? (id?.(what) ?? what) : message(what);
    return changed === what ? op : ([kind, changed] as RecordedMemoryOp);
  }) as Change<readonly RecordedMemoryOp[]>;
  return (ops) => {
    // Most operations name their messages by ids.
    let mayChange = id !== undefined;
    for (const [, what] of ops) mayChange ||= typeof what === "object";
    return mayChange ? change(ops) : ops;
  };
}

function messageChange({ text, value, name, id, file }: Words): Change<Message> {
  const hasNames = name !== undefined || id !== undefined;
  const names = { id, parents: items(id), role: name, causeBy: name, sentFrom: name, sendTo: items(name) };
  const change = members<Message>({
    instructContent: value,
    metadata: value,
    files: items(file),
    speech: text,
    ...(hasNames ? names : {}),
  });
  return (message) => {
    const { content, instructContent, metadata, files, speech } = message;
    const clean = text === undefined ? content : text(content);
    const changed = clean === content ? message : { ...message, content: clean };
    const isPlain = !hasNames && (instructContent ?? files ?? speech) === undefined && metadata === NO_METADATA;
    const all = isPlain ? changed : change(changed);
    return all === message ? message : deepFreeze(all);
  };
}

function members<T extends object>(changes: { readonly [member: string]: AnyChange }): Change<T> {
  const given = Object.entries(changes).filter(([, change]) => change !== undefined) as [keyof T, Change<unknown>][];
  return (object) => {
    let copy: T | undefined;
    for (const [key, change] of given) {
      const member = object[key];
      if (member === undefined) continue;
      const changed = change(member);
      if (changed !== member) (copy ??= { ...object })[key] = changed as T[keyof T];
    }
    return copy ?? object;
  };
}

function items<T>(change: Change<T> | undefined): Change<readonly T[]> | undefined {
  if (change === undefined) return undefined;
  return (list) => {
    let copy: T[] | undefined;
    for (let index = 0; index < list.length; index += 1) {
      const item = list[index] as T;
      const changed = change(item);
      if (changed !== item) (copy ??= [...list])[index] = changed;
    }
    return copy ?? list;
  };
}

function record<T>(change: Change<T>): Change<{ readonly [key: string]: T }> {
  return (given) => withChanges(given, Object.fromEntries(Object.entries(given).map(([key, member]) => [key, change(member)])));
}

/** Returns the object with the changed members; itself if no member changed. */
export function withChanges<T extends object>(object: T, changes: { readonly [K in keyof T]?: T[K] | undefined }): T {
  let copy: T | undefined;
  for (const key of Object.keys(changes) as (keyof T)[])
    if (changes[key] !== object[key]) (copy ??= { ...object })[key] = changes[key] as T[keyof T];
  return copy ?? object;
}

/* Removes secrets from values before they are recorded. Each function returns the same object if it has no secret. */

export function maskedError(mask: Mask, error: unknown): ErrorRecord {
  return masked(mask, errorRecord(error));
}

export function maskedMessage(mask: Mask, message: Message): Message {
  return messageChange({ text: mask, value: (json) => masked(mask, json), file: (file) => copyOf(file, mask(file.name)) })(message);
}

type Rules = Pick<RunStarted, "parameters" | "delivery" | "edges">;

/** Masks the parameters and pairs of policies. The schedulers of this package keep theirs: one is made of them again. */
export function maskedRules<R extends Rules>(mask: Mask, rules: R): R {
  const { parameters, delivery, edges } = rules;
  return withChanges<Rules>(rules, {
    parameters: delivery === undefined ? parameters : masked(mask, parameters),
    edges: edges?.map((edge) => ({ ...masked(mask, edge), name: edge.name })),
  }) as R;
}

/** Masks messages, states and the description of the team. Steps and errors are masked where they are made. Names of roles are addresses and stay. */
export function masking(mask: Mask): Rewriting {
  const value = <T>(json: T): T => masked(mask, json);
  return rewriting({
    text: mask,
    value,
    // A recorded file has a reference of its own, so that its bytes leave the memory when they are kept.
    file: (file) => copyOf(file, mask(file.name)),
    role: (role) => withChanges(role, { traits: value(role.traits), state: value(role.state) }),
    start: (start) => withChanges(maskedRules(mask, start), { team: mask(start.team), about: start.about && value(start.about) }),
  });
}
