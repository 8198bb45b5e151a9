import type { Logger } from "../../kernel/emit.ts";
import { UsageError } from "../../kernel/errors.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { Sent } from "../record/event.ts";
import type { RoleState } from "../record/role-state.ts";
import type { RoleMemory } from "../role-memories.ts";
import type { Directory } from "../routing/directory.ts";
import type { Tell } from "../observers.ts";

/** The environment, as an activation sees it. */
export interface ActivationHost {
  readonly runId: string;
  readonly seed: string;
  readonly deps: Deps | undefined;
  readonly logger: Logger;
  /** Most characters of one message. */
  readonly messageLimit: number;
  readonly tell: Tell;
  /** Logs a warning of a role and tells it to observers. */
  warn(role: string, text: string): void;
  /** The long-term memory of a role, if it has one. */
  memoryOf(role: string): RoleMemory | undefined;
  /**
   * Refuses what an activation says where a mailbox that refuses has no room for it.
   *
   * @throws QueueFullError `MAILBOX_FULL`
   */
  assertRoom(speaker: RoleState, said: readonly Sent[], take: number): void;
  readonly directory: Pick<Directory, "route">;
}

/** @throws UsageError `DEPS_MISSING` always */
export function missingDeps(role: string): never {
  throw new UsageError(
    "DEPS_MISSING",
    `Expected the team or the environment of ${role} to have deps, for ${role} asks for them, got none. Give new Team({ deps: { ... } }).`,
  );
}

/** The environment's logger for a role. A warning is told to observers too. */
export function loggerOf(host: ActivationHost, role: string): Logger {
  const { logger } = host;
  return {
    debug: (text) => logger.debug(text),
    info: (text) => logger.info(text),
    warn: (text) => host.warn(role, text),
    error: (text) => logger.error(text),
  };
}

/**
 * Refuses a text that is too long for one message.
 *
 * @param limit characters
 * @throws UsageError `MESSAGE_TOO_LONG`
 */
export function assertMessageSize(content: string, limit: number, name: string): void {
  if (typeof content !== "string" || content.length <= limit) return;
  throw new UsageError(
    "MESSAGE_TOO_LONG",
    `Expected a message of at most ${limit} characters from ${name}, got ${content.length}. Write large results to a file and say where it is.`,
  );
}
