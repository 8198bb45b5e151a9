import { BudgetError, ControlError, TroupeError } from "../kernel/errors.ts";
import { maskSecrets } from "../kernel/mask.ts";
import { systemCode } from "../kernel/system-error.ts";
import { thrownText } from "../kernel/value-text.ts";
import { formatUsd } from "../model/money.ts";
import { type ExitCode, exitCodeOfError } from "./errors.ts";
import { addressSecrets, type Host, type Variables } from "./host.ts";
import { jsonLine } from "./output.ts";
import { shown, type Style, styleFor, wantsColor } from "./screen/text.ts";

// Loaded at the start of the process: a process that cannot open files must be able to report why it ends.

export function failed(host: Host, words: readonly string[], error: unknown): ExitCode {
  const { env, stderr, stdout } = host;
  const report = errorReport(error, env);
  const style = styleFor(wantsColor({ isOff: words.includes("--no-color"), env, isTTY: stderr.isTTY === true }));
  const isVerbose = words.includes("--verbose") || words.includes("-v");
  stderr.write(`${errorLines(report, { style, isVerbose }).join("\n")}\n`);
  if (words.includes("--json")) stdout.write(jsonLine({ type: "error", code: report.code, message: report.message }));
  return exitCodeOfError(error);
}

/** Causes shown below an error; a chain may be a ring. */
const MAX_CAUSES = 5;

export type ErrorReport = ReturnType<typeof errorReport>;

export function errorReport(error: unknown, env: Variables) {
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
  if (["EMFILE", "ENFILE"].includes(systemCode(error))) {
    const text = `Expected to open another file, but too many are open: ${safe(thrownText(error), 300)}. Raise the limit: ulimit -n 1024`;
    return { code: "FILES_EXHAUSTED", message: text, isControl: false, trace };
  }
  const cause = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const message = `Expected the command to work, but an unexpected error came: ${safe(cause, 500)} Run it again with --verbose to see where.`;
  return { code: "UNEXPECTED", message, isControl: false, trace };
}

export function errorLines(error: ErrorReport, o: { readonly style: Style; readonly isVerbose: boolean }): readonly string[] {
  const { code, message, isControl, trace } = error;
  const head = isControl ? o.style.warn(message) : `${o.style.bad("error:")} ${message} ${o.style.faint(`(${code})`)}`;
  return o.isVerbose ? [head, ...trace.map((line) => o.style.faint(`  ${line}`))] : [head];
}

function budgetText({ data }: BudgetError): string {
  const { needed, left, budget } = data as { readonly needed: number; readonly left: number; readonly budget: number };
  const rest =
    left > 0 ? `${formatUsd(left)} of the budget of ${formatUsd(budget)} is left` : `the budget of ${formatUsd(budget)} is used up`;
  return needed > 0
    ? `The next model call may cost up to ${formatUsd(needed)}, but ${rest}.`
    : `Expected money for the next model call, but ${rest}.`;
}

/** Hides the values of all variables that are named like secrets, and strings that look like keys. */
function maskOf(env: Variables): (text: string) => string {
  const secrets = Object.entries(env).flatMap(([name, value = ""]) =>
    /key|token|secret|password/i.test(name) ? [value.trim()] : addressSecrets(value),
  );
  return maskSecrets(secrets);
}

function chainOf(error: unknown): readonly Error[] {
  const chain: Error[] = [];
  for (let link = error; link instanceof Error && chain.length < MAX_CAUSES; link = link.cause) chain.push(link);
  return chain;
}
