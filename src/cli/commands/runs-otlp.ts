import { resolve } from "node:path";
import { type OtlpLine, otlpLines } from "../../adapters/otlp-lines.ts";
import { throwIfAborted, withTimeout } from "../../kernel/abort.ts";
import { sleep } from "../../kernel/clock.ts";
import { ControlError, type TroupeError, UsageError } from "../../kernel/errors.ts";
import { parsedJson } from "../../kernel/json.ts";
import { maskSecrets } from "../../kernel/mask.ts";
import { refusalText, type ServerTerms, unreachedText } from "../../kernel/server-answer.ts";
import { isRecord } from "../../kernel/value-kind.ts";
import { clauseText, thrownText } from "../../kernel/value-text.ts";
import type { RunEvent } from "../../runtime/record/event.ts";
import type { ExitCode } from "../errors.ts";
import type { Variables } from "../host.ts";
import { invalidOption } from "../option-values.ts";
import type { Flags } from "../options.ts";
import { plural } from "../screen/amounts.ts";
import { shown } from "../screen/text.ts";
import { printLines, report, type Session } from "../session.ts";
import { withRun } from "../stored-run.ts";
import { refuseTerminal, writeNewFile } from "../text-file.ts";

/** Milliseconds of one request. */
const LIMIT = 30_000;
/** Waits before a request is sent again, in milliseconds; the receiver may name a longer one, up to the last. */
const WAITS = [1_000, 2_000, 4_000];
const LONGEST_WAIT = 30_000;
const PASSING: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** Most characters of an answer that are read. */
const MOST_ANSWER = 16_384;

export function runsOtlp(
  session: Session,
  id: string,
  { otlp: target, file }: { readonly otlp: string; readonly file: string | undefined },
  flags: Flags,
): Promise<ExitCode> {
  const { host, interruptions } = session;
  if (file !== undefined) {
    throw new UsageError(
      "OPTION_CONFLICT",
      `Expected --otlp or the file "${shown(file, 100)}", got both. Write --otlp ${shown(file, 100)}`,
    );
  }
  const place = receiverOf(target);
  return withRun<ExitCode>(session, flags, id, async ({ journal }, runId) => {
    const events = interruptible(journal.read(runId, 0), interruptions.signal);
    const options = { content: flags.content === true, provider: "openai", service: serviceOf(host.env), version: host.version };
    const sent = { spans: 0 };
    const lines = counted(otlpLines(events, runId, options), sent);
    if (place === undefined && target === "-") {
      refuseTerminal(host, `troupe runs export ${shown(runId, 60)} --otlp spans.jsonl`);
      await printLines(session, lines);
      return 0;
    }
    if (place === undefined) await writeNewFile(resolve(host.cwd, target), lines);
    else await sendAll(session, place, lines);
    const text = `Exported run ${shown(runId, 100)}, ${plural(sent.spans, "span")}, to ${shown(place?.host ?? target, 200)}.`;
    await report(session, text, {
      type: "exported",
      runId,
      spans: sent.spans,
      to: place === undefined ? resolve(host.cwd, target) : place.origin + place.pathname,
    });
    return 0;
  });
}

/** The address that traces are sent to: that of a receiver without a path gets the one that OTLP names. Undefined for a file. */
function receiverOf(target: string): URL | undefined {
  if (!/^[a-z][a-z\d+.-]*:\/\//i.test(target)) return undefined;
  const url = URL.canParse(target) ? new URL(target) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") {
    throw invalidOption(
      "--otlp",
      "a file, or an address without a user such as http://localhost:4318",
      url === undefined ? target : `${url.protocol}//${url.host}`,
    );
  }
  if (url.pathname === "/") url.pathname = "/v1/traces";
  return url;
}

function serviceOf(env: Variables): string {
  const name = env["OTEL_SERVICE_NAME"] ?? "";
  return name === "" ? "troupe" : name;
}

async function* interruptible(events: AsyncIterable<RunEvent>, signal: AbortSignal): AsyncIterable<RunEvent> {
  for await (const event of events) {
    throwIfAborted(signal);
    yield event;
  }
}

async function* counted(lines: AsyncIterable<OtlpLine>, sent: { spans: number }): AsyncIterable<string> {
  for await (const { text, spans } of lines) {
    sent.spans += spans;
    yield text;
  }
}

