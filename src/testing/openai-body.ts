import { isRecord } from "../kernel/value-kind.ts";
import { z } from "zod";
import type { Json } from "../kernel/json.ts";

/** A piece of a message's content. */
export type OpenAIPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image_url"; readonly image_url: { readonly url: string; readonly detail?: "auto" | "low" | "high" | undefined } };

/** A message on the wire; which fields it has depends on its role. */
export interface OpenAIMessage {
  readonly role: "system" | "developer" | "user" | "assistant" | "tool";
  readonly content?: string | readonly OpenAIPart[] | undefined;
  readonly name?: string | undefined;
  readonly tool_calls?:
    | readonly {
        readonly id: string;
        readonly type: "function";
        readonly function: { readonly name: string; readonly arguments: string };
        readonly extra_content?: { readonly [key: string]: Json } | undefined;
      }[]
    | undefined;
  readonly tool_call_id?: string | undefined;
}

/** A tool on the wire. */
export interface OpenAITool {
  readonly type: "function";
  readonly function: {
    readonly name: string;
    readonly description?: string | undefined;
    readonly parameters?: { readonly [key: string]: Json } | undefined;
    readonly strict?: boolean | undefined;
  };
}

/** A reply format on the wire. */
export type OpenAIFormat =
  | { readonly type: "text" }
  | { readonly type: "json_object" }
  | {
      readonly type: "json_schema";
      readonly json_schema: {
        readonly name: string;
        readonly description?: string | undefined;
        readonly strict?: boolean | undefined;
        readonly schema?: { readonly [key: string]: Json } | undefined;
      };
    };

/** A request as the stub has accepted it. */
export interface OpenAIBody {
  readonly model: string;
  readonly messages: readonly OpenAIMessage[];
  readonly tools?: readonly OpenAITool[] | undefined;
  readonly tool_choice?:
    | "none"
    | "auto"
    | "required"
    | { readonly type: "function"; readonly function: { readonly name: string } }
    | undefined;
  readonly parallel_tool_calls?: boolean | undefined;
  readonly response_format?: OpenAIFormat | undefined;
  readonly temperature?: number | undefined;
  readonly top_p?: number | undefined;
  readonly max_tokens?: number | undefined;
  readonly max_completion_tokens?: number | undefined;
  readonly seed?: number | undefined;
  readonly stop?: string | readonly string[] | undefined;
  readonly stream?: boolean | undefined;
  readonly stream_options?: { readonly include_usage?: boolean | undefined } | undefined;
  readonly reasoning_effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | undefined;
  readonly user?: string | undefined;
}

const text = z.strictObject({ type: z.literal("text"), text: z.string() });
const image = z.strictObject({
  type: z.literal("image_url"),
  image_url: z.strictObject({
    url: z.string().regex(/^(https?:\/\/|data:image\/[a-z+.-]+;base64,[A-Za-z0-9+/]+=*$)/),
    detail: z.enum(["auto", "low", "high"]).optional(),
  }),
});
const speaker = z
  .string()
  .regex(/^[^\s<|\\/>]{1,64}$/)
  .optional();
const functionName = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/);
const toolCall = z.strictObject({
  id: z.string().min(1),
  type: z.literal("function"),
  function: z.strictObject({ name: functionName, arguments: z.string() }),
  // Gemini's servers want it back with the calls that came with it.
  extra_content: z.record(z.string(), z.json() as z.ZodType<Json>).optional(),
});

const message = z.discriminatedUnion("role", [
  z.strictObject({ role: z.enum(["system", "developer"]), content: z.union([z.string(), z.array(text).min(1)]), name: speaker }),
  z.strictObject({ role: z.literal("user"), content: z.union([z.string(), z.array(z.union([text, image])).min(1)]), name: speaker }),
  z
    .strictObject({
      role: z.literal("assistant"),
      content: z.string().optional(),
      name: speaker,
      tool_calls: z.array(toolCall).min(1).optional(),
    })
    .refine((said) => said.content !== undefined || said.tool_calls !== undefined, "an assistant's message has content or tool_calls"),
  z.strictObject({ role: z.literal("tool"), content: z.union([z.string(), z.array(text).min(1)]), tool_call_id: z.string().min(1) }),
]);

const jsonSchema = z.record(z.string(), z.json() as z.ZodType<Json>);
const format = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text") }),
  z.strictObject({ type: z.literal("json_object") }),
  z.strictObject({
    type: z.literal("json_schema"),
    json_schema: z.strictObject({
      name: functionName,
      description: z.string().optional(),
      strict: z.boolean().optional(),
      schema: jsonSchema.optional(),
    }),
  }),
]);

const tokens = z.int().min(1).optional();

/**
 * The body of `chat/completions` that OpenAI's server accepts, as far as this package uses it: no other fields, no nulls, and the rules of its
 * documentation.
 */
