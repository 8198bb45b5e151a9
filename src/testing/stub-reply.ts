import { defined, isRecord } from "../kernel/value-kind.ts";
import { z } from "zod";
import type { Json } from "../kernel/json.ts";

const jsonSchema = z.record(z.string(), z.json() as z.ZodType<Json>);
const textPart = z.strictObject({ type: z.literal("text"), text: z.string() });
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
  extra_content: jsonSchema.optional(),
});

const wireMessage = z.discriminatedUnion("role", [
  z.strictObject({ role: z.enum(["system", "developer"]), content: z.union([z.string(), z.array(textPart).min(1)]), name: speaker }),
  z.strictObject({ role: z.literal("user"), content: z.union([z.string(), z.array(z.union([textPart, image])).min(1)]), name: speaker }),
  z
    .strictObject({
      role: z.literal("assistant"),
      reasoning_content: z.string().optional(),
      reasoning_details: z.array(z.json()).optional(),
      content: z.union([z.string(), z.array(textPart).min(1)]).nullish(),
      name: speaker,
      tool_calls: z.array(toolCall).min(1).optional(),
    })
    .refine(
      (said) => (said.content ?? undefined) !== undefined || said.tool_calls !== undefined,
      "an assistant's message has content or tool_calls",
    ),
  z.strictObject({ role: z.literal("tool"), content: z.union([z.string(), z.array(textPart).min(1)]), tool_call_id: z.string().min(1) }),
]);

/** A message on the wire; which fields it has depends on its role. */
interface OpenAIMessage {
  readonly role: z.infer<typeof wireMessage>["role"];
  readonly content?: string | readonly (z.infer<typeof textPart> | z.infer<typeof image>)[] | null | undefined;
  readonly name?: string | undefined;
  readonly tool_calls?: readonly z.infer<typeof toolCall>[] | undefined;
  readonly tool_call_id?: string | undefined;
}

