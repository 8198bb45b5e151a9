import { defined } from "../kernel/value-kind.ts";
import type { ModelError } from "../kernel/errors.ts";
import { modelError } from "./failure.ts";

/** Its strings are masked. */
export interface ServerSaid {
  readonly status?: number;
  readonly message: string;
  readonly code?: string;
  readonly type?: string;
  readonly param?: string;
  /** Structured details as JSON, such as Google's. */
  readonly detail?: string;
  /** True when the model wrote a reply that its server could not read. */
  readonly failed?: boolean;
  readonly requestId?: string;
  readonly retryAfterMs?: number;
  /** True when an answer had begun: the model ran. */
  readonly began?: boolean;
}

const LIMITED =
  "(?:exceed|too (?:long|large|big|many)|longer than|greater than|larger than|surpass|beyond|over(?:flow|s| the)|out of range|reduce)";
const READ = "(?:prompts?|inputs?|contexts?|messages|conversation|requests?|sequence|tokens?)";
const SPACE = "(?:tokens?|contexts?|length|window|characters|max|limit)";
/** The structured codes of servers first; then what is read, that it is too long, and in what unit. */
const OVERFLOW = new RegExp(
  [
    "context_length_exceeded|exceed_context|context_window_exceeded|tokens_limit_reached|string_above_max_length|prompt_too_long",
    `\\b${READ}\\b.{0,80}\\b${LIMITED}.{0,80}\\b${SPACE}`,
    `\\b${READ}\\b.{0,40}\\btoo (?:long|large)`,
    "too (?:large|long) for (?:the )?model|too many (?:input )?tokens|reduce the length",
    `context (?:size|length|window|limit)s? (?:was |is |has been )?(?:exceeded|reached)|context the overflows|maximum (?:context|model|prompt) length|max(?:imum)? context`,
    "(?:input|prompt|context) (?:length|tokens?|size).{0,40}(?:should be|must be|must have|limit)|inputs?`? (?:tokens?|must have).{0,60}(?:less than|must be <)",
    "greater than the context length|model token limit|context shift is disabled|tokens in request more than|max input characters|length is \\d+ while limit",
    "超长|(?:输入|上下文|内容|prompt).{0,15}(?:过长|超过|超出).{0,20}(?:长度|限制)",
  ].join("|"),
  "i",
);
const QUOTA =
  /insufficient[ _](?:quota|balance|credits?|funds)|billing|exceeded_current_quota|payment required|arrears|recharge|top[ -]?up|out of credits?|(?:used|spent|exhausted) all (?:available |your |of your )*credits?|credits? (?:balance|limit)|spending limit|exceeded your (?:current |monthly )?(?:quota|budget)|overdue|\barrearage|balance is (?:insufficient|too low|exhausted)|good standing|余额不足|欠费/i;
/** A quota of a minute comes back by itself. */
const BY_TIME = /per[ _-]?(?:second|minute|min|hour)|\b[RT]PM\b|PerMinute|RetryInfo|rate.?limit|too many requests|throttl/i;
const WRONG_KEY =
  /\b(?:invalid|incorrect|wrong|missing|expired)\b.{0,20}\bapi[ _-]?key|\bapi[ _-]?key\b.{0,30}\b(?:not valid|invalid|incorrect|missing|expired)/i;
const FILTERED =
  /content[ _-]?(?:filter|policy|violates)|content management policy|responsible ?ai|safety (?:system|filter|polic|reason|setting)|content exists risk|data_?inspection|inappropriate content|prohibited[ _]content|high risk|(?:input|prompt|content|output)\b.{0,60}\b(?:was |were |been )?flagged|usage (?:policy|guidelines)|moderation|new_sensitive|sensitive (?:content|words?|information)|guardrail|risky? ?(?:content|detection)|敏感|不安全|违规/i;
