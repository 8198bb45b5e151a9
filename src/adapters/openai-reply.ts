import { isCount, isRecord, isObject } from "../kernel/value-kind.ts";
import type { JsonObject } from "../kernel/json.ts";
import type { ChatChunk, FinishReason, ToolCallDelta, Usage } from "../model/chat-model.ts";
import { modelError } from "../model/failure.ts";

type Fields = { readonly [key: string]: unknown };

const FINISH: ReadonlyMap<string, FinishReason> = new Map(
  Object.entries({
    stop: "stop eos eos_token end_turn stop_sequence complete completed",
    length: "length max_tokens model_length",
    tool_calls: "tool_calls tool_call tool_use function_call",
    content_filter: "content_filter safety",
  }).flatMap(([reason, words]) => words.split(" ").map((word) => [word, reason as FinishReason] as const)),
);

interface BegunCall {
  readonly index: number | undefined;
  id: string | undefined;
}

/**
 * Reads the pieces of one reply, or a whole one as one piece. A piece of another shape than the protocol has is an error, never an empty
 * answer. It owns the list of begun calls.
 */
export class ReplyReader {
  readonly #model: string;
  readonly #begun: BegunCall[] = [];

  constructor(model: string) {
    this.#model = model;
  }

  /** Reads a piece of a stream. @throws ModelError `MODEL_PROTOCOL` */
  piece(data: unknown): ChatChunk {
    return this.#read(data, "a piece of the stream", "delta");
  }

  /** Reads a whole reply. @throws ModelError `MODEL_PROTOCOL` */
  whole(data: unknown): ChatChunk {
    return this.#read(data, "the reply", "message");
  }

  #read(data: unknown, what: string, member: "delta" | "message"): ChatChunk {
    const fields = this.#fields(data, what);
    const choices = member === "delta" ? (fields["choices"] ?? []) : fields["choices"];
    if (!Array.isArray(choices)) throw this.#wrong("a list of choices", kindOf(choices));
    const usage = usageOf(fields["usage"]);
    if (choices.length === 0 && member === "delta") return usage === undefined ? {} : { usage };
    if (choices.length === 0) throw this.#wrong("at least one choice", "none");
    const choice = this.#fields(choices[0], "a choice");
    const said = this.#fields(choice[member] ?? (member === "delta" ? {} : undefined), `${member} of a choice`);
    const content = this.#text(said["content"]);
    const toolCalls = this.#calls(said["tool_calls"], member);
    const refusal = said["refusal"];
    const finishReason = this.#finish(choice["finish_reason"]);
    return {
      ...(content === "" ? {} : { content }),
      ...(toolCalls.length === 0 ? {} : { toolCalls }),
      ...(typeof refusal === "string" && refusal !== "" ? { refusal } : {}),
      ...(finishReason === undefined ? {} : { finishReason }),
      ...(usage === undefined ? {} : { usage }),
    };
  }

  /** Text, or a list of parts of which some are text: Mistral's reasoning models answer so. */
  #text(content: unknown): string {
    if (content === undefined || content === null) return "";
    if (typeof content === "string") return content;
    if (!Array.isArray(content)) throw this.#wrong("text", kindOf(content));
    return content
      .map((part) => this.#fields(part, "a part of the content"))
      .map((part) => (part["type"] === "text" && typeof part["text"] === "string" ? part["text"] : ""))
      .join("");
  }

  #calls(calls: unknown, member: "delta" | "message"): ToolCallDelta[] {
    if (calls === undefined || calls === null) return [];
    if (!Array.isArray(calls)) throw this.#wrong("a list of tool calls", kindOf(calls));
    return calls.map((call) => this.#call(this.#fields(call, "a tool call"), member));
  }

  #call(call: Fields, member: "delta" | "message"): ToolCallDelta {
    const id = typeof call["id"] === "string" && call["id"] !== "" ? call["id"] : undefined;
    const index = typeof call["index"] === "number" ? call["index"] : undefined;
    const said = this.#fields(call["function"] ?? {}, "the function of a tool call");
    const name = typeof said["name"] === "string" && said["name"] !== "" ? said["name"] : undefined;
    const args = said["arguments"];
    const extra = call["extra_content"];
    const known = member === "message" ? undefined : this.#indexOf(id, index, name !== undefined);
    return {
      index: known ?? this.#begun.push({ id, index }) - 1,
      ...(id === undefined ? {} : { id }),
      ...(name === undefined ? {} : { name }),
      ...(args === undefined || args === null ? {} : { arguments: typeof args === "string" ? args : JSON.stringify(args) }),
      ...(isRecord(extra) ? { extra: extra as JsonObject } : {}),
    };
  }

  /**
   * Returns the index of the call that a piece continues; undefined when it begins one. Some servers number no calls or all of them 0, leave out ids,
   * or give each piece another: so a name with a new id begins a call, and where nothing is numbered, a name without an id does.
   */
  #indexOf(id: string | undefined, index: number | undefined, isNamed: boolean): number | undefined {
    const known = this.#begun.findLastIndex((call) => call.index === index && id !== undefined && call.id === id);
    if (known !== -1) return known;
    const last = index === undefined ? this.#begun.length - 1 : this.#begun.findLastIndex((call) => call.index === index);
    const before = this.#begun[last];
    if (before === undefined) return undefined;
    const begins = isNamed && (id === undefined ? index === undefined : before.id !== undefined);
    if (begins) return undefined;
    before.id ??= id;
    return last;
  }

  /** Some servers end a reply with calls by "stop". An unknown end may be a cut. */
  #finish(reason: unknown): FinishReason | undefined {
    if (reason === undefined || reason === null || reason === "") return undefined;
    const known = typeof reason === "string" ? FINISH.get(reason.toLowerCase()) : undefined;
    if (known === undefined)
      throw this.#wrong("a known finish reason", typeof reason === "string" ? JSON.stringify(reason.slice(0, 50)) : kindOf(reason));
    return known === "stop" && this.#begun.length > 0 ? "tool_calls" : known;
  }

  #fields(value: unknown, what: string): Fields {
    if (isRecord(value)) return value as Fields;
    throw this.#wrong(`an object for ${what}`, kindOf(value));
  }

  #wrong(expected: string, came: string): Error {
    return modelError(
      "MODEL_PROTOCOL",
      `Expected ${expected} from the server of ${this.#model}, got ${came}. Check that the base URL is that of an OpenAI-compatible API.`,
    );
  }
}

/** Returns the tokens that the server reports; undefined when it reports none or nonsense. */
function usageOf(value: unknown): Usage | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const told = value as Fields;
  const inputTokens = told["prompt_tokens"];
  const outputTokens = told["completion_tokens"];
  if (!isCount(inputTokens) || !isCount(outputTokens)) return undefined;
  const details = told["prompt_tokens_details"];
  const cached = (isObject(details) ? (details as Fields)["cached_tokens"] : undefined) ?? told["prompt_cache_hit_tokens"];
  return { inputTokens, outputTokens, ...(isCount(cached) && cached > 0 && cached <= inputTokens ? { cachedTokens: cached } : {}) };
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : typeof value;
}
