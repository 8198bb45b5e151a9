import type { RunStatus } from "../runtime/record/event.ts";

/** What the process ends with. {@link EXIT_CODES} says what each means. */
export type ExitCode = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 129 | 130 | 143;

/** Every code the command can end with: the one place they are told, for `--help` and for programs alike. */
export const EXIT_CODES: readonly { readonly code: ExitCode; readonly meaning: string }[] = [
  { code: 0, meaning: "done" },
  { code: 1, meaning: "failed; of replay and runs diff: not equal" },
  { code: 2, meaning: "the command, a setting, a folder, a run or the store cannot be used" },
  { code: 3, meaning: "the budget was reached" },
  { code: 4, meaning: "the rounds were used up" },
  { code: 5, meaning: "a human's answer is needed" },
  { code: 6, meaning: "the project's own tests ran and failed" },
  { code: 7, meaning: "the model, its provider or the key is the trouble" },
  { code: 129, meaning: "the terminal was closed (SIGHUP)" },
  { code: 130, meaning: "interrupted (Ctrl-C), or not confirmed" },
  { code: 143, meaning: "ended by SIGTERM" },
];

/** Why a run was stopped from outside. */
export type Interruption = "SIGINT" | "SIGTERM" | "SIGHUP" | "pipe";

/** What decides the code of a run. */
export interface RunOutcome {
  readonly status: RunStatus;
  /** Code of the error that ended it. */
  readonly errorCode?: string | undefined;
  /** What the project's tests said, where they ran. */
  readonly tests?: string | undefined;
  readonly interruption?: Interruption | undefined;
}

/** Model errors that are about reaching or paying the provider, not about what the model said. */
const PROVIDER_CODES: ReadonlySet<string> = new Set([
  "MODEL_AUTH",
  "MODEL_QUOTA",
  "MODEL_NOT_FOUND",
  "MODEL_REDIRECTED",
  "MODEL_BAD_REQUEST",
  "MODEL_FORMAT_UNSUPPORTED",
  "MODEL_RATE_LIMIT",
  "MODEL_SERVER",
  "MODEL_UNREACHABLE",
  "MODEL_TIMEOUT",
  "MODEL_CUT",
  "MODEL_PROTOCOL",
]);

/** Whether an error's code speaks of the provider, the key or the way there. */
export function isProviderTrouble(code: string | undefined): boolean {
  return code !== undefined && PROVIDER_CODES.has(code);
}

/** The code of an interruption. A reader that closed its pipe has seen enough: that is no failure. */
export function interruptionCode(interruption: Interruption): ExitCode {
  switch (interruption) {
    case "SIGINT":
      return 130;
    case "SIGTERM":
      return 143;
    case "SIGHUP":
      return 129;
    case "pipe":
      return 0;
  }
}

/** The code a run ends with. */
export function exitCodeOf({ status, errorCode, tests, interruption }: RunOutcome): ExitCode {
  switch (status) {
    case "finished":
      return tests === "failed" ? 6 : 0;
    case "rounds":
      return 4;
    case "budget":
      return 3;
    case "waiting":
      return 5;
    case "stopped":
      return interruption === undefined ? 1 : interruptionCode(interruption);
    case "failed":
      return isProviderTrouble(errorCode) ? 7 : 1;
  }
}
