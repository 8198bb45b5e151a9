import type { Json, JsonObject } from "../../kernel/json.ts";
import { isList, isRecord } from "../../kernel/value-kind.ts";

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

/** Returns a state after a change. */
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

/** Returns the change of the named members. */
export function changeOf(changed: readonly string[], unset: readonly string[], before: JsonObject, after: JsonObject): StateChange {
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
