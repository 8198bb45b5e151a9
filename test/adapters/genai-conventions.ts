/*
 * Names of the conventions for generative AI, v0.1.0 (https://github.com/open-telemetry/semantic-conventions-genai), as its registry of
 * attributes and its pages client-inference, client-embeddings, execute-tool and gen-ai-metrics list them: those that concern a runtime of agents.
 */

function names(prefix: string, rest: string): string[] {
  return rest.split(" ").map((name) => `${prefix}${name}`);
}

export const ATTRIBUTES: ReadonlySet<string> = new Set([
  "error.type",
  ...names("gen_ai.agent.", "description id name version"),
  ...names("gen_ai.conversation.", "id compacted"),
  ...names("gen_ai.", "data_source.id embeddings.dimension.count operation.name output.type provider.name system_instructions"),
  ...names("gen_ai.", "input.messages output.messages prompt.name prompt.version token.modality"),
  ...names("gen_ai.request.", "choice.count encoding_formats frequency_penalty max_tokens model presence_penalty reasoning.level"),
  ...names("gen_ai.request.", "seed stop_sequences stream temperature top_k top_p previous_response.id"),
  ...names("gen_ai.response.", "finish_reasons id model time_to_first_chunk"),
  ...names("gen_ai.retrieval.", "documents query.text top_k"),
  ...names("gen_ai.tool.", "call.arguments call.id call.result definitions description name type"),
  ...names("gen_ai.usage.", "input_tokens output_tokens cache_read.input_tokens cache_write.input_tokens reasoning.output_tokens"),
]);

export const METRICS: ReadonlySet<string> = new Set([
  ...names("gen_ai.client.inference.", "duration time_to_first_chunk time_per_output_chunk"),
  ...names("gen_ai.client.inference.usage.", "input_tokens output_tokens cache_read.input_tokens cache_write.input_tokens"),
  ...names("gen_ai.client.inference.", "usage.reasoning.output_tokens operation.input_tokens operation.output_tokens"),
  ...names("gen_ai.client.embeddings.", "duration operation.input_tokens"),
  ...names("gen_ai.invoke_agent.", "duration inference_calls tool_calls"),
  "gen_ai.client.operation.duration",
  "gen_ai.execute_tool.duration",
]);
