import { openai } from "../../src/adapters/openai.ts";
import type { ChatModel } from "../../src/model/chat-model.ts";

/*
 * Servers of Chat Completions, as their documents and the reports of their users describe them: how each writes thoughts, calls, usage and
 * complaints, and what it refuses.
 */

type Body = { readonly [key: string]: unknown };
export type Refusal = readonly [status: number, body: unknown];

/** The content of one reply of a model. */
export interface Said {
  readonly text?: string;
  readonly thought?: string;
  readonly calls?: readonly (readonly [name: string, args: object])[];
}

/** A complaint, and the code that it should have. */
export type Complaint = readonly [code: string, status: number, body: unknown];

export interface ChatServer {
  readonly name: string;
  readonly baseURL: string;
  readonly model: string;
  /** Reply formats besides text. Default: both. */
  readonly formats?: readonly ("json_schema" | "json_object")[];
  readonly formatRefusal?: Refusal;
  /** The member that holds thoughts. Undefined: its models keep them to themselves. */
  readonly thoughts?: "reasoning_content" | "reasoning" | "reasoning_details" | "parts";
  /** It refuses a message with calls that lacks them. */
  readonly wantsThoughts?: Refusal;
  /** Default: `call_0`, `call_1`. */
  readonly callId?: (name: string, n: number) => string;
  /** The form of streamed calls. Default: name first, then arguments in pieces. `whole`: each in one event. `zero`: so, and all have index 0. */
  readonly calls?: "whole" | "zero" | "empty later ids";
  /** Members of each call. */
  readonly inCall?: object;
  /** The content of a message with calls. Default: null. */
  readonly contentOfCalls?: "";
  /** Default: `tool_calls`. */
  readonly endOfCalls?: "stop";
  /** The place of usage in a stream: in an event of its own without choices, or elsewhere in the last one. */
  readonly usage?: "last event" | "choice" | "x_groq";
  readonly counts?: object;
  /** Default: 7 of 20 tokens came from the cache. */
  readonly cached?: number | undefined;
  /** Default: 5. */
  readonly output?: number;
  /** Lines before the first event, such as a comment. */
  readonly before?: string;
  readonly refuses?: (body: Body) => Refusal | undefined;
  readonly complaints: readonly Complaint[];
  /** Complaints inside a stream that has begun. */
  readonly inStream?: readonly (readonly [code: string, lines: string])[];
}

const COUNTS = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25, prompt_tokens_details: { cached_tokens: 7 } };
const error = (message: string, more: object = {}): object => ({ error: { message, ...more } });
const complaint = (code: string, status: number, message: string, more?: object): Complaint => [code, status, error(message, more)];
const messagesIn = (body: Body): readonly Body[] => body["messages"] as readonly Body[];
const callsIn = (message: Body): readonly Body[] => (message["tool_calls"] ?? []) as readonly Body[];

const ofWindow = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.";

const newName = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
const withoutMaxTokens = (body: Body): Refusal | undefined =>
  "max_tokens" in body ? [400, error(newName, { param: "max_tokens" })] : undefined;

