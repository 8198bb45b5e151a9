import { createHmac } from "node:crypto";
import { type ErrorRecord, JournalError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import { isList, isObject, isRecord } from "../../kernel/value-kind.ts";
import type { Erasure as StringErasure } from "../../memory/forget-in-store.ts";
import type { RoleSummary } from "../../memory/summary-levels.ts";
import { ROUTE_TO_ALL, ROUTE_TO_NONE, ROUTE_TO_SELF, UserFeedback, UserRequirement } from "../../message/address.ts";
import type { Message } from "../../message/message.ts";
import type { HiredRole, RecordedMemoryOp, RunEvent, Sent, StepTrace } from "./event.ts";
import type { StateChange } from "./state-change.ts";

/*
 * Events without the words of people. What was said, asked, answered, remembered and planned is replaced, so that the record still folds to a
 * state of the same shape. The names of tenants, roles, actions and tools stay, and so do the members of objects, times, costs and counts of
 * tokens. An address that is no such name goes.
 */

/** Decides what is replaced. Where all words of the run go, numbers of unknown meaning and what is kept with the run go too. */
export interface Erasure extends StringErasure {
  /** Returns what stands in place of a string: a tombstone, or the string itself. */
  text(text: string): string;
}

/** Characters of the hash in a tombstone. */
const HASH = 16;

/** Replaces strings by tombstones, and counts them. */
export interface Eraser {
  count(): number;
  /** Replaces every string. */
  readonly all: Erasure;
  /** Replaces strings that repeat one of some texts. A short text is found as a whole string, or in quotes. */
  repeating(texts: readonly string[]): Erasure;
}

/**
 * Returns what replaces strings: by a tombstone with a hash and the time. Equal strings have equal hashes in one erasure.
 *
 * @param key is known to nobody afterwards: the hash of a telephone number could be guessed
 */
export function eraserOf(key: string, time: number): Eraser {
  const at = new Date(time).toISOString();
  let count = 0;
  const erasure = (isWhole: boolean, isMeant: (text: string) => boolean): Erasure => ({
    isWhole,
    isMeant,
    text(text) {
      if (text === "" || !isMeant(text)) return text;
      count += 1;
      return `[erased ${createHmac("sha256", key).update(text).digest("hex").slice(0, HASH)} ${at}]`;
    },
  });
  return {
    count: () => count,
    all: erasure(true, () => true),
    repeating(texts) {
      const known = new Set(texts);
      const forms = texts.flatMap((text) => {
        const quoted = JSON.stringify(text);
        return text.length < SHORTEST ? [quoted] : [text, quoted.slice(1, -1)];
      });
      return erasure(false, (text) => known.has(text) || forms.some((form) => text.includes(form)));
    },
  };
}

/** Characters of a text that is found within another without quotes. */
const SHORTEST = 8;

/** Erases the events of one run. */
interface RunErasure extends Erasure {
  /** Returns what stands in place of an address: a name of the run, or a tombstone. */
  name(text: string): string;
}

/** Names that every run has. */
const COMMON: readonly string[] = [
  ...[ROUTE_TO_ALL, ROUTE_TO_SELF, ROUTE_TO_NONE, UserRequirement.name, UserFeedback.name],
  ...["system", "user", "assistant", "tool", ""],
];

/**
 * Returns the names that stay in the events of a run: of roles, and of what they watch and do. Their traits, which stay too, have them. Any other
 * address may be a text of a person or of a model.
 */
export function namesIn(events: readonly RunEvent[]): ReadonlySet<string> {
  const names = new Set(COMMON);
  const take = (value: Json): void => {
    if (typeof value === "string") names.add(value);
    else if (isObject(value)) for (const item of Object.values(value)) take(item);
  };
  for (const event of events) {
    if (event.type !== "run.started" && event.type !== "run.resumed" && event.type !== "role.hired") continue;
    for (const { name, traits } of event.roles ?? []) take([name, traits]);
  }
  return names;
}

/** Returns an event in which strings that may be the words of a person are replaced. @param names those of {@link namesIn} */
export function erasedEvent(event: RunEvent, words: Erasure, names: ReadonlySet<string>): RunEvent {
  const erase: RunErasure = { ...words, name: (text) => (names.has(text) ? text : words.text(text)) };
  switch (event.type) {
    case "run.started": {
      const { scope, about, roles } = event;
      const user = scope?.user === undefined ? {} : { user: erase.text(scope.user) };
      return {
        ...event,
        roles: roles.map((role) => withoutState(role, erase)),
        ...(about === undefined ? {} : { about: erase.isWhole ? aboutOf(about) : free(about, erase) }),
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

/** Replaces strings of a value of unknown origin, and numbers with all of them, in its shape. @param kept the members that stay */
function free<T>(value: T, erase: Erasure, kept: ReadonlySet<string> = NONE): T {
  if (typeof value === "string") return erase.text(value) as T;
  if (typeof value === "number" && erase.isWhole) return 0 as T;
  if (isList(value)) return value.map((item) => free(item, erase, kept)) as T;
  if (!isObject(value)) return value;
  return mapped(value as object as Readonly<Record<string, unknown>>, (item, key) => (kept.has(key) ? item : free(item, erase, kept))) as T;
}

function mapped<A, B>(record: Readonly<Record<string, A>>, change: (item: A, key: string) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([key, item]) => [key, change(item, key)]));
}

/** An id that its sender chose may be words. One that the runtime gave has a `#`. */
function idOf(id: string, erase: Erasure): string {
  return id.includes("#") ? id : erase.text(id);
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

function withoutState(role: HiredRole, erase: Erasure): HiredRole {
  return { ...role, state: free(role.state, erase) };
}

function withoutWords({ message, faults, ...sent }: Sent, erase: RunErasure): Sent {
  const arrives = faults?.map((fault) => ({
    ...fault,
    arrives: fault.arrives.map((arrival) => (arrival.reads === undefined ? arrival : { ...arrival, reads: free(arrival.reads, erase) })),
  }));
  const { dead, meant, ...routed } = sent;
  return {
    ...routed,
    message: wordless(message, erase),
    ...(dead === undefined ? {} : { dead: dead.map(erase.name) }),
    ...(meant === undefined ? {} : { meant: meant.map(({ wrote, as }) => ({ wrote: erase.name(wrote), as })) }),
    ...(arrives === undefined ? {} : { faults: arrives }),
  };
}

function wordless(message: Message, erase: RunErasure): Message {
  const { id, content, instructContent, parents, metadata, role, causeBy, sentFrom, sendTo } = message;
  return {
    ...message,
    id: idOf(id, erase),
    content: erase.text(content),
    ...(instructContent === undefined ? {} : { instructContent: free(instructContent, erase) }),
    parents: parents.map((parent) => idOf(parent, erase)),
    metadata: free(metadata, erase),
    role: erase.name(role),
    causeBy: erase.name(causeBy),
    sentFrom: erase.name(sentFrom),
    sendTo: sendTo.map(erase.name),
  };
}

function memoryOp(op: RecordedMemoryOp, erase: RunErasure): RecordedMemoryOp {
  if (op[0] === "0") return op;
  const [kind, what] = op;
  if (typeof what === "string") return [kind, idOf(what, erase)] as RecordedMemoryOp;
  return ["+", wordless(what, erase)];
}

function stateChange({ set, unset, within }: StateChange, erase: Erasure): StateChange {
  const inner = within === undefined ? {} : { within: mapped(within, (change) => stateChange(change, erase)) };
  return { set: free(set, erase), unset, ...inner };
}

function joins<T extends { readonly [reaction: string]: { readonly [need: string]: string } }>(all: T, erase: Erasure): T {
  return mapped(all, (needs) => mapped(needs, (id) => idOf(id, erase))) as T;
}

function summary({ oldest, older, recent, covered, ...rest }: RoleSummary, erase: Erasure): RoleSummary {
  return {
    ...rest,
    oldest: erase.text(oldest),
    older: older.map(erase.text),
    recent: recent.map(erase.text),
    covered: covered.map((id) => idOf(id, erase)),
  };
}

function errorOf<E extends ErrorRecord>({ error }: { readonly error?: E }, erase: Erasure): { readonly error?: E } {
  return error === undefined ? {} : { error: wordlessError(error, erase) };
}

function wordlessError<E extends ErrorRecord>(error: E, erase: Erasure): E {
  const { message, data } = error;
  return { ...error, message: erase.text(message), ...(data === undefined ? {} : { data: free(data, erase) }) };
}

function trace({ unrepeated }: StepTrace, erase: Erasure): Pick<StepTrace, "unrepeated"> {
  return unrepeated === undefined ? {} : { unrepeated: unrepeated.map(({ key, error }) => ({ key, error: wordlessError(error, erase) })) };
}
