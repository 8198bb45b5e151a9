import type { Deps } from "../kernel/deps.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/emit.ts";
import type { Mask } from "../kernel/mask.ts";
import type { StepDoor } from "../kernel/step.ts";
import type { Funds } from "../model/budget-pool.ts";
import type { FailurePolicy } from "../role/failure-policy.ts";
import type { Past } from "./steps/past.ts";
import type { RunLog } from "./record/run-log.ts";
import type { Tell } from "./announcer.ts";
import type { Answerer } from "./steps/answerer.ts";
import type { Hearing } from "./ears.ts";
import type { HiredRoles } from "./hired-roles.ts";
import type { Opening } from "./opening.ts";
import type { Scheduler } from "./schedulers/scheduler.ts";

/** What an engine is made of. */
export interface EngineParts {
  readonly log: RunLog;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly concurrency: number;
  readonly onFailure: FailurePolicy;
  readonly answerer: Answerer;
  readonly hired: HiredRoles;
  /** Tells how the run began, where no record does. */
  readonly opening: Opening | undefined;
  readonly logger: Logger;
  readonly mask: Mask;
  /** Accounts with pools that bind the run besides its own budget. */
  readonly funds: Funds | undefined;
  readonly messageLimit: number;
  /** What roles get from outside. */
  readonly deps: Deps | undefined;
  /** What else answers steps. */
  readonly past: Past;
  readonly mode: StepDoor["mode"];
  readonly tell: Tell;
  readonly ears: Hearing;
  readonly resumed: (() => Promise<void> | undefined) | undefined;
}