async function sendAll(session: Session, url: URL, lines: AsyncIterable<string>): Promise<void> {
  const headers = { "content-type": "application/json", ...headersIn(session.host.env) };
  for await (const line of lines) await send(session, url, { method: "POST", headers, body: line, redirect: "error" });
}

function headersIn(env: Variables): Readonly<Record<string, string>> {
  const given = env["OTEL_EXPORTER_OTLP_HEADERS"] ?? "";
  const pairs = given.split(",").filter((pair) => pair.trim() !== "");
  try {
    const headers = new Headers(
      pairs.map((pair): [string, string] => {
        const [name = "", ...value] = pair.split("=");
        return [name.trim(), decodeURIComponent(value.join("=").trim())];
      }),
    );
    return Object.fromEntries(headers);
  } catch {
    const expected = "Expected OTEL_EXPORTER_OTLP_HEADERS to be headers such as name=value,other=value, got something else";
    throw new UsageError("OTLP_HEADERS_INVALID", `${expected}. Write special characters with percent signs.`);
  }
}

/** Sends one request, and again after a failure that may pass. */
async function send({ host, interruptions, screen }: Session, url: URL, request: RequestInit): Promise<void> {
  const { clock } = host;
  const { signal } = interruptions;
  for (let nth = 0; ; nth += 1) {
    const answer = await withTimeout(clock, LIMIT, `a request to ${url.host}`, signal, (inner) => answerTo(url, request, inner)).catch(
      (error: unknown): Answer => {
        if (error instanceof ControlError) throw error;
        return { isPassing: true, why: unreachable(url, error), wait: 0 };
      },
    );
    if (answer === undefined) return;
    if ("warning" in answer) return screen.say(answer.warning);
    const wait = WAITS[nth];
    if (!answer.isPassing || wait === undefined) throw answer.why;
    await sleep(clock, Math.min(Math.max(wait, answer.wait), LONGEST_WAIT), signal);
  }
}

/** An answer that is not simply good. `wait`: milliseconds that the receiver asks for. */
type Answer = { readonly isPassing: boolean; readonly why: TroupeError; readonly wait: number } | { readonly warning: string };

const TERMS: ServerTerms = {
  token: "OTEL_EXPORTER_OTLP_HEADERS, such as authorization=Bearer%20TOKEN",
  address: "its address: the path of a receiver is /v1/traces",
};

async function answerTo(url: URL, request: RequestInit, signal: AbortSignal): Promise<Answer | undefined> {
  const response = await fetch(url, { ...request, signal });
  const text = await startOf(response);
  const secrets = Object.values((request.headers ?? {}) as Readonly<Record<string, string>>).flatMap((value) => value.split(" "));
  if (response.ok) return rejectedIn(text);
  const { status, headers } = response;
  const retryAfter = headers.get("retry-after") ?? undefined;
  const said = maskSecrets(secrets)(text);
  const told = refusalText({ status, said, retryAfter }, TERMS);
  const why = new UsageError("OTLP_REFUSED", `Expected ${url.host} to take the spans, got ${told}`);
  return { isPassing: PASSING.has(status), why, wait: Number(retryAfter ?? 0) * 1_000 || 0 };
}

async function startOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length >= MOST_ANSWER) break;
  }
  return text;
}

/** A receiver may take a request and leave out some of its spans. */
function rejectedIn(text: string): Answer | undefined {
  const answer = parsedJson(text);
  const partial = isRecord(answer) ? answer["partialSuccess"] : undefined;
  const rejected = isRecord(partial) ? Number(partial["rejectedSpans"] ?? 0) : 0;
  if (!isRecord(partial) || !(rejected > 0)) return undefined;
  const why = partial["errorMessage"];
  return { warning: `The receiver left out ${plural(rejected, "span")}${typeof why === "string" ? `: ${shown(why, 200)}` : "."}` };
}

function unreachable(url: URL, error: unknown): TroupeError {
  const why = unreachedText(error) ?? shown(thrownText(error), 200);
  const text = `Expected a receiver of traces at ${shown(url.host, 200)}, but ${clauseText(why)}. Start it, or name a file.`;
  return new UsageError("OTLP_UNREACHABLE", text, { cause: error });
}
