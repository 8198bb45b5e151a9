import type { Deps } from "../../kernel/deps.ts";
import type { Logger } from "../../kernel/emit.ts";
import { UsageError } from "../../kernel/errors.ts";
import type { RoleSpec } from "../../role/role-spec.ts";
import type { Sent } from "../record/event.ts";
import type { RoleState } from "../record/role-state.ts";
import type { ActivationSteps } from "../steps/steps.ts";
import type { Tell } from "../announcer.ts";
import type { Answerer } from "../steps/answerer.ts";
import type { Hearing } from "../ears.ts";
import type { RoleMemory } from "../role-memories.ts";
import type { Directory } from "../routing/router.ts";

/** What an activation needs of the environment it happens in. */
export interface ActivationHost {
  readonly runId: string;
  readonly seed: string;
  /** What roles get from outside. */
  readonly deps: Deps | undefined;
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
  /**
   * Refuses what an activation says where a mailbox that refuses has no room for it.
   *
   * @throws QueueFullError `MAILBOX_FULL`
   */
  assertRoom(speaker: RoleState, said: readonly Sent[], take: number): void;
  readonly directory: Pick<Directory<RoleState>, "route">;
}

/** @throws UsageError `DEPS_MISSING` always */
export function missingDeps(role: string): never {
  throw new UsageError(
    "DEPS_MISSING",
    `Expected the team or the environment of ${role} to have deps, for ${role} asks for them, got none. Give new Team({ deps: { ... } }).`,
  );
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