export const OpenAIBodySchema: z.ZodType<OpenAIBody> = z
  .strictObject({
    model: z.string().min(1),
    messages: z.array(message).min(1),
    tools: z
      .array(
        z.strictObject({
          type: z.literal("function"),
          function: z.strictObject({
            name: functionName,
            description: z.string().optional(),
            parameters: jsonSchema.optional(),
            strict: z.boolean().optional(),
          }),
        }),
      )
      .min(1)
      .max(128)
      .optional(),
    tool_choice: z
      .union([
        z.enum(["none", "auto", "required"]),
        z.strictObject({ type: z.literal("function"), function: z.strictObject({ name: functionName }) }),
      ])
      .optional(),
    parallel_tool_calls: z.boolean().optional(),
    response_format: format.optional(),
    temperature: z.number().min(0).max(2).optional(),
    top_p: z.number().min(0).max(1).optional(),
    max_tokens: tokens,
    max_completion_tokens: tokens,
    seed: z.int().optional(),
    stop: z.union([z.string(), z.array(z.string()).min(1).max(4)]).optional(),
    stream: z.boolean().optional(),
    stream_options: z.strictObject({ include_usage: z.boolean().optional() }).optional(),
    reasoning_effort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh"]).optional(),
    user: z.string().optional(),
  })
  .superRefine((body, ctx) => {
    for (const problem of rulesBroken(body)) ctx.addIssue({ code: "custom", message: problem });
  });

function rulesBroken(body: OpenAIBody): string[] {
  const broken: string[] = [...conversationErrors(body.messages)];
  if (body.max_tokens !== undefined && body.max_completion_tokens !== undefined)
    broken.push("max_tokens and max_completion_tokens exclude each other");
  if (body.tool_choice !== undefined && body.tools === undefined) broken.push("tool_choice is only allowed when tools are given");
  if (body.stream_options !== undefined && body.stream !== true) broken.push("stream_options is only allowed when stream is true");
  const wanted = body.response_format;
  if (wanted?.type === "json_object" && !/json/i.test(JSON.stringify(body.messages))) {
    broken.push("messages must contain the word json to use response_format json_object");
  }
  if (wanted?.type === "json_schema" && wanted.json_schema.strict === true)
    broken.push(...strictErrors(wanted.json_schema.schema ?? {}, "schema", true));
  return broken;
}

/** Each call of a tool is answered at once and once; nothing is answered that was not called. */
function conversationErrors(messages: OpenAIBody["messages"]): string[] {
  const broken: string[] = [];
  let open = new Set<string>();
  for (const said of messages) {
    if (said.role === "tool") {
      if (!open.delete(said.tool_call_id ?? ""))
        broken.push(`a tool message answers ${said.tool_call_id}, which no tool_calls before it has open`);
      continue;
    }
    if (open.size > 0) broken.push(`tool_calls without an answer: ${[...open].join(", ")}`);
    open = new Set(said.tool_calls?.map((call) => call.id));
  }
  return open.size > 0 ? [...broken, `tool_calls without an answer: ${[...open].join(", ")}`] : broken;
}

const STRICT_KEYWORDS = new Set([
  "type",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "anyOf",
  "enum",
  "const",
  "description",
  "$ref",
  "$defs",
]);

/** OpenAI's rules of strict schemas. */
function strictErrors(schema: unknown, path: string, isRoot: boolean): string[] {
  if (!isRecord(schema)) return [`${path} is not a schema`];
  const node = schema as { readonly [key: string]: unknown };
  const broken = Object.keys(node)
    .filter((key) => !STRICT_KEYWORDS.has(key))
    .map((key) => `${path}: '${key}' is not permitted`);
  if (node["$ref"] !== undefined && Object.keys(node).length > 1) broken.push(`${path}: $ref cannot have other keywords`);
  if (isRoot && node["type"] !== "object") broken.push(`${path} must be an object`);
  if (node["$ref"] === undefined && node["anyOf"] === undefined && node["type"] === undefined) broken.push(`${path} has no type`);
  if (node["type"] === "object") broken.push(...objectErrors(node, path));
  if (node["type"] === "array") broken.push(...strictErrors(node["items"], `${path}.items`, false));
  const branches = Array.isArray(node["anyOf"]) ? node["anyOf"] : [];
  const defs = typeof node["$defs"] === "object" && node["$defs"] !== null ? Object.entries(node["$defs"]) : [];
  return [
    ...broken,
    ...branches.flatMap((branch, index) => strictErrors(branch, `${path}.anyOf[${index}]`, false)),
    ...defs.flatMap(([name, def]) => strictErrors(def, `${path}.$defs.${name}`, false)),
  ];
}

function objectErrors(node: { readonly [key: string]: unknown }, path: string): string[] {
  const properties = typeof node["properties"] === "object" && node["properties"] !== null ? Object.entries(node["properties"]) : [];
  const required: readonly unknown[] = Array.isArray(node["required"]) ? node["required"] : [];
  const missing = properties.filter(([name]) => !required.includes(name)).map(([name]) => `${path}: '${name}' is missing in required`);
  const open = node["additionalProperties"] === false ? [] : [`${path}: additionalProperties must be false`];
  return [...open, ...missing, ...properties.flatMap(([name, property]) => strictErrors(property, `${path}.${name}`, false))];
}
