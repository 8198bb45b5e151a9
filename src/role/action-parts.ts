import { readable, takes } from "../kernel/argument.ts";
import { UsageError } from "../kernel/errors.ts";
import { valueText } from "../kernel/value-text.ts";
import { address, callable, listPart, misfitIn, misfitText, optional, type Part, part, schemaPart, text } from "./part.ts";

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
