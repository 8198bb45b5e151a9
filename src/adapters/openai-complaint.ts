import { isRecord } from "../kernel/value-kind.ts";
import { type JsonObject, parsedJson } from "../kernel/json.ts";
import type { Mask } from "../kernel/mask.ts";
import type { ServerSaid } from "../model/server-error.ts";
import { retryAfterOf } from "../model/retry.ts";

type Fields = { readonly [key: string]: unknown };

/** The members in which servers put their words, the best first. */
const WORDS = ["message", "error_message", "error_msg", "msg", "status_msg", "detail", "error_description", "reason", "title", "error"];
const CODES = ["code", "error_code", "status_code", "statusCode", "status"];
/** Statuses of complaints that come without one, such as those inside a stream. */
const STATUSES: readonly (readonly [RegExp, number])[] = [
  [/rate_?limit|too_?many|resource_?exhausted|throttl/i, 429],
  [/overloaded/i, 529],
  [/authenticat|unauthorized|invalid_?api_?key/i, 401],
  [/permission|forbidden/i, 403],
  [/not_?found/i, 404],
  [/unavailable/i, 503],
  [/invalid_?request|bad_?request|invalid_?argument|invalid_?parameter/i, 400],
];

/** Returns the complaint of an answer: servers put it at the top, inside a choice or into a list. @param isRefused the status says so already */
export function complaintIn(data: unknown, isRefused: boolean): Fields | undefined {
  const body = Array.isArray(data) ? (data as readonly unknown[])[0] : data;
  if (!isRecord(body)) return isRefused && typeof body === "string" ? { message: body } : undefined;
  const fields = body as Fields;
  const { promptFeedback, details } = fields;
  // Gateways pass on the error of another server, and put a time to wait beside an error.
  const passedOn = isRecord(details) ? details["error"] : undefined;
  for (const part of [passedOn, fields["error"], listed(fields["errors"])]) {
    if (typeof part === "string" && part !== "") return { ...fields, ...(hasWords(fields) ? {} : { message: part }) };
    if (isRecord(part)) return { ...withCause(part), ...waitsIn(fields) };
  }
  if (isRecord(promptFeedback) && typeof promptFeedback["blockReason"] === "string")
    return { code: "content_filter", message: `the prompt was blocked: ${promptFeedback["blockReason"]}` };
  const response = fields["base_resp"];
  if (isRecord(response) && Number(response["status_code"] ?? 0) !== 0) return response;
  const choice = listed(fields["choices"]);
  if (isRecord(choice)) return isRecord(choice["error"]) ? choice["error"] : undefined;
  return isRefused || isComplaint(fields) ? fields : undefined;
}

/** With the words of an inner error that stands in it as JSON. */
function withCause(part: Fields): Fields {
  const texts = [part["cause"], part["message"]].filter((one) => typeof one === "string" && /^\s*\{/.test(one));
  const found = texts.map((text) => parsedJson(text as string)).find((value): value is JsonObject => isRecord(value));
  const cause: Fields | undefined = isRecord(found?.["error"]) ? (found["error"] as JsonObject) : found;
  return cause === undefined || !hasWords(cause) ? part : { ...part, ...cause };
}

function waitsIn(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => /^retry_?(?:after|delay)/i.test(name)));
}

function listed(value: unknown): unknown {
  return Array.isArray(value) ? (value as readonly unknown[])[0] : value;
}

function isComplaint(fields: Fields): boolean {
  const saysError = [fields["object"], fields["type"], fields["status"]].some(
    (kind) => typeof kind === "string" && /error|fail/i.test(kind),
  );
  const isCoded = CODES.some((key) => Number(fields[key]) >= 400) || fields["success"] === false;
  return (saysError || isCoded || Object.keys(fields).some((key) => /^error|^(?:msg|message|detail)$/.test(key))) && hasWords(fields);
}

function hasWords(fields: Fields): boolean {
  return WORDS.slice(0, -1).some((key) => wordsOf(fields[key]) !== "");
}

/** Also a list of FastAPI's faults: `[{ loc: ["body", "stop"], msg }]`. */
function wordsOf(value: unknown): string {
  if (typeof value === "string") return value.trim();
  if (Array.isArray(value)) return value.map(wordsOf).join("; ");
  if (!isRecord(value)) return "";
  const { loc, msg, message } = value as Fields;
  const words = msg ?? message;
  if (typeof words !== "string") return JSON.stringify(value);
  return Array.isArray(loc) ? `${loc.join(".")}: ${words}` : words;
}

