import { crc32 } from "node:zlib";
import { createAmazonBedrock } from "@ai-sdk/amazon-bedrock";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createMistral } from "@ai-sdk/mistral";
import { createOpenAI } from "@ai-sdk/openai";
import { createAnthropic as createAnthropicV2 } from "ai-sdk-anthropic-v2";
import { createAnthropic as createAnthropicV4 } from "ai-sdk-anthropic-v4";
import type { AiSdkModel } from "../../src/adapters/ai-sdk.ts";

/** The content of one reply of a server, in any protocol. */
export interface Said {
  readonly text?: string;
  readonly thought?: string;
  readonly call?: { readonly id: string; readonly name: string; readonly input: object };
  readonly end?: "stop" | "length" | "calls";
  readonly input: number;
  readonly cached?: number;
  readonly output: number;
}

type Body = { readonly [key: string]: unknown };

/** One protocol, as its documents describe it. */
export interface Wire {
  readonly name: string;
  readonly model: (fetch: typeof globalThis.fetch) => AiSdkModel;
  /** Events of a stream. */
  readonly stream: (said: Said) => readonly Body[];
  readonly whole: (said: Said) => Body;
  readonly error: (message: string) => Body;
  readonly frames?: "sse" | "aws";
  /** A reply with thoughts can be read. */
  readonly hasThoughts: boolean;
}

const apiKey = "test";
const baseURL = "http://127.0.0.1:1/v1";

const anthropicEnd = { stop: "end_turn", length: "max_tokens", calls: "tool_use" };

function anthropic(
  name: string,
  create: (o: { apiKey: string; baseURL: string; fetch: typeof fetch }) => (id: string) => AiSdkModel,
): Wire {
  const usage = (said: Said): Body => ({
    input_tokens: said.input - (said.cached ?? 0),
    cache_read_input_tokens: said.cached ?? 0,
    output_tokens: said.output,
  });
  const blocks = ({ text, thought, call }: Said): Body[] => [
    ...(thought === undefined ? [] : [{ type: "thinking", thinking: thought, signature: "signed" }]),
    ...(text === undefined ? [] : [{ type: "text", text }]),
    ...(call === undefined ? [] : [{ type: "tool_use", ...call }]),
  ];
  const message = { id: "msg_1", type: "message", role: "assistant", model: "claude-test" };
  return {
    name,
    model: (fetch) => create({ apiKey, baseURL, fetch })("claude-test"),
    whole: (said) => ({
      ...message,
      content: blocks(said),
      stop_reason: anthropicEnd[said.end ?? "stop"],
      stop_sequence: null,
      usage: usage(said),
    }),
    stream: (said) => [
      {
        type: "message_start",
        message: { ...message, content: [], stop_reason: null, stop_sequence: null, usage: { ...usage(said), output_tokens: 1 } },
      },
      { type: "ping" },
      ...blocks(said).flatMap((block, index): Body[] => {
        const [start, ...deltas]: Body[] =
          block["type"] === "thinking"
            ? [
                { type: "thinking", thinking: "", signature: "" },
                { type: "thinking_delta", thinking: block["thinking"] },
                { type: "signature_delta", signature: block["signature"] },
              ]
            : block["type"] === "text"
              ? [
                  { type: "text", text: "" },
                  { type: "text_delta", text: block["text"] },
                ]
              : [
                  { ...block, input: {} },
                  { type: "input_json_delta", partial_json: JSON.stringify(block["input"]).slice(0, 3) },
                  { type: "input_json_delta", partial_json: JSON.stringify(block["input"]).slice(3) },
                ];
        return [
          { type: "content_block_start", index, content_block: start },
          ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
          { type: "content_block_stop", index },
        ];
      }),
      {
        type: "message_delta",
        delta: { stop_reason: anthropicEnd[said.end ?? "stop"], stop_sequence: null },
        usage: { output_tokens: said.output },
      },
      { type: "message_stop" },
    ],
    error: (text) => ({ type: "error", error: { type: "invalid_request_error", message: text } }),
    hasThoughts: true,
  };
}

const googleReply = (said: Said): Body => ({
  candidates: [
    {
      index: 0,
      content: {
        role: "model",
        parts: [
          ...(said.thought === undefined ? [] : [{ text: said.thought, thought: true, thoughtSignature: "signed" }]),
          ...(said.text === undefined ? [] : [{ text: said.text }]),
          ...(said.call === undefined
            ? []
            : [{ functionCall: { name: said.call.name, args: said.call.input }, thoughtSignature: "signed call" }]),
        ],
      },
      finishReason: said.end === "length" ? "MAX_TOKENS" : "STOP",
    },
  ],
  usageMetadata: {
    promptTokenCount: said.input,
    candidatesTokenCount: said.output,
    totalTokenCount: said.input + said.output,
    cachedContentTokenCount: said.cached ?? 0,
  },
});

