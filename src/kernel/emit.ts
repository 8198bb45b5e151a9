/** A notice for observers, never recorded: deltas, progress, warnings. */
export interface Notice {
  readonly type: string;
}

/** Absent when there is no listener, so that no notice is made. */
export type Emit<N extends Notice = Notice> = (notice: N) => void;

/** Facts of a log entry: the id of a run, a status, a duration in milliseconds. Never contents of messages. */
export type LogFields = { readonly [name: string]: string | number | boolean | null | undefined };

/**
 * Receives warnings, and the progress of a server. Without one, warnings and errors go to stderr: of each run one of each kind and role,
 * and the number of the others at its end. A silent one: `{ debug() {}, info() {}, warn() {}, error() {} }`.
 */
export interface Logger {
  debug(text: string, fields?: LogFields): void;
  info(text: string, fields?: LogFields): void;
  warn(text: string, fields?: LogFields): void;
  error(text: string, fields?: LogFields): void;
}

export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