export const SERVERS: readonly ChatServer[] = [
  {
    name: "OpenAI",
    baseURL: "https://api.openai.com/v1",
    model: "gpt-5-mini",
    refuses: withoutMaxTokens,
    complaints: [
      complaint("MODEL_CONTEXT_OVERFLOW", 400, ofWindow, {
        type: "invalid_request_error",
        param: "messages",
        code: "context_length_exceeded",
      }),
      complaint("MODEL_QUOTA", 429, "You exceeded your current quota, please check your plan and billing details.", {
        code: "insufficient_quota",
      }),
      complaint("MODEL_AUTH", 401, "Incorrect API key provided: k.", { code: "invalid_api_key" }),
    ],
  },
  {
    name: "Azure",
    baseURL: "https://x.openai.azure.com/openai/deployments/d?api-version=2024-10-21",
    model: "d",
    before: `data: ${JSON.stringify({ choices: [], prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }] })}\n\n`,
    refuses: withoutMaxTokens,
    complaints: [
      complaint(
        "MODEL_CONTENT_FILTER",
        400,
        "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
        {
          code: "content_filter",
        },
      ),
      complaint("MODEL_NOT_FOUND", 404, "The API deployment for this resource does not exist.", { code: "DeploymentNotFound" }),
      complaint("MODEL_RATE_LIMIT", 429, "Requests have exceeded token rate limit. Please retry after 6 seconds.", { code: "429" }),
    ],
  },
  {
    name: "Ollama",
    baseURL: "http://127.0.0.1:11434/v1",
    model: "qwen3:8b",
    thoughts: "reasoning",
    calls: "zero",
    contentOfCalls: "",
    counts: { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 },
    cached: undefined,
    complaints: [
      complaint("MODEL_NOT_FOUND", 404, "model 'qwen3:8b' not found", { type: "not_found_error", param: null, code: null }),
      complaint("MODEL_BAD_REQUEST", 400, "registry.ollama.ai/library/gemma:latest does not support tools", { type: "api_error" }),
    ],
  },
  {
    name: "vLLM",
    baseURL: "http://127.0.0.1:8000/v1",
    model: "Qwen/Qwen3-8B",
    thoughts: "reasoning_content",
    callId: (_name, n) => `chatcmpl-tool-a91e${n}`,
    complaints: [["MODEL_CONTEXT_OVERFLOW", 400, { object: "error", message: ofWindow, type: "BadRequestError", param: null, code: 400 }]],
    inStream: [
      ["MODEL_CONTEXT_OVERFLOW", `data: ${JSON.stringify({ object: "error", message: ofWindow, type: "BadRequestError", code: 400 })}\n\n`],
    ],
  },
  {
    name: "llama.cpp",
    baseURL: "http://127.0.0.1:8080/v1",
    model: "qwen3",
    thoughts: "reasoning_content",
    callId: () => "",
    counts: { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 },
    cached: undefined,
    complaints: [
      complaint(
        "MODEL_CONTEXT_OVERFLOW",
        400,
        "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it",
        {
          code: 400,
          type: "exceed_context_size_error",
        },
      ),
      complaint("MODEL_SERVER", 503, "Loading model", { code: 503, type: "unavailable_error" }),
    ],
  },
  {
    name: "LM Studio",
    baseURL: "http://127.0.0.1:1234/v1",
    model: "qwen3",
    thoughts: "reasoning_content",
    formats: ["json_schema"],
    formatRefusal: [400, { error: "'response_format.type' must be 'json_schema' or 'text'" }],
    callId: (_name, n) => String(365_174_485 + n),
    counts: { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 },
    cached: undefined,
    complaints: [
      [
        "MODEL_CONTEXT_OVERFLOW",
        400,
        {
          error:
            "Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens.",
        },
      ],
    ],
    inStream: [
      [
        "MODEL_CONTEXT_OVERFLOW",
        `event: error\ndata: ${JSON.stringify(error("Trying to keep the first 9000 tokens when context the overflows."))}\n\n`,
      ],
    ],
  },
  {
    name: "DeepSeek",
    baseURL: "https://api.deepseek.com/v1",
    model: "deepseek-reasoner",
    thoughts: "reasoning_content",
    wantsThoughts: [
      400,
      error("Missing `reasoning_content` field in the assistant message at message index 1.", { type: "invalid_request_error" }),
    ],
    formats: ["json_object"],
    formatRefusal: [400, error("This response_format type is unavailable now", { type: "invalid_request_error" })],
    contentOfCalls: "",
    usage: "last event",
    counts: { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25, prompt_cache_hit_tokens: 7, prompt_cache_miss_tokens: 13 },
    before: ": keep-alive\n\n",
    refuses: ({ max_tokens: most = 0 }) =>
      (most as number) > 8_192 ? [400, error("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]")] : undefined,
    complaints: [
      complaint("MODEL_QUOTA", 402, "Insufficient Balance", { type: "unknown_error", code: "invalid_request_error" }),
      complaint("MODEL_CONTENT_FILTER", 400, "Content Exists Risk", { type: "invalid_request_error" }),
    ],
  },
  {
    name: "Qwen",
    baseURL: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
    model: "qwen-plus",
    thoughts: "reasoning_content",
    calls: "empty later ids",
    contentOfCalls: "",
    refuses: ({ max_tokens: most = 0 }) =>
      (most as number) > 8_192
        ? [
            400,
            error("<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]", {
              code: "invalid_parameter_error",
            }),
          ]
        : undefined,
    complaints: [
      complaint("MODEL_CONTEXT_OVERFLOW", 400, "Range of input length should be [1, 30720]", { code: "invalid_parameter_error" }),
      complaint("MODEL_CONTENT_FILTER", 400, "Input data may contain inappropriate content.", { code: "data_inspection_failed" }),
    ],
  },
  {
    name: "Kimi",
    baseURL: "https://api.moonshot.ai/v1",
    model: "kimi-k2-thinking",
    thoughts: "reasoning_content",
    wantsThoughts: [400, error("thinking is enabled but reasoning_content is missing in assistant tool call message at index 1")],
    callId: (name, n) => `functions.${name}:${n}`,
    contentOfCalls: "",
    usage: "choice",
    counts: { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25, cached_tokens: 7 },
    complaints: [
      complaint("MODEL_CONTEXT_OVERFLOW", 400, "Invalid request: Your request exceeded model token limit: 8192", {
        type: "invalid_request_error",
      }),
      complaint("MODEL_QUOTA", 429, "Your account is suspended, please check your plan and billing details", {
        type: "exceeded_current_quota_error",
      }),
    ],
  },
  {
    name: "GLM",
    baseURL: "https://open.bigmodel.cn/api/paas/v4",
    model: "glm-4.6",
    thoughts: "reasoning_content",
    calls: "whole",
    contentOfCalls: "",
    usage: "last event",
    complaints: [
      complaint("MODEL_CONTEXT_OVERFLOW", 400, "Prompt exceeds max length", { code: "1261" }),
      complaint("MODEL_QUOTA", 429, "余额不足或无可用资源包,请充值。", { code: "1113" }),
    ],
  },
  {
    name: "Gemini",
    baseURL: "https://generativelanguage.googleapis.com/v1beta/openai",
    model: "gemini-2.5-flash",
    calls: "whole",
    callId: (_name, n) => `function-call-${n}`,
    inCall: { extra_content: { google: { thought_signature: "CiQBjz1rX9tQ==" } } },
    endOfCalls: "stop",
    usage: "last event",
    counts: { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 },
    cached: undefined,
    refuses: (body) => {
      const words = messagesIn(body).some(({ role, name }) => role === "tool" && name === undefined)
        ? "* GenerateContentRequest.contents[2].parts[0].function_response.name: Name cannot be empty.\n"
        : messagesIn(body).some((message) => callsIn(message).some((call) => !("extra_content" in call)))
          ? "Function call is missing a thought_signature in functionCall parts."
          : undefined;
      return words === undefined ? undefined : [400, [error(words, { code: 400, status: "INVALID_ARGUMENT" })]];
    },
    complaints: [
      [
        "MODEL_RATE_LIMIT",
        429,
        [
          error("You exceeded your current quota. Please retry in 2.1s.", {
            code: 429,
            status: "RESOURCE_EXHAUSTED",
            details: [{ retryDelay: "2s" }],
          }),
        ],
      ],
      ["MODEL_AUTH", 400, [error("API key not valid. Please pass a valid API key.", { code: 400, status: "INVALID_ARGUMENT" })]],
      ["MODEL_SERVER", 503, [error("The model is overloaded. Please try again later.", { code: 503, status: "UNAVAILABLE" })]],
    ],
  },
  {
    name: "Groq",
    baseURL: "https://api.groq.com/openai/v1",
    model: "openai/gpt-oss-120b",
    thoughts: "reasoning",
    calls: "whole",
    usage: "x_groq",
    complaints: [
      complaint("MODEL_PROTOCOL", 400, "Failed to call a function. Please adjust your prompt.", {
        code: "tool_use_failed",
        failed_generation: "<function=add{}",
      }),
      complaint("MODEL_RATE_LIMIT", 429, "Rate limit reached on tokens per minute (TPM): Limit 6000, Used 5800. Please try again in 9s.", {
        code: "rate_limit_exceeded",
      }),
    ],
  },
  {
    name: "xAI",
    baseURL: "https://api.x.ai/v1",
    model: "grok-4",
    thoughts: "reasoning_content",
    calls: "whole",
    contentOfCalls: "",
    usage: "last event",
    counts: { ...COUNTS, total_tokens: 125, completion_tokens_details: { reasoning_tokens: 100 } },
    output: 105,
    complaints: [
      [
        "MODEL_CONTEXT_OVERFLOW",
        400,
        {
          code: "Client specified an invalid argument",
          error: "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
        },
      ],
      [
        "MODEL_AUTH",
        400,
        {
          code: "Client specified an invalid argument",
          error: "Incorrect API key provided: k. You can obtain an API key from https://console.x.ai.",
        },
      ],
    ],
  },
  {
    name: "OpenRouter",
    baseURL: "https://openrouter.ai/api/v1",
    model: "anthropic/claude-sonnet-4.5",
    thoughts: "reasoning_details",
    callId: (_name, n) => `toolu_${n}`,
    before: ": OPENROUTER PROCESSING\n\n",
    complaints: [
      complaint("MODEL_QUOTA", 402, "This request requires more credits, or fewer max_tokens.", { code: 402 }),
      complaint("MODEL_CONTEXT_OVERFLOW", 400, "Provider returned error", {
        code: 400,
        metadata: { raw: '{"error":{"message":"prompt is too long: 9000 tokens > 8192 maximum"}}' },
      }),
      complaint("MODEL_BAD_REQUEST", 404, "No endpoints found that support tool use.", { code: 404 }),
    ],
    inStream: [
      [
        "MODEL_SERVER",
        `data: ${JSON.stringify({ ...error("Provider disconnected", { code: 502 }), choices: [{ index: 0, delta: {}, finish_reason: "error" }] })}\n\n`,
      ],
    ],
  },
  {
    name: "Mistral",
    baseURL: "https://api.mistral.ai/v1",
    model: "magistral-medium-latest",
    thoughts: "parts",
    calls: "whole",
    callId: (_name, n) => `D681PevK${n}`,
    contentOfCalls: "",
    usage: "last event",
    counts: { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 },
    cached: undefined,
    refuses: (body) => {
      const field = ["stream_options", "seed"].find((name) => name in body);
      const detail = [{ type: "extra_forbidden", loc: ["body", field], msg: "Extra inputs are not permitted", input: null }];
      if (field !== undefined)
        return [422, { object: "error", message: { detail }, type: "invalid_request_error", param: null, code: null }];
      const id = messagesIn(body).find(({ tool_call_id: one = "123456789" }) => !/^[a-zA-Z0-9]{9}$/.test(one as string));
      return id === undefined
        ? undefined
        : [
            400,
            {
              object: "error",
              message: "Tool call id was call_0 but must be a-z, A-Z, 0-9, with a length of 9.",
              type: "invalid_request_error",
            },
          ];
    },
    complaints: [
      ["MODEL_RATE_LIMIT", 429, { message: "Requests rate limit exceeded" }],
      ["MODEL_AUTH", 401, { detail: "Unauthorized" }],
      [
        "MODEL_CONTEXT_OVERFLOW",
        400,
        {
          object: "error",
          message: "Prompt contains 140000 tokens, too large for model with 131072 maximum context length",
          type: "invalid_request_error",
        },
      ],
    ],
  },
];

