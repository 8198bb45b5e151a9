import type { Known } from "../kernel/known-options.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import type { Tool } from "../tool/tool.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** What tools that run commands and code work with. */
export interface MachineOptions {
  /** A workspace on disk: the project that is worked on. */
  readonly workspace: Workspace;
  /** Where commands and code run, as `chooseSandbox` of `troupe/workspace` gives it. */
  readonly sandbox: Sandbox;
}

/** Their names. @internal */
export const machineOptions: Known<MachineOptions> = { workspace: true, sandbox: true };

/** Milliseconds for taking the project into the sandbox and bringing back what was changed. */
const COPY_TIME = 180_000;

/**
 * What tools that run something have in common: they may change anything, so they ask, run alone, and are not made again by themselves;
 * what they changed in the project is.
 *
 * @param longest seconds that a command may take at most
 */
export function commandTraits(longest: number): Pick<Tool, "effect" | "idempotent" | "again" | "parallel" | "timeout"> {
  return { effect: "write", idempotent: false, again: true, parallel: false, timeout: longest * 1_000 + COPY_TIME };
}
