import { describe, expect, it } from "vitest";
import { errorData, mayHaveRun } from "../../src/model/failure.ts";
import { isOfOneSchema } from "../../src/model/dialect-lessons.ts";
import { serverError, type ServerSaid } from "../../src/model/server-error.ts";

const codeOf = (said: ServerSaid, formatAsked = false): string => serverError("m", said, formatAsked).code;

describe("serverError", () => {
  it.each<[string, ServerSaid]>([
    [
      "OpenAI",
      {
        status: 400,
        code: "context_length_exceeded",
        message: "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
      },
    ],
    [
      "vLLM",
      {
        status: 400,
        type: "BadRequestError",
        message:
          "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion).",
      },
    ],
    [
      "vLLM, longer",
      {
        status: 400,
        message:
          "The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller.",
      },
    ],
    [
      "llama.cpp",
      { status: 400, type: "exceed_context_size_error", message: "the request exceeds the available context size, try increasing it" },
    ],
    ["llama.cpp, older", { status: 500, message: "context size exceeded" }],
    ["Ollama", { status: 400, message: "the input length exceeds the context length" }],
    ["Ollama, prompt", { status: 400, message: "prompt too long; exceeded max context length by 12 tokens" }],
    ["Anthropic", { status: 400, message: "prompt is too long: 210000 tokens > 200000 maximum" }],
    ["Gemini", { status: 400, message: "The input token count (1048600) exceeds the maximum number of tokens allowed (1048576)." }],
    ["Mistral", { status: 400, message: "Prompt contains 33000 tokens, too large for model with 32768 maximum context length" }],
    ["Groq", { status: 413, message: "Request too large for model `x`" }],
    ["a filled stream", { began: true, message: "context length exceeded" }],
  ])("the request is too long, says %s", (_who, said) => {
    const error = serverError("m", said, false);
    expect([error.code, error.retryable]).toEqual(["MODEL_CONTEXT_OVERFLOW", false]);
  });

  it.each<[string, ServerSaid, string, boolean]>([
    ["a wrong key", { status: 401, code: "invalid_api_key", message: "Incorrect API key" }, "MODEL_AUTH", false],
    ["a wrong key, says Gemini", { status: 400, message: "API key not valid. Please pass a valid API key." }, "MODEL_AUTH", false],
    ["an expired key, says Gemini", { status: 400, message: "API key expired. Please renew the API key." }, "MODEL_AUTH", false],
    ["a wrong key, says xAI", { status: 400, message: "Incorrect API key provided: x." }, "MODEL_AUTH", false],
    ["a key without rights", { status: 403, message: "Country not supported" }, "MODEL_AUTH", false],
    [
      "no credit, OpenAI",
      { status: 429, code: "insufficient_quota", type: "insufficient_quota", message: "You exceeded your current quota" },
      "MODEL_QUOTA",
      false,
    ],
    ["no credit, DeepSeek", { status: 402, message: "Insufficient Balance" }, "MODEL_QUOTA", false],
    ["too many requests", { status: 429, message: "Rate limit reached" }, "MODEL_RATE_LIMIT", true],
    [
      "one request above the minute's tokens",
      { status: 429, message: "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000" },
      "MODEL_RATE_LIMIT",
      false,
    ],
    ["an unknown model", { status: 404, code: "model_not_found", message: "The model 'x' does not exist" }, "MODEL_NOT_FOUND", false],
    ["a bad field", { status: 400, param: "temperature", message: "Unsupported value" }, "MODEL_BAD_REQUEST", false],
    ["a bad field, FastAPI", { status: 422, message: "field required" }, "MODEL_BAD_REQUEST", false],
    [
      "Azure's filter",
      {
        status: 400,
        code: "content_filter",
        message: "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
      },
      "MODEL_CONTENT_FILTER",
      false,
    ],
    ["a server that cannot do this", { status: 501, message: "Unsupported method ('POST')" }, "MODEL_BAD_REQUEST", false],
    ["a server that failed", { status: 500, message: "oops" }, "MODEL_SERVER", true],
    ["a gateway", { status: 502, message: "Bad gateway" }, "MODEL_SERVER", true],
    ["an overloaded server", { status: 529, message: "Overloaded" }, "MODEL_SERVER", true],
    ["a conflict", { status: 409, message: "try again" }, "MODEL_SERVER", true],
    ["an error in a stream", { began: true, message: "The engine fell over" }, "MODEL_SERVER", true],
    ["a rate limit in a stream", { began: true, code: "rate_limit_exceeded", message: "slow down" }, "MODEL_RATE_LIMIT", true],
    ["Groq's failed JSON", { status: 400, code: "json_validate_failed", message: "Failed to generate JSON." }, "MODEL_PROTOCOL", true],
  ])("%s", (_what, said, code, retryable) => {
    const error = serverError("m", said, false);
    expect([error.code, error.retryable]).toEqual([code, retryable]);
  });

  it.each<[string, ServerSaid, boolean]>([
    [
      "OpenAI, older models",
      {
        status: 400,
        param: "response_format",
        message: "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
      },
      false,
    ],
    ["DeepSeek", { status: 400, message: "This response_format type is unavailable now" }, false],
    ["LM Studio", { status: 400, message: "'response_format.type' must be 'json_schema' or 'text'" }, false],
    ["vLLM without a backend", { status: 400, message: "guided_json is not supported on this platform" }, false],
    [
      "OpenAI, this schema",
      {
        status: 400,
        param: "response_format",
        message: "Invalid schema for response_format 'reply': In context=(), 'additionalProperties' is required",
      },
      true,
    ],
    ["llama.cpp, this schema", { status: 500, message: "failed to parse grammar" }, true],
  ])("a refused reply format, %s", (_who, said, schemaOnly) => {
    const error = serverError("m", said, true);
    expect([error.code, isOfOneSchema(said)]).toEqual(["MODEL_FORMAT_UNSUPPORTED", schemaOnly]);
    expect(codeOf(said, false)).not.toBe("MODEL_FORMAT_UNSUPPORTED");
  });

  it.each<[ServerSaid, boolean]>([
    [{ status: 400, message: "x" }, false],
    [{ status: 401, message: "x" }, false],
    [{ status: 429, message: "x" }, false],
    [{ status: 404, message: "x" }, false],
    [{ status: 501, message: "x" }, false],
    [{ status: 503, message: "x" }, false],
    [{ type: "invalid_request_error", message: "x" }, false],
    [{ type: "invalid_request_error", message: "x", began: true }, true],
    [{ status: 529, message: "x" }, false],
    [{ status: 500, message: "x" }, true],
    [{ status: 502, message: "x" }, true],
    [{ status: 504, message: "x" }, true],
    [{ status: 429, message: "x", began: true }, true],
    [{ message: "x" }, true],
  ])("%j may have cost something: %s", (said, ran) => {
    expect(mayHaveRun(serverError("m", said, false))).toBe(ran);
  });

  it("keeps the facts a program needs", () => {
    const said = { status: 429, message: "slow", code: "rate_limit_exceeded", requestId: "req_1", retryAfterMs: 1500 };
    expect(errorData(serverError("m", said, false))).toEqual({
      status: 429,
      serverCode: "rate_limit_exceeded",
      requestId: "req_1",
      retryAfterMs: 1500,
      mayHaveRun: false,
    });
  });

  it("a server without words is still told", () => {
    expect(serverError("m", { status: 503, message: "" }, false).message).toContain("503: no explanation");
  });
});