function thoughtsOf({ thoughts }: ChatServer, { thought, text = "" }: Said): object {
  if (thought === undefined || thoughts === undefined) return {};
  if (thoughts === "parts") {
    const content = [{ type: "thinking", thinking: [{ type: "text", text: thought }] }];
    return { content: text === "" ? content : [...content, { type: "text", text }] };
  }
  if (thoughts === "reasoning_details")
    return { reasoning: thought, reasoning_details: [{ type: "reasoning.text", text: thought, signature: "signed", index: 0 }] };
  return { [thoughts]: thought };
}

function callsOf(server: ChatServer, { calls = [] }: Said): readonly Body[] {
  const { callId = (_name, n) => `call_${n}`, inCall = {} } = server;
  return calls.map(([name, args], n) => ({
    id: callId(name, n),
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
    ...inCall,
  }));
}

function endOf({ endOfCalls }: ChatServer, { calls = [] }: Said): string {
  return calls.length > 0 ? (endOfCalls ?? "tool_calls") : "stop";
}

function whole(server: ChatServer, said: Said): object {
  const calls = callsOf(server, said);
  const content = calls.length > 0 ? (server.contentOfCalls ?? null) : said.text;
  const message = { role: "assistant", content, ...thoughtsOf(server, said), ...(calls.length > 0 ? { tool_calls: calls } : {}) };
  const usage = server.counts ?? COUNTS;
  return {
    id: "c",
    object: "chat.completion",
    created: 1,
    model: server.model,
    choices: [{ index: 0, message, finish_reason: endOf(server, said) }],
    usage,
  };
}

