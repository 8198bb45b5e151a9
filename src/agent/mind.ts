import type { z } from "zod";
import type { Clock } from "../kernel/clock.ts";
import type { ChatMessage, ToolCall } from "../model/chat-message.ts";
import type { ChatModel, ChatRequest, ChatResponse, ToolSpec } from "../model/chat-model.ts";
import type { CalledTool } from "../tool/call-outcome.ts";

/** One question to a model, over what the memory holds. */
export interface Question {
  /** Default: the agent's own model. */
  readonly model?: ChatModel | undefined;
  /** Instead of what the memory holds. */
  readonly messages?: readonly ChatMessage[] | undefined;
  /** Said before everything else, after the agent's own system prompt. */
  readonly system?: string | undefined;
  /** Said last, in this request alone: it is never stored. */
  readonly prompt?: string | undefined;
  /** Default none. */
  readonly tools?: readonly ToolSpec[] | undefined;
  readonly toolChoice?: ChatRequest["toolChoice"] | undefined;
  readonly temperature?: number | undefined;
}

/** What a state may ask of its world. Every effect goes through it: it counts, limits, records and tells. */
export interface Mind {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** The step under way, from 1. */
  readonly step: number;
  readonly toolChoice: NonNullable<ChatRequest["toolChoice"]>;
  /** Said last in every request in which the agent decides what to do; never stored. */
  readonly nextStepPrompt: string | undefined;
  /**
   * Asks a model and streams its text; gives the whole reply. Makes room first when the request would not fit.
   *
   * @throws ModelError for what cannot succeed, after retries of what could.
   */
  ask(question: Question): AsyncGenerator<string, ChatResponse, void>;
  /** Asks for a value of a schema, once more if the first reply does not fit. @throws OutputError `OUTPUT_INVALID` */
  read<S extends z.ZodType>(schema: S, question: Question): Promise<z.infer<S>>;
  /**
   * Lets tools run: every call gets an outcome, also one that is not run. What was called is watched for loops.
   *
   * @throws ControlError when the run was stopped meanwhile
   */
  act(calls: readonly ToolCall[]): Promise<readonly CalledTool[]>;
  /** Tells observers of something that went wrong and was dealt with. */
  warn(code: string, text: string): void;
}
