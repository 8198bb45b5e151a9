import { valueText } from "../kernel/value-text.ts";
import type { Addressable } from "../message/address.ts";
import { valueFault } from "../model/json-schema.ts";
import { readable, takes } from "../kernel/argument.ts";
import { UsageError } from "../kernel/errors.ts";

/** A named part of a definition, such as a role's actions, and what it must be. */
export interface Part {
  readonly name: string;
  /** What does not fit in a value for it, if something does not. */
  misfit(value: unknown): Misfit | undefined;
}

/** What does not fit in a definition. */
export interface Misfit {
  /** Where it stands: "actions[0]". */
  readonly at: string;
  readonly expected: string;
  readonly came: unknown;
  /** What came, where words tell it better than the value. */
  readonly got?: string;
  readonly todo: string;
}

/** What a value must be. */
export interface Kind {
  readonly fits: (value: unknown) => boolean;
  /** "an action" */
  readonly expected: string;
  /** What to do about a value that does not fit, as a sentence. */
  readonly todo: string;
}

/** A part that is one value. */
export function part(name: string, { fits, expected, todo }: Kind): Part {
  return { name, misfit: (came) => (fits(came) ? undefined : { at: name, expected, came, todo }) };
}

/** A part that is a list, each item of one kind. */
export function listPart(name: string, { fits, expected, todo }: Kind): Part {
  return itemsPart(name, { expected, todo }, (item) => (fits(item) ? undefined : { at: "", expected, came: item, todo }));
}

/** A part that is a list of definitions, each with parts of its own. */
export function definitionsPart(name: string, { fits, expected, todo }: Kind, parts: readonly Part[]): Part {
  return itemsPart(name, { expected, todo }, (item) => {
    if (!fits(item)) return { at: "", expected, came: item, todo };
    const inner = misfitIn(item as object, parts);
    return inner === undefined ? undefined : { ...inner, at: `.${inner.at}` };
  });
}

/** A part that is a schema of values that are recorded and handed on. */
export function schemaPart(name: string): Part {
  return {
    name,
    misfit(came) {
      const fault = valueFault(came);
      return fault && { at: name, came, ...fault };
    },
  };
}

/** A part that may be left out. */
export function optional({ name, misfit }: Part): Part {
  return { name, misfit: (value) => (value === undefined ? undefined : misfit(value)) };
}

/** The first part of a definition that does not fit. */
export function misfitIn(definition: object, parts: readonly Part[]): Misfit | undefined {
  for (const { name, misfit } of parts) {
    const found = misfit((definition as Readonly<Record<string, unknown>>)[name]);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A misfit in words: what was expected, what came, what to do. */
export function misfitText({ at, expected, came, got, todo }: Misfit, owner: string): string {
  return `Expected ${at} of ${owner} to be ${expected}, got ${got ?? valueText(came)}. ${todo}`;
}

function itemsPart(name: string, { expected, todo }: Omit<Kind, "fits">, misfitOf: (item: unknown) => Misfit | undefined): Part {
  return {
    name,
    misfit(list) {
      if (!Array.isArray(list)) return { at: name, expected: `a list, each item ${expected}`, came: list, todo };
      // Not `entries` of the items that are there: a hole is an item that is missing.
      for (const [place, item] of Array.from(list as readonly unknown[]).entries()) {
        const found = misfitOf(item);
        if (found !== undefined) return { ...found, at: `${name}[${place}]${found.at}` };
      }
      return undefined;
    },
  };
}

/** Kinds that parts of many definitions are of. */
export const text: Omit<Kind, "todo"> = { fits: (value) => typeof value === "string", expected: "a text" };
export const callable: Omit<Kind, "todo"> = { fits: (value) => typeof value === "function", expected: "a function" };
export const address: Omit<Kind, "todo"> = { fits: hasName, expected: "a name, an action, a role or an Action class" };

function hasName(value: unknown): boolean {
  if (typeof value === "string") return true;
  return (typeof value === "object" || typeof value === "function") && typeof (value as Partial<Addressable> | null)?.name === "string";
}

const parts: readonly Part[] = [
  part("name", { fits: isActionName, expected: "a text that is not empty", todo: "Its name is its identity in routing." }),
  ...[
    part("description", { ...text, todo: "Tell the model what it does." }),
    listPart("needs", { ...address, todo: "Write needs: [WriteDraft]." }),
    schemaPart("output"),
    schemaPart("state"),
    ...["prompt", "run", "render", "sendTo"].map((name) => part(name, { ...callable, todo: `Write ${name}: (ctx) => ... .` })),
  ].map(optional),
];

/**
 * Refuses what an action cannot be made of.
 *
 * @throws UsageError `ACTION_INVALID`
 */
export function assertActionParts(options: unknown): void {
  if (typeof options !== "object" || options === null) {
    throw new UsageError(
      "ACTION_INVALID",
      `Expected the parts of an action, got ${valueText(options)}. Write defineAction({ name, ... }).`,
    );
  }
  takes("defineAction", "options", options, readable);
  const misfit = misfitIn(options, parts);
  if (misfit === undefined) return;
  const { name } = options as { readonly name?: unknown };
  throw new UsageError("ACTION_INVALID", misfitText(misfit, isActionName(name) ? `action ${name}` : "an action"));
}

/** Whether a value can be the name of an action. */
export function isActionName(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}
