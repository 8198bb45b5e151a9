import { type Logger, silentLogger } from "./emit.ts";
import { shownText } from "./value-text.ts";

/* Takes the warnings where no logger is given. This is the only file above the edges that writes to the screen. */

const MAX_LENGTH = 2_000;

const stderrLogger: Logger = { ...silentLogger, warn: written("warning"), error: written("error") };

let present: Logger = stderrLogger;

/** Warnings and errors go to stderr as lines, the rest nowhere. */
export const defaultLogger: Logger = {
  debug: (text, fields) => present.debug(text, fields),
  info: (text, fields) => present.info(text, fields),
  warn: (text, fields) => present.warn(text, fields),
  error: (text, fields) => present.error(text, fields),
};

/** For a program that draws on stderr or has a log. The returned function puts back the logger before. */
export function replaceDefaultLogger(logger: Logger): () => void {
  const before = present;
  present = logger;
  return () => void (present = before);
}

/** A closed stderr does not end the process, as it would with `process.stderr`. */
function written(level: string): (text: string) => void {
  return (text) => console.error(`troupe: ${level}: ${shownText(text, MAX_LENGTH)}`);
}
