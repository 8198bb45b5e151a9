import type { Logger } from "../kernel/emit.ts";
import type { RoleSpec } from "../role/role-spec.ts";
import type { RoleState } from "../run/role-state.ts";
import type { ActivationSteps } from "../run/steps.ts";
import type { Tell } from "./announcer.ts";
import type { Answerer } from "./answerer.ts";
import type { Hearing } from "./ears.ts";
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
  /** Looked at before {@link tell} is asked. */
  readonly ears: Hearing;
  /** Logs a warning of a role and tells it to listeners. */
  warn(role: string, text: string): void;
  /** How a role remembers beyond the messages of its run, if it does. */
  memoryOf(role: string): RoleMemory | undefined;
  readonly directory: Pick<Directory<RoleState>, "route">;
}

/** The environment's logger, for a role: a warning is told to listeners too. */
export function loggerOf(host: ActivationHost, role: string): Logger {
  const { logger } = host;
  return {
    debug: (text) => logger.debug(text),
    info: (text) => logger.info(text),
    warn: (text) => host.warn(role, text),
    error: (text) => logger.error(text),
  };
}

/** What is asked of the world in an activation is asked with. */
export interface ActivationParts {
  readonly act: string;
  readonly spec: RoleSpec;
  readonly state: RoleState;
  readonly host: ActivationHost;
  readonly steps: ActivationSteps;
  readonly answerer: Answerer;
}
