import type { ControlError, ErrorRecord } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import type { StepStarted } from "../record/event.ts";
import type { StepOutcome, StepRecord } from "../record/role-state.ts";

export interface OpenQuestion {
  readonly role: string;
  readonly act: string;
  readonly key: string;
  readonly kind: string;
  readonly name: string;
  readonly request: Json;
  /** Index in the order of asking, within the enclosing step or the activation. */
  readonly asked: number;
  readonly in?: string | undefined;
  /** True if only the activation's own record can answer it. */
  readonly isFresh: boolean;
}

export interface SourcedAnswer {
  readonly outcome: StepOutcome;
  /** Sequence number of the event that gave it. */
  readonly seq: number;
  /** Micro-dollars that it cost there, with its failed tries. */
  readonly saved: number;
  /** Inner steps with the same names here: recorded too, so that the record is complete. */
  readonly within: readonly SourcedStep[];
}

export interface SourcedStep extends SourcedAnswer {
  readonly started: StepStarted;
}

/** A source of answers besides the record of the activation itself: the parent of a fork, or the record of a replay. */
export interface AnswerSource {
  /** Returns the answer, once; undefined: the effect must happen. @throws ControlError when it must not happen */
  answer(question: OpenQuestion): SourcedAnswer | undefined;
  /** Milliseconds when the activation began in the source; undefined if it did not. */
  startOf?(act: string): number | undefined;
  /** Called when an activation asks again for a recorded step. @throws ControlError if it must not ask for it now */
  askAgain?(recorded: StepStarted, asked: number, nth: number): void;
  /** Returns the recorded failure of a repeated effect, which then fails here too; undefined: the effect happens. */
  unrepeated?(act: string, key: string): ErrorRecord | undefined;
  /** Returns the difference if a repeated activation must ask for recorded steps and did not. @param failure of the activation, if it failed */
  notAsked?(act: string, unasked: readonly StepRecord[], failure: unknown): ControlError | undefined;
}
