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
import { type ExitCode, isProviderTrouble } from "./exit-code.ts";
import { shown } from "./screen/text.ts";
import type { Style } from "./screen/style.ts";
import type { Variables } from "./settings.ts";

/** An error as it is told: safe for a screen, without secrets. */
export interface ToldError {
  readonly code: string;
  readonly message: string;
  /** Whether it is an interruption and no failure. */
  readonly isControl: boolean;
  /** One line for each frame and cause, for `--verbose`. */
  readonly trace: readonly string[];
}

/** Causes shown below an error; a chain may be a ring. */
const DEEPEST = 5;

/** What an error says to a person. @param env where the keys are that must never be shown */
export function toldError(error: unknown, env: Variables): ToldError {
  const mask = maskOf(env);
  const safe = (text: string, limit?: number): string => shown(mask(text), limit);
  const trace = chainOf(error).flatMap((link, depth) => [
    ...(depth === 0 ? [] : [`caused by ${safe(`${link.name}: ${link.message}`, 500)}`]),
    ...framesOf(link).map((frame) => safe(frame, 300)),
  ]);
  if (TroupeError.isInstance(error)) {
    const message = error instanceof BudgetError ? budgetText(error) : safe(error.message);
    return { code: error.code, message, isControl: error instanceof ControlError, trace };
  }
  const said = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const message = `Expected the command to work, but it met what it has no plan for: ${safe(said, 500)} Run it again with --verbose to see where.`;
  return { code: "UNEXPECTED", message, isControl: false, trace };
}

/** The amounts in dollars: the error itself counts in what a ledger counts in. */
function budgetText({ data }: BudgetError): string {
  const { needed, left, budget } = data as { readonly needed: number; readonly left: number; readonly budget: number };
  const rest =
    left > 0 ? `${formatUsd(left)} of the budget of ${formatUsd(budget)} is left` : `the budget of ${formatUsd(budget)} is used up`;
  return needed > 0
    ? `The next model call may cost up to ${formatUsd(needed)}, but ${rest}.`
    : `Expected money for the next model call, but ${rest}.`;
}

/** The lines of an error: one paragraph, and with `isVerbose` where it comes from. */
export function errorLines(told: ToldError, o: { readonly style: Style; readonly isVerbose: boolean }): readonly string[] {
  const head = told.isControl ? o.style.warn(told.message) : `${o.style.bad("error:")} ${told.message} ${o.style.faint(`(${told.code})`)}`;
  return o.isVerbose ? [head, ...told.trace.map((line) => o.style.faint(`  ${line}`))] : [head];
}

/** What the process ends with when a command throws. What a run ends with is told by its result. */
export function exitCodeOfError(error: unknown): ExitCode {
  if (error instanceof ControlError) return 130;
  if (error instanceof ModelError) return isProviderTrouble(error.code) ? 7 : 1;
  const ofPlaces = [UsageError, WorkspaceError, JournalError, MemoryError];
  return ofPlaces.some((kind) => error instanceof kind) ? 2 : 1;
}

/** Hides the values of all variables that are named like secrets, and what looks like a key. */
function maskOf(env: Variables): (text: string) => string {
  const secrets = Object.entries(env).flatMap(([name, value]) =>
    /key|token|secret|password/i.test(name) && value !== undefined ? [value.trim()] : [],
  );
  return maskSecrets(secrets);
}

function chainOf(error: unknown): readonly Error[] {
  const chain: Error[] = [];
  let link = error;
  while (link instanceof Error && chain.length < DEEPEST) {
    chain.push(link);
    link = link.cause;
  }
  return chain;
}

function framesOf(error: Error): readonly string[] {
  return (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
}
