import type { Message, RunResult } from "../../index.ts";
import type { Json, JsonObject } from "../../kernel/json.ts";
import { FAILURE } from "./answers.ts";

/* A schedule is a list of steps: the delivery of a message with all that its recipient does then, or the decision whether a role crashes. */

/** A step that may come next. */
export interface Move {
  /** Equal in every schedule in which the same step may come next. */
  readonly key: string;
  /** The recipient, or the role that may crash. */
  readonly role: string;
  /** The steps of one channel have a fixed order. */
  readonly channel: string;
  /** Index among the messages in flight; -1 for a crash. */
  readonly index: number;
}

/** The fate of a message, or the crash of a role: what a scheduler chose, as the record has it. */
export interface Fate {
  readonly fate: "delivered" | "lost" | "copied" | "crashed";
  readonly role: string;
  readonly id?: string;
}

/** A choice inside a step: between fates, or between the answers of a model or of a person. */
export interface Pick {
  readonly of: number;
  readonly took: number;
}

export type PickKind = "fault" | "answer";

export interface Step {
  readonly move: Move;
  readonly text: string;
  readonly fates: Fate[];
  readonly picks: Pick[];
  readonly answers: Json[];
  /** The keys of the deliveries that it made possible. */
  readonly created: string[];
  readonly said: Message[];
  /** The number of steps that were possible, and of those with the same role. */
  readonly width: number;
  readonly rivals: number;
  /** True if the role acted. */
  isEffective: boolean;
  /** The new state of its role, if it changed. */
  state: JsonObject | undefined;
  failure: string | undefined;
}

/** Decides about the steps of one schedule. */
export interface Chooser {
  /** Returns undefined to leave the schedule. */
  next(moves: readonly Move[], steps: readonly Step[]): Move | undefined;
  /** Returns a number below `of`. With the kind `fault` 0 is no fault. */
  pick(of: number, kind: PickKind, steps: readonly Step[]): number;
}

/** `rest`: nothing was left to do. `deep`: it reached the bound of steps. `left`: its chooser left it. */
export type WalkEnd = "rest" | "deep" | "left" | "failed" | "waiting";

export interface Walk {
  readonly steps: readonly Step[];
  readonly end: WalkEnd;
  readonly result: RunResult;
  /** The state of each role at the beginning. */
  readonly states: ReadonlyMap<string, JsonObject>;
  /** Roles with open tasks in their plans, with the number of tasks. */
  readonly open: readonly string[];
  /** Roles with actions. */
  readonly remembering: ReadonlySet<string>;
  readonly hasFailedAnswer: boolean;
  readonly faults: number;
}

export function hasFault({ fates, answers }: Step): boolean {
  return fates.some(({ fate }) => fate !== "delivered") || answers.includes(FAILURE);
}

/** Returns the index of the step that made each step possible; -1: it was possible at the beginning. */
export function makersOf(steps: readonly Step[]): readonly number[] {
  const makers = new Map<string, number>();
  return steps.map(({ move, created }, index) => {
    for (const key of created) makers.set(key, index);
    return makers.get(move.key) ?? -1;
  });
}
