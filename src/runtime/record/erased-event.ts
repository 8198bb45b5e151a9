import { createHmac } from "node:crypto";
import { type ErrorRecord, JournalError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import { isList, isObject, isRecord } from "../../kernel/value-kind.ts";
import type { RoleSummary } from "../../memory/summary-levels.ts";
import type { Message } from "../../message/message.ts";
import type { HiredRole, RecordedMemoryOp, RunEvent, Sent, StepTrace } from "./event.ts";
import type { StateChange } from "./state-change.ts";

/*
 * Events without the words of people. What was said, asked, answered, remembered and planned is replaced, so that the record still folds to a
 * state of the same shape. The names of tenants, roles, actions and tools stay, and so do the members of objects, times, costs and counts of
 * tokens.
 */

/** Replaces a string. */
type Erase = (text: string) => string;

/** Characters of the hash in a tombstone. */
const HASH = 16;

/**
 * Returns what replaces strings: by a tombstone with a hash and the time. Equal strings have equal hashes in one erasure.
 *
 * @param key is known to nobody afterwards: the hash of a telephone number could be guessed
 */
export function eraser(key: string, time: number): { readonly erase: Erase; readonly count: () => number } {
  const at = new Date(time).toISOString();
  let count = 0;
  const erase = (text: string): string => {
    if (text === "") return text;
    count += 1;
    return `[erased ${createHmac("sha256", key).update(text).digest("hex").slice(0, HASH)} ${at}]`;
  };
  return { erase, count: () => count };
}

/** Returns an event in which every string that may be the words of a person is replaced. */
export function erasedEvent(event: RunEvent, erase: Erase): RunEvent {
  switch (event.type) {
    case "run.started": {
      const { scope, about, roles } = event;
      const user = scope?.user === undefined ? {} : { user: erase(scope.user) };
      return {
        ...event,
        roles: roles.map((role) => withoutState(role, erase)),
        ...(about === undefined ? {} : { about: aboutOf(about) }),
        ...(scope === undefined ? {} : { scope: { ...scope, ...user } }),
      };
    }
    case "message":
      return { ...event, ...withoutWords(event, erase) };
    case "step.started":
      return { ...event, request: free(event.request, erase) };
    case "step.ended":
      return { ...event, ...(event.value === undefined ? {} : { value: free(event.value, erase) }), ...errorOf(event, erase) };
    case "act.ended":
      return {
        ...event,
        said: event.said.map((sent) => withoutWords(sent, erase)),
        memory: event.memory.map((op) => memoryOp(op, erase)),
        working: event.working.map((op) => memoryOp(op, erase)),
        ...(event.state === undefined ? {} : { state: stateChange(event.state, erase) }),
        ...(event.plan === undefined ? {} : { plan: free(event.plan, erase, PLAN) }),
        ...(event.joins === undefined ? {} : { joins: joins(event.joins, erase) }),
        ...(event.summary === undefined ? {} : { summary: summary(event.summary, erase) }),
        ...trace(event, erase),
      };
    case "act.failed":
      return { ...event, ...errorOf(event, erase), ...trace(event, erase) };
    case "run.resumed":
      return event.roles === undefined ? event : { ...event, roles: event.roles.map((role) => withoutState(role, erase)) };
    case "role.hired":
      return { ...event, roles: event.roles.map((role) => withoutState(role, erase)) };
    case "run.ended":
      return { ...event, ...errorOf(event, erase) };
    default:
      return event;
  }
}

/** @throws JournalError `TEXT_ERASED` */
export function assertNotErased({ runId, erased }: { readonly runId: string; readonly erased: boolean }): void {
  if (erased) throw textErased(runId);
}

export function textErased(runId: string): JournalError {
  return new JournalError(
    "TEXT_ERASED",
    `Expected the words of run ${runId}, but they were erased, and nothing can go on without them. Begin another run.`,
    { data: { runId } },
  );
}

const NONE: ReadonlySet<string> = new Set();
/** A plan is checked when it is read. */
const PLAN: ReadonlySet<string> = new Set(["status"]);

/** Replaces every string and number of a value of unknown origin, in its shape. @param kept the members that stay */
function free<T>(value: T, erase: Erase, kept: ReadonlySet<string> = NONE): T {
  if (typeof value === "string") return erase(value) as T;
  if (typeof value === "number") return 0 as T;
  if (isList(value)) return value.map((item) => free(item, erase, kept)) as T;
  if (!isObject(value)) return value;
  return mapped(value as object as Readonly<Record<string, unknown>>, (item, key) => (kept.has(key) ? item : free(item, erase, kept))) as T;
}

function mapped<A, B>(record: Readonly<Record<string, A>>, change: (item: A, key: string) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([key, item]) => [key, change(item, key)]));
}

