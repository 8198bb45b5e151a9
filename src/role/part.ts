import { zodOf } from "../model/standard-schema.ts";
import { fits, listOf, misfit, type Shape } from "../kernel/argument.ts";
import { valueText } from "../kernel/value-text.ts";
import type { Addressable } from "../message/address.ts";
import { valueFault } from "../model/json-schema.ts";

/** The parts of a definition. One that is undefined is left out. */
export type Parts = { readonly [name: string]: Shape };

interface PartsCheck {
  readonly code: string;
  /** "role Ann" */
  readonly owner: string;
  /** The text before the name of a part: "reactions[0]." */
  readonly at?: string;
  readonly required?: readonly string[];
}

/** @throws UsageError with the code for the first part of a definition that does not fit */
export function checkParts({ code, owner, at = "", required = [] }: PartsCheck, definition: object, parts: Parts): void {
  for (const [part, shape] of Object.entries(parts)) {
    const value = (definition as Readonly<Record<string, unknown>>)[part];
    if (value === undefined && !required.includes(part)) continue;
    const name = `${at}${part}`;
    const { item } = shape;
    // `Array.from` keeps holes as undefined, so that a hole is a misfit too.
    const items = item !== undefined && Array.isArray(value) ? Array.from(value as readonly unknown[]) : [];
    for (const [index, one] of items.entries())
      if (item !== undefined && !fits(one, item)) throw misfit(code, owner, `${name}[${index}]`, one, item);
    if (!fits(value, shape)) throw misfit(code, owner, name, value, shape);
  }
}

export function withAdvice(shape: Shape, todo: string): Shape {
  return { ...shape, advice: (value) => ({ got: valueText(value), todo }) };
}

export function list(item: Shape, todo: string): Shape {
  return withAdvice({ ...listOf(item), item: withAdvice(item, todo) }, todo);
}

export const anAddress: Shape = { says: "a name, an action, a role or an Action class", fits: hasName };

function hasName(value: unknown): boolean {
  if (typeof value === "string") return true;
  return (typeof value === "object" || typeof value === "function") && typeof (value as Partial<Addressable> | null)?.name === "string";
}

export const aSchema: Shape = {
  says: "a schema of zod 4, or a Standard Schema, whose values JSON can carry",
  fits: (value) => valueFault(zodOf(value)) === undefined,
  advice: (value) => valueFault(zodOf(value)) ?? { got: valueText(value), todo: "" },
};
