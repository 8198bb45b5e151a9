import { z } from "zod";
import { UsageError } from "../kernel/errors.ts";
import { textHash, type Json, type JsonObject } from "../kernel/json.ts";
import { isList, isRecord } from "../kernel/value-kind.ts";

/** The differences between the requests that one model of one server takes and OpenAI's own form. It changes the wire alone. */
export const dialectShape = z
  .strictObject({
    /** `none`: no limit on a reply is sent. */
    maxTokensField: z.enum(["max_tokens", "max_completion_tokens", "none"]),
    /** The largest limit on a reply that it takes. */
    maxTokens: z.int().positive(),
    /** Tokens that the model reads and writes together. */
    window: z.int().positive(),
    stream: z.boolean(),
    /** The best reply format that it takes. */
    format: z.enum(["schema", "json", "text"]),
    /** False: its requests with tools are refused before they are sent. */
    tools: z.boolean(),
    /** False: the words of the system go into the first message of the user. */
    system: z.boolean(),
    /** True: neighbors of one role are joined. */
    alternates: z.boolean(),
    /** True: each tool message has the name of its tool. */
    toolNames: z.boolean(),
    /** True: ids of calls are nine letters and digits. */
    shortIds: z.boolean(),
    /** True: each message with calls has `reasoning_content`, empty if there was none. */
    reasoning: z.boolean(),
    /** Fields of the request that are left out. */
    omit: z.array(z.string()),
    /** Fields of messages that are left out. */
    omitInMessages: z.array(z.string()),
    /** Words of JSON Schema that are left out of the parameters of tools. */
    omitInSchemas: z.array(z.string()),
  })
  .partial();

export type Dialect = Readonly<z.infer<typeof dialectShape>>;

/** @throws UsageError `DIALECT_INVALID` */
export function checkDialect(dialect: Dialect = {}): Dialect {
  const read = dialectShape.safeParse(dialect);
  if (read.success) return read.data;
  throw new UsageError("DIALECT_INVALID", `Expected a dialect of a server, got something else: ${z.prettifyError(read.error)}`);
}

/** Known rules of some servers, before a refusal teaches them. */
export function knownDialect(baseURL: string, model: string): Dialect {
  if (/generativelanguage|\/v1(?:beta|alpha)\/openai/.test(baseURL) || /^(?:google\/)?gemini/.test(model)) return { toolNames: true };
  if (/api\.mistral\.ai/.test(baseURL)) return { shortIds: true, toolNames: true };
  return {};
}

/** A day. A server may be mended, and a model replaced. */
export const LESSON_LASTS = 86_400_000;

