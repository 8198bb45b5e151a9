import { ControlError } from "../kernel/errors.ts";
import { thrownText } from "../kernel/value-text.ts";

/** What was thrown, or that nobody can tell: even looking at it may throw. */
export function toldOf(thrown: unknown): string {
  try {
    return thrownText(thrown);
  } catch {
    return "an error that cannot be read";
  }
}

/** The interruption that was thrown, if it is one. */
export function interruptionIn(thrown: unknown): ControlError | undefined {
  try {
    return thrown instanceof ControlError ? thrown : undefined;
  } catch {
    return undefined;
  }
}
