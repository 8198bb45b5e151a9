import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/emit.ts";
import type { Mask } from "../kernel/mask.ts";
import type { StepDoor } from "../kernel/step.ts";
import type { FailurePolicy } from "../role/failure-policy.ts";
import type { Past } from "../run/past.ts";
import type { RunLog } from "../run/run-log.ts";
import type { Tell } from "./announcer.ts";
import type { Answerer } from "./answerer.ts";
import type { Hearing } from "./ears.ts";
import type { HiredRoles } from "./hired-roles.ts";
import type { Scheduler } from "./scheduler.ts";

/** What an engine is made of. */
export interface EngineParts {
  readonly log: RunLog;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly concurrency: number;
  readonly onFailure: FailurePolicy;
  readonly answerer: Answerer;
  readonly hired: HiredRoles;
  readonly logger: Logger;
  readonly mask: Mask;
  readonly messageLimit: number;
  /** Stops it from outside. */
  readonly signal: AbortSignal | undefined;
  /** What else answers steps. */
  readonly past: Past;
  readonly mode: StepDoor["mode"];
  readonly tell: Tell;
  readonly ears: Hearing;
  readonly checkpoint: (() => boolean) | undefined;
  readonly resumed: (() => Promise<void> | undefined) | undefined;
}