const FORMAT = /response_?format|json_schema|json_object|json mode|structured[ _]outputs?|guided_json|grammar/i;
const GENERATION_FAILED =
  /json_validate_failed|failed to generate json|tool_use_failed|tool_call_generation_failed|invalid tool call|tool call validation failed|in message header|expecting start token|failed to call a function|failed_generation|(?:error|failed|could not|unable).{0,20}pars\w+.{0,30}(?:tool|function) call/i;
const TOOL = "(?:tools?(?![.[]\\d)|tool[ _-]?(?:use|calls?|calling|choice)|function.?call(?:ing|s)?)";
const TAKEN = "(?:support|enabl|allow|permit|accept|avail|implement)";
const NO_TOOLS = new RegExp(
  [
    `\\b(?:not|n't|cannot|no endpoints found that)\\b.{0,25}\\b${TAKEN}\\w*\\b.{0,20}\\b${TOOL}`,
    `(?:n't|no endpoints found that) ${TAKEN}\\w*.{0,20}\\b${TOOL}`,
    `\\b${TOOL}['"\`]?.{0,30}\\b(?:not|un)[ -]?(?:yet |be |been |currently )?${TAKEN}`,
    `\\b${TOOL}.{0,20}\\b(?:requires? .{0,3}--|cannot be used|not a valid parameter)|不支持.{0,10}(?:工具|函数|function|tool)`,
    "\\b(?:unsupported|unrecognized|unknown|unexpected|extra)\\b.{0,40}\\b(?:tools|functions)\\b(?![.[]\\d)",
  ].join("|"),
  "i",
);
/** Servers have no code for this refusal. */
const IMAGES = /\bimages?\b|image_url|\bpictures?\b|\bvision\b|multi-?modal|mmproj|\bcontent\b.{0,60}\bstring\b/i;
/** llama.cpp answers 500 when a template refuses the request. */
export const TEMPLATE = /jinja|chat.?template|\balternat|role not supported|raise_exception/i;

/** Returns the feature that the model or its server does not take, by the words of a refusal; undefined for other refusals. */
export function unsupportedBy(message: string): "tools" | "images" | undefined {
  if (NO_TOOLS.test(message) && !/schema|\bparallel/i.test(message)) return "tools";
  return IMAGES.test(message) ? "images" : undefined;
}

const ADVICE = {
  MODEL_CONTENT_FILTER: ["MODEL to answer", "Change the words of the request."],
  MODEL_PROTOCOL: ["MODEL to write what its server can read", "It is asked again."],
  MODEL_CONTEXT_OVERFLOW: ["a request that MODEL can read in one piece", "Send less or use a model with a longer context."],
  MODEL_QUOTA: ["credit for this call", "Add credit with the provider or use another key."],
  MODEL_RATE_LIMIT: ["MODEL within its rate limits", "Slow down (see modelLimits) or raise the limit with the provider."],
  MODEL_AUTH: ["a key that may use MODEL", "Check the API key and what it is allowed to do."],
  MODEL_FORMAT_UNSUPPORTED: ["MODEL to take the reply format", "Ask for a plainer format."],
  MODEL_NOT_FOUND: ["model MODEL on this server", "Check the name of the model and the base URL."],
  MODEL_BAD_REQUEST: ["a request that the server of MODEL takes", "Change what it complains about."],
  MODEL_SERVER: ["an answer from MODEL", "The server failed; look at its status page or logs if this persists."],
} as const;

/**
 * 4xx, 501, 503 and 529 are refusals before the model ran. Behind other 5xx, and inside a begun stream, it may have run: the hold stays.
 * @param formatAsked true when the request asked for a reply format
 */
