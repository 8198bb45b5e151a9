import { UsageError } from "../kernel/errors.ts";
import type { Action } from "./action.ts";

/** Returns a value as the output schema of its action reads it. @throws UsageError `ACTION_RESULT` */
export function checkedOutput(action: Action, value: unknown): unknown {
  const parsed = action.output?.safeParse(value);
  if (parsed === undefined || parsed.success) return parsed === undefined ? value : parsed.data;
  throw new UsageError("ACTION_RESULT", `Expected action ${action.name} to return what its output schema says: ${parsed.error.message}`, {
    cause: parsed.error,
  });
}

/** A transform of the schema may create a Date. Readers of the message would expect a Date, and get a string. */
export function assertHandedOn({ name }: Pick<Action, "name">, output: unknown): void {
  const at = dateIn(output, "$", 0);
  if (at === undefined) return;
  throw new UsageError(
    "ACTION_RESULT",
    `Expected what action ${name} says to be JSON, got a Date at ${at}, which its readers would get as a text. Say z.iso.datetime() in its output schema, and make a Date of the text where you need one.`,
  );
}

const DEEPEST = 100;

function dateIn(value: unknown, at: string, depth: number): string | undefined {
  if (value instanceof Date) return at;
  if (typeof value !== "object" || value === null || depth === DEEPEST) return undefined;
  for (const [key, member] of Object.entries(value)) {
    const found = dateIn(member, Array.isArray(value) ? `${at}[${key}]` : `${at}.${key}`, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}
