import { outputSchema } from "../model/json-schema.ts";
import { type AnySchema, zodOf } from "../model/standard-schema.ts";
import { z } from "zod";
import { defineTool, type Tool } from "../tool/tool.ts";
import { toolFailure, toolOutput } from "../tool/tool-result.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import type { Json } from "../kernel/json.ts";

const Question = z.object({
  question: z.string().min(1).max(4000).describe("The question, with all a person needs to answer it."),
  choices: z
    .array(z.string().min(1).max(200))
    .max(10)
    .optional()
    .describe("Likely answers, where there are few. The person may answer in other words."),
});

/** Makes a tool that asks the person behind the agent and waits for the answer; time spent waiting does not count. */
export function askHumanTool(): Tool {
  return defineTool({
    name: "ask_human",
    description: "Asks the person you work for, and waits for the answer. For what only a person can know or decide.",
    parameters: Question,
    effect: "read",
    parallel: false,
    execute: async ({ question, choices }, { human }) => {
      if (human === undefined) return toolFailure("No one is there to answer. Decide by what you know, and say what you assumed.");
      const answer = await human.ask(question, choices === undefined ? {} : { choices });
      return toolOutput(answer.trim() === "" ? "(the person gave an empty answer)" : answer);
    },
  });
}

export interface ChatCompletionOptions {
  /** Default: a text. An object's members become the tool's parameters; any other type is the parameter `response`. */
  readonly schema?: AnySchema;
  readonly description?: string;
}

const chatCompletionOptions: Known<ChatCompletionOptions> = { schema: kinds.schema, description: kinds.text };

/** Makes a tool that takes the final answer in a given form and ends the run: `data.answer` is its text, `data.value` the value. */
export function createChatCompletion(options: ChatCompletionOptions = {}): Tool {
  checkKnownOptions("createChatCompletion", options, chatCompletionOptions);
  const { description } = options;
  const schema = zodOf(options.schema ?? z.string()) as z.ZodType;
  const { json, wrapped } = outputSchema(schema);
  const isObject = !wrapped && json["properties"] !== undefined;
  const parameters = isObject ? schema : z.object({ response: schema });
  return defineTool({
    name: "create_chat_completion",
    description: description ?? "Gives the final answer to the task, in the form asked for, and ends the work on it. Call it alone.",
    parameters,
    effect: "read",
    ends: true,
    maxOutput: 100_000,
    execute: (args: unknown) => {
      const value = (isObject ? args : (args as { readonly response: unknown }).response) as Json;
      const answer = typeof value === "string" ? value : JSON.stringify(value);
      return toolOutput(answer, { data: { status: "success", answer, value } });
    },
  });
}
