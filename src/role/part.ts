import { valueText } from "../kernel/value-text.ts";
import { isModel, noModel } from "../kernel/foreign-models.ts";
import type { Addressable } from "../message/address.ts";
import { valueFault } from "../model/json-schema.ts";
import { readable, takes } from "../kernel/argument.ts";
import { UsageError } from "../kernel/errors.ts";

export interface Part {
  readonly name: string;
  /** Returns the fault of a value for this part, or undefined. */
  misfit(value: unknown): Misfit | undefined;
}

export interface Misfit {
  /** The place of the fault: "actions[0]". */
  readonly at: string;
  readonly expected: string;
  readonly came: unknown;
  /** A description of the value, where it is clearer than the value. */
  readonly got?: string;
  readonly todo: string;
}

export interface Kind {
  readonly fits: (value: unknown) => boolean;
  /** "an action" */
  readonly expected: string;
  readonly todo: string;
}

export function part(name: string, { fits, expected, todo }: Kind): Part {
  return { name, misfit: (came) => (fits(came) ? undefined : { at: name, expected, came, todo }) };
}

export function listPart(name: string, { fits, expected, todo }: Kind): Part {
  return itemsPart(name, { expected, todo }, (item) => (fits(item) ? undefined : { at: "", expected, came: item, todo }));
}

export function definitionsPart(name: string, { fits, expected, todo }: Kind, parts: readonly Part[]): Part {
  return itemsPart(name, { expected, todo }, (item) => {
    if (!fits(item)) return { at: "", expected, came: item, todo };
    const inner = misfitIn(item as object, parts);
    return inner === undefined ? undefined : { ...inner, at: `.${inner.at}` };
  });
}

export function schemaPart(name: string): Part {
  return {
    name,
    misfit(came) {
      const fault = valueFault(came);
      return fault && { at: name, came, ...fault };
    },
  };
}

export function optional({ name, misfit }: Part): Part {
  return { name, misfit: (value) => (value === undefined ? undefined : misfit(value)) };
}

export function misfitIn(definition: object, parts: readonly Part[]): Misfit | undefined {
  for (const { name, misfit } of parts) {
    const found = misfit((definition as Readonly<Record<string, unknown>>)[name]);
    if (found !== undefined) return found;
  }
  return undefined;
}

export function misfitText({ at, expected, came, got, todo }: Misfit, owner: string): string {
  return `Expected ${at} of ${owner} to be ${expected}, got ${got ?? valueText(came)}. ${todo}`;
}

function itemsPart(name: string, { expected, todo }: Omit<Kind, "fits">, misfitOf: (item: unknown) => Misfit | undefined): Part {
  return {
    name,
    misfit(list) {
      if (!Array.isArray(list)) return { at: name, expected: `a list, each item ${expected}`, came: list, todo };
      // `Array.from` keeps holes as undefined, so that a hole is a misfit too.
      for (const [place, item] of Array.from(list as readonly unknown[]).entries()) {
        const found = misfitOf(item);
        if (found !== undefined) return { ...found, at: `${name}[${place}]${found.at}` };
      }
      return undefined;
    },
  };
}

export const text: Omit<Kind, "todo"> = { fits: (value) => typeof value === "string", expected: "a text" };
export const callable: Omit<Kind, "todo"> = { fits: (value) => typeof value === "function", expected: "a function" };
export const address: Omit<Kind, "todo"> = { fits: hasName, expected: "a name, an action, a role or an Action class" };

function hasName(value: unknown): boolean {
  if (typeof value === "string") return true;
  return (typeof value === "object" || typeof value === "function") && typeof (value as Partial<Addressable> | null)?.name === "string";
}

export const modelPart: Part = {
  name: "model",
  misfit: (came) => (isModel(came) ? undefined : { at: "model", expected: "a model", came, ...noModel(came) }),
};

const parts: readonly Part[] = [
  part("name", { fits: isActionName, expected: "a text that is not empty", todo: "Its name is its identity in routing." }),
  ...[
    part("description", { ...text, todo: "Tell the model what it does." }),
    listPart("needs", { ...address, todo: "Write needs: [WriteDraft]." }),
    schemaPart("output"),
    schemaPart("state"),
    modelPart,
    ...["prompt", "run", "render", "sendTo"].map((name) => part(name, { ...callable, todo: `Write ${name}: (ctx) => ... .` })),
  ].map(optional),
];

/** Refuses invalid parts of an action. */
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

/** Refuses a model of an action that is none. */
export function assertActionModel(action: { readonly name: string; readonly model: unknown }): void {
  const misfit = optional(modelPart).misfit(action.model);
  if (misfit !== undefined) throw new UsageError("ACTION_INVALID", misfitText(misfit, `action ${action.name}`));
}

export function isActionName(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}