const chatEnd = { stop: "stop", length: "length", calls: "tool_calls" };
const mistralCalls = (said: Said): Body =>
  said.call === undefined
    ? {}
    : { tool_calls: [{ id: said.call.id, function: { name: said.call.name, arguments: JSON.stringify(said.call.input) }, index: 0 }] };
const mistralContent = ({ text = "", thought }: Said): unknown =>
  thought === undefined
    ? text
    : [
        { type: "thinking", thinking: [{ type: "text", text: thought }] },
        { type: "text", text },
      ];
const mistralUsage = ({ input, output }: Said): Body => ({ prompt_tokens: input, completion_tokens: output, total_tokens: input + output });

const responsesUsage = ({ input, cached = 0, output }: Said): Body => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: cached },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: 0 },
});
const responsesItems = ({ text, thought, call }: Said): Body[] => [
  ...(thought === undefined
    ? []
    : [{ type: "reasoning", id: "rs_1", encrypted_content: "sealed", summary: [{ type: "summary_text", text: thought }] }]),
  ...(text === undefined
    ? []
    : [
        { type: "message", id: "msg_1", role: "assistant", status: "completed", content: [{ type: "output_text", text, annotations: [] }] },
      ]),
  ...(call === undefined
    ? []
    : [
        {
          type: "function_call",
          id: "fc_1",
          call_id: call.id,
          name: call.name,
          arguments: JSON.stringify(call.input),
          status: "completed",
        },
      ]),
];
const response = (said: Said, output: readonly Body[]): Body => ({
  id: "resp_1",
  object: "response",
  created_at: 1,
  model: "gpt-test",
  status: said.end === "length" ? "incomplete" : "completed",
  incomplete_details: said.end === "length" ? { reason: "max_output_tokens" } : null,
  error: null,
  output,
  usage: responsesUsage(said),
});

const bedrockEnd = { stop: "end_turn", length: "max_tokens", calls: "tool_use" };
const bedrockUsage = ({ input, cached = 0, output }: Said): Body => ({
  inputTokens: input - cached,
  outputTokens: output,
  totalTokens: input + output,
  cacheReadInputTokens: cached,
});

/** Each protocol that the packages of the AI SDK speak here. */
export const wires: readonly Wire[] = [
  anthropic("anthropic V2", (o) => createAnthropicV2(o)),
  anthropic("anthropic V3", (o) => createAnthropic(o)),
  anthropic("anthropic V4", (o) => createAnthropicV4(o)),
  {
    name: "google",
    model: (fetch) => createGoogleGenerativeAI({ apiKey, baseURL, fetch })("gemini-test"),
    whole: googleReply,
    stream: (said) => [googleReply(said)],
    error: (message) => ({ error: { code: 400, message, status: "INVALID_ARGUMENT" } }),
    hasThoughts: true,
  },
  {
    name: "mistral",
    model: (fetch) => createMistral({ apiKey, baseURL, fetch })("magistral-test"),
    whole: (said) => ({
      id: "1",
      object: "chat.completion",
      created: 1,
      model: "magistral-test",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: mistralContent(said), ...mistralCalls(said) },
          finish_reason: chatEnd[said.end ?? "stop"],
        },
      ],
      usage: mistralUsage(said),
    }),
    stream: (said) => [
      {
        id: "1",
        created: 1,
        model: "magistral-test",
        choices: [{ index: 0, delta: { role: "assistant", content: mistralContent(said), ...mistralCalls(said) }, finish_reason: null }],
      },
      {
        id: "1",
        created: 1,
        model: "magistral-test",
        choices: [{ index: 0, delta: { content: "" }, finish_reason: chatEnd[said.end ?? "stop"] }],
        usage: mistralUsage(said),
      },
    ],
    error: (message) => ({ object: "error", message, type: "invalid_request_error", param: null, code: null }),
    hasThoughts: true,
  },
  {
    name: "openai responses",
    model: (fetch) => createOpenAI({ apiKey, baseURL, fetch })("gpt-test"),
    whole: (said) => response(said, responsesItems(said)),
    stream: (said) => {
      const items = responsesItems(said);
      return [
        { type: "response.created", response: { id: "resp_1", created_at: 1, model: "gpt-test" } },
        ...items.flatMap((item, index): Body[] => [
          {
            type: "response.output_item.added",
            output_index: index,
            item: { ...item, status: "in_progress", ...(item["type"] === "function_call" ? { arguments: "" } : {}) },
          },
          ...(item["type"] === "message" ? [{ type: "response.output_text.delta", item_id: "msg_1", delta: said.text }] : []),
          ...(item["type"] === "reasoning"
            ? [
                { type: "response.reasoning_summary_part.added", item_id: "rs_1", summary_index: 0 },
                { type: "response.reasoning_summary_text.delta", item_id: "rs_1", summary_index: 0, delta: said.thought },
                { type: "response.reasoning_summary_part.done", item_id: "rs_1", summary_index: 0 },
              ]
            : []),
          { type: "response.output_item.done", output_index: index, item },
        ]),
        { type: said.end === "length" ? "response.incomplete" : "response.completed", response: response(said, items) },
      ];
    },
    error: (message) => ({ error: { message, type: "invalid_request_error", param: null, code: "invalid_request" } }),
    hasThoughts: true,
  },
  {
    name: "bedrock",
    model: (fetch) =>
      createAmazonBedrock({ region: "us-east-1", accessKeyId: "AKIATEST", secretAccessKey: "secret", baseURL, fetch })("claude-test"),
    whole: (said) => ({
      output: {
        message: {
          role: "assistant",
          content: [
            ...(said.text === undefined ? [] : [{ text: said.text }]),
            ...(said.call === undefined ? [] : [{ toolUse: { toolUseId: said.call.id, name: said.call.name, input: said.call.input } }]),
          ],
        },
      },
      stopReason: bedrockEnd[said.end ?? "stop"],
      usage: bedrockUsage(said),
    }),
    stream: (said) => [
      { messageStart: { role: "assistant" } },
      ...(said.text === undefined
        ? []
        : [{ contentBlockDelta: { contentBlockIndex: 0, delta: { text: said.text } } }, { contentBlockStop: { contentBlockIndex: 0 } }]),
      ...(said.call === undefined
        ? []
        : [
            { contentBlockStart: { contentBlockIndex: 1, start: { toolUse: { toolUseId: said.call.id, name: said.call.name } } } },
            { contentBlockDelta: { contentBlockIndex: 1, delta: { toolUse: { input: JSON.stringify(said.call.input) } } } },
            { contentBlockStop: { contentBlockIndex: 1 } },
          ]),
      { messageStop: { stopReason: bedrockEnd[said.end ?? "stop"] } },
      { metadata: { usage: bedrockUsage(said) } },
    ],
    error: (message) => ({ message }),
    frames: "aws",
    hasThoughts: false,
  },
];