function callDeltas({ calls: how }: ChatServer, calls: readonly Body[]): readonly object[] {
  return calls.flatMap((call, n) => {
    if (how === "whole" || how === "zero") return [{ tool_calls: [{ index: how === "zero" ? 0 : n, ...call }] }];
    const { name, arguments: written } = call["function"] as { readonly name: string; readonly arguments: string };
    const more = how === "empty later ids" ? { id: "", type: "function" } : {};
    return [
      { tool_calls: [{ index: n, ...call, function: { name, arguments: "" } }] },
      ...[written.slice(0, 3), written.slice(3)].map((part) => ({ tool_calls: [{ index: n, ...more, function: { arguments: part } }] })),
    ];
  });
}

function streamed(server: ChatServer, said: Said, body: Body): string {
  const usage = server.counts ?? COUNTS;
  const head = { id: "c", object: "chat.completion.chunk", created: 1, model: server.model };
  const event = (delta: object, finish_reason: string | null = null, inChoice: object = {}, more: object = {}): string =>
    `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason, ...inChoice }], ...more })}\n\n`;
  const { text = "" } = said;
  const lines = [
    server.before ?? "",
    event({ role: "assistant", content: "" }),
    ...(said.thought === undefined ? [] : [event(thoughtsOf(server, { thought: said.thought }))]),
    ...(text === "" ? [] : [event({ content: text.slice(0, 4) }), event({ content: text.slice(4) })]),
    ...callDeltas(server, callsOf(server, said)).map((delta) => event(delta)),
  ];
  const where = server.usage ?? "own event";
  const inChoice = where === "choice" ? { usage } : {};
  const more = where === "last event" ? { usage } : where === "x_groq" ? { x_groq: { id: "req_1", usage } } : {};
  const isAsked = (body["stream_options"] as Body | undefined)?.["include_usage"] === true;
  const last = where === "own event" && isAsked ? [`data: ${JSON.stringify({ ...head, choices: [], usage })}\n\n`] : [];
  return [...lines, event({}, endOf(server, said), inChoice, more), ...last, "data: [DONE]\n\n"].join("");
}

