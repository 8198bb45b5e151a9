/*
 * Right arguments, and the wrong ones that follow from them. A table of doors names one right call of each; what is wrong in it follows from
 * the kind of each right value, so that no table names both.
 */

/** A right value whose wrong ones do not follow from its kind. */
export class Right {
  readonly value: unknown;
  readonly wrongs: readonly unknown[];
  /** The members within it: a `whole` has none, those of an `or` are right, and data may have more of them. */
  readonly within: "whole" | "right" | "wrong" | "data";

  constructor(value: unknown, wrongs: readonly unknown[], within: Right["within"]) {
    this.value = value;
    this.wrongs = wrongs;
    this.within = within;
  }
}

/** A value of an option for which several kinds are right. */
export function or(value: unknown, ...wrongs: readonly unknown[]): Right {
  return new Right(value, wrongs, "right");
}

/** Options in whose place another value is right too. */
export function options(value: object, ...wrongs: readonly unknown[]): Right {
  return new Right(value, wrongs, "wrong");
}

/** Data of a model, a tool or a user, to which a newer version may have added members. */
export function data(value: object): Right {
  return new Right(value, wrongsOf(value), "data");
}

/** A value of an option for which any value is right. */
export function any(value: unknown): Right {
  return new Right(value, [], "right");
}

/** An object that is known by its methods, and has no members to be wrong. */
export function whole(value: object): Right {
  return new Right(value, [5, "x", null, [5], {}], "whole");
}

/** A number that may be negative or broken. */
export function real(value: number): Right {
  return new Right(value, ["x", Number.NaN, null], "right");
}

/** One wrong value at one place of the arguments. */
export interface Wrong {
  /** "0.apiKey" */
  readonly place: string;
  readonly value: unknown;
  readonly given: readonly unknown[];
}

/** A member that no options have. */
const UNKNOWN = "unheardOf";

/** Every way to have one argument, or one member of an argument, wrong. */
export function wrongCalls(make: () => readonly unknown[]): readonly Wrong[] {
  return places(make(), [], false).flatMap(({ path, wrongs }) =>
    wrongs.map((value) => ({ place: path.join("."), value, given: bare(make(), path, value) as readonly unknown[] })),
  );
}

/** The arguments without marks. */
export function rightCall(make: () => readonly unknown[]): readonly unknown[] {
  return bare(make(), undefined, undefined) as readonly unknown[];
}

interface Place {
  readonly path: readonly string[];
  readonly wrongs: readonly unknown[];
}

function places(value: unknown, path: readonly string[], isInData: boolean): readonly Place[] {
  const here = path.length === 0 ? [] : [{ path, wrongs: wrongsOf(value) }];
  const isData = isInData || (value instanceof Right && value.within === "data");
  const held = value instanceof Right && ["wrong", "data"].includes(value.within) ? value.value : value;
  const inner = !isBranch(held) ? {} : Array.isArray(held) && path.length > 0 ? held.slice(0, 1) : held;
  const hasOptions = path.length > 0 && isBranch(held) && !Array.isArray(held) && !isData;
  const unknown = hasOptions ? [{ path: [...path, UNKNOWN], wrongs: [1] }] : [];
  return [...here, ...unknown, ...Object.entries(inner).flatMap(([name, member]) => places(member, [...path, name], isData))];
}

/** Puts a wrong value at a place, and takes the marks away. */
function bare(given: unknown, path: readonly string[] | undefined, wrong: unknown): unknown {
  if (path?.length === 0) return wrong;
  if (given instanceof Right && given.within === "whole") return given.value;
  const value = given instanceof Right ? given.value : given;
  if (!isBranch(value)) return value;
  const members = path?.length === 1 && path[0] === UNKNOWN ? { ...value, [UNKNOWN]: undefined } : value;
  const entries = Object.entries(members).map(
    ([name, member]) => [name, bare(member, path !== undefined && path[0] === name ? path.slice(1) : undefined, wrong)] as const,
  );
  return Array.isArray(value) ? entries.map(([, member]) => member) : Object.fromEntries(entries);
}

/** True for what has members that may be wrong: a list, or an object literal. */
function isBranch(value: unknown): value is object {
  return Array.isArray(value) || (typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype);
}

function wrongsOf(value: unknown): readonly unknown[] {
  if (value instanceof Right) return value.wrongs;
  if (Array.isArray(value)) return [5, null, {}, true];
  switch (typeof value) {
    case "string":
      return [5, null, {}, [5]];
    case "boolean":
      return [5, "x", null];
    case "number":
      return Number.isInteger(value) ? ["x", Number.NaN, -1, null] : ["x", Number.NaN, null];
    case "function":
      return [5, "x", null, {}];
    case "object":
      return value === null ? [] : isBranch(value) ? [5, "x", null, [5]] : [5, "x", null, [5], {}];
    default:
      return [];
  }
}
