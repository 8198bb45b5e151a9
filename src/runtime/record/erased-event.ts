import { createHmac } from "node:crypto";
import { JournalError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import { isList, isObject, isRecord } from "../../kernel/value-kind.ts";
import type { Erasure as StringErasure } from "../../memory/forget.ts";
import { ROUTE_TO_ALL, ROUTE_TO_NONE, ROUTE_TO_SELF, TeamChange, UserFeedback, UserRequirement } from "../../message/address.ts";
import type { RunEvent } from "./event.ts";
import type { StateChange } from "./state-change.ts";
import { rewriting, rewritten, withChanges } from "./rewritten-event.ts";

/*
 * Events without the words of people. What was said, asked, answered, remembered and planned is replaced, so that the record still folds to a
 * state of the same shape. The names of tenants, roles, actions and tools stay, and so do the members of objects, times, costs and counts of
 * tokens. An address that is no such name is replaced.
 */

/** Decides what is replaced. If all words of the run are erased, numbers of unknown meaning and the value kept with the run are too. */
export interface Erasure extends StringErasure {
  /** Returns the replacement of a string: a tombstone, or the string itself. */
  text(text: string): string;
}

/** Characters of the hash in a tombstone. */
const HASH = 16;

/** Replaces strings by tombstones, and counts them. */
export interface Eraser {
  count(): number;
  /** Replaces every string. */
  readonly all: Erasure;
  /** Replaces strings that repeat one of these. A short string must match as a whole or in quotes. */
  repeating(texts: readonly string[]): Erasure;
}

/** Replaces strings by a tombstone with a hash and the time. @param key discarded afterwards, because a hash could be guessed */
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
        return text.length < MIN_LENGTH ? [quoted] : [text, quoted.slice(1, -1)];
      });
      return erasure(false, (text) => known.has(text) || forms.some((form) => text.includes(form)));
    },
  };
}

/** Minimum characters of a string that may match within another without quotes. */
const MIN_LENGTH = 8;

/** Names that every run has. */
const COMMON: readonly string[] = [
  ...[ROUTE_TO_ALL, ROUTE_TO_SELF, ROUTE_TO_NONE, UserRequirement.name, UserFeedback.name, TeamChange.name],
  ...["system", "user", "assistant", "tool", ""],
];

/** Returns the names that stay: of roles, and of what they watch and do. Any other address may be the words of a person or a model. */
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

/** Returns what replaces the strings of an event that may be the words of a person. @param names those of {@link namesIn} */
export function erasing(words: Erasure, names: ReadonlySet<string>): (event: RunEvent) => RunEvent {
  const { text } = words;
  const value = <T>(json: T): T => free(json, words);
  const changes = rewriting({
    text,
    value,
    plan: (plan) => free(plan, words, PLAN),
    name: (name) => (names.has(name) ? name : text(name)),
    // An id chosen by its sender may be words. An id of the runtime has a `#`.
    id: (id) => (id.includes("#") ? id : text(id)),
    file: ({ name, type, size, hash }) => Object.freeze({ name: text(name), type, size: words.isWhole ? 0 : size, hash: text(hash) }),
    state: (change) => stateChange(change, words),
    role: (role) => ({ ...role, state: value(role.state) }),
    start: (start) =>
      withChanges(start, {
        about: start.about && (words.isWhole ? aboutOf(start.about) : value(start.about)),
        scope: start.scope && withChanges(start.scope, { user: start.scope.user && text(start.scope.user) }),
      }),
    error: (error) => withChanges(error, { message: text(error.message), data: error.data && value(error.data) }),
  });
  return (event) => rewritten(event, changes);
}

/** @throws JournalError `TEXT_ERASED` */
export function assertNotErased({ runId, erased }: { readonly runId: string; readonly erased: boolean }): void {
  if (erased) throw textErased(runId);
}

export function textErased(runId: string): JournalError {
  return new JournalError(
    "TEXT_ERASED",
    `Expected the words of run ${runId}, but they were erased, and nothing can continue without them. Begin another run.`,
    { data: { runId } },
  );
}

/** A plan is checked when it is read. */
const PLAN: ReadonlySet<string> = new Set(["status"]);

/** Replaces strings of a value of unknown origin, and numbers with all of them, in its shape. @param kept the members that stay */
function free<T>(value: T, erase: Erasure, kept?: ReadonlySet<string>): T {
  if (typeof value === "string") return erase.text(value) as T;
  if (typeof value === "number" && erase.isWhole) return 0 as T;
  if (isList(value)) return value.map((item) => free(item, erase, kept)) as T;
  if (!isObject(value)) return value;
  const members = Object.entries(value as object as Readonly<Record<string, unknown>>).map(([key, item]) => {
    return [key, kept?.has(key) === true ? item : free(item, erase, kept)] as const;
  });
  return Object.fromEntries(members) as T;
}

function stateChange({ set, unset, within }: StateChange, erase: Erasure): StateChange {
  const inner = Object.entries(within ?? {}).map(([key, change]) => [key, stateChange(change, erase)]);
  return { set: free(set, erase), unset, ...(within && { within: Object.fromEntries(inner) as typeof within }) };
}

/** Keeps the values of a server, which are no words of a person, and marks the rest as erased. */
function aboutOf(about: Json): Json {
  const server = isRecord(about) && about["server"] !== undefined ? { server: about["server"] as Json } : {};
  return { ...server, erased: true };
}

/** True for the value that is kept with a run whose words were erased. */
export function isErasedAbout(about: Json | undefined): boolean {
  return isRecord(about) && about["erased"] === true;
}
