import { type Json, type JsonObject, deepFreeze } from "../../kernel/json.ts";
import { isList, isRecord } from "../../kernel/value-kind.ts";
import { NotJsonError } from "../../kernel/errors.ts";
import { valueText } from "../../kernel/value-text.ts";

/*
 * The recorded change of a state.
 *
 * StateChange.SC1 (`changedState`) the keys of a state keep their order, and members that a change does not name stay the same objects.
 */

/** Changed members of a state, or of a record or list in it. A list has its indexes as keys. */
export interface StateChange {
  readonly set: JsonObject;
  readonly unset: readonly string[];
  /** Changes within large members, so that an event is as large as the change and not as the member. */
  readonly within?: { readonly [key: string]: StateChange };
}

/**
 * Returns the frozen state after a step that gave a plain record of its keys; undefined for any other value. @param isClean true for a text that is
 * recorded as it is
 */
export function simpleState(before: JsonObject, given: object, isClean: (text: string) => boolean): JsonObject | undefined {
  if (Object.getPrototypeOf(given) !== Object.prototype || Object.getOwnPropertySymbols(given).length > 0) return undefined;
  const keys = keysOf(before);
  const after: Record<string, Json> = {};
  let count = 0;
  let isSame = true;
  for (const key in given) {
    if (key !== keys[count]) return undefined;
    count += 1;
    const had = before[key];
    const value = (given as JsonObject)[key];
    if (value === had) {
      after[key] = had as Json;
      continue;
    }
    isSame = false;
    if (typeof value === "number" && Number.isFinite(value)) after[key] = value + 0;
    else if (typeof value === "boolean" || (typeof value === "string" && isClean(value))) after[key] = value;
    else return undefined;
  }
  if (count !== keys.length) return undefined;
  return isSame ? before : Object.freeze(after);
}

/** The keys of the last simple state: most states have the same. */
let lastKeys: readonly string[] = [];

function keysOf(state: JsonObject): readonly string[] {
  let count = 0;
  for (const key in state) {
    if (key !== lastKeys[count]) return (lastKeys = Object.keys(state));
    count += 1;
  }
  return count === lastKeys.length ? lastKeys : (lastKeys = Object.keys(state));
}

export function changedState(before: JsonObject, change: StateChange): JsonObject {
  const { set, unset, within } = change;
  if (within === undefined && unset.length === 0 && replacesAll(before, set)) return set;
  const after: Record<string, Json> = { ...before, ...set };
  for (const key of unset) delete after[key];
  for (const [key, inner] of Object.entries(within ?? {})) after[key] = changedMember(before[key], inner, key);
  return after;
}

/** The values before and after a change, if both have their keys in the same order: applying the change then needs no copy. */
const outcomes = new WeakMap<StateChange, { readonly before: Json | undefined; readonly after: Json }>();

function changedMember(before: Json | undefined, change: StateChange, key: string): Json {
  const known = outcomes.get(change);
  if (known !== undefined && known.before === before) return known.after;
  if (isRecord(before)) return changedState(before, change);
  if (!isList(before)) throw new Error(`it changes a part of ${key}, which has no parts`);
  const after: Json[] = [...before];
  for (const [index, item] of Object.entries(change.set)) after[Number(index)] = item;
  for (const [index, inner] of Object.entries(change.within ?? {}))
    after[Number(index)] = changedMember(before[Number(index)], inner, index);
  return after;
}

/** True if a frozen change has exactly the keys of the state, in their order: then it can be the next state itself. */
function replacesAll(before: JsonObject, set: JsonObject): boolean {
  if (!Object.isFrozen(set)) return false;
  const keys = Object.keys(before);
  const changed = Object.keys(set);
  return keys.length === changed.length && keys.every((key, index) => key === changed[index]);
}

/** A record or list with this many members is large. */
const LARGE = 64;
/** A change within a member is recorded if at most this share of its own members changed. */
const SMALL_SHARE = 1 / 4;

