import type { StubRaw } from "../../src/testing/stub-reply.ts";

/*
 * The forms of tool calls of servers that all speak "the OpenAI protocol", by the facts of their formats. Each dialect calls the same tools: what
 * differs is how it says so. A turn is what one request is answered with, streamed and whole.
 */

/** The replies of one server in a run of two turns, and the calls that an agent should read from the first. */
export interface Dialect {
  readonly name: string;
  /** Turns before the text that ends the run. */
  readonly turns: readonly StubRaw[];
  /** Calls as they should be understood: the tool and what it is given, in order. */
  readonly expected: readonly (readonly [string, object])[];
}

const ANSWER = "It is 21 degrees in Paris.";

function whole(server: object, message: object, finish: string): object {
  return {
    ...server,
    object: "chat.completion",
    choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: finish }],
  };
}

/** Events of a stream: what each says, and in the last one why it ended. */
function pieces(server: object, deltas: readonly object[], finish: string, last: object = {}): object[] {
  const event = (delta: object, finish_reason: string | null): object => ({
    ...server,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason }],
  });
  return [...deltas.map((delta) => event(delta, null)), event(last, finish)];
}

const openai = { id: "chatcmpl-9f", created: 1, model: "gpt-5-mini", system_fingerprint: "fp_1", service_tier: "default" };
const ollama = { id: "chatcmpl-478", created: 1, model: "qwen3:8b", system_fingerprint: "fp_ollama" };
const vllm = { id: "chatcmpl-6867760b", created: 1, model: "Qwen/Qwen3-8B" };
const llama = { id: "chatcmpl-Yl8", created: 1, model: "qwen3", system_fingerprint: "b6100-abc" };
const other = { id: "gen-1", created: 1, model: "m" };

const paris = { city: "Paris" };
const rome = { city: "Rome" };
const two = [
  ["weather", paris],
  ["weather", rome],
] as const;

function wire(id: string, args: unknown = JSON.stringify(paris), name = "weather"): object {
  return { id, type: "function", function: { name, arguments: args } };
}

/** OpenAI: calls are numbered, id and name come once, arguments in pieces that may be told in turns; content is null. */
const openaiCalls: StubRaw = {
  pieces: [
    ...pieces(
      openai,
      [
        { role: "assistant", content: null, refusal: null },
        { tool_calls: [{ index: 0, id: "call_a", type: "function", function: { name: "weather", arguments: "" } }] },
        { tool_calls: [{ index: 0, function: { arguments: '{"ci' } }] },
        { tool_calls: [{ index: 0, function: { arguments: 'ty":"Paris"}' } }] },
        { tool_calls: [{ index: 1, id: "call_b", type: "function", function: { name: "weather", arguments: "" } }] },
        { tool_calls: [{ index: 1, function: { arguments: '{"city":"Rome"}' } }] },
      ],
      "tool_calls",
    ),
    { ...openai, object: "chat.completion.chunk", choices: [], usage: { prompt_tokens: 80, completion_tokens: 30, total_tokens: 110 } },
  ],
  whole: whole(
    openai,
    { content: null, refusal: null, annotations: [], tool_calls: [wire("call_a"), wire("call_b", JSON.stringify(rome))] },
    "tool_calls",
  ),
};

/** Ollama: each call whole in one piece, all of them number 0, thoughts beside the text; content is "", and older versions end with "stop". */
function ollamaCalls(finish: "tool_calls" | "stop"): StubRaw {
  const calls = [wire("call_p3xu"), wire("call_77ab", JSON.stringify(rome))];
  return {
    pieces: pieces(
      ollama,
      [
        { role: "assistant", content: "", reasoning: "The user wants" },
        { role: "assistant", content: "", reasoning: " the weather." },
        ...calls.map((call) => ({ role: "assistant", content: "", tool_calls: [{ index: 0, ...call }] })),
      ],
      finish,
      { role: "assistant", content: "" },
    ),
    whole: whole(
      ollama,
      { content: "", reasoning: "The user wants the weather.", tool_calls: calls.map((call) => ({ index: 0, ...call })) },
      finish,
    ),
  };
}