function refusalOf(server: ChatServer, body: Body): Refusal | undefined {
  const { type } = (body["response_format"] ?? {}) as { readonly type?: "json_schema" | "json_object" };
  if (type !== undefined && server.formats?.includes(type) === false) return server.formatRefusal;
  const thoughts = server.thoughts ?? "";
  if (server.wantsThoughts !== undefined && messagesIn(body).some((one) => callsIn(one).length > 0 && !one[thoughts]))
    return server.wantsThoughts;
  const ids = messagesIn(body).flatMap((one) => callsIn(one).map((call) => call["id"]));
  if (ids.some((id) => id === "") || new Set(ids).size < ids.length) return [400, error("ids of calls must be there and differ")];
  return server.refuses?.(body);
}

/** A model at a server, and the requests that it got and took. */
export function modelAt(
  server: ChatServer,
  key: string,
  say: (body: Body) => Said | Complaint | { readonly lines: string },
  stream = true,
) {
  const requests: { readonly url: string; readonly body: Body }[] = [];
  const refused: Refusal[] = [];
  const fetch: typeof globalThis.fetch = (url, init) => {
    const body = JSON.parse(init?.body as string) as Body;
    const refusal = refusalOf(server, body);
    if (refusal !== undefined) {
      refused.push(refusal);
      return Promise.resolve(Response.json(refusal[1], { status: refusal[0] }));
    }
    requests.push({ url: url instanceof Request ? url.url : String(url), body });
    const said = say(body);
    if (Array.isArray(said)) return Promise.resolve(Response.json(said[2], { status: said[1] as number }));
    if (body["stream"] !== true) return Promise.resolve(Response.json(whole(server, said as Said)));
    const lines = "lines" in said ? said.lines : streamed(server, said as Said, body);
    return Promise.resolve(new Response(lines, { headers: { "content-type": "text/event-stream" } }));
  };
  const { baseURL, model: name } = server;
  const model: ChatModel = openai({ model: name, baseURL, apiKey: key, price: { input: 1, output: 1 }, stream, fetch });
  return { model, requests, refused };
}
