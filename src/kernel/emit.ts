/** A notice for observers that is never recorded: deltas, progress, warnings. */
export interface Notice {
  readonly type: string;
}

/** Emits notices. Absent when there is no listener, so that no notice is made. */
export type Emit<N extends Notice = Notice> = (notice: N) => void;

/** Receives warnings. The default is silent. */
export interface Logger {
  debug(text: string): void;
  info(text: string): void;
  warn(text: string): void;
  error(text: string): void;
}

/** A logger that drops everything. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
