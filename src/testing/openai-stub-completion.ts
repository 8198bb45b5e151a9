import type { OpenAIBody } from "./openai-body.ts";
import { type StubAnswer, textOf } from "./stub-reply.ts";

/** A whole answer as OpenAI's protocol writes it. */
export function completion(body: OpenAIBody, answer: StubAnswer): object {
  const calls = (answer.toolCalls ?? []).map((call, index) => ({
    id: call.id ?? `call_${index}`,
    type: "function",
    function: { name: call.name, arguments: call.arguments },
  }));
  const said = {
    role: "assistant",
    content: textOf(answer),
    refusal: answer.refusal ?? null,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return {
    ...head(body, "whole"),
    choices: [{ index: 0, message: said, finish_reason: finishOf(answer), logprobs: null }],
    ...(answer.usage === null ? {} : { usage: usageOf(body, answer) }),
  };
}

/** What every object of the protocol begins with, a whole answer or a piece of one. */
export function head(body: OpenAIBody, form: "whole" | "chunk"): object {
  return { id: "chatcmpl-stub", object: form === "whole" ? "chat.completion" : "chat.completion.chunk", created: 0, model: body.model };
}

/** The finish reason: what the answer says, else what follows from its calls. */
export function finishOf(answer: StubAnswer): string {
  return answer.finishReason ?? ((answer.toolCalls ?? []).length > 0 ? "tool_calls" : "stop");
}

/** Four characters to a token, unless the answer says otherwise. */
export function usageOf(body: OpenAIBody, answer: StubAnswer): object {
  const calls = (answer.toolCalls ?? []).reduce((sum, call) => sum + call.name.length + call.arguments.length, 0);
  const { prompt_tokens, completion_tokens, cached_tokens } = answer.usage ?? {
    prompt_tokens: Math.ceil(JSON.stringify(body.messages).length / 4),
    completion_tokens: Math.ceil((textOf(answer).length + calls) / 4),
  };
  const details = cached_tokens === undefined ? {} : { prompt_tokens_details: { cached_tokens } };
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens, ...details };
}
