import { NotJsonError } from "../../kernel/errors.ts";
import { deepFreeze, type Json, type JsonObject } from "../../kernel/json.ts";
import { valueText } from "../../kernel/value-text.ts";
import type { ActEnded } from "../record/event.ts";

/*
 * The state of a role that is a step function. It is never changed but replaced, and what is as it was before is the same object: so only what
 * a step has made anew is looked at.
 *
 * SS1 a state is plain JSON, and equals what a record gives back of it. SS2 nobody can change one. SS3 a change names exactly the keys that say
 * something else than before.
 */

/** How one state became another. */
export type StateChange = NonNullable<ActEnded["state"]>;

/** Where a value stands in a state. */
interface Place {
  readonly key: string | number;
  readonly above: Place | undefined;
  readonly depth: number;
}

/** Fewer than JSON of ours may have at all, because a record holds a state. */
const MOST_LEVELS = 400;
const root: Place = { key: "state", above: undefined, depth: 1 };

/** A state that nobody can change: the same one. What a record or a mask has made of it may still be open. */
export function heldState(state: JsonObject): JsonObject {
  if (Object.isFrozen(state)) return state;
  for (const member of Object.values(state))
    if (typeof member === "object" && member !== null && !Object.isFrozen(member)) deepFreeze(member);
  return Object.freeze(state);
}

/**
 * What changes by what a step gave back; undefined when it says what the state before said.
 *
 * @throws NotJsonError naming the place of what is no plain JSON: also of what JSON would leave out or change, such as undefined and dates.
 */
export function stateChange(before: JsonObject, given: object): StateChange | undefined {
  assertPlainObject(given, root);
  const keys = Object.keys(given);
  let set: Record<string, Json> | undefined;
  let added = 0;
  let kept = 0;
  for (const key of keys) {
    if (key === "__proto__") throw protoFault(root);
    const had = memberOf(before, key);
    if (had === undefined) added += 1;
    const value = (given as Record<string, unknown>)[key];
    // What is said again as it was has been looked at before.
    const member = value === had && had !== undefined ? had : plain(value, had, key, root);
    if (member === had) kept += 1;
    else (set ??= {})[key] = member;
  }
  const had = Object.keys(before);
  const isGone = keys.length - added < had.length;
  if (set === undefined && !isGone) return undefined;
  // It may be the next state as it is: see `changedState`.
  if (kept === 0 && !isGone) Object.freeze(set);
  return { set: set ?? {}, unset: isGone ? without(had, keys) : nothing };
}

const nothing: readonly string[] = Object.freeze([]);

function without(keys: readonly string[], those: readonly string[]): readonly string[] {
  const gone = new Set(keys);
  for (const key of those) gone.delete(key);
  return [...gone];
}

/** Neither a state nor what is in it has undefined members or functions; but every object has some of them behind it. */
function memberOf(state: JsonObject | undefined, key: string): Json | undefined {
  const member = state?.[key];
  return typeof member === "function" ? undefined : member;
}

function plain(value: unknown, had: Json | undefined, key: string | number, above: Place): Json {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      if (!Number.isFinite(value)) throw fault(key, above, String(value));
      // JSON knows no negative zero.
      return value + 0;
    case "object":
      if (value === null || value === had) return value as Json;
      return Array.isArray(value) ? plainList(value, had, below(key, above)) : plainRecord(value, had, below(key, above));
    default:
      throw fault(key, above, typeof value);
  }
}

function below(key: string | number, above: Place): Place {
  if (above.depth === MOST_LEVELS) throw new NotJsonError("state...", `more than ${MOST_LEVELS} levels of nesting`);
  return { key, above, depth: above.depth + 1 };
}

function plainList(given: readonly unknown[], had: Json | undefined, place: Place): readonly Json[] {
  const before: readonly Json[] = Array.isArray(had) ? (had as readonly Json[]) : nothing;
  const list: Json[] = [];
  let isSame = before === had && before.length === given.length;
  for (let at = 0; at < given.length; at += 1) {
    const item = plain(given[at], before[at], at, place);
    list.push(item);
    if (isSame && item !== before[at]) isSame = false;
  }
  return isSame ? before : Object.freeze(list);
}

function plainRecord(given: object, had: Json | undefined, place: Place): JsonObject {
  assertPlainObject(given, place);
  // What it says now is looked at, and kept: a getter could say something else later.
  const record = { ...given } as Record<string, unknown>;
  const before = typeof had === "object" && had !== null && !Array.isArray(had) ? (had as JsonObject) : undefined;
  const keys = Object.keys(record);
  let isSame = before !== undefined && keys.length === Object.keys(before).length;
  for (const key of keys) {
    if (key === "__proto__") throw protoFault(place);
    const was = memberOf(before, key);
    const member = plain(record[key], was, key, place);
    if (!Object.is(member, record[key])) record[key] = member;
    if (isSame && member !== was) isSame = false;
  }
  return isSame && before !== undefined ? before : (Object.freeze(record) as JsonObject);
}

/** Of this realm or another. */
function assertPlainObject(given: object, place: Place): void {
  if (Object.getOwnPropertySymbols(given).length > 0) throw new NotJsonError(pathTo(place), "an object with a symbol for a key");
  const prototype = Object.getPrototypeOf(given) as object | null;
  if (prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null) return;
  throw new NotJsonError(pathTo(place), `${valueText(given)}, which is no plain object`);
}

function protoFault(place: Place): NotJsonError {
  return fault("__proto__", place, "a key that names the prototype");
}

function fault(key: string | number, above: Place, came: string): NotJsonError {
  return new NotJsonError(pathTo({ key, above, depth: 0 }), came);
}

function pathTo({ key, above }: Place): string {
  if (above === undefined) return String(key);
  return typeof key === "number" ? `${pathTo(above)}[${key}]` : `${pathTo(above)}.${key}`;
}