const replyFormat = z.discriminatedUnion("type", [
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

const tool = z.strictObject({
  type: z.literal("function"),
  function: z.strictObject({
    name: functionName,
    description: z.string().optional(),
    parameters: jsonSchema.optional(),
    strict: z.boolean().optional(),
  }),
});
const tokens = z.int().min(1).optional();

export const OpenAIBodySchema = z
  .strictObject({
    model: z.string().min(1),
    messages: z.array(wireMessage as z.ZodType<OpenAIMessage>).min(1),
    tools: z.array(tool).min(1).max(128).optional(),
    tool_choice: z
      .union([
        z.enum(["none", "auto", "required"]),
        z.strictObject({ type: z.literal("function"), function: z.strictObject({ name: functionName }) }),
      ])
      .optional(),
    parallel_tool_calls: z.boolean().optional(),
    response_format: replyFormat.optional(),
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

export type OpenAIBody = z.infer<typeof OpenAIBodySchema>;

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

const STRICT_KEYWORDS = new Set("type properties required additionalProperties items anyOf enum const description $ref $defs".split(" "));

function strictErrors(schema: unknown, path: string, isRoot: boolean): string[] {
  if (!isRecord(schema)) return [`${path} is not a schema`];
  const broken = Object.keys(schema)
    .filter((key) => !STRICT_KEYWORDS.has(key))
    .map((key) => `${path}: '${key}' is not permitted`);
  if (schema["$ref"] !== undefined && Object.keys(schema).length > 1) broken.push(`${path}: $ref cannot have other keywords`);
  if (isRoot && schema["type"] !== "object") broken.push(`${path} must be an object`);
  if (schema["$ref"] === undefined && schema["anyOf"] === undefined && schema["type"] === undefined) broken.push(`${path} has no type`);
  if (schema["type"] === "object") broken.push(...objectErrors(schema, path));
  if (schema["type"] === "array") broken.push(...strictErrors(schema["items"], `${path}.items`, false));
  const branches = Array.isArray(schema["anyOf"]) ? schema["anyOf"] : [];
  const defs = typeof schema["$defs"] === "object" && schema["$defs"] !== null ? Object.entries(schema["$defs"]) : [];
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

/** Waits before the n-th thing of a stream is sent, from 0: comments first, then pieces. */
export type Pace = (n: number) => Promise<void> | void;

export interface StubAnswer {
  readonly text?: string;
  /** The pieces of a stream. Default: the text in pieces of 8 characters. */
  readonly chunks?: readonly string[];
  /** In a stream the arguments come in two pieces. */
  readonly toolCalls?: readonly { readonly id?: string; readonly name: string; readonly arguments: string }[];
  readonly finishReason?: string;
  readonly refusal?: string;
  /** Null: the server reports none. */
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number; readonly cached_tokens?: number } | null;
  /** The number of keep-alive comments before the first piece. */
  readonly comments?: number;
  readonly pace?: Pace;
}

export interface StubFault {
  readonly fault:
    | "cut"
    /** Nothing more comes, and the connection stays open until the stub is closed. */
    | "stall"
    | "reset"
    | "stream-error"
    | keyof typeof REFUSALS
    /** Any other refusal, or a page that is no answer. */
    | "status"
    /** The body, or a line of the stream, is no JSON. */
    | "bad-json"
    /** JSON, but not an answer. */
    | "wrong-shape"
    | "empty-choices"
    | "no-usage"
    | "length"
    | "refusal"
    | "content-filter"
    | "empty"
    | "duplicate-chunk"
    | "text-after-end";
  /** The text that it breaks. Default "A reply that was going well." */
  readonly text?: string;
  /** Pieces that come before a cut, a stall, a reset or an error in a stream. Default 1; 0: not even headers come. */
  readonly after?: number;
  /** Of an error in a stream. */
  readonly code?: string | number;
  readonly message?: string;
  /** Of "status" and "server-error". */
  readonly status?: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Headers of "rate-limit". */
  readonly retryAfter?: string;
  readonly retryAfterMs?: string;
  readonly date?: string;
  readonly refusal?: string;
}

/** A response, word for word: the protocol as some server writes it, or a stream that breaks wherever it should. */
export interface StubRaw {
  readonly pieces: readonly unknown[];
  /** The body where nothing is streamed. */
  readonly whole: unknown;
  /** The end of the response. Default "done". Of a body that is not done, half is sent. */
  readonly end?: "done" | "cut" | "stall" | "reset";
}

export type WrittenReply = string | StubAnswer | StubFault;

/** The stub's reaction to one request: a string, an answer with its details, a fault, or a given body. */
export type StubReply = WrittenReply | StubRaw;

/** The answer that a fault breaks by default. */
export const BROKEN_TEXT = "A reply that was going well.";
const PIECE = 8;

/** The answer of a fault within an otherwise good answer; undefined for the others. */
export function answerOf(reply: WrittenReply): StubAnswer | undefined {
  if (typeof reply === "string") return { text: reply };
  if (!("fault" in reply)) return reply;
  switch (reply.fault) {
    case "no-usage":
      return { text: reply.text ?? BROKEN_TEXT, usage: null };
    case "length":
      return { text: reply.text ?? BROKEN_TEXT, finishReason: "length" };
    case "content-filter":
      return { text: reply.text ?? "", finishReason: "content_filter" };
    case "refusal":
      return { text: "", refusal: reply.refusal ?? "I cannot help with that." };
    case "empty":
      return { text: "" };
    default:
      return undefined;
  }
}

export function piecesOf(answer: StubAnswer): readonly string[] {
  if (answer.chunks !== undefined) return answer.chunks;
  const text = answer.text ?? "";
  return Array.from({ length: Math.ceil(text.length / PIECE) }, (_, n) => text.slice(n * PIECE, (n + 1) * PIECE));
}

export function wholeText(answer: StubAnswer): string {
  return answer.text ?? (answer.chunks ?? []).join("");
}

export interface StubRefusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly code?: string;
  readonly type?: string;
  readonly param?: string;
}

const REFUSALS = {
  "rate-limit": { status: 429, message: "Rate limit reached for $model.", code: "rate_limit_exceeded" },
  quota: {
    status: 429,
    message: "You exceeded your current quota, please check your plan and billing details.",
    code: "insufficient_quota",
  },
  // A careless server: it repeats the key.
  unauthorized: { status: 401, message: "Incorrect API key provided: $key.", code: "invalid_api_key" },
  "not-found": { status: 404, message: "The model '$model' does not exist or you do not have access to it.", code: "model_not_found" },
  "context-overflow": {
    status: 400,
    message: "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    code: "context_length_exceeded",
    param: "messages",
  },
  "format-unsupported": {
    status: 400,
    message: "Invalid parameter: 'response_format' of this type is not supported with this model.",
    param: "response_format",
  },
  "server-error": { status: 500, message: "The server had an error while processing your request.", type: "server_error" },
} as const satisfies Readonly<Record<string, Refusal>>;

export function refusalOf(reply: StubFault, asked: { readonly model: string; readonly authorization: string }): StubRefusal | undefined {
  const json = { "content-type": "application/json" };
  if (reply.fault === "status") return { status: reply.status ?? 500, headers: { ...json, ...reply.headers }, body: reply.body ?? "" };
  const refusal: Refusal | undefined = (REFUSALS as Readonly<Record<string, Refusal>>)[reply.fault];
  if (refusal === undefined) return undefined;
  const { message, code = null, type = "invalid_request_error", param = null } = refusal;
  const said = message.replace("$model", () => asked.model).replace("$key", () => asked.authorization);
  const waits = { "retry-after": reply.retryAfter, "retry-after-ms": reply.retryAfterMs, date: reply.date };
  return {
    status: reply.status ?? refusal.status,
    headers: { ...json, "x-request-id": "req_stub", ...defined(waits) },
    body: JSON.stringify({ error: { message: said, type, param, code } }),
  };
}
