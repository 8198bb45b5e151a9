import { ControlError } from "../kernel/errors.ts";
import { errorLines, exitCodeOfError, type ToldError, toldError } from "./errors.ts";
import { type ExitCode, interruptionCode } from "./exit-code.ts";
import type { Host } from "./host.ts";
import { Interruptions } from "./interruptions.ts";
import { JsonLines } from "./ndjson.ts";
import { Screen } from "./screen/screen.ts";
import { type Flags, type OutputSettings, outputSettings } from "./settings.ts";

/** What every command works with. */
export interface Session {
  readonly host: Host;
  readonly output: OutputSettings;
  readonly screen: Screen;
  readonly interruptions: Interruptions;
  /** Where results go with `--json`; undefined: they are told in words. */
  readonly json: JsonLines | undefined;
}

/**
 * Runs one command and turns whatever it throws into words and a code. Nothing it starts outlives it: signals are listened to and the
 * terminal is drawn on only meanwhile.
 */
export async function inSession(host: Host, flags: Flags, work: (session: Session) => Promise<ExitCode>): Promise<ExitCode> {
  const output = outputSettings(flags);
  const screen = new Screen(host, output);
  const interruptions = new Interruptions(host);
  const json = output.isJson ? new JsonLines(host.stdout) : undefined;
  const session: Session = { host, output, screen, interruptions, json };
  try {
    return await work(session);
  } catch (error) {
    screen.end();
    return await thrown(session, error);
  } finally {
    screen.end();
    interruptions.close();
  }
}

/** Tells an error: to a person on stderr, and to a program as a line of JSON. */
export async function tellError({ screen, output, json }: Session, told: ToldError): Promise<void> {
  screen.insist(errorLines(told, { style: screen.style, isVerbose: output.isVerbose }));
  await json?.write({ type: "error", code: told.code, message: told.message });
}

async function thrown(session: Session, error: unknown): Promise<ExitCode> {
  const { first } = session.interruptions;
  const code = first !== undefined && error instanceof ControlError ? interruptionCode(first) : exitCodeOfError(error);
  if (first !== "pipe") await tellError(session, toldError(error, session.host.env));
  return code;
}
