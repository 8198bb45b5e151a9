import type { Json, JsonObject } from "../kernel/json.ts";
import { isList, isRecord } from "../kernel/value-kind.ts";
import { type Dialect, merged, SMALLEST_REPLY } from "./dialect.ts";
import { type ServerSaid, TEMPLATE } from "./server-error.ts";

/** Fields that only steer a reply: without one the answer is still an answer. */
const DROPPABLE = [
  "stream_options",
  "parallel_tool_calls",
  "tool_choice",
  "temperature",
  "top_p",
  "seed",
  "stop",
  "presence_penalty",
  "frequency_penalty",
  "store",
];
const NOT_TAKEN =
  /unsupported|\bnot\b.{0,30}\b(?:support|permit|allow|accept|recogni[sz]|avail|implement|enabl)|n't\b.{0,20}\bsupport|unrecognized|unknown|unexpected|extra|additional propert|invalid (?:parameter|field|argument|key)|does not exist|unavailable|cannot (?:be used|find)|only the default|deprecated|no longer|remove|instead/i;
const SCHEMA_WORDS =
  /\b(prefixItems|additionalProperties|exclusiveMinimum|exclusiveMaximum|minimum|maximum|minLength|maxLength|minItems|maxItems|pattern|patternProperties|propertyNames|format|const|default|examples|title|\$schema|\$ref|\$defs|not|oneOf|allOf|multipleOf|uniqueItems)\b/g;

/** A lesson, and the limit on this one reply if the server says how much room is left. */
export interface Learnt {
  readonly dialect: Dialect;
  readonly maxTokens?: number;
}

/** A list of fields, or of faults as FastAPI writes it: `body.seed: Extra inputs are not permitted; body.stop: ...`. */
const IS_LIST = /\b(?:arguments|parameters|fields|keys) ?(?:supplied|provided|found)?:|\bbody\.\w+: [^;]+; body\./i;

/** Returns the lesson of a refusal that names a field of the request or a rule of its messages; undefined without one. */
export function lessonOf(said: ServerSaid, body: JsonObject, known: Dialect): Learnt | undefined {
  const { status = 400, param = "", code = "", message } = said;
  const isFormat = /response_?format|json_schema|json_object|grammar|guided_json|structured[ _]outputs?|json mode/i.test(
    `${param} ${code} ${message}`,
  );
  if (![400, 404, 405, 415, 422, 501].includes(status) && !(status >= 500 && status < 502 && (TEMPLATE.test(message) || isFormat)))
    return undefined;
  const words = `${code} ${said.type ?? ""} ${param} ${message}`;
  const isRefused = NOT_TAKEN.test(words);
  const fields = DROPPABLE.filter((name) => name in body && (param.split(/[.[]/)[0] === name || new RegExp(`\\b${name}\\b`).test(words)));
  const listsAll = isRefused && IS_LIST.test(words);
  const limit = lengthLesson(words, message, body, known);
  if (limit !== "none") return limit && listsAll ? { ...limit, dialect: merged(limit.dialect, { omit: fields }) } : limit;
  if (isFormat && isRecord(body["response_format"])) return formatLesson(words, body["response_format"] as JsonObject);
  const rule = messageLesson(words, body, known);
  if (rule !== undefined) return { dialect: rule };
  if (!isRefused && param === "") return undefined;
  if (body["stream"] === true && /\bstream(?:ing|ed)?\b/i.test(words) && !words.includes("stream_options"))
    return { dialect: { stream: false } };
  if (fields.length > 0 && isRefused) return { dialect: { omit: listsAll ? fields : fields.slice(0, 1) } };
  const schemaWords =
    body["tools"] === undefined ? [] : [...new Set(words.match(SCHEMA_WORDS))].filter((word) => hasKey(body["tools"], word));
  return schemaWords.length > 0 && isRefused ? { dialect: { omitInSchemas: schemaWords } } : undefined;
}

function hasKey(value: Json | undefined, key: string): boolean {
  return JSON.stringify(value ?? null).includes(`${JSON.stringify(key)}:`);
}

const LENGTH_FIELD = /max_(?:completion_|output_|new_)?tokens|maximum (?:number of )?(?:output|completion) tokens|\bcompletion\)/i;

