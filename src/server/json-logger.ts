import { type Clock, systemClock } from "../kernel/clock.ts";
import type { LogFields, Logger } from "../kernel/emit.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { maskSecrets } from "../kernel/mask.ts";
import type { RunEvent } from "../runtime/record/event.ts";
import type { RunResult } from "../runtime/run-result.ts";

const LEVELS = ["debug", "info", "warn", "error"] as const;

/** The importance of an entry of a log. */
export type LogLevel = (typeof LEVELS)[number];

/** Options of {@link jsonLogger}. */
export interface JsonLoggerOptions {
  /** Takes a line, with its line break. Default: `process.stderr`. */
  readonly write?: (line: string) => void;
  /** The lowest level that is written. Default "info". */
  readonly level?: LogLevel;
  /** Strings that are never written, besides those that look like a provider's key. Default: none. */
  readonly secrets?: readonly string[];
  readonly clock?: Clock;
}

const jsonLoggerOptions: Known<JsonLoggerOptions> = {
  write: kinds.function,
  level: kinds.oneOf(...LEVELS),
  secrets: kinds.secrets,
  clock: kinds.clock,
};

/**
 * Makes a logger that writes lines of JSON: `time`, `level`, `message`, and the facts of the entry. Give it to a server and to teams.
 *
 * @throws UsageError `OPTION_INVALID`, `OPTION_UNKNOWN`
 */
export function jsonLogger(options: JsonLoggerOptions = {}): Logger {
  checkKnownOptions("jsonLogger", options, jsonLoggerOptions);
  const { write = (line: string): void => void process.stderr.write(line), level = "info", secrets = [], clock = systemClock } = options;
  const mask = maskSecrets(secrets);
  const at = (name: LogLevel): ((text: string, fields?: LogFields) => void) =>
    LEVELS.indexOf(name) < LEVELS.indexOf(level)
      ? () => undefined
      : (text, fields = {}) => {
          const head = { time: new Date(clock.now()).toISOString(), level: name, message: text };
          // A field never replaces a member of the head.
          write(`${mask(JSON.stringify({ ...head, ...fields, ...head }))}\n`);
        };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** Returns a logger that never throws: no request and no run fails because of its log. */
export function sureLogger(logger: Logger): Logger {
  const at =
    (level: LogLevel): Logger["info"] =>
    (text, fields) => {
      try {
        logger[level](text, fields);
      } catch {
        // There is no other place to report it.
      }
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** Logs an event of a run: names and numbers, never the text of a message. */
export function logEvent(logger: Logger, tenant: string, event: RunEvent): void {
  const about = { run: event.runId, tenant };
  switch (event.type) {
    case "run.started":
      return logger.info("A run started.", { ...about, team: event.team });
    case "run.resumed":
      return logger.info("A run resumed.", { ...about, uncertain: event.uncertain.length });
    case "act.ended":
      return logger.debug("A role acted.", { ...about, role: event.role, round: event.round, said: event.said.length });
    case "act.failed":
      return logger.warn("A role failed.", { ...about, role: event.role, code: event.error.code, next: event.then });
    default:
  }
}

export function logRest(logger: Logger, tenant: string, { runId, status, error, cost, rounds }: RunResult): void {
  const fields = { run: runId, tenant, status, cost: cost.known, rounds, code: error?.code };
  if (status === "failed") logger.error("A run failed.", fields);
  else logger.info("A run is at rest.", fields);
}
