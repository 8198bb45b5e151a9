import { StepError } from "../../kernel/errors.ts";

const UNCERTAIN = "STEP_UNCERTAIN";

/** Whether an activation failed because nobody knows whether one of its effects has happened. */
export function isUncertain(error: unknown): boolean {
  return error instanceof StepError && error.code === UNCERTAIN;
}

/** The effect may have happened before a crash, and must not happen twice: somebody has to look. */
export function uncertain(name: string): StepError {
  return new StepError(
    UNCERTAIN,
    `Expected to know whether "${name}" had happened when the run stopped, but nobody does, and it must not happen twice. Look, then resume the run: it is tried again.`,
  );
}