/** An id that its sender chose may be words. One that the runtime gave has a `#`. */
function idOf(id: string, erase: Erase): string {
  return id.includes("#") ? id : erase(id);
}

/** Leaves what a server keeps with a run, which is no words of a person, and says that the rest was erased. */
function aboutOf(about: Json): Json {
  const server = isRecord(about) && about["server"] !== undefined ? { server: about["server"] as Json } : {};
  return { ...server, erased: true };
}

/** True for the value that is kept with a run whose words were erased. */
export function isErasedAbout(about: Json | undefined): boolean {
  return isRecord(about) && about["erased"] === true;
}

function withoutState(role: HiredRole, erase: Erase): HiredRole {
  return { ...role, state: free(role.state, erase) };
}

function withoutWords({ message, faults, ...sent }: Sent, erase: Erase): Sent {
  const arrives = faults?.map((fault) => ({
    ...fault,
    arrives: fault.arrives.map((arrival) => (arrival.reads === undefined ? arrival : { ...arrival, reads: free(arrival.reads, erase) })),
  }));
  return { ...sent, message: wordless(message, erase), ...(arrives === undefined ? {} : { faults: arrives }) };
}

function wordless(message: Message, erase: Erase): Message {
  const { id, content, instructContent, parents, metadata } = message;
  return {
    ...message,
    id: idOf(id, erase),
    content: erase(content),
    ...(instructContent === undefined ? {} : { instructContent: free(instructContent, erase) }),
    parents: parents.map((parent) => idOf(parent, erase)),
    metadata: free(metadata, erase),
  };
}

function memoryOp(op: RecordedMemoryOp, erase: Erase): RecordedMemoryOp {
  if (op[0] === "0") return op;
  const [kind, what] = op;
  if (typeof what === "string") return [kind, idOf(what, erase)] as RecordedMemoryOp;
  return ["+", wordless(what, erase)];
}

function stateChange({ set, unset, within }: StateChange, erase: Erase): StateChange {
  const inner = within === undefined ? {} : { within: mapped(within, (change) => stateChange(change, erase)) };
  return { set: free(set, erase), unset, ...inner };
}

function joins<T extends { readonly [reaction: string]: { readonly [need: string]: string } }>(all: T, erase: Erase): T {
  return mapped(all, (needs) => mapped(needs, (id) => idOf(id, erase))) as T;
}

function summary({ oldest, older, recent, covered, ...rest }: RoleSummary, erase: Erase): RoleSummary {
  return {
    ...rest,
    oldest: erase(oldest),
    older: older.map(erase),
    recent: recent.map(erase),
    covered: covered.map((id) => idOf(id, erase)),
  };
}

function errorOf<E extends ErrorRecord>({ error }: { readonly error?: E }, erase: Erase): { readonly error?: E } {
  return error === undefined ? {} : { error: wordlessError(error, erase) };
}

function wordlessError<E extends ErrorRecord>(error: E, erase: Erase): E {
  const { message, data } = error;
  return { ...error, message: erase(message), ...(data === undefined ? {} : { data: free(data, erase) }) };
}

function trace({ unrepeated }: StepTrace, erase: Erase): Pick<StepTrace, "unrepeated"> {
  return unrepeated === undefined ? {} : { unrepeated: unrepeated.map(({ key, error }) => ({ key, error: wordlessError(error, erase) })) };
}