/** A server that answers in the protocol, and keeps what it was sent. */
export function serverOf(
  wire: Wire,
  answer: Said | { readonly status: number; readonly message: string; readonly headers?: Record<string, string> },
) {
  const requests: { readonly url: string; readonly headers: Headers; readonly body: Body }[] = [];
  const fetch: typeof globalThis.fetch = (url, init) => {
    const address = url instanceof Request ? url.url : String(url);
    const body = JSON.parse(typeof init?.body === "string" ? init.body : "{}") as Body;
    requests.push({ url: address, headers: new Headers(init?.headers), body });
    return Promise.resolve(reply(wire, answer, address, body));
  };
  return { model: wire.model(fetch), requests };
}

function reply(wire: Wire, answer: Parameters<typeof serverOf>[1], url: string, body: Body): Response {
  if ("status" in answer)
    return Response.json(wire.error(answer.message), { status: answer.status, headers: { "retry-after": "7", ...answer.headers } });
  const isStream = body["stream"] === true || /stream/i.test(url);
  if (!isStream) return Response.json(wire.whole(answer));
  const events = wire.stream(answer);
  if (wire.frames === "aws") {
    const frames = events.flatMap((event) => Object.entries(event).map(([type, value]) => awsFrame(type, JSON.stringify(value))));
    return new Response(Buffer.concat(frames), { headers: { "content-type": "application/vnd.amazon.eventstream" } });
  }
  const lines = events.map(
    (event) => `${typeof event["type"] === "string" ? `event: ${event["type"]}\n` : ""}data: ${JSON.stringify(event)}\n\n`,
  );
  return new Response(lines.join(""), { headers: { "content-type": "text/event-stream" } });
}

/** One message of an AWS event stream: lengths, their checksum, headers, payload, checksum. */
function awsFrame(type: string, payload: string): Buffer {
  const header = (name: string, value: string): Buffer =>
    Buffer.concat([
      Buffer.from([name.length]),
      Buffer.from(name),
      Buffer.from([7, value.length >> 8, value.length & 0xff]),
      Buffer.from(value),
    ]);
  const headers = Buffer.concat([
    header(":event-type", type),
    header(":content-type", "application/json"),
    header(":message-type", "event"),
  ]);
  const body = Buffer.from(payload);
  const prelude = Buffer.alloc(8);
  prelude.writeUInt32BE(16 + headers.length + body.length, 0);
  prelude.writeUInt32BE(headers.length, 4);
  const checked = Buffer.alloc(4);
  checked.writeUInt32BE(crc32(prelude));
  const all = Buffer.concat([prelude, checked, headers, body]);
  const end = Buffer.alloc(4);
  end.writeUInt32BE(crc32(all));
  return Buffer.concat([all, end]);
}
