import { type Clock, systemClock } from "../kernel/clock.ts";
import type { LogFields, Logger } from "../kernel/emit.ts";
import { UsageError } from "../kernel/errors.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { maskSecrets } from "../kernel/mask.ts";

const LEVELS = ["debug", "info", "warn", "error"] as const;

/** How much a log tells. */
export type LogLevel = (typeof LEVELS)[number];

/** Options of {@link jsonLogger}. */
export interface JsonLoggerOptions {
  /** Takes a line, with its line break. Default: `process.stderr`. */
  readonly write?: (line: string) => void;
  /** The least level that is written. Default "info". */
  readonly level?: LogLevel;
  /** Texts that are never written. Texts that look like a provider's key are left out in any case. Default: none. */
  readonly secrets?: readonly string[];
  readonly clock?: Clock;
}

const jsonLoggerOptions: Known<JsonLoggerOptions> = {
  write: kinds.function,
  level: kinds.oneOf("debug", "info", "warn", "error"),
  secrets: kinds.secrets,
  clock: kinds.clock,
};

/**
 * Makes a logger that writes lines of JSON: `time`, `level`, `message`, and the facts of the entry. Give it to a server and to teams.
 *
 * @throws UsageError `OPTION_INVALID`, `OPTION_UNKNOWN`
 * @example
 * import { jsonLogger } from "troupe/server";
 *
 * const lines: string[] = [];
 * const clock = { now: () => 0, timer: () => () => undefined };
 * jsonLogger({ write: (line) => lines.push(line), clock }).info("A run started.", { run: "r1" });
 * console.log(lines[0]?.trim()); // {"time":"1970-01-01T00:00:00.000Z","level":"info","message":"A run started.","run":"r1"}
 */
export function jsonLogger(options: JsonLoggerOptions = {}): Logger {
  checkKnownOptions("jsonLogger", options, jsonLoggerOptions);
  const { write = (line: string): void => void process.stderr.write(line), level = "info", secrets = [], clock = systemClock } = options;
  const least = LEVELS.indexOf(level);
  if (least === -1) throw new UsageError("OPTION_INVALID", `Expected level to be one of ${LEVELS.join(", ")}, got ${String(level)}.`);
  const mask = maskSecrets(secrets);
  const at = (name: LogLevel): ((text: string, fields?: LogFields) => void) =>
    LEVELS.indexOf(name) < least
      ? () => undefined
      : (text, fields = {}) => {
          const head = { time: new Date(clock.now()).toISOString(), level: name, message: text };
          // A field never replaces a member of the head.
          write(`${mask(JSON.stringify({ ...head, ...fields, ...head }))}\n`);
        };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
