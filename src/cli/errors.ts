import {
  BudgetError,
  ControlError,
  JournalError,
  MemoryError,
  ModelError,
  TroupeError,
  UsageError,
  WorkspaceError,
} from "../kernel/errors.ts";
import { maskSecrets } from "../kernel/mask.ts";
import { formatUsd } from "../model/money.ts";
import type { RunStatus } from "../runtime/record/event.ts";
import { shown, type Style } from "./screen/text.ts";
import type { Variables } from "./settings.ts";

/** The codes the process ends with. {@link EXIT_CODES} explains each. */
export type ExitCode = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 129 | 130 | 143;

/** Every exit code and its meaning, for `--help` and for programs. */
export const EXIT_CODES: readonly { readonly code: ExitCode; readonly meaning: string }[] = [
  { code: 0, meaning: "done" },
  { code: 1, meaning: "failed; of replay and runs diff: not equal" },
  { code: 2, meaning: "the command, a setting, a folder, a run or the store cannot be used" },
  { code: 3, meaning: "the budget was reached" },
  { code: 4, meaning: "the rounds were used up" },
  { code: 5, meaning: "a human's answer is needed" },
  { code: 6, meaning: "the product is not proven: a criterion of priority P0 is not, or something failed when it ran" },
  { code: 7, meaning: "the model, its provider or the key is the trouble" },
  { code: 129, meaning: "the terminal was closed (SIGHUP)" },
  { code: 130, meaning: "interrupted (Ctrl-C), or not confirmed" },
  { code: 143, meaning: "ended by SIGTERM" },
];

export type Interruption = "SIGINT" | "SIGTERM" | "SIGHUP" | "pipe";

export interface RunOutcome {
  readonly status: RunStatus;
  readonly errorCode?: string | undefined;
  /** Verdict of the project's tests, where they ran. */
  readonly tests?: string | undefined;
  /** Whether the product was proven; undefined where nobody proves it. */
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
  return [UsageError, WorkspaceError, JournalError, MemoryError].some((kind) => error instanceof kind) ? 2 : 1;
}

/** An error as it is printed: safe for a terminal and without secrets. */
export interface ErrorReport {
  readonly code: string;
  readonly message: string;
  /** True for an interruption, which is no failure. */
  readonly isControl: boolean;
  /** One line for each stack frame and cause, for `--verbose`. */
  readonly trace: readonly string[];
}

/** Causes shown below an error; a chain may be a ring. */
const MOST_CAUSES = 5;

/** Makes an error printable. @param env holds the keys that must never be shown */
export function errorReport(error: unknown, env: Variables): ErrorReport {
  const mask = maskOf(env);
  const safe = (text: string, limit?: number): string => shown(mask(text), limit);
  const trace = chainOf(error).flatMap((link, depth) => [
    ...(depth === 0 ? [] : [`caused by ${safe(`${link.name}: ${link.message}`, 500)}`]),
    ...(link.stack ?? "")
      .split("\n")
      .filter((line) => /^\s+at /.test(line))
      .map((frame) => safe(frame, 300)),
  ]);
  if (TroupeError.isInstance(error)) {
    const message = error instanceof BudgetError ? budgetText(error) : safe(error.message);
    return { code: error.code, message, isControl: error instanceof ControlError, trace };
  }
  const cause = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const message = `Expected the command to work, but an unexpected error came: ${safe(cause, 500)} Run it again with --verbose to see where.`;
  return { code: "UNEXPECTED", message, isControl: false, trace };
}

/** The lines of an error: one paragraph, and with `isVerbose` its trace. */
export function errorLines(error: ErrorReport, o: { readonly style: Style; readonly isVerbose: boolean }): readonly string[] {
  const { code, message, isControl, trace } = error;
  const head = isControl ? o.style.warn(message) : `${o.style.bad("error:")} ${message} ${o.style.faint(`(${code})`)}`;
  return o.isVerbose ? [head, ...trace.map((line) => o.style.faint(`  ${line}`))] : [head];
}

/** The amounts in dollars: the error itself has micro-dollars. */
function budgetText({ data }: BudgetError): string {
  const { needed, left, budget } = data as { readonly needed: number; readonly left: number; readonly budget: number };
  const rest =
    left > 0 ? `${formatUsd(left)} of the budget of ${formatUsd(budget)} is left` : `the budget of ${formatUsd(budget)} is used up`;
  return needed > 0
    ? `The next model call may cost up to ${formatUsd(needed)}, but ${rest}.`
    : `Expected money for the next model call, but ${rest}.`;
}

/** Hides the values of all variables that are named like secrets, and texts that look like keys. */
function maskOf(env: Variables): (text: string) => string {
  const secrets = Object.entries(env).flatMap(([name, value]) =>
    /key|token|secret|password/i.test(name) && value !== undefined ? [value.trim()] : [],
  );
  return maskSecrets(secrets);
}

function chainOf(error: unknown): readonly Error[] {
  const chain: Error[] = [];
  for (let link = error; link instanceof Error && chain.length < MOST_CAUSES; link = link.cause) chain.push(link);
  return chain;
}
