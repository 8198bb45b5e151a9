import { isRecord, isObject } from "./value-kind.ts";
import { UsageError } from "./errors.ts";
import { valueText } from "./value-text.ts";

/*
 * Checks of the arguments of public functions: programs in plain JavaScript have no compiler. A check never throws an error of the value.
 */

/** The required form of an argument. */
export interface Shape {
  /** A completion of "Expected it to be": "a string". */
  readonly says: string;
  /** May throw: then the value does not fit. */
  readonly fits: (value: unknown) => boolean;
  /** True where no error may show the value. */
  readonly isSecret?: boolean;
  /** Says what came and what to do, for errors in which that is clearer than the value. */
  readonly advice?: (value: unknown) => { readonly got: string; readonly todo: string };
  /** The shape of each item of a list, where an error names the item. */
  readonly item?: Shape;
  /** Returns an error that names the part of the value that does not fit. @param at the place of the value: "limits" */
  readonly within?: (value: unknown, entry: string, at: string) => UsageError | undefined;
}

/** @param entry the function, as its caller writes it: `importRun`, `new Net` @throws UsageError `ARGUMENT_INVALID` */
export function takes(entry: string, name: string, value: unknown, shape: Shape): void {
  if (!fits(value, shape)) throw misfit("ARGUMENT_INVALID", entry, name, value, shape);
}

export function misfit(code: string, entry: string, name: string, value: unknown, shape: Shape): UsageError {
  const part = shape.within?.(value, entry, name);
  if (part !== undefined) return part;
  const { got, todo } = shape.advice?.(value) ?? { got: shape.isSecret === true ? "something else" : valueText(value), todo: "" };
  return new UsageError(code, `Expected ${name} of ${entry} to be ${shape.says}, got ${got}. ${todo}`.trimEnd());
}

/** An error of the value counts as false. */
export function fits(value: unknown, shape: Shape): boolean {
  try {
    return shape.fits(value);
  } catch {
    return false;
  }
}

export const aText: Shape = { says: "a text", fits: (value) => typeof value === "string" };
export const aNumber: Shape = { says: "a number", fits: (value) => typeof value === "number" };
export const aCount: Shape = { says: "a whole number of 0 or more", fits: (value) => Number.isInteger(value) && (value as number) >= 0 };
/** Infinity is a time: everything is older. */
export const aTime: Shape = { says: "a time in milliseconds", fits: (value) => typeof value === "number" && !Number.isNaN(value) };
export const aFunction: Shape = { says: "a function", fits: (value) => typeof value === "function" };

/** Any value: its function checks it, so options of this kind cost nothing. */
export const anything: Shape = { says: "any value", fits: () => true };

export function object(says: string, members: { readonly [name: string]: Shape } = {}): Shape {
  return {
    says,
    fits(value) {
      if (!isRecord(value)) return false;
      const given = value as { readonly [name: string]: unknown };
      // A member that throws does so here.
      for (const name of Object.keys(given)) void given[name];
      return Object.entries(members).every(([name, shape]) => shape.fits(given[name]));
    },
  };
}

export const readable: Shape = {
  says: "a value that can be read",
  fits(value) {
    if (typeof value !== "object" || value === null) return true;
    for (const name of Object.keys(value)) void (value as { readonly [name: string]: unknown })[name];
    return true;
  },
};

/** An object with these methods, of a class of this package or made by a user. */
export function having(says: string, ...methods: readonly string[]): Shape {
  return {
    says: `${says}, which has ${methods.join(", ")}`,
    fits: (value) =>
      (isObject(value) || typeof value === "function") &&
      methods.every((name) => typeof (value as { readonly [name: string]: unknown })[name] === "function"),
  };
}

export function listOf(item: Shape, says: string = `a list, each item ${item.says}`): Shape {
  return {
    says,
    fits: (value) => Array.isArray(value) && Array.from(value as readonly unknown[]).every((one) => item.fits(one)),
    within: (value, entry, at) => (Array.isArray(value) ? partIn(value, item, entry, (n) => `${at}[${n}]`) : undefined),
  };
}

export function iterable(says: string): Shape {
  return {
    says: `${says}: a list, or anything else that can be iterated`,
    fits: (value) => isObject(value) && (Symbol.iterator in value || Symbol.asyncIterator in value),
  };
}

/** Returns the error of the first member that does not fit, if its shape names the part. An error of the value counts as none. */
export function partIn(members: object, shape: Shape, entry: string, placeOf: (name: string) => string): UsageError | undefined {
  const { within } = shape;
  if (within === undefined) return undefined;
  try {
    const wrong = Object.entries(members).find(([, one]) => one !== undefined && !fits(one, shape));
    return wrong && within(wrong[1], entry, placeOf(wrong[0]));
  } catch {
    return undefined;
  }
}

export function orNothing(shape: Shape): Shape {
  return { says: `${shape.says}, or nothing`, fits: (value) => value === undefined || shape.fits(value) };
}

export function either(one: Shape, other: Shape): Shape {
  return {
    says: `${one.says}, or ${other.says}`,
    fits: (value) => fits(value, one) || fits(value, other),
    within: (value, entry, at) => one.within?.(value, entry, at) ?? other.within?.(value, entry, at),
  };
}

/** @param says "a number between 0 and 1" */
export function numberWith(says: string, holds: (value: number) => boolean): Shape {
  return { says, fits: (value) => typeof value === "number" && holds(value) };
}