/** Returns the change to a large record or list of mostly the same members; undefined unless that is much smaller than the whole. */
function changeWithin(before: Json | undefined, after: Json): StateChange | undefined {
  const areLists = isList(before) && isList(after) && before.length === after.length;
  const areRecords = isRecord(before) && isRecord(after);
  if (!areLists && !areRecords) return undefined;
  const [had, has] = [before as JsonObject, after as JsonObject];
  const keys = Object.keys(has);
  if (keys.length < LARGE) return undefined;
  const hadKeys = Object.keys(had);
  const areSameKeys = keys.length === hadKeys.length && keys.every((key, index) => key === hadKeys[index]);
  const changed = keys.filter((key) => had[key] !== has[key]);
  const unset = areSameKeys ? none : hadKeys.filter((key) => !Object.hasOwn(has, key));
  if (changed.length + unset.length > keys.length * SMALL_SHARE) return undefined;
  const change = changeOf(changed, unset, had, has);
  if (areSameKeys && Object.isFrozen(after)) outcomes.set(change, { before, after });
  return change;
}

const none: readonly string[] = Object.freeze([]);

function changeOf(changed: readonly string[], unset: readonly string[], before: JsonObject, after: JsonObject): StateChange {
  const set: Record<string, Json> = {};
  let within: Record<string, StateChange> | undefined;
  for (const key of changed) {
    const value = after[key] as Json;
    const inner = changeWithin(Object.hasOwn(before, key) ? before[key] : undefined, value);
    if (inner === undefined) set[key] = value;
    else (within ??= {})[key] = inner;
  }
  return within === undefined ? { set, unset } : { set, unset, within };
}

/*
 * The state of a step role. It is replaced, never changed, and unchanged parts stay the same objects, so only new parts are checked.
 *
 * StepState.SS1 (`plain`) a state is plain JSON, and equals its recorded form.
 * StepState.SS2 (`heldState`, `plainRecord`, `plainList`) a state cannot be changed.
 * StepState.SS3 (`stateChange`) a change names exactly the keys whose values differ.
 * StepState.SS4 (`isHeld`, `plain`) unchanged parts are not walked again, however large they are.
 */

interface Position {
  readonly key: string | number;
  readonly above: Position | undefined;
  readonly depth: number;
}

/** Lower than the general limit of JSON values, because a record contains a state. */
const MAX_LEVELS = 400;
const MANY_KEYS = 64;
const root: Position = { key: "state", above: undefined, depth: 1 };

/** Freezes a state and returns it. A state from a record or a mask may not be frozen yet. */
export function heldState(state: JsonObject): JsonObject {
  if (isHeld(state)) return state;
  for (const member of Object.values(state)) if (typeof member === "object" && member !== null && !isHeld(member)) deepFreeze(member);
  return Object.freeze(state);
}

/** Large records known to be frozen: V8 walks all members to check that. */
const largeAndFrozen = new WeakSet<object>();

function isHeld(value: object): boolean {
  if (largeAndFrozen.has(value)) return true;
  if (!Object.isFrozen(value)) return false;
  if (!Array.isArray(value) && isLarge(value)) largeAndFrozen.add(value);
  return true;
}

/** Makes no list of the keys: most states have few. */
function isLarge(value: object): boolean {
  let count = 0;
  for (const _key in value) {
    count += 1;
    if (count > MANY_KEYS) return true;
  }
  return false;
}

/** Returns the change from a state to the result of a step; undefined when both are equal. */
export function stateChange(before: JsonObject, given: object): StateChange | undefined {
  assertPlainObject(given, root);
  const keys = Object.keys(given);
  const after: Record<string, Json> = {};
  const changed: string[] = [];
  let added = 0;
  for (const key of keys) {
    if (key === "__proto__") throw protoFault(root);
    const had = memberOf(before, key);
    if (had === undefined) added += 1;
    const member = plain((given as Record<string, unknown>)[key], had, key, root);
    if (member === had) continue;
    changed.push(key);
    after[key] = member;
  }
  const had = Object.keys(before);
  const isGone = keys.length - added < had.length;
  if (changed.length === 0 && !isGone) return undefined;
  const change = changeOf(changed, isGone ? without(had, keys) : nothing, before, after);
  // The set may become the next state itself: see `changedState`.
  if (changed.length === keys.length && !isGone) Object.freeze(change.set);
  return change;
}

