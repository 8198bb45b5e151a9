import type { Clock } from "../../kernel/clock.ts";
import type { ControlError } from "../../kernel/errors.ts";
import type { Lifetimes } from "../../kernel/lifetime.ts";
import type { Mask } from "../../kernel/mask.ts";
import type { StepDoor } from "../../kernel/step.ts";
import type { FailurePolicy } from "../../role/failure-policy.ts";
import type { BudgetGate } from "../steps/budget-gate.ts";
import type { ActEnded } from "../record/event.ts";
import type { Past } from "../steps/past.ts";
import type { RunLog } from "../record/run-log.ts";
import type { ActivationHost } from "./activation-parts.ts";
import type { Answerer } from "../steps/answerer.ts";
import type { FailedPlace } from "../run-failure.ts";

/** What every turn of an environment is made with. */
export interface TurnTools {
  readonly log: RunLog;
  readonly clock: Clock;
  readonly gate: BudgetGate;
  readonly past: Past;
  readonly mode: StepDoor["mode"];
  readonly mask: Mask;
  readonly answerer: Answerer;
  readonly onFailure: FailurePolicy;
  readonly host: ActivationHost;
  readonly lifetimes: Lifetimes;
  /** Every activation is durable before its body runs: the process had died, and may die of the next one. */
  readonly leavesTraces: boolean;
}

/** How a turn ended. */
export type TurnResult =
  | { readonly kind: "ended"; readonly event: Pick<ActEnded, "said"> }
  | { readonly kind: "retried" }
  | ({ readonly kind: "skipped" | "stopped"; readonly error: unknown } & FailedPlace)
  | { readonly kind: "suspended"; readonly control: ControlError };
