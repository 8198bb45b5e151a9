/** Something told to observers and never recorded: deltas, progress, warnings. */
export interface Notice {
  readonly type: string;
}

/** Where a room tells its notices. Absent when nobody listens, so that nothing is made for nobody. */
export type Emit<N extends Notice = Notice> = (notice: N) => void;

/** Where warnings go. The default is silent. */
export interface Logger {
  debug(text: string): void;
  info(text: string): void;
  warn(text: string): void;
  error(text: string): void;
}

/** A logger that drops everything. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
