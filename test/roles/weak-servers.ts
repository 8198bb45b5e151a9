import type { ChatRequest, ChatResponse, ToolCall } from "../../src/index.ts";
import type { OpenAIBody } from "../../src/testing/stub-reply.ts";

/** A refusal: its status and its body. */
type Refusal = readonly [status: number, body: object];

/** A server that differs from OpenAI's in what it refuses, and in how it writes what the model says. */
export interface WeakServer {
  readonly name: string;
  /** Requests of the whole run that it refuses. */
  readonly refusals: 0 | 1;
  readonly refusal?: (body: OpenAIBody) => Refusal | undefined;
  /** The events of a stream, or of a whole reply as its only one. */
  readonly events: (reply: ChatResponse, body: OpenAIBody) => readonly object[];
}

const PIECE = /[^]{1,48}/gu;

function chunk(delta: object, finish: string | null = null): object {
  return { id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] };
}

const usage = {
  id: "c",
  object: "chat.completion.chunk",
  choices: [],
  usage: { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 },
};

function text(content: string): object[] {
  return [...content.matchAll(PIECE)].map(([piece]) => chunk({ content: piece }));
}

/** OpenAI: a name whole, arguments in pieces, usage last. */
function strictEvents({ content, toolCalls }: ChatResponse): readonly object[] {
  const calls = toolCalls.flatMap(({ id, function: { name, arguments: given } }, index) => [
    chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
    ...[...given.matchAll(PIECE)].map(([piece]) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ]);
  return [chunk({ role: "assistant" }), ...text(content), ...calls, chunk({}, toolCalls.length > 0 ? "tool_calls" : "stop"), usage];
}

export const STRICT: WeakServer = { name: "strict", refusals: 0, events: strictEvents };

/** As Python prints a value, with a comma after each last item. */
function python(value: unknown): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map((item) => `${python(item)}, `).join("")}]`;
  if (typeof value === "object")
    return `{${Object.entries(value)
      .map(([name, member]) => `${python(name)}: ${python(member)}, `)
      .join("")}}`;
  if (typeof value !== "string") return JSON.stringify(value);
  const escaped = JSON.stringify(value).slice(1, -1);
  return value.includes("'") ? `"${escaped}"` : `'${escaped.replaceAll('\\"', '"')}'`;
}

function withContent(reply: ChatResponse, content: string): ChatResponse {
  return { ...reply, content };
}

/** Text alone is JSON in the scripts of the demo. */
function inFence(reply: ChatResponse): ChatResponse {
  if (reply.toolCalls.length > 0) {
    const toolCalls = reply.toolCalls.map((call): ToolCall => {
      const { name, arguments: given } = call.function;
      return { ...call, function: { name, arguments: python(JSON.parse(given)) } };
    });
    return { ...reply, toolCalls };
  }
  return withContent(
    reply,
    `Here is what you asked for:\n\n\`\`\`python\n${python(JSON.parse(reply.content))}\n\`\`\`\n\nI hope it helps.`,
  );
}

/** Hermes and Qwen, whose server has no parser for their calls. */
function inHermesMarks({ content, toolCalls, ...rest }: ChatResponse): ChatResponse {
  const calls = toolCalls.map(
    ({ function: { name, arguments: given } }) => `<tool_call>\n{"name": "${name}", "arguments": ${given}}\n</tool_call>`,
  );
  return { ...rest, content: [content, ...calls].filter((part) => part !== "").join("\n\n"), toolCalls: [] };
}

/** All at once, without usage, thoughts before the answer. */
function inOneEvent({ content, toolCalls }: ChatResponse): readonly object[] {
  const calls = toolCalls.map(({ id, function: called }, index) => ({ index, id, type: "function", function: called }));
  return [
    chunk(
      { content: `<think>\nIs it {"accepts": false}? No.\n</think>\n\n${content}`, ...(calls.length > 0 ? { tool_calls: calls } : {}) },
      "stop",
    ),
  ];
}

/** Names and arguments in pieces, one id for all calls, and an end that says nothing of calls. */
function inSplitNames({ content, toolCalls }: ChatResponse): readonly object[] {
  const calls = toolCalls.flatMap(({ function: { name, arguments: given } }, index) => [
    chunk({ tool_calls: [{ index, id: "call_0", type: "function", function: { name: name.slice(0, 3) } }] }),
    chunk({ tool_calls: [{ index, id: "call_0", type: "function", function: { name: name.slice(3) } }] }),
    ...[...given.matchAll(PIECE)].map(([piece]) => chunk({ tool_calls: [{ index, id: "call_0", function: { arguments: piece } }] })),
  ]);
  return [...text(content), ...calls, chunk({}, "stop")];
}

const hasSystem = ({ messages }: OpenAIBody): boolean => messages.some(({ role }) => role === "system");
const UNKNOWN_FIELDS = ["stream_options", "max_tokens"] as const;

function unknownFields(body: OpenAIBody): Refusal | undefined {
  const found = UNKNOWN_FIELDS.filter((name) => body[name] !== undefined);
  const fault = (name: string): object => ({ type: "extra_forbidden", loc: ["body", name], msg: "Extra inputs are not permitted" });
  return found.length === 0 ? undefined : [422, { detail: found.map(fault) }];
}

export const WEAK: readonly WeakServer[] = [
  {
    name: "knows no response_format; writes JSON as Python does, in a fence, in prose",
    refusals: 1,
    refusal: ({ response_format: asked }) =>
      asked && [400, { error: { message: "Unrecognized request argument supplied: response_format", type: "invalid_request_error" } }],
    events: (reply) => strictEvents(inFence(reply)),
  },
  {
    name: "was started without its parser of calls; the model writes them in its own marks",
    refusals: 1,
    refusal: ({ tools }) =>
      tools && [
        400,
        { object: "error", message: '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set', code: 400 },
      ],
    events: (reply) => strictEvents(inHermesMarks(reply)),
  },
  {
    name: "ignores tools; the model writes calls in its own marks",
    refusals: 0,
    events: (reply) => strictEvents(inHermesMarks(reply)),
  },
  {
    name: "knows fewer fields; answers in one event, thoughts first, without usage",
    refusals: 1,
    refusal: unknownFields,
    events: inOneEvent,
  },
  {
    name: "takes no system message; splits names, repeats ids, ends calls by stop",
    refusals: 1,
    refusal: (body) =>
      hasSystem(body)
        ? [500, { error: { code: 500, message: "Jinja Exception: System role not supported", type: "server_error" } }]
        : undefined,
    events: inSplitNames,
  },
];

/** Returns the request that the script of the demo reads. Calls that the model wrote as text are its calls. */
export function scriptRequest({ messages }: OpenAIBody): ChatRequest {
  const textIn = (content: unknown): string => (typeof content === "string" ? content : JSON.stringify(content ?? ""));
  const [first] = messages;
  // A server without system messages gets their words in front of the user's.
  const system = first?.role === "user" ? [{ role: "system", content: textIn(first.content) } as const] : [];
  return {
    messages: [
      ...system,
      ...messages.map(({ role, content, tool_calls: calls }) => {
        const said = textIn(content);
        const isCall = role === "assistant" && (calls !== undefined || said.includes("<tool_call>"));
        return { role: role === "developer" ? "system" : role, content: said, ...(isCall ? { toolCalls: [] } : {}) };
      }),
    ],
  };
}