const nothing: readonly string[] = Object.freeze([]);

function without(keys: readonly string[], those: readonly string[]): readonly string[] {
  const gone = new Set(keys);
  for (const key of those) gone.delete(key);
  return [...gone];
}

/** Neither a state nor a value in it has undefined members or functions; but every object inherits some of them. */
function memberOf(state: JsonObject | undefined, key: string): Json | undefined {
  const member = state?.[key];
  return typeof member === "function" ? undefined : member;
}

function plain(value: unknown, had: Json | undefined, key: string | number, above: Position): Json {
  // An identical value was checked before.
  if (had !== undefined && value === had) return had;
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      if (!Number.isFinite(value)) throw fault(key, above, String(value));
      // Adding 0 removes a negative zero, which JSON does not have.
      return value + 0;
    case "object":
      if (value === null) return value;
      return Array.isArray(value) ? plainList(value, had, below(key, above)) : plainRecord(value, had, below(key, above));
    default:
      throw fault(key, above, typeof value);
  }
}

function below(key: string | number, above: Position): Position {
  if (above.depth === MAX_LEVELS) throw new NotJsonError("state...", `more than ${MAX_LEVELS} levels of nesting`);
  return { key, above, depth: above.depth + 1 };
}

function plainList(given: readonly unknown[], had: Json | undefined, position: Position): readonly Json[] {
  const before: readonly Json[] = Array.isArray(had) ? (had as readonly Json[]) : nothing;
  const list: Json[] = [];
  let isSame = before === had && before.length === given.length;
  for (let at = 0; at < given.length; at += 1) {
    const item = plain(given[at], before[at], at, position);
    list.push(item);
    if (isSame && item !== before[at]) isSame = false;
  }
  return isSame ? before : Object.freeze(list);
}

function plainRecord(given: object, had: Json | undefined, position: Position): JsonObject {
  assertPlainObject(given, position);
  const before = typeof had === "object" && had !== null && !Array.isArray(had) ? (had as JsonObject) : undefined;
  const keys = Object.keys(given);
  // Once frozen, a small record that is built member by member takes less memory than one that is spread; a large one is spread faster.
  const record: Record<string, unknown> = keys.length > MANY_KEYS ? { ...given } : {};
  const read = keys.length > MANY_KEYS ? record : (given as Record<string, unknown>);
  let isSame = before !== undefined && keys.length === Object.keys(before).length;
  for (const key of keys) {
    if (key === "__proto__") throw protoFault(position);
    const was = memberOf(before, key);
    const value = read[key];
    const member = plain(value, was, key, position);
    if (read !== record || !Object.is(member, value)) record[key] = member;
    if (isSame && member !== was) isSame = false;
  }
  return isSame && before !== undefined ? before : (Object.freeze(record) as JsonObject);
}

function assertPlainObject(given: object, position: Position): void {
  if (Object.getOwnPropertySymbols(given).length > 0) throw new NotJsonError(pathTo(position), "an object with a symbol for a key");
  const prototype = Object.getPrototypeOf(given) as object | null;
  if (prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null) return;
  throw new NotJsonError(pathTo(position), `${valueText(given)}, which is no plain object`);
}

function protoFault(position: Position): NotJsonError {
  return fault("__proto__", position, "a key that names the prototype");
}

function fault(key: string | number, above: Position, came: string): NotJsonError {
  return new NotJsonError(pathTo({ key, above, depth: 0 }), came);
}

function pathTo({ key, above }: Position): string {
  if (above === undefined) return String(key);
  return typeof key === "number" ? `${pathTo(above)}[${key}]` : `${pathTo(above)}.${key}`;
}
