import type { CancellationScope } from "../../kernel/cancellation.ts";
import type { Mask } from "../../kernel/mask.ts";
import type { StepDoor } from "../../kernel/step.ts";
import type { BudgetGate } from "./budget-gate.ts";
import type { AnswerSource } from "./answer-source.ts";
import type { RunLog } from "../record/run-log.ts";
import type { StepOutcome, StepRecord } from "../record/role-state.ts";

/** What the steps of one activation are made with. */
export interface StepsParts {
  readonly act: string;
  readonly log: RunLog;
  readonly gate: BudgetGate;
  readonly mask: Mask;
  readonly now: () => number;
  readonly scope: CancellationScope;
  /** Records the start of the activation; called before its first step is recorded. */
  readonly begin: () => void;
  /** Told when a person begins to be asked, and when nobody is any more. */
  readonly waitsForPerson: (isAsked: boolean) => void;
  /** What the journal has of this activation. */
  readonly recorded: ReadonlyMap<string, StepRecord> | undefined;
  /** Good answers of the failed attempt before. */
  readonly carried: ReadonlyMap<string, StepOutcome>;
  /** Micro-dollars that the steps of failed attempts cost, by key. */
  readonly paid: ReadonlyMap<string, number>;
  /** What else may answer. */
  readonly past: AnswerSource;
  readonly runId: string;
  readonly role: string;
  /** Where writes that are done again go: into the real world, or into a replay's scratch. */
  readonly mode: StepDoor["mode"];
  /** `now()` until the first answer. */
  readonly startedAt: number;
  /** The activation was over before it asked for its door. */
  readonly isOver: boolean;
}
