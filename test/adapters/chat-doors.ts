import { ModelError } from "../../src/kernel/errors.ts";
import { ReplyBuilder } from "../../src/model/attempt.ts";
import type { ChatModel, ChatRequest, ChatResponse } from "../../src/model/chat-model.ts";

const signal = new AbortController().signal;

export async function streamed(model: ChatModel, request: ChatRequest): Promise<ChatResponse> {
  const reply = new ReplyBuilder(model.id);
  for await (const chunk of model.stream(request, { signal })) reply.add(chunk);
  return reply.finish();
}

/** Each way to ask a model, with its name. */
export const doors = [
  ["whole", (model: ChatModel, request: ChatRequest) => model.chat(request, { signal })],
  ["streamed", streamed],
] as const;

export async function failureOf(answer: Promise<unknown>): Promise<ModelError> {
  const error: unknown = await answer.then(
    () => "an answer",
    (reason: unknown) => reason,
  );
  if (error instanceof ModelError) return error;
  throw error instanceof Error ? error : new Error(String(error));
}
