import { defined, isCount, isRecord } from "../kernel/value-kind.ts";
import { type Json, type JsonObject, parsedJson } from "../kernel/json.ts";
import type { ChatChunk, FinishReason, ToolCallDelta, Usage } from "../model/chat-model.ts";
import { modelError } from "../model/failure.ts";

type Fields = { readonly [key: string]: unknown };

/** `error` ends are failures of the server. Underscores and case do not count. */
const FINISH: ReadonlyMap<string, FinishReason | "error"> = new Map(
  Object.entries({
    length: "length maxtokens modellength maxoutputtokens maxlength tokenlimit lengthlimit maxtokensreached modelcontextwindowexceeded",
    tool_calls: "toolcalls toolcall tooluse functioncall functioncalls tool tools",
    content_filter:
      "contentfilter contentfiltered safety recitation blocklist prohibitedcontent spii sensitive refusal guardrailintervened imagesafety language blocked moderation errortoxic modelarmor raifiltered policyviolation risk",
    error:
      "error abort aborted cancelled canceled timeout networkerror malformedfunctioncall malformedresponse unexpectedtoolcall insufficientsystemresource internalerror failed",
  }).flatMap(([reason, words]) => words.split(" ").map((word) => [word, reason as FinishReason | "error"] as const)),
);

interface OpenCall {
  readonly index: number | undefined;
  id: string | undefined;
  name: string;
  args: string;
}

/** Reads a reply, whole or in pieces. A piece of another shape than the protocol's is an error, never an empty answer. */
export class ReplyReader {
  readonly #model: string;
  readonly #calls: OpenCall[] = [];
  #choice: unknown;

  /** @param isOneOfMany several choices were asked for: the first one counts, whichever comes first */
  constructor(model: string, isOneOfMany = false) {
    this.#model = model;
    if (isOneOfMany) this.#choice = 0;
  }

  piece(data: unknown): ChatChunk {
    return this.#read(data, "delta");
  }

  whole(data: unknown): ChatChunk {
    return this.#read(data, "message");
  }

