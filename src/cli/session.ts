import { replaceDefaultLogger } from "../kernel/default-logger.ts";
import { ControlError } from "../kernel/errors.ts";
import { errorLines, type ErrorReport, errorReport } from "./error-report.ts";
import { type ExitCode, exitCodeOfError, interruptionCode } from "./errors.ts";
import { type Host, Interruptions } from "./host.ts";
import type { FolderSettings } from "./model-settings.ts";
import { readFlags } from "./option-values.ts";
import type { Flags } from "./options.ts";
import { JsonLines } from "./output.ts";
import { Screen } from "./screen/screen.ts";
import { type OutputSettings, outputSettings } from "./settings.ts";

export interface Session {
  /** Its environment has the settings of the config files. */
  readonly host: Host;
  /** The config files that values of the environment came from, by variable. */
  readonly settingsFrom: ReadonlyMap<string, string>;
  /** The settings of the folder's config file, where there is one. */
  readonly folder?: FolderSettings | undefined;
  /** The command line. */
  readonly words: readonly string[];
  readonly output: OutputSettings;
  readonly screen: Screen;
  readonly interruptions: Interruptions;
  /** Takes results with `--json`; undefined: they are printed in words. */
  readonly json: JsonLines | undefined;
}

/**
 * Runs one command and turns an error into a printed message and an exit code. Signals are handled and the terminal is drawn on only until it
 * ends.
 */
export async function inSession(
  host: Host,
  raw: Readonly<Record<string, unknown>>,
  work: (session: Session, flags: Flags) => Promise<ExitCode>,
  words: readonly string[] = [],
): Promise<ExitCode> {
  const output = outputSettings(raw);
  const screen = new Screen(host, output);
  const interruptions = new Interruptions(host);
  const json = output.isJson ? new JsonLines(host.stdout) : undefined;
  // A team of the user's module may have no logger of its own.
  const putBack = replaceDefaultLogger(screen.logger);
  const bare: Session = { host, words, settingsFrom: new Map(), output, screen, interruptions, json };
  let session = bare;
  try {
    const { configured, withEnvironment } = await import("./config.ts");
    const { env, from, folder } = await configured(host);
    session = { ...bare, host: withEnvironment(host, env), settingsFrom: from, folder };
    return await work(session, readFlags(raw));
  } catch (error) {
    screen.end();
    const { first } = interruptions;
    if (first !== "pipe") await printError(session, errorReport(error, host.env));
    return first !== undefined && error instanceof ControlError ? interruptionCode(first) : exitCodeOfError(error);
  } finally {
    screen.end();
    interruptions.close();
    putBack();
  }
}

/** Prints an error to stderr, and with `--json` as a line of JSON. */
export async function printError({ screen, output, json }: Session, error: ErrorReport): Promise<void> {
  screen.print(errorLines(error, { style: screen.style, isVerbose: output.isVerbose }));
  await json?.write({ type: "error", code: error.code, message: error.message });
}
