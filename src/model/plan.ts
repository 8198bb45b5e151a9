import type { ChatModel, ChatRequest } from "./chat-model.ts";

/** One of the models that a call may ask, in turn. */
export interface Candidate {
  readonly model: ChatModel;
  readonly tries?: number;
  /** Codes of failures after which the next candidate is asked. */
  readonly next?: ReadonlySet<string>;
}

/** The candidates of a request, for a model that is made of others. */
export const PLAN: unique symbol = Symbol("the models that a call may ask");

export interface PlannedModel extends ChatModel {
  readonly [PLAN]?: (request: ChatRequest) => readonly Candidate[];
}
