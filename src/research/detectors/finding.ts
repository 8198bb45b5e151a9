import type { Message, RunEvent, RunState } from "../../index.ts";

/**
 * The failures that a log shows without a judge, and their modes in the taxonomy of failures of multi-agent systems: Cemri et al. 2025, "Why Do
 * Multi-Agent LLM Systems Fail?", arXiv 2503.13657.
 */
export const FAILURE_MODES = {
  "step-repetition": "FM-1.3 step repetition",
  "ping-pong": "FM-1.3 step repetition, between roles",
  "no-termination": "FM-1.5 unaware of termination conditions",
  "lost-request": "FM-2.5 ignored other agent's input: asked and never answered",
  "ignored-message": "FM-2.5 ignored other agent's input",
  "open-plan": "FM-3.1 premature termination",
} as const;

/** The name of a failure that a detector finds. */
export type FailureName = keyof typeof FAILURE_MODES;

/** A failure in the log of a run. Plain JSON. */
export interface FailureFinding {
  readonly failure: FailureName;
  /** Its mode in the taxonomy of Cemri et al. 2025. */
  readonly mode: string;
  /** Sequence number of the event that shows it. */
  readonly seq: number;
  /** The roles that have part in it. */
  readonly roles: readonly string[];
  /** Ids of the messages that show it. */
  readonly messages: readonly string[];
  /** One sentence for a person. */
  readonly text: string;
}

/** Most names in the text of a finding. */
export const MOST_NAMED = 6;

export type ActEnded = Extract<RunEvent, { readonly type: "act.ended" }>;
export type RunEnded = Extract<RunEvent, { readonly type: "run.ended" }>;
/** A message and its recipients. */
export type Sent = ActEnded["said"][number];

/** A finding before its place and mode are known. */
export type Found = Pick<FailureFinding, "failure" | "roles" | "messages" | "text">;

/** A model call or a tool call of an activation that has its answer. */
export interface UsedStep {
  readonly kind: "model" | "tool";
  readonly name: string;
  /** Equal for equal requests with equal answers. */
  readonly signature: string;
}

/** An activation that took effect. */
export interface SeenAct {
  readonly event: ActEnded;
  /** The messages that it took from its mailbox. */
  readonly taken: readonly Message[];
  readonly steps: readonly UsedStep[];
}

/** The view of the run that a detector gets. */
export interface SeenRun {
  readonly state: RunState;
  /** True for a role that is judged: one that has asked a model, or every role where the watch was told so. */
  isJudged(role: string): boolean;
}

/** Looks for one failure. It gets every activation and every message, in the order of the record. */
export interface Detector {
  /** Called for each message that was published, also from outside, after the act that said it. */
  sent?(sent: Sent, run: SeenRun): readonly Found[];
  /** Called for each message that left the full mailbox of a role unread. */
  dropped?(message: Message, role: string, run: SeenRun): readonly Found[];
  acted?(act: SeenAct, run: SeenRun): readonly Found[];
  ended?(end: RunEnded, run: SeenRun): readonly Found[];
}