/** Ollama before it numbered calls at all, and its own API behind a thin gateway: arguments are an object. */
const ollamaOlder: StubRaw = {
  pieces: pieces(ollama, [{ role: "assistant", content: "", tool_calls: [wire("call_1", paris), wire("call_2", rome)] }], "stop"),
  whole: whole(ollama, { content: "", thinking: "Hm.", tool_calls: [wire("call_1", paris), wire("call_2", rome)] }, "stop"),
};

/** vLLM: thoughts in a field of their own, names before arguments, an empty list of calls among the pieces, arguments left out when there are none. */
const vllmCalls: StubRaw = {
  pieces: pieces(
    vllm,
    [
      { role: "assistant", content: "" },
      { reasoning_content: "Both cities, then.", tool_calls: [] },
      { content: null, tool_calls: [{ id: "chatcmpl-tool-a91e", type: "function", index: 0, function: { name: "weather" } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{"city": "' } }] },
      { tool_calls: [{ index: 0, function: { arguments: 'Paris"}' } }] },
      { tool_calls: [{ id: "chatcmpl-tool-b8d1", type: "function", index: 1, function: { name: "today" } }] },
    ],
    "tool_calls",
    { content: "" },
  ),
  whole: whole(
    vllm,
    {
      content: null,
      reasoning_content: "Both cities, then.",
      tool_calls: [wire("chatcmpl-tool-a91e"), { id: "chatcmpl-tool-b8d1", type: "function", function: { name: "today" } }],
    },
    "tool_calls",
  ),
};

/** A gateway before vLLM: every piece has another id, later ones an empty name, and all end with "stop". */
const gateway: StubRaw = {
  pieces: pieces(
    vllm,
    [
      { content: "" },
      { tool_calls: [{ id: "chatcmpl-tool-a91e", function: { arguments: "", name: "weather" }, type: "function", index: 0 }] },
      { tool_calls: [{ id: "call_b49e", function: { arguments: '{"city": "', name: "" }, type: "function", index: 0 }] },
      { tool_calls: [{ id: "call_ed82", function: { arguments: 'Paris"}', name: "" }, type: "function", index: 0 }] },
    ],
    "stop",
  ),
  whole: whole(vllm, { content: "", tool_calls: [wire("call_b49e")] }, "stop"),
};

/** llama.cpp: ids are empty where the chat template has none, and the text is null. */
const llamaCalls: StubRaw = {
  pieces: pieces(
    llama,
    [
      { role: "assistant", content: null },
      { reasoning_content: "Paris." },
      { tool_calls: [{ index: 0, id: "", type: "function", function: { name: "weather", arguments: "{" } }] },
      { tool_calls: [{ index: 0, function: { arguments: '"city":"Paris"}' } }] },
      { tool_calls: [{ index: 1, id: "", type: "function", function: { name: "weather", arguments: "{" } }] },
      { tool_calls: [{ index: 1, function: { arguments: '"city":"Rome"}' } }] },
    ],
    "tool_calls",
  ),
  whole: whole(llama, { content: null, reasoning_content: "Paris.", tool_calls: [wire(""), wire("", JSON.stringify(rome))] }, "tool_calls"),
};

/** Neither numbers nor ids, each call whole in a piece of its own. */
const bare: StubRaw = {
  pieces: pieces(
    other,
    [paris, rome].map((city) => ({ tool_calls: [{ function: { name: "weather", arguments: JSON.stringify(city) } }] })),
    "stop",
  ),
  whole: whole(other, { tool_calls: [paris, rome].map((city) => ({ function: { name: "weather", arguments: city } })) }, "stop"),
};

/** Gemini: all in the piece that ends the reply, ids empty in older versions, and a signature with the first call, which it wants back. */
const signature = { google: { thought_signature: "CiQBjz1rX9tQ==" } };
const geminiCalls = [
  { ...wire("function-call-1"), index: 0, extra_content: signature },
  { ...wire("", JSON.stringify(rome)), index: 1 },
];
const geminiTurn: StubRaw = {
  pieces: pieces(other, [], "stop", { role: "assistant", tool_calls: geminiCalls }),
  whole: whole(other, { tool_calls: geminiCalls }, "tool_calls"),
};

/** One id for every call, in this turn and in all others. */
const sameIds: StubRaw = {
  pieces: pieces(
    other,
    [paris, rome].map((city, index) => ({ tool_calls: [{ index, ...wire("call_0", JSON.stringify(city)) }] })),
    "tool_calls",
  ),
  whole: whole(other, { content: "", tool_calls: [wire("call_0"), wire("call_0", JSON.stringify(rome))] }, "tool_calls"),
};

/** The model's own marks, which its server does not know: vLLM without a tool parser, llama.cpp without its templates. */
function inText(text: string): StubRaw {
  return {
    pieces: pieces(vllm, [{ role: "assistant", content: "" }, ...inPieces(text)], "stop"),
    whole: whole(vllm, { content: text }, "stop"),
  };
}

function inPieces(text: string): object[] {
  return [text.slice(0, 7), text.slice(7, 40), text.slice(40)].map((content) => ({ content }));
}

const hermes = (city: object): string => `<tool_call>\n${JSON.stringify({ name: "weather", arguments: city })}\n</tool_call>`;

export const DIALECTS: readonly Dialect[] = [
  { name: "OpenAI", turns: [openaiCalls], expected: two },
  { name: "OpenAI, three turns", turns: [openaiCalls, openaiCalls, openaiCalls], expected: [...two, ...two, ...two] },
  { name: "Ollama, all calls number 0", turns: [ollamaCalls("tool_calls")], expected: two },
  { name: "Ollama, ended by stop", turns: [ollamaCalls("stop")], expected: two },
  { name: "Ollama, without numbers, arguments an object", turns: [ollamaOlder], expected: two },
  {
    name: "vLLM",
    turns: [vllmCalls],
    expected: [
      ["weather", paris],
      ["today", {}],
    ],
  },
  { name: "a gateway to vLLM, another id with every piece", turns: [gateway], expected: [["weather", paris]] },
  { name: "llama.cpp, empty ids", turns: [llamaCalls, llamaCalls], expected: [...two, ...two] },
  { name: "Gemini", turns: [geminiTurn, geminiTurn], expected: [...two, ...two] },
  { name: "neither numbers nor ids", turns: [bare, bare], expected: [...two, ...two] },
  { name: "one id for all calls of all turns", turns: [sameIds, sameIds], expected: [...two, ...two] },
  { name: "Hermes and Qwen in text", turns: [inText(`${hermes(paris)}\n${hermes(rome)}`)], expected: two },
  {
    name: "Qwen in text, after its thoughts",
    turns: [inText(`<think>\nPa<tool_call>?\n</think>\n\n${hermes(paris)}`)],
    expected: [["weather", paris]],
  },
  { name: "Qwen in text, without an end", turns: [inText(hermes(paris).replace("\n</tool_call>", ""))], expected: [["weather", paris]] },
  { name: "Llama in text", turns: [inText(JSON.stringify({ name: "weather", parameters: paris }))], expected: [["weather", paris]] },
];

/** A text that only tells of a call, of a page's say. */
export const TOLD_OF: StubRaw = inText(`The page says: ${hermes(paris)} and nothing more.`);

/** The text that ends a run. */
export const LAST: StubRaw = {
  pieces: pieces(other, [{ role: "assistant", content: "" }, { content: ANSWER }], "stop"),
  whole: whole(other, { content: ANSWER }, "stop"),
};

export { ANSWER };
