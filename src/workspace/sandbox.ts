import { aText, takes } from "../kernel/argument.ts";
import type { ProcessResult } from "./process.ts";
import type { LimitHit, SandboxLimits } from "./sandbox-limits.ts";

/**
 * Where a project's own code runs: its tests were written by a model and may do anything.
 *
 * Sandbox.S1 the command works on a copy; the project on disk is the same afterwards, whatever the command does.
 * Sandbox.S2 nothing of this process's environment reaches the command, keys least of all.
 * Sandbox.S3 when `run` resolves, the command and what it started in its process group are gone.
 * `bubblewrap` adds: Sandbox.S4 no network, Sandbox.S5 no file of the machine but the system's programs and libraries, read only, Sandbox.S6 nothing it started
 * survives, in whatever group, Sandbox.S7 bounds of {@link SandboxLimits} for all its processes together: {@link Sandbox.missing} tells those that
 * this machine cannot keep, or only watches.
 */
export interface Sandbox {
  readonly kind: "bubblewrap" | "none" | "refused";
  /** One line for a screen: what isolates, and which limits are missing. */
  readonly describe: string;
  /** The bounds that this machine does not keep, or only watches; a phrase for each. Empty when all are kept. */
  readonly missing?: readonly string[];
  /**
   * Runs one command in a copy of the project.
   *
   * @throws WorkspaceError `WORKSPACE_IO` and its kin when the project cannot be copied.
   * @throws UsageError `OPTION_INVALID` for a limit that is none.
   */
  run(request: SandboxRequest): Promise<SandboxResult>;
}

/** A command to run in a copy of a project. */
export interface SandboxRequest {
  /** The project's folder. */
  readonly root: string;
  /** A program and its arguments. `node` is the Node.js this process runs on. */
  readonly command: readonly [string, ...string[]];
  /** Milliseconds. Default 60,000. */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Bytes kept of stdout, and of stderr. Default 1,000,000. */
  readonly outputLimit?: number | undefined;
  /** Limits of the command and all processes it starts, together. Default {@link defaultSandboxLimits}. */
  readonly limits?: Partial<SandboxLimits> | undefined;
}

/** How a command ended, that it was killed at a limit, or that it was not run at all and what to do about it. */
export type SandboxResult = ((ProcessResult | LimitHit) & Bounded) | Refusal;

/** Which bounds a result was not held to. */
export interface Bounded {
  /** As {@link Sandbox.missing}; left out when all bounds were kept. */
  readonly missing?: readonly string[];
}

/** Why a command was not run. */
export interface Refusal {
  readonly kind: "refused";
  readonly reason: string;
  /** The user's remedy. */
  readonly hint: string;
}

/** Which sandbox the user wants: the one that works, bubblewrap or nothing, or none on purpose. */
export type SandboxMode = "auto" | "bubblewrap" | "none";

/** How long a command may run. */
export const SANDBOX_TIMEOUT = 60_000;

/** Bytes kept of what a command writes. */
export const SANDBOX_OUTPUT = 1_000_000;

/** A sandbox that runs nothing and says why. */
export function refusedSandbox(reason: string, hint: string): Sandbox {
  takes("refusedSandbox", "reason", reason, aText);
  takes("refusedSandbox", "hint", hint, aText);
  const refusal: Refusal = { kind: "refused", reason, hint };
  return { kind: "refused", describe: `nothing is run: ${reason}`, run: () => Promise.resolve(refusal) };
}
