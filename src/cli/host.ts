import type { Clock } from "../kernel/clock.ts";
import type { ExitCode } from "./exit-code.ts";
import type { Variables } from "./settings.ts";

/** A stream to write to: a terminal, a pipe or a file. */
export type Sink = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };

/** Signals the command listens to. */
export type HostSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

/** The process as the commands see it, so that tests can be one. */
export interface Host {
  readonly version: string;
  readonly env: Variables;
  /** The folder that relative paths start from. */
  readonly cwd: string;
  readonly clock: Clock;
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: Sink;
  readonly stderr: Sink;
  /** Calls `listener` for every signal; the returned function stops that. */
  onSignal(listener: (signal: HostSignal) => void): () => void;
  /** Calls `listener` when the process ends, however that comes about. */
  onExit(listener: () => void): () => void;
  /** Ends the process now. */
  exit(code: ExitCode): void;
}

/** Whether a person can be asked: they see the question and can type the answer, and no CI system pretends to be one. */
export function canAsk(host: Host): boolean {
  return host.stdin.isTTY === true && host.stderr.isTTY === true && !isCI(host.env);
}

/** Whether the terminal can be drawn on: cursor codes are understood and someone looks. */
export function canDraw(host: Host): boolean {
  return host.stderr.isTTY === true && host.env["TERM"] !== "dumb" && !isCI(host.env);
}

function isCI(env: Variables): boolean {
  const ci = env["CI"] ?? "";
  return ci !== "" && ci !== "0" && ci !== "false";
}