export interface Lesson {
  readonly dialect: Dialect;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** A model at a server. */
export interface DialectPlace {
  /** Without its query, which may hold a secret. */
  readonly baseURL: string;
  readonly model: string;
  /** A text that distinguishes tenants in this process. */
  readonly key: string;
}

/** Lessons that outlive the process. */
export interface KeptLessons {
  of(place: DialectPlace): readonly Lesson[];
  add(place: DialectPlace, lesson: Lesson): void;
}

/** Lessons by tenant, server and model. All models of a process share them. */
const lessons = new Map<string, readonly Lesson[]>();
let keeper: KeptLessons | undefined;

/** Keeps what is learnt from now on, until the returned function is called. */
export function keepLessons(store: KeptLessons): () => void {
  const before = keeper;
  keeper = store;
  return () => void (keeper = before);
}

export function dialectPlace(apiKey: string, baseURL: string, query: string, model: string): DialectPlace {
  return { baseURL, model, key: `${textHash(apiKey).slice(0, 16)} ${baseURL}${query} ${model}` };
}

/** False for a lesson of a clock that is ahead, which would last too long. */
export function isFresh({ at }: Lesson, now: number): boolean {
  return Math.abs(now - at) < LESSON_LASTS;
}

export function learntDialect(place: DialectPlace, now: number): Dialect {
  return [...(keeper?.of(place) ?? []), ...(lessons.get(place.key) ?? [])]
    .filter((lesson) => isFresh(lesson, now))
    .reduce<Dialect>((sum, { dialect }) => merged(sum, dialect), {});
}

export function learn(place: DialectPlace, dialect: Dialect, now: number): void {
  const lesson = { dialect, at: now };
  lessons.set(place.key, [...(lessons.get(place.key) ?? []).filter((one) => isFresh(one, now)), lesson]);
  keeper?.add(place, lesson);
}

export function merged(first: Dialect, second: Dialect): Dialect {
  const both = (name: "omit" | "omitInMessages" | "omitInSchemas"): object => {
    const all = [...new Set([...(first[name] ?? []), ...(second[name] ?? [])])];
    return all.length === 0 ? {} : { [name]: all };
  };
  return { ...first, ...second, ...both("omit"), ...both("omitInMessages"), ...both("omitInSchemas") };
}

/** A request in a dialect. In OpenAI's own it is the same object. */
export function inDialect(body: JsonObject, dialect: Dialect, mostTokens?: number): JsonObject {
  let spoken = body;
  const { format, omit = [], omitInSchemas = [] } = dialect;
  if (omit.length > 0) spoken = Object.fromEntries(Object.entries(spoken).filter(([name]) => !omit.includes(name)));
  spoken = withLength(spoken, dialect, mostTokens);
  if (format !== undefined && format !== "schema") spoken = inFormat(spoken, format);
  const messages = spokenMessages(spoken["messages"] as unknown as readonly JsonObject[], dialect);
  if (messages !== spoken["messages"]) spoken = { ...spoken, messages: messages as Json };
  if (omitInSchemas.length > 0 && isList(spoken["tools"]))
    spoken = { ...spoken, tools: spoken["tools"].map((tool) => without(tool, omitInSchemas, false)) };
  return spoken;
}

export const SMALLEST_REPLY = 16;
const TOKENS_FOR_ROOM = 64;

function withLength(body: JsonObject, { maxTokensField, maxTokens = Infinity, window }: Dialect, mostTokens = Infinity): JsonObject {
  const { max_tokens: older, max_completion_tokens: newer, ...rest } = body;
  const asked = newer ?? older;
  if (typeof asked !== "number") return body;
  if (maxTokensField === "none") return rest;
  const left =
    window === undefined
      ? Infinity
      : Math.max(SMALLEST_REPLY, window - Math.ceil(JSON.stringify(body["messages"]).length / 3) - TOKENS_FOR_ROOM);
  const most = Math.min(asked, maxTokens, left, mostTokens);
  const field = maxTokensField ?? (newer === undefined ? "max_tokens" : "max_completion_tokens");
  return most === asked && field in body ? body : { ...rest, [field]: most };
}

/** The form of the reply in words, if the server does not enforce it. */
function inFormat(body: JsonObject, format: "json" | "text"): JsonObject {
  const { response_format: asked, ...rest } = body;
  if (!isRecord(asked)) return body;
  const { json_schema: enforced, type } = asked as { readonly json_schema?: JsonObject; readonly type?: Json };
  const words = enforced === undefined ? undefined : formatWords(JSON.stringify(enforced["schema"]), format === "text");
  const messages =
    words === undefined ? body["messages"] : (withWords(body["messages"] as unknown as readonly JsonObject[], words) as Json);
  return {
    ...rest,
    ...(messages === undefined ? {} : { messages }),
    ...(format === "json" ? { response_format: { type: type === "text" ? type : "json_object" } } : {}),
  };
}

/** @param schema JSON */
export function formatWords(schema: string, isFenced: boolean): string {
  const form = isFenced ? "one JSON object in a ```json fenced block and nothing else" : "one JSON object and nothing else";
  return `Answer with ${form}. It must fit this JSON Schema:\n${schema}`;
}

/** Adds words to the last message of the user. */
export function withWords<M extends object>(messages: readonly M[], words: string): readonly M[] {
  const last = messages.at(-1) as { readonly role?: unknown; readonly content?: unknown } | undefined;
  if (last?.role !== "user") return [...messages, { role: "user", content: words } as unknown as M];
  const { content = "" } = last;
  const more = isList(content) ? [...content, { type: "text", text: words }] : content === "" ? words : `${String(content)}\n\n${words}`;
  return [...messages.slice(0, -1), { ...last, content: more } as unknown as M];
}

function spokenMessages(messages: readonly JsonObject[], dialect: Dialect): readonly JsonObject[] {
  const { system, alternates, toolNames, shortIds, reasoning, omitInMessages = [] } = dialect;
  let spoken = messages;
  if (omitInMessages.length > 0)
    spoken = spoken.map((message) => Object.fromEntries(Object.entries(message).filter(([name]) => !omitInMessages.includes(name))));
  if (reasoning === true)
    spoken = spoken.map((message) =>
      "tool_calls" in message && !("reasoning_content" in message) ? { ...message, reasoning_content: "" } : message,
    );
  if (toolNames === true) spoken = named(spoken);
  if (shortIds === true) spoken = spoken.map(withShortIds);
  if (system === false) spoken = withoutSystem(spoken);
  return alternates === true ? joinedNeighbors(spoken) : spoken;
}

function callsOf({ tool_calls: calls }: JsonObject): readonly JsonObject[] {
  return isList(calls) ? (calls as unknown as readonly JsonObject[]) : [];
}

function named(messages: readonly JsonObject[]): readonly JsonObject[] {
  const names = new Map<Json, Json>();
  return messages.map((message) => {
    for (const call of callsOf(message)) names.set(call["id"] ?? "", (call["function"] as JsonObject)["name"] ?? "");
    const name = message["role"] === "tool" ? names.get(message["tool_call_id"] ?? "") : undefined;
    return name === undefined ? message : { ...message, name };
  });
}

function withShortIds(message: JsonObject): JsonObject {
  const calls = callsOf(message);
  if (calls.length > 0) return { ...message, tool_calls: calls.map((call) => ({ ...call, id: shortId(call["id"]) })) };
  return "tool_call_id" in message ? { ...message, tool_call_id: shortId(message["tool_call_id"]) } : message;
}

function shortId(id: Json | undefined): string {
  const text = typeof id === "string" ? id : "";
  return /^[a-zA-Z0-9]{9}$/.test(text) ? text : textHash(text).slice(0, 9);
}

function withoutSystem(messages: readonly JsonObject[]): readonly JsonObject[] {
  const isSystem = ({ role }: JsonObject): boolean => role === "system" || role === "developer";
  const words = messages.filter(isSystem).map(({ content }) => (typeof content === "string" ? content : JSON.stringify(content)));
  const others = messages.filter((message) => !isSystem(message));
  const said: JsonObject = { role: "user", content: words.join("\n\n") };
  const [first, ...rest] = others;
  return first?.["role"] === "user" ? [joinedPair(said, first), ...rest] : [said, ...others];
}

function joinedNeighbors(messages: readonly JsonObject[]): readonly JsonObject[] {
  const joined: JsonObject[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    const isPair =
      last?.["role"] === message["role"] && message["role"] !== "tool" && !("tool_calls" in message) && !("tool_calls" in (last ?? {}));
    if (last !== undefined && isPair) joined[joined.length - 1] = joinedPair(last, message);
    else joined.push(message);
  }
  return joined;
}

function joinedPair(first: JsonObject, second: JsonObject): JsonObject {
  const [one = "", two = ""] = [first["content"], second["content"]];
  if (typeof one === "string" && typeof two === "string")
    return { ...first, content: [one, two].filter((text) => text !== "").join("\n\n") };
  const parts = (content: Json): readonly Json[] => (isList(content) ? (content as readonly Json[]) : [{ type: "text", text: content }]);
  return { ...first, content: [...parts(one), ...parts(two)] };
}

/** Removes keywords from schemas, not from the names of properties. Of a tuple its items may be in any order. */
function without(value: Json, words: readonly string[], isNames: boolean): Json {
  if (isList(value)) return (value as readonly Json[]).map((item) => without(item, words, false));
  if (!isRecord(value)) return value;
  const node = value as JsonObject;
  const members = Object.entries(node).filter(([name]) => isNames || !words.includes(name));
  const kept = members.map(([name, member]): [string, Json] => [
    name,
    without(member, words, !isNames && (name === "properties" || name === "$defs")),
  ]);
  const tuple = node["prefixItems"];
  const isTuple = isList(tuple) && !isNames && words.includes("prefixItems");
  return { ...Object.fromEntries(kept), ...(isTuple ? { items: { anyOf: without(tuple as Json, words, false) } } : {}) };
}
