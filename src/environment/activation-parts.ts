import type { Logger } from "../kernel/emit.ts";
import type { Lifetime } from "../kernel/lifetime.ts";
import type { RoleSpec } from "../role/role-spec.ts";
import type { RoleState } from "../run/role-state.ts";
import type { ActivationSteps } from "../run/steps.ts";
import type { Tell } from "./announcer.ts";
import type { Answerer } from "./answerer.ts";
import type { Definition } from "./hired-roles.ts";
import type { RoleMemory } from "./role-memories.ts";
import type { Directory } from "./router.ts";

/** What an activation needs of the environment it happens in. */
export interface ActivationHost {
  readonly runId: string;
  readonly seed: string;
  readonly logger: Logger;
  /** Most characters of one message. */
  readonly messageLimit: number;
  readonly tell: Tell;
  /** Logs a warning of a role and tells it to listeners. */
  warn(role: string, text: string): void;
  /** How a role remembers beyond the messages of its run, if it does. */
  memoryOf(role: string): RoleMemory | undefined;
  readonly directory: Pick<Directory<RoleState>, "route">;
}

/** What one activation is made of. */
export interface ActivationParts {
  readonly act: string;
  readonly spec: RoleSpec;
  readonly hired: Definition;
  readonly state: RoleState;
  readonly take: number;
  readonly host: ActivationHost;
  readonly steps: ActivationSteps;
  readonly answerer: Answerer;
  /** Made when it is asked for, as `steps` is. */
  readonly lifetime: Lifetime;
  /** Milliseconds: what the activation takes for the time, that of its last released answer. */
  readonly now: number;
}