/** Of the limit on a reply: its name, its range, or the window that the request leaves it. `none`: the refusal is of something else. */
function lengthLesson(words: string, message: string, body: JsonObject, known: Dialect): Learnt | undefined | "none" {
  const field = ["max_tokens", "max_completion_tokens"].find((name) => typeof body[name] === "number");
  if (field === undefined || !LENGTH_FIELD.test(words)) return "none";
  const sent = body[field] as number;
  const numbers = [...message.matchAll(/\d[\d,]*/g)].map(([digits]) => Number(digits.replaceAll(",", "")));
  const window = numberIn(message, /(?:context|model) (?:length|window|limit)[^.\d]{0,40}?(\d[\d,]*)/i);
  const input = numberIn(
    message,
    /(\d[\d,]*) (?:input tokens|tokens? (?:from|in|of) (?:the|your) (?:input|prompt|messages)|(?:in|of|from) the (?:messages|prompt|input))/i,
  );
  if (window !== undefined && input !== undefined) {
    const left = window - input - 8;
    return left >= SMALLEST_REPLY && left < sent ? { dialect: { window }, maxTokens: left } : undefined;
  }
  if (/exceed (?:the )?context|context limit/i.test(message) && numbers.length >= 3) {
    const left = (numbers.at(-1) ?? 0) - (numbers[0] ?? 0) - 8;
    return left >= SMALLEST_REPLY && left < sent ? { dialect: { window: numbers.at(-1) ?? 0 }, maxTokens: left } : undefined;
  }
  const largest = Math.max(...numbers.filter((n) => n < sent && n >= SMALLEST_REPLY));
  if (
    Number.isFinite(largest) &&
    /range|less than|at most|between|maximum|too large|too high|exceed|supports?|<|>|limit|up to|no more than|范围|最大|超过/i.test(message)
  )
    return { dialect: { maxTokens: largest } };
  const other = field === "max_tokens" ? "max_completion_tokens" : "max_tokens";
  if (!NOT_TAKEN.test(words)) return undefined;
  return { dialect: { maxTokensField: known.maxTokensField === field && !message.includes(`'${other}'`) ? "none" : other } };
}

function numberIn(text: string, pattern: RegExp): number | undefined {
  const digits = pattern.exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits.replaceAll(",", ""));
}

/** The field itself is unknown, not one of its values. */
const NO_FORMAT = /\b(?:argument|parameter|field|key)s?(?: supplied)?:? ['"`]?response_format\b(?!['"`]? of|[.:])|response_format: extra/i;

/** The refusal of one schema is no lesson about others, so it is not kept. */
function formatLesson(words: string, { type }: JsonObject): Learnt {
  const takesJson = type === "json_schema" && !NO_FORMAT.test(words) && !/must be '?(?:json_schema|text)|json_object/i.test(words);
  return { dialect: { format: takesJson ? "json" : "text" } };
}

const ONE_SCHEMA =
  /invalid schema|invalid_json_schema|schema (?:conversion|is too)|failed to parse grammar|unsupported (?:schema|keyword)|grammar/i;

export function isOfOneSchema({ code = "", type = "", message }: ServerSaid): boolean {
  return ONE_SCHEMA.test(`${code} ${type} ${message}`);
}

/** The rules of messages: what a refusal says of each, and the dialect that follows it. */
const RULES = [
  [
    "shortIds",
    true,
    /tool.?(?:calls?|use)(?:\[\d+\])?[ ._'`]*ids?\b.{0,120}(?:must|length|pattern|match|invalid|a-z)|invalid.{0,40}tool_call_id/i,
  ],
  [
    "toolNames",
    true,
    /function_response\.name|\bname\b.{0,30}(?:cannot be empty|is required|missing).{0,40}|missing.{0,30}\bname\b.{0,40}tool/i,
  ],
  [
    "reasoning",
    true,
    /(?:missing|required?|must|need).{0,40}reasoning_content|reasoning_content.{0,60}(?:missing|required|must be (?:passed|provided|included)|is needed)/i,
  ],
  [
    "system",
    false,
    /\b(?:system|developer)\b.{0,60}(?:not|un)[ -]?(?:be )?(?:support|allow|enabl|permit)|(?:n't|not) support '?system|invalid (?:message )?role:? ?'?(?:system|developer)|only (?:user|supports? user).{0,40}(?:roles?|assistant)|\broles?\b.{0,40}(?:must|should|one of|expected).{0,40}\buser\b.{0,20}\bassistant\b/i,
  ],
  ["alternates", true, /alternat|consecutive|in a row|same role|unexpected role '?user|roles? (?:order|sequence)|last (?:message )?role/i],
] as const;

/** The first lesson of a refusal that is not known yet. */
function messageLesson(words: string, body: JsonObject, known: Dialect): Dialect | undefined {
  const messages = isList(body["messages"]) ? (body["messages"] as unknown as readonly JsonObject[]) : [];
  const has = (name: string): boolean => messages.some((message) => name in message);
  const isPossible = { toolNames: has("tool_call_id"), system: messages[0]?.["role"] === "system" && !/alternat/i.test(words) };
  const rules = RULES.filter(([name, value, says]) => {
    return says.test(words) && known[name] !== value && (isPossible as Readonly<Record<string, boolean>>)[name] !== false;
  }).map(([name, value]): Dialect => ({ [name]: value }));
  const fields = ["reasoning_content", "reasoning_details", "name"]
    .filter((name) => has(name) && new RegExp(`\\b${name}\\b`).test(words) && NOT_TAKEN.test(words))
    .filter((name) => known.omitInMessages?.includes(name) !== true)
    .map((name): Dialect => ({ omitInMessages: [name], ...(name === "reasoning_content" ? { reasoning: false } : {}) }));
  return [...rules, ...fields][0];
}
