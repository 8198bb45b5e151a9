import type { Sandbox } from "../workspace/sandbox.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** What tools that run commands and code work with. */
export interface MachineOptions {
  /** A workspace on disk: the project that is worked on. */
  readonly workspace: Workspace;
  /** Where commands and code run, as `chooseSandbox` of `troupe/workspace` gives it. */
  readonly sandbox: Sandbox;
}
