import type { StepDoor } from "../kernel/step.ts";
import type { Funds } from "../model/budget-pool.ts";
import type { AnswerSource } from "./steps/answer-source.ts";
import type { OwnedRun } from "./record/run-log.ts";
import type { RunState } from "./record/run-state.ts";
import type { ObserverRegistry } from "./observers.ts";
import type { Driver } from "./schedulers/drive.ts";

/** What a team adds to an environment: a journal, a budget, a state to go on from. */
export interface RunBacking {
  readonly state?: RunState;
  readonly observers?: ObserverRegistry;
  readonly owned?: OwnedRun;
  /** Its accounts with the pools that bind it. */
  readonly funds?: Funds | undefined;
  readonly requirePrice?: boolean;
  readonly resumed?: () => Promise<void> | undefined;
  /** What else answers steps. Default: nothing. */
  readonly past?: AnswerSource;
  /** Default `live`. */
  readonly mode?: StepDoor["mode"];
  /** Drives the run instead of its scheduler: a replay. */
  readonly driver?: Driver;
  /** Called after every event that became durable. */
  readonly grew?: () => void;
}