  #read(data: unknown, member: "delta" | "message"): ChatChunk {
    const fields = this.#fields(data, member === "delta" ? "a piece of the stream" : "the reply");
    const choices = member === "delta" ? (fields["choices"] ?? []) : fields["choices"];
    if (!Array.isArray(choices)) throw this.#wrong("a list of choices", kindOf(choices));
    if (choices.length === 0 && member === "message") throw this.#wrong("at least one choice", "none");
    const all = choices.map((choice) => this.#fields(choice, "a choice"));
    const choice = all.find((one) => this.#choice === undefined || one["index"] === this.#choice);
    const usage = usageIn([fields, choice ?? {}]);
    if (choice === undefined) return usage === undefined ? {} : { usage };
    this.#choice ??= choice["index"];
    const completion = typeof choice["text"] === "string" ? { content: choice["text"] } : undefined;
    const given = choice[member] ?? choice[member === "delta" ? "message" : "delta"] ?? completion ?? (member === "delta" ? {} : undefined);
    const said = this.#fields(given, `${member} of a choice`);
    const { content, reasoning: thought, calls, refused } = this.#content(said["content"]);
    const toolCalls = this.#toolCalls({ ...choice, ...said }, calls, choice[member] === undefined ? "message" : member);
    const refusal = said["refusal"] ?? refused;
    const parts = Object.fromEntries(WANTED_BACK.flatMap((name) => (isNone(said[name]) ? [] : [[name, said[name] as Json]])));
    const reasoning = defined({
      text: [said["reasoning_content"], said["reasoning"], said["thinking"], thought].map(textIn).find((one) => one !== undefined),
      parts: Object.keys(parts).length === 0 ? undefined : parts,
    });
    const finishReason = this.#finish(choice["finish_reason"]);
    const served = this.#served(fields);
    return {
      ...(content === "" ? {} : { content }),
      ...(toolCalls.length === 0 ? {} : { toolCalls }),
      ...(typeof refusal === "string" && refusal !== "" ? { refusal } : {}),
      ...(Object.keys(reasoning).length === 0 ? {} : { reasoning }),
      ...(finishReason === undefined ? {} : { finishReason }),
      ...(served === undefined ? {} : { served }),
      ...(usage === undefined ? {} : { usage }),
    };
  }

  /** The version and the fingerprint that answered, where the reply has more than the id that was asked for. */
  #served(fields: Fields): ChatChunk["served"] {
    const [model = this.#model, fingerprint] = [fields["model"], fields["system_fingerprint"]].map((one) => textIn(one) || undefined);
    if (model === this.#model && fingerprint === undefined) return undefined;
    return { model, ...(fingerprint === undefined ? {} : { fingerprint }) };
  }

  /** A string, or parts of which some are text: reasoning models, and gateways to other APIs, answer so. */
  #content(content: unknown): {
    readonly content: string;
    readonly reasoning?: string;
    readonly calls?: readonly Fields[];
    readonly refused?: unknown;
  } {
    if (content === undefined || content === null) return { content: "" };
    if (typeof content === "string") return { content };
    const list = Array.isArray(content) ? (content as readonly unknown[]) : [this.#fields(content, "the content")];
    const parts = list.filter((part) => part !== null);
    const read = parts.map((part) =>
      typeof part === "string" ? { type: "text", text: part } : this.#fields(part, "a part of the content"),
    );
    const isThought = (part: Fields): boolean => /think|reason|thought/i.test(textIn(part["type"]) ?? "") || part["thought"] === true;
    const textOf = (part: Fields): string =>
      partText(part["text"] ?? part["thinking"] ?? part["reasoning"] ?? part["content"] ?? part["value"]);
    const text = read.filter((part) => !isThought(part)).map(textOf);
    if (!Array.isArray(content) && text.join("") === "") throw this.#wrong("text", kindOf(content));
    const calls = read.filter(
      (part) => typeof part["name"] === "string" && /tool_?(?:use|call)|function_?call/i.test(textIn(part["type"]) ?? ""),
    );
    const refused = read.find((part) => part["type"] === "refusal")?.["refusal"];
    return { content: text.join(""), reasoning: read.filter(isThought).map(textOf).join(""), calls, refused };
  }

  /** One call, a list of them or one by key, also as JSON in a string, or the older form. */
  #toolCalls(said: Fields, inContent: readonly Fields[] = [], member: "delta" | "message"): ToolCallDelta[] {
    const only = said["function_call"];
    const older = isRecord(only) ? [{ index: 0, function: only }] : undefined;
    const named = [said["tool_calls"], said["toolCalls"], said["tool_call"]].find((one) => !isNone(one)) ?? older ?? inContent;
    const calls = typeof named === "string" ? parsedJson(named) : named;
    const isByKey = isRecord(calls) && Object.values(calls).every(isRecord) && calls["function"] === undefined;
    const list = Array.isArray(calls)
      ? (calls as readonly unknown[]).flat()
      : isByKey
        ? Object.values(calls)
        : isRecord(calls)
          ? [calls]
          : undefined;
    if (list === undefined) throw this.#wrong("a list of tool calls", kindOf(named));
    const fields = list.filter((call) => call !== null).map((call) => this.#fields(call, "a tool call"));
    return fields.filter((call) => Object.keys(call).length > 0).flatMap((call) => this.#call(call, member));
  }

  #call(call: Fields, member: "delta" | "message"): ToolCallDelta | readonly [] {
    const id = textIn(call["id"]);
    const index = typeof call["index"] === "number" ? call["index"] : undefined;
    const inner = call["function"];
    const flat =
      typeof inner === "string" ? (parsedJson(inner) ?? (call["arguments"] === undefined ? inner : { ...call, name: inner })) : inner;
    const said = this.#fields(flat ?? call, "the function of a tool call");
    const name = textIn(said["name"]);
    const args = said["arguments"] ?? said["parameters"] ?? said["input"] ?? said["args"];
    const written = args === undefined || args === null ? "" : typeof args === "string" ? args : JSON.stringify(args);
    const extra = call["extra_content"];
    const isSame = (one: OpenCall): boolean => one.id === id && one.index === index && one.name === name && one.args === written;
    if (member === "delta" && id !== undefined && isWhole(written) && this.#calls.some(isSame)) return [];
    const known = member === "message" ? undefined : this.#indexOf(id, index, name);
    const at = known ?? this.#calls.push({ id, index, name: name ?? "", args: "" }) - 1;
    const open = this.#calls[at];
    if (open !== undefined) open.args += written;
    return {
      index: at,
      ...(id === undefined ? {} : { id }),
      ...(name === undefined ? {} : { name }),
      ...(written === "" ? {} : { arguments: written }),
      ...(isRecord(extra) ? { extra: extra as JsonObject } : {}),
    };
  }

  /**
   * Returns the index of the call that a piece continues; undefined when it begins one. Some servers number no calls or all of them 0, leave
   * out ids, or give each piece another: so a name begins a call where it has a new id, where the call before has whole arguments, and where
   * nothing is numbered.
   */
  #indexOf(id: string | undefined, index: number | undefined, name: string | undefined): number | undefined {
    const last = index === undefined ? this.#calls.length - 1 : this.#calls.findLastIndex((call) => call.index === index);
    const before = this.#calls[last];
    const isAnother = name !== undefined && before !== undefined && isWhole(before.args);
    if (isAnother) return undefined;
    const known = this.#calls.findLastIndex((call) => call.index === index && id !== undefined && call.id === id);
    if (known !== -1) return known;
    if (before === undefined) return undefined;
    if (name !== undefined && (id === undefined ? index === undefined : before.id !== undefined)) return undefined;
    before.id ??= id;
    return last;
  }

  /** Some servers end a reply with calls by "stop". Whatever else a server calls its end is an end. */
  #finish(reason: unknown): FinishReason | undefined {
    if (reason === undefined || reason === null || reason === "") return undefined;
    if (typeof reason !== "string") throw this.#wrong("a finish reason", kindOf(reason));
    const known =
      FINISH.get(
        reason
          .toLowerCase()
          .replace(/^finish_?reason_?/, "")
          .replace(/[^a-z]/g, ""),
      ) ?? "stop";
    if (known !== "error") return known === "stop" && this.#calls.length > 0 ? "tool_calls" : known;
    throw modelError(
      "MODEL_CUT",
      `Expected a whole answer from ${this.#model}, but its server ended it: ${JSON.stringify(reason.slice(0, 50))}. Check the server's log, or ask for less at once.`,
    );
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

/** Members of a message that servers want back with its calls. */
const WANTED_BACK = ["reasoning_content", "reasoning_details", "thinking_blocks", "thought_signature", "reasoning_opaque", "extra_content"];

function isNone(value: unknown): boolean {
  return value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function partText(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(partText).join("");
  return isRecord(value) ? partText(value["text"] ?? value["value"] ?? "") : "";
}

function isWhole(args: string): boolean {
  if (!/\}\s*$/.test(args)) return false;
  try {
    return isRecord(JSON.parse(args));
  } catch {
    return false;
  }
}

/** The members in which servers put their counts, besides the piece itself. */
const HOLDERS = ["usage", "usage_metadata", "usageMetadata", "x_groq", "meta", "message", "delta", "timings"];
const INPUT = ["prompt_tokens", "input_tokens", "promptTokenCount", "prompt_eval_count", "inputTokens", "prompt_n"];
const OUTPUT = ["completion_tokens", "output_tokens", "candidatesTokenCount", "eval_count", "outputTokens", "predicted_n"];
const TOTAL = ["total_tokens", "totalTokenCount", "totalTokens"];
const CACHED = ["cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens", "cachedContentTokenCount"];

function usageIn(places: readonly Fields[]): Usage | undefined {
  const held = places.flatMap((fields) => HOLDERS.map((name) => fields[name])).filter((one): one is Fields => isRecord(one));
  const inner = held.flatMap((one) => [one["usage"], one["billed_units"]].filter((counts): counts is Fields => isRecord(counts)));
  return [...held, ...inner, ...places].map(usageOf).find((usage) => usage !== undefined);
}

/** Reasoning that a total has beside the completion is paid as output. */
function usageOf(told: Fields): Usage | undefined {
  const count = (names: readonly string[], from: Fields = told): number | undefined => names.map((name) => from[name]).find(isCount);
  const prompt = count(INPUT);
  const total = count(TOTAL);
  if (prompt === undefined) return undefined;
  const inputTokens = prompt + (count(["cache_n"]) ?? 0);
  const completion = count(OUTPUT) ?? (total === undefined ? undefined : total - inputTokens);
  if (completion === undefined || completion < 0 || (inputTokens === 0 && completion === 0)) return undefined;
  const thought = count(["thoughtsTokenCount"]) ?? count(["reasoning_tokens"], recordIn(told["completion_tokens_details"])) ?? 0;
  // More reasoning than completion cannot be inside of it.
  const isBeside = thought > completion || told["thoughtsTokenCount"] !== undefined;
  const outputTokens = Math.max(completion + (isBeside && total === undefined ? thought : 0), (total ?? 0) - inputTokens);
  const details = [told["prompt_tokens_details"], told["input_tokens_details"]].find((one): one is Fields => isRecord(one)) ?? {};
  const cached = count(CACHED, details) ?? count(CACHED);
  return { inputTokens, outputTokens, ...(cached !== undefined && cached > 0 && cached <= inputTokens ? { cachedTokens: cached } : {}) };
}

function recordIn(value: unknown): Fields {
  return isRecord(value) ? (value as Fields) : {};
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : typeof value;
}
