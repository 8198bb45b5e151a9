import type { ControlError, ErrorRecord } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import type { StepStarted } from "../record/event.ts";
import type { StepOutcome, StepRecord } from "../record/role-state.ts";

/** A step that its activation's own record cannot answer. */
export interface OpenQuestion {
  readonly role: string;
  readonly act: string;
  /** Address and occurrence. */
  readonly key: string;
  readonly kind: string;
  readonly name: string;
  readonly request: Json;
  /** Place in the order of asking, within the enclosing step or the activation. */
  readonly asked: number;
  /** Key of the enclosing step. */
  readonly in?: string | undefined;
  /** Nothing but the activation's own record knows its answer. */
  readonly isFresh: boolean;
}

/** A step that its activation asks for, and that its own record has. */
export interface AskedAgain {
  readonly recorded: StepStarted;
  /** Place in the order of asking, as `asked` of the event counts. */
  readonly asked: number;
  /** How many steps of the activation were asked for before. */
  readonly nth: number;
}

/** An answer of another run. */
export interface SourcedAnswer {
  readonly outcome: StepOutcome;
  /** Sequence number of the event that gave it. */
  readonly seq: number;
  /** Micro-dollars it had cost there, with the tries that came to nothing. */
  readonly saved: number;
  /** What was asked inside and would have the same names here: written down with it, so that the record is whole. */
  readonly within: readonly SourcedStep[];
}

/** A step of another run, with its answer. */
export interface SourcedStep extends SourcedAnswer {
  readonly started: StepStarted;
}

/**
 * What answers steps besides the record of their own activation: the run that a fork came from, or, in a replay, nothing at all.
 * The port that the door of an activation asks before it lets an effect happen.
 */
export interface AnswerSource {
  /**
   * The answer, used up by being given; undefined: the effect must happen.
   *
   * @throws ControlError when it must not happen
   */
  answer(question: OpenQuestion): SourcedAnswer | undefined;
  /** Milliseconds: when the activation had begun there; undefined: it had not. */
  startOf(act: string): number | undefined;
  /**
   * Told of every step of an activation that its own record has, when it is asked for.
   *
   * @throws ControlError when it must not be asked for there
   */
  askAgain(step: AskedAgain): void;
  /** How the effect of a recorded step failed when it was to happen again, and so fails here; undefined: it happens. */
  unrepeated(act: string, key: string): ErrorRecord | undefined;
  /**
   * The difference that it is when an activation has lived again and did not ask for steps that its record has; undefined: it is none.
   *
   * @param failure what the activation failed with, if it did
   */
  notAsked(act: string, unasked: readonly StepRecord[], failure: unknown): ControlError | undefined;
}

/** No past: what is not recorded happens. */
export const NO_ANSWERS: AnswerSource = {
  answer: () => undefined,
  startOf: () => undefined,
  askAgain: () => {},
  unrepeated: () => undefined,
  notAsked: () => undefined,
};