export interface Heard {
  readonly status: number | undefined;
  readonly headers: Headers;
  readonly text?: string | undefined;
  readonly began: boolean;
  readonly mask: Mask;
  readonly now: number;
}

export function saidBy(complaint: Fields, { status, headers, text, began, mask, now }: Heard): ServerSaid {
  const words = WORDS.map((key) => wordsOf(complaint[key])).find((said) => said !== "") ?? text ?? JSON.stringify(complaint);
  const { metadata, details, type, failed_generation: failed } = complaint;
  // OpenRouter puts the words of the provider behind its own.
  const raw = isRecord(metadata) ? wordsOf(metadata["raw"]) : "";
  const message = mask(raw === "" ? words : `${words}: ${raw}`);
  const [code = "", ...others] = CODES.map((key) => complaint[key]).filter((one) => typeof one === "string" || typeof one === "number");
  const kind = [type, ...others].filter((one) => typeof one === "string").join(" ");
  const numeric = [code, ...others].map(Number).find((one) => one >= 400 && one < 600);
  const requestId = headers.get("x-request-id");
  const loc = Array.isArray(complaint["detail"]) ? (listed(complaint["detail"]) as Fields | undefined)?.["loc"] : undefined;
  const param = Array.isArray(loc) ? String(loc[1] ?? loc[0]) : complaint["param"];
  const retryAfterMs = retryAfterOf(headers, now) ?? waitIn(complaint, message, now) ?? resetIn(headers);
  const fields = {
    status: status ?? numeric ?? STATUSES.find(([pattern]) => pattern.test(`${String(code)} ${kind}`))?.[1],
    code: isNaN(Number(code)) || Number(code) >= 600 ? mask(String(code)) : undefined,
    type: kind === "" ? undefined : mask(kind),
    param: typeof param === "string" && param !== "" ? mask(param) : undefined,
    detail: details === undefined ? undefined : mask(JSON.stringify(details)),
    failed: failed === undefined ? undefined : true,
    requestId: requestId === null ? undefined : mask(requestId),
    retryAfterMs,
  };
  return { message, began, ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== "")) };
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const SPAN = /(\d+(?:\.\d+)?)\s*(milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|h|days?|d)(?![a-z])/gi;
const WAIT = /(?:re)?try(?:ing)?(?: your request)?(?: again)?(?: in| after)|wait(?: for)?|available(?: again)? in|resets? (?:in|after)/i;

/** Milliseconds that a complaint asks to wait: in a member for it, else in its words (`Please try again in 1m30.5s`). */
function waitIn(complaint: Fields, message: string, now: number): number | undefined {
  const text = JSON.stringify(complaint);
  const [, name = "", digits = "", unit = "s"] =
    /"(retry_?delay|retry_?after(?:_?ms|_?seconds)?)"\s*:\s*"?(\d+(?:\.\d+)?)(m?s)?/i.exec(text) ?? [];
  if (digits !== "") return Number(digits) * (/ms$/i.test(name) || unit === "ms" ? 1 : 1_000);
  const [, epoch = ""] = /"X-RateLimit-Reset"\s*:\s*"?(\d{13})/i.exec(text) ?? [];
  if (epoch !== "") return Math.max(0, Number(epoch) - now);
  const [, seconds = ""] = /(\d+)\s*秒/.exec(message) ?? [];
  if (seconds !== "") return Number(seconds) * 1_000;
  const after = WAIT.exec(message);
  if (after === null) return undefined;
  const [, whole = ""] =
    /^\W*(?:about |at least )?((?:\d+(?:\.\d+)?\s*[a-z]+[\s,and]*)+)/i.exec(message.slice(after.index + after[0].length)) ?? [];
  return spanIn(whole);
}

/** `x-ratelimit-reset-tokens: 6m0s`, of what is used up. */
function resetIn(headers: Headers): number | undefined {
  const resets = ["requests", "tokens"].map((what) => {
    const isUsedUp = headers.get(`x-ratelimit-remaining-${what}`) === "0";
    return isUsedUp ? spanIn(headers.get(`x-ratelimit-reset-${what}`) ?? "") : undefined;
  });
  const known = resets.filter((ms) => ms !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

function spanIn(text: string): number | undefined {
  const parts = [...text.matchAll(SPAN)].map(([, count = "", word = ""]) => Number(count) * (UNITS[unitOf(word)] ?? 0));
  return parts.length === 0 ? undefined : Math.ceil(parts.reduce((sum, part) => sum + part, 0));
}

function unitOf(word: string): string {
  return /^(?:ms|milli)/i.test(word) ? "ms" : (word[0] ?? "").toLowerCase();
}
