import { defined } from "../kernel/value-kind.ts";
import type { ModelError } from "../kernel/errors.ts";
import { modelError, type ModelErrorCode, type ModelErrorData } from "./failure.ts";

/** Its texts are masked. */
export interface ServerSaid {
  /** Undefined for an error inside a stream that carries none. */
  readonly status?: number;
  readonly message: string;
  readonly code?: string;
  readonly type?: string;
  readonly param?: string;
  readonly requestId?: string;
  readonly retryAfterMs?: number;
  /** True when an answer had begun: the model ran. */
  readonly began?: boolean;
}

/** OpenAI and vLLM; llama.cpp; Ollama; Anthropic; Gemini; Mistral; LM Studio. */
const OVERFLOW =
  /context_length_exceeded|exceed_context_size|maximum context length|maximum model length|exceeds? the (?:available )?context|exceeds? the (?:model'?s )?context|context (?:size|length|window) (?:was )?exceeded|prompt (?:is )?too long|input is too (?:long|large)|input token count .*exceeds|too large for model|context the overflows/i;
const QUOTA =
  /insufficient_quota|insufficient[ _](?:balance|credits?|funds)|billing_hard_limit|exceeded your current quota|payment required/i;
const FILTERED = /content_filter|content_policy|content management policy|responsible ?ai|safety system/i;
const FORMAT = /response_?format|json_schema|json_object|json mode|structured[ _]outputs?|guided_json|grammar/i;
/** Complaints about this one schema. */
const ONE_SCHEMA =
  /invalid schema|invalid_json_schema|schema (?:conversion|is too)|failed to parse grammar|unsupported (?:schema|keyword)|grammar/i;
const GENERATION_FAILED = /json_validate_failed|failed to generate json/i;

type Rule = readonly [holds: boolean, code: ModelErrorCode, expected: string, todo: string, data?: ModelErrorData];

/**
 * 4xx, 501, 503 and 529 are refusals before the model ran. 500, 502, 504 and other 5xx come from servers and gateways whose model may have
 * run, and so does any error inside a begun stream: those tries keep their hold.
 *
 * @param formatAsked true when the request asked for a reply format
 */
export function serverError(model: string, said: ServerSaid, formatAsked: boolean): ModelError {
  const words = `${said.code ?? ""} ${said.type ?? ""} ${said.message}`;
  const status = said.status ?? statusOf(words);
  const isTooLarge = /request too large/i.test(said.message);
  const rules: readonly Rule[] = [
    [FILTERED.test(words), "MODEL_CONTENT_FILTER", `${model} to answer`, "Change the words of the request."],
    [GENERATION_FAILED.test(words), "MODEL_PROTOCOL", `${model} to write JSON`, "It is asked again.", { mayHaveRun: true }],
    [
      OVERFLOW.test(words),
      "MODEL_CONTEXT_OVERFLOW",
      `a request that ${model} can read in one piece`,
      "Send less or use a model with a longer context.",
    ],
    [QUOTA.test(words) || status === 402, "MODEL_QUOTA", "credit for this call", "Add credit with the provider or use another key."],
    [
      status === 429,
      "MODEL_RATE_LIMIT",
      `${model} within its rate limits`,
      isTooLarge
        ? "One request is more than a minute's allowance: send less."
        : "Slow down (see modelLimits) or raise the limit with the provider.",
    ],
    [status === 401 || status === 403, "MODEL_AUTH", `a key that may use ${model}`, "Check the API key and what it is allowed to do."],
    [
      formatAsked && isFormatComplaint(status, said),
      "MODEL_FORMAT_UNSUPPORTED",
      `${model} to take the reply format`,
      "Ask for a plainer format.",
      { schemaOnly: ONE_SCHEMA.test(words) },
    ],
    [status === 404, "MODEL_NOT_FOUND", `model ${model} on this server`, "Check the name of the model and the base URL."],
    [status === 413, "MODEL_CONTEXT_OVERFLOW", "a request the server takes in one piece", "Send less."],
    [status === 408 || status === 409, "MODEL_SERVER", `an answer from ${model}`, "The server asks to be tried again."],
    [isRefused(status), "MODEL_BAD_REQUEST", `a request that the server of ${model} takes`, "Change what it complains about."],
  ];
  const [, code, expected, todo, more] = rules.find(([holds]) => holds) ?? [
    true,
    "MODEL_SERVER",
    `an answer from ${model}`,
    "The server failed; look at its status page or logs if this persists.",
  ];
  const came = `got${said.status === undefined ? "" : ` ${said.status}`}: ${said.message || "no explanation"}`;
  return modelError(code, `Expected ${expected}, ${came}. ${todo}`, {
    ...(code === "MODEL_RATE_LIMIT" ? { retryable: !isTooLarge } : {}),
    data: { ...facts(said, status), ...more },
  });
}

function isRefused(status: number): boolean {
  return status < 500 || status === 501;
}

function facts(said: ServerSaid, status: number): ModelErrorData {
  const refusedBefore = isRefused(status) || status === 503 || status === 529;
  return {
    ...defined({ status: said.status, requestId: said.requestId, serverCode: said.code, retryAfterMs: said.retryAfterMs }),
    mayHaveRun: said.began === true || !refusedBefore,
  };
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