export function serverError(model: string, said: ServerSaid, formatAsked: boolean): ModelError {
  const words = `${said.code ?? ""} ${said.type ?? ""} ${said.message}`;
  const status = said.status ?? statusOf(words);
  const isTemplate = status === 500 && TEMPLATE.test(words);
  const isRefused = status < 500 || status === 501 || isTemplate;
  const unsupported = isRefused || said.began === true ? unsupportedBy(said.message) : undefined;
  const code = codeOf(said, { words, status, isRefused, formatAsked, unsupported });
  const [expected, todo] = ADVICE[code];
  const isTooLarge = code === "MODEL_RATE_LIMIT" && /request too large/i.test(said.message);
  const advice = isTooLarge ? "One request is more than a minute's allowance: send less." : todo;
  const came = `got${said.status === undefined ? "" : ` ${said.status}`}: ${said.message || "no explanation"}`;
  const mayHaveRun = said.began === true || code === "MODEL_PROTOCOL" || !(isRefused || status === 503 || status === 529);
  return modelError(code, `Expected ${expected.replace("MODEL", () => model)}, ${came}. ${advice}`, {
    ...(isTooLarge ? { retryable: false } : {}),
    data: {
      ...defined({ status: said.status, requestId: said.requestId, serverCode: said.code, retryAfterMs: said.retryAfterMs, unsupported }),
      ...(code === "MODEL_BAD_REQUEST" && unsupported === undefined && said.param === undefined ? { isUnexplained: true } : {}),
      mayHaveRun,
    },
  });
}

interface Reading {
  readonly words: string;
  readonly status: number;
  readonly isRefused: boolean;
  readonly formatAsked: boolean;
  readonly unsupported: string | undefined;
}

function codeOf(said: ServerSaid, { words, status, isRefused, formatAsked, unsupported }: Reading): keyof typeof ADVICE {
  if ((isRefused || said.began === true || said.status === undefined) && FILTERED.test(words)) return "MODEL_CONTENT_FILTER";
  if (said.failed === true || GENERATION_FAILED.test(words)) return "MODEL_PROTOCOL";
  if (isOverflow(status, words)) return "MODEL_CONTEXT_OVERFLOW";
  if (status === 402 || ([400, 401, 403, 429].includes(status) && QUOTA.test(words) && !isByTime(said) && !WRONG_KEY.test(words)))
    return "MODEL_QUOTA";
  if (status === 429) return "MODEL_RATE_LIMIT";
  if (status === 401 || status === 403 || (status === 400 && WRONG_KEY.test(words))) return "MODEL_AUTH";
  if (formatAsked && isFormatComplaint(status, said)) return "MODEL_FORMAT_UNSUPPORTED";
  if (status === 404 && unsupported === undefined) return "MODEL_NOT_FOUND";
  if (status === 413) return "MODEL_CONTEXT_OVERFLOW";
  return isRefused && status !== 408 && status !== 409 ? "MODEL_BAD_REQUEST" : "MODEL_SERVER";
}

/** A limit of tokens a minute names tokens too, and a field's own limit is another fault. */
function isOverflow(status: number, words: string): boolean {
  if (status === 401 || status === 403 || status === 404 || (status === 429 && !/context/i.test(words))) return false;
  if (status >= 500 && !/context|prompt/i.test(words)) return false;
  return OVERFLOW.test(words);
}

/** A time to wait, or a limit of a minute. A limit of a day is none. */
function isByTime({ retryAfterMs, message, code = "", type = "", detail = "" }: ServerSaid): boolean {
  const words = `${code} ${type} ${message} ${detail}`;
  if (/insufficient_quota|PerDay/i.test(words)) return false;
  return retryAfterMs !== undefined || BY_TIME.test(words);
}

function statusOf(words: string): number {
  if (/rate_?limit|too many requests/i.test(words)) return 429;
  if (/invalid_request/i.test(words)) return 400;
  return 500;
}

/** llama.cpp answers 500 where others say 400. */
function isFormatComplaint(status: number, said: ServerSaid): boolean {
  if (![400, 404, 415, 422, 500, 501].includes(status)) return false;
  return said.param?.startsWith("response_format") === true || FORMAT.test(`${said.code ?? ""} ${said.message}`);
}
