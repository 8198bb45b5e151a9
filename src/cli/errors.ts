import { ControlError, JournalError, MemoryError, ModelError, TroupeError, UsageError, WorkspaceError } from "../kernel/errors.ts";
import type { ResultStatus } from "../runtime/run-result.ts";

export type ExitCode = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 129 | 130 | 143;

export const EXIT_CODES: readonly { readonly code: ExitCode; readonly meaning: string }[] = [
  { code: 0, meaning: "done" },
  {
    code: 1,
    meaning: "failed; of replay and runs diff: not equal; of runs check, check --determinism and check --explore: something was found",
  },
  { code: 2, meaning: "the command, a setting, a folder, a run or the store cannot be used" },
  { code: 3, meaning: "the budget was reached" },
  { code: 4, meaning: "the rounds were used up" },
  { code: 5, meaning: "a human's answer is needed" },
  { code: 6, meaning: "the product is not proven: a criterion of priority P0 is not, or something failed when it ran" },
  { code: 7, meaning: "the model, its provider or the key is the trouble" },
  { code: 8, meaning: "another process continues the run" },
  { code: 129, meaning: "the terminal was closed (SIGHUP)" },
  { code: 130, meaning: "interrupted (Ctrl-C), or not confirmed" },
  { code: 143, meaning: "ended by SIGTERM" },
];

export type Interruption = "SIGINT" | "SIGTERM" | "SIGHUP" | "pipe";

export interface RunOutcome {
  readonly status: ResultStatus;
  readonly errorCode?: string | undefined;
  readonly tests?: string | undefined;
  /** Undefined for a crew that proves nothing. */
  readonly isProven?: boolean | undefined;
  readonly interruption?: Interruption | undefined;
}

/** Model errors about reaching or paying the provider, not about the model's answer. */
const PROVIDER_CODES: ReadonlySet<string> = new Set(
  (
    "MODEL_AUTH MODEL_QUOTA MODEL_NOT_FOUND MODEL_REDIRECTED MODEL_BAD_REQUEST MODEL_FORMAT_UNSUPPORTED " +
    "MODEL_RATE_LIMIT MODEL_SERVER MODEL_UNREACHABLE MODEL_TIMEOUT MODEL_CUT MODEL_PROTOCOL"
  ).split(" "),
);

/** The exit code of an interruption. A reader that closed its pipe has seen enough: that is no failure. */
export function interruptionCode(interruption: Interruption): ExitCode {
  return ({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129, pipe: 0 } as const)[interruption];
}

export function exitCodeOf({ status, errorCode = "", tests, isProven, interruption }: RunOutcome): ExitCode {
  switch (status) {
    case "finished":
      return tests === "failed" || isProven === false ? 6 : 0;
    case "rounds":
      return 4;
    case "budget":
      return 3;
    case "waiting":
      return 5;
    case "moved":
      return 8;
    case "stopped":
      return interruption === undefined ? 1 : interruptionCode(interruption);
    case "failed":
      if (errorCode === "NOT_APPROVED") return 130;
      return PROVIDER_CODES.has(errorCode) ? 7 : 1;
  }
}

export function exitCodeOfError(error: unknown): ExitCode {
  if (error instanceof ControlError) return 130;
  if (error instanceof ModelError) return PROVIDER_CODES.has(error.code) ? 7 : 1;
  const cannotBeUsed = [UsageError, WorkspaceError, JournalError, MemoryError].some((kind) => error instanceof kind);
  // The engine of a fleet, as its database.
  return cannotBeUsed || (error instanceof TroupeError && error.code.startsWith("DRIVER_")) ? 2 : 1;
}
