import { resolve } from "node:path";
import { type OtlpLine, otlpLines } from "../../adapters/otlp-lines.ts";
import { withTimeout } from "../../kernel/abort.ts";
import { ControlError, UsageError } from "../../kernel/errors.ts";
import { parsedJson } from "../../kernel/json.ts";
import { maskSecrets } from "../../kernel/mask.ts";
import { refusalText, type ServerTerms, unreachedText } from "../../kernel/server-answer.ts";
import { isRecord } from "../../kernel/value-kind.ts";
import { clauseText, thrownText } from "../../kernel/value-text.ts";
import { readEvents } from "../../runtime/record/journal.ts";
import { valueIn, type Variables } from "../host.ts";
import { invalidOption } from "../option-words.ts";
import type { Flags } from "../options.ts";
import { plural, shown } from "../screen/text.ts";
import { exportLines, report, type Session } from "../session.ts";
import { withRun } from "../stored-run.ts";

const LIMIT = 30_000;
const MAX_ANSWER = 16_384;

export function runsOtlp(session: Session, flags: Flags, id: string, file?: string): Promise<void> {
  const { host, interruptions } = session;
  const { otlp: target = "" } = flags;
  const name = shown(file ?? "", 100);
  if (file !== undefined) throw new UsageError("OPTION_CONFLICT", `Expected --otlp or the file "${name}", got both. Write --otlp ${name}`);
  const receiver = receiverOf(target);
  return withRun(session, flags, id, async ({ journal }, runId) => {
    const events = readEvents(journal, runId, { signal: interruptions.signal });
    const options = {
      content: flags.content === true,
      provider: "openai",
      service: valueIn(host.env, "OTEL_SERVICE_NAME") ?? "troupe",
      version: host.version,
    };
    const sent = { spans: 0 };
    const lines = counted(otlpLines(events, runId, options), sent);
    const done = (): [string, object] => {
      const to = receiver === undefined ? resolve(host.cwd, target) : receiver.origin + receiver.pathname;
      const text = `Exported run ${shown(runId, 100)}, ${plural(sent.spans, "span")}, to ${shown(receiver?.host ?? target, 200)}.`;
      return [text, { type: "exported", runId, spans: sent.spans, to }];
    };
    const example = `troupe runs export ${shown(runId, 60)} --otlp spans.jsonl`;
    if (receiver === undefined) return exportLines(session, { file: target, example, lines, done });
    const headers = { "content-type": "application/json", ...headersIn(host.env) };
    for await (const body of lines) await send(session, receiver, { method: "POST", headers, body, redirect: "error" });
    return report(session, ...done());
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

async function* counted(lines: AsyncIterable<OtlpLine>, sent: { spans: number }): AsyncIterable<string> {
  for await (const { text, spans } of lines) {
    sent.spans += spans;
    yield text;
  }
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

const TERMS: ServerTerms = {
  token: "OTEL_EXPORTER_OTLP_HEADERS, such as authorization=Bearer%20TOKEN",
  address: "its address: the path of a receiver is /v1/traces",
};

async function send({ host, interruptions, screen }: Session, url: URL, request: RequestInit): Promise<void> {
  const answer = await withTimeout(host.clock, LIMIT, `a request to ${url.host}`, interruptions.signal, async (signal) => {
    const response = await fetch(url, { ...request, signal });
    return { response, text: await startOf(response) };
  }).catch((cause: unknown) => {
    if (cause instanceof ControlError) throw cause;
    const why = unreachedText(cause) ?? shown(thrownText(cause), 200);
    const text = `Expected a receiver of traces at ${shown(url.host, 200)}, but ${clauseText(why)}. Start it, or name a file.`;
    throw new UsageError("OTLP_UNREACHABLE", text, { cause });
  });
  const { response, text } = answer;
  if (response.ok) return warnOfRejected(screen, text);
  const { status, headers } = response;
  const secrets = Object.values((request.headers ?? {}) as Readonly<Record<string, string>>).flatMap((value) => value.split(" "));
  const refusal = { status, said: maskSecrets(secrets)(text), retryAfter: headers.get("retry-after") ?? undefined };
  throw new UsageError("OTLP_REFUSED", `Expected ${url.host} to take the spans, got ${refusalText(refusal, TERMS)}`);
}

async function startOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length >= MAX_ANSWER) break;
  }
  return text;
}

/** A receiver may take a request and leave out some of its spans. */
function warnOfRejected(screen: Session["screen"], text: string): void {
  const answer = parsedJson(text);
  const partial = isRecord(answer) ? answer["partialSuccess"] : undefined;
  const rejected = isRecord(partial) ? Number(partial["rejectedSpans"] ?? 0) : 0;
  if (!isRecord(partial) || !(rejected > 0)) return;
  const why = partial["errorMessage"];
  screen.say(`The receiver left out ${plural(rejected, "span")}${typeof why === "string" ? `: ${shown(why, 200)}` : "."}`);
}
