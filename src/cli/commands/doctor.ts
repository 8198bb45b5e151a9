import { throwIfAborted, untilAborted } from "../../kernel/abort.ts";
import { UsageError } from "../../kernel/errors.ts";
import {
  type Check,
  checkGit,
  checkLeftovers,
  checkModel,
  checkNode,
  checkOut,
  checkSandbox,
  checkTerminal,
  pingModel,
} from "../doctor-checks.ts";
import { checkStore } from "../doctor-store.ts";
import type { ExitCode } from "../exit-code.ts";
import type { Host } from "../host.ts";
import { DEFAULT_COLUMNS } from "../screen/live-region.ts";
import { type Style, styleFor, wantsColor } from "../screen/style.ts";
import { wrapped } from "../screen/text.ts";
import { inSession, type Session } from "../session.ts";
import { type Flags, modelChoice } from "../settings.ts";
import { storePlace } from "../store.ts";

/** `troupe doctor`: looks at everything a run needs, tries what can be tried, and says how to mend the rest. */
export function doctorCommand(host: Host, flags: Flags): Promise<ExitCode> {
  return inSession(host, flags, async (session) => {
    const { signal } = session.interruptions;
    const [git, sandbox] = [await untilAborted(checkGit(), signal), await untilAborted(checkSandbox(), signal)];
    const checks: Check[] = [checkNode(process.versions.node), git, sandbox, checkModel(host, flags)];
    if (flags.ping === true) checks.push(await ping(session, flags));
    checks.push(await checkOut(host, flags.out), await checkStore(host, flags));
    checks.push(await checkLeftovers(host, flags.out, storePlace(flags, host).path), checkTerminal(host, flags));
    throwIfAborted(signal);
    await tell(session, checks);
    return exitCodeOfChecks(checks);
  });
}

/** 7 when the model could not be reached, 1 when something else fails, 0 when a run can work. */
export function exitCodeOfChecks(checks: readonly Check[]): ExitCode {
  const failed = checks.filter(({ state }) => state === "fail");
  if (failed.some(({ name }) => name !== "ping")) return 1;
  return failed.length > 0 ? 7 : 0;
}

/** The checks for a person. @param width cells of a line; Infinity where nothing is broken into lines */
export function checkLines(checks: readonly Check[], style: Style, width: number): readonly string[] {
  const names = Math.max(...checks.map(({ name }) => name.length));
  const indent = names + 8;
  const paint = { ok: style.good, warn: style.warn, fail: style.bad };
  return checks.flatMap(({ name, state, text, hint }) => [
    ...wrapped(`${paint[state](state.padEnd(4))}  ${name.padEnd(names)}  ${text}`, width, indent),
    ...(hint === undefined ? [] : wrapped(" ".repeat(indent) + hint, width, indent).map(style.faint)),
  ]);
}

async function ping({ host, interruptions }: Session, flags: Flags): Promise<Check> {
  const choice = modelChoice(flags, host.env);
  if (choice.kind === "none")
    throw new UsageError(
      "OPTION_INVALID",
      "Expected a model for --ping, got neither a key nor a base URL. Set OPENAI_API_KEY or TROUPE_BASE_URL.",
    );
  return pingModel(host, choice.model, interruptions.signal);
}

async function tell({ host, output, json }: Session, checks: readonly Check[]): Promise<void> {
  if (json !== undefined) return json.write({ type: "doctor", exitCode: exitCodeOfChecks(checks), checks });
  const isTTY = host.stdout.isTTY === true;
  const style = styleFor(wantsColor({ isOff: output.isColorOff, env: host.env, isTTY }));
  const width = isTTY ? (host.stdout.columns ?? DEFAULT_COLUMNS) - 1 : Infinity;
  host.stdout.write(`${checkLines(checks, style, width).join("\n")}\n`);
}
