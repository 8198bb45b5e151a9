import { UsageError } from "../kernel/errors.ts";
import type { StepPort } from "../kernel/step.ts";
import { chatStep } from "./ask.ts";
import type { CallMeter } from "./call-meter.ts";
import type { CallPolicy } from "./call.ts";
import type { ChatModel, ChatOptions, ChatRequest, ChatResponse } from "./chat-model.ts";
import { bothOf, type TextListener } from "./told-text.ts";

/** What one answer is asked for with. */
export interface SteppedChatOptions extends ChatOptions, TextListener {
  /** Told of the tries of this call. */
  readonly meter?: CallMeter | undefined;
}

/**
 * A model behind the door that every side effect passes: each answer is one step, made with retries and limits, bound by the budget,
 * recorded, and given from the record afterwards. It does not stream by itself, since a try that fails takes its text back: see `onDelta`.
 */
export interface SteppedModel extends ChatModel {
  readonly streams: false;
  /** @throws ModelError, ControlError, UsageError `MESSAGES_EMPTY` */
  chat(request: ChatRequest, o: SteppedChatOptions): Promise<ChatResponse>;
  /** The same model through another door: what an effect asks is part of that effect's step. */
  through(steps: StepPort): SteppedModel;
}

/** What stands around a model. Its listener is told of all text that comes, besides the caller. */
export interface SteppedModelParts extends TextListener {
  readonly steps: StepPort;
  /** How calls are made; none of it is part of a step's address. */
  readonly policy: CallPolicy;
  /** Makes the meter of a call that comes without one. */
  readonly meter?: (() => CallMeter) | undefined;
}

/** Puts a model behind a door; one that stands behind a door already is given the other door instead, or its answers would be recorded twice. */
export function steppedModel(model: ChatModel, parts: SteppedModelParts): SteppedModel {
  if (isStepped(model)) return model.through(parts.steps);
  const { steps, policy } = parts;
  const chat: SteppedModel["chat"] = (request, o) =>
    chatStep(request, { model, steps, policy, signal: o.signal, meter: o.meter ?? parts.meter?.(), ...bothOf(parts, o) });
  const stepped: SteppedModel = {
    id: model.id,
    ...(model.price === undefined ? {} : { price: model.price }),
    ...(model.maxOutputTokens === undefined ? {} : { maxOutputTokens: model.maxOutputTokens }),
    streams: false,
    chat,
    async *stream(request, o) {
      const { content, toolCalls, finishReason, usage, refusal } = await chat(request, o);
      const calls = toolCalls.map(({ id, function: { name, arguments: args }, extra }, index) => ({
        ...{ index, id, name, arguments: args },
        ...(extra === undefined ? {} : { extra }),
      }));
      yield {
        content,
        ...(calls.length === 0 ? {} : { toolCalls: calls }),
        finishReason,
        ...(usage === undefined ? {} : { usage }),
        ...(refusal === undefined ? {} : { refusal }),
      };
    },
    through: (other) => steppedModel(model, { ...parts, steps: other }),
  };
  return stepped;
}

/** Stands in for the model of somebody who has none, and says so when it is asked. @throws UsageError `MODEL_MISSING` */
export function missingModel(who: string): never {
  throw new UsageError(
    "MODEL_MISSING",
    `${who} asks a model, but neither the role nor its environment has one. Give new Team({ model }) or defineRole({ model }).`,
  );
}

/** Whether a model stands behind a door, which bounds its calls. */
export function isStepped(model: ChatModel): model is SteppedModel {
  return "through" in model && typeof model.through === "function";
}
