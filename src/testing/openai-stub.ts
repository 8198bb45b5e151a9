import { text as readText } from "node:stream/consumers";
import { parsedJson } from "../kernel/json.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { thrownText } from "../kernel/value-text.ts";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";
import {
  answerOf,
  BROKEN_TEXT,
  type OpenAIBody,
  OpenAIBodySchema,
  piecesOf,
  refusalOf,
  type StubAnswer,
  type StubFault,
  type StubRaw,
  type StubReply,
  wholeText,
} from "./stub-reply.ts";

/** Decides what happens with the n-th accepted request, from 0. */
export type StubHandler = (body: OpenAIBody, n: number) => StubReply | Promise<StubReply>;

/** The answers of the stub: always the same, one reply after another, or whatever a function says. */
export interface StubOptions {
  readonly reply?: StubReply;
  readonly replies?: readonly StubReply[];
  readonly handler?: StubHandler;
}

const stubOptions: Known<StubOptions> = { reply: kinds.checked, replies: kinds.iterable("replies"), handler: kinds.function };

export interface RejectedRequest {
  readonly body: unknown;
  readonly problem: string;
}

/** A running stub. */
export interface OpenAIStub extends AsyncDisposable {
  /** Its base URL, ending in `/v1`. It stays when the stub is closed, and then leads nowhere: so a server that is gone can be tried. */
  readonly url: string;
  readonly requests: readonly OpenAIBody[];
  /** Requests that OpenAI's server would refuse, and why. */
  readonly rejected: readonly RejectedRequest[];
  readonly authorizations: readonly string[];
  /** Ends the server and every connection, also those that stall. */
  close(): Promise<void>;
}

/**
 * A small server on 127.0.0.1 that speaks OpenAI's protocol, streaming and not, and can cut, stall, reset, limit, refuse and lie. Every
 * request is checked against what the real server accepts, and refused as it would be.
 */
export async function openaiStub(options: StubOptions): Promise<OpenAIStub> {
  checkKnownOptions("openaiStub", options, stubOptions);
  const seen: Seen = { requests: [], rejected: [], authorizations: [] };
  const server = createServer((request, response) => {
    serve(request, response, options, seen).catch((error: unknown) => {
      if (!response.headersSent) refuse(response, 500, `The stub failed: ${thrownText(error)}`);
      response.destroy();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return { ...seen, url, close, [Symbol.asyncDispose]: close };
}

/** The requests to a stub so far. */
interface Seen {
  readonly requests: OpenAIBody[];
  readonly rejected: RejectedRequest[];
  readonly authorizations: string[];
}

async function serve(request: IncomingMessage, response: ServerResponse, options: StubOptions, seen: Seen): Promise<void> {
  const { method, url: path = "" } = request;
  if (method === "GET" && path === "/v1/models") {
    return sendJson(response, 200, { object: "list", data: [{ id: "stub-model", object: "model", created: 0, owned_by: "stub" }] });
  }
  if (method !== "POST" || path !== "/v1/chat/completions") return refuse(response, 404, `Unknown request URL: ${method} ${path}.`);
  const body = parsedJson(await readText(request));
  const parsed = OpenAIBodySchema.safeParse(body);
  if (!parsed.success) {
    const problem = z.prettifyError(parsed.error);
    seen.rejected.push({ body, problem });
    return refuse(response, 400, problem);
  }
  const n = seen.requests.push(parsed.data) - 1;
  const authorization = request.headers.authorization ?? "";
  seen.authorizations.push(authorization);
  const { handler, replies, reply: always } = options;
  const reply = handler === undefined ? (replies === undefined ? always : replies[n]) : await handler(parsed.data, n);
  if (reply === undefined) return refuse(response, 400, `The stub has no reply left for request ${n + 1}.`);
  if (typeof reply === "object" && "pieces" in reply) return write(response, rawOf(reply), parsed.data);
  const good = answerOf(reply);
  if (good !== undefined) return answered(response, parsed.data, good);
  const fault = reply as StubFault;
  const refusal = refusalOf(fault, { model: parsed.data.model, authorization });
  if (refusal !== undefined) return void response.writeHead(refusal.status, refusal.headers).end(refusal.body);
  if (fault.after === 0) return fault.fault === "stall" ? undefined : void response.destroy();
  return write(response, brokenOf(parsed.data, fault), parsed.data);
}

/** The lines of a stream, the body where nothing is streamed, and how either ends. */
interface Written {
  readonly lines: readonly string[];
  readonly whole: string;
  readonly end: "done" | "cut" | "stall" | "reset";
}

function rawOf({ pieces, whole, end = "done" }: StubRaw): Written {
  return { lines: pieces.map((piece) => JSON.stringify(piece)), whole: JSON.stringify(whole), end };
}

function brokenOf(body: OpenAIBody, { fault, text = BROKEN_TEXT, after = 1, message, code }: StubFault): Written {
  const said = piecesOf({ text }).map((content) => chunk(body, { content }));
  const begun = said.slice(0, after);
  const good = completion(body, { text });
  const usage = usageChunks(body, { text });
  const error = { error: { message: message ?? "The engine fell over.", code: code ?? "server_error", type: "server_error" } };
  const end = chunk(body, { content: " End." }, "stop");
  switch (fault) {
    case "cut":
    case "reset":
    case "stall":
      return rawOf({ pieces: begun, whole: good, end: fault });
    case "stream-error":
      return rawOf({ pieces: [...begun, error], whole: error });
    case "bad-json": {
      const { lines, whole } = rawOf({ pieces: said, whole: good });
      return { lines: [...lines, '{"choices": [{"delta": oops'], whole: whole.slice(0, -10), end: "done" };
    }
    case "wrong-shape":
      return rawOf({ pieces: [...said, { choices: "none" }, ...usage], whole: { hello: "world" } });
    case "empty-choices":
      return rawOf({ pieces: [...said, { ...head(body, "chunk"), choices: [] }], whole: { ...good, choices: [] } });
    case "duplicate-chunk":
      return rawOf({ pieces: [...said, end, end, ...usage], whole: good });
    default:
      return rawOf({ pieces: [...said, chunk(body, {}, "stop"), chunk(body, { content: "And another thing." }), ...usage], whole: good });
  }
}

async function write(response: ServerResponse, { lines, whole, end }: Written, { stream }: OpenAIBody): Promise<void> {
  if (stream !== true) return end === "done" ? sendText(response, whole) : sendHalf(response, whole, end);
  beginStream(response);
  for (const line of lines) await sent(response, `data: ${line}\n\n`);
  if (end === "done") response.end("data: [DONE]\n\n");
  else if (end === "cut") response.end();
  else if (end === "reset") response.destroy();
}

/** Writes a whole answer at its own pace. */
async function answered(response: ServerResponse, body: OpenAIBody, answer: StubAnswer): Promise<void> {
  if (body.stream !== true) {
    await answer.pace?.(0);
    return sendJson(response, 200, completion(body, answer));
  }
  beginStream(response);
  const send = (piece: object): Promise<void> => sent(response, `data: ${JSON.stringify(piece)}\n\n`);
  let n = 0;
  for (let comment = 0; comment < (answer.comments ?? 0); comment++) {
    await answer.pace?.(n++);
    await sent(response, ": still thinking\n\n");
  }
  await send(chunk(body, { role: "assistant" }));
  for (const piece of piecesOf(answer)) {
    await answer.pace?.(n++);
    await send(chunk(body, { content: piece }));
  }
  const refused = answer.refusal === undefined ? [] : [chunk(body, { refusal: answer.refusal })];
  const calls = (answer.toolCalls ?? []).flatMap((call, index) => callChunks(body, call, index));
  for (const piece of [...refused, ...calls, chunk(body, {}, finishOf(answer)), ...usageChunks(body, answer)]) await send(piece);
  response.end("data: [DONE]\n\n");
}

function beginStream(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream", "x-request-id": "req_stub" });
  response.flushHeaders();
}

/** The arguments come in two pieces. */
function callChunks(body: OpenAIBody, call: NonNullable<StubAnswer["toolCalls"]>[number], index: number): readonly object[] {
  const middle = Math.ceil(call.arguments.length / 2);
  const begin = { index, id: call.id ?? `call_${index}`, type: "function", function: { name: call.name, arguments: "" } };
  const parts = [call.arguments.slice(0, middle), call.arguments.slice(middle)].map((part) => ({ index, function: { arguments: part } }));
  return [begin, ...parts].map((part) => chunk(body, { tool_calls: [part] }));
}

function usageChunks(body: OpenAIBody, answer: StubAnswer): readonly object[] {
  if (body.stream_options?.include_usage !== true || answer.usage === null) return [];
  return [{ ...head(body, "chunk"), choices: [], usage: usageOf(body, answer) }];
}

function chunk(body: OpenAIBody, delta: object, finish: string | null = null): object {
  return { ...head(body, "chunk"), choices: [{ index: 0, delta, finish_reason: finish, logprobs: null }] };
}

async function sendHalf(response: ServerResponse, text: string, then: "cut" | "reset" | "stall"): Promise<void> {
  // The length promises more than comes.
  response.writeHead(200, { "content-type": "application/json", "content-length": text.length * 2 });
  await sent(response, text.slice(0, text.length / 2));
  if (then !== "stall") response.destroy();
}

/** Resolves when the text is sent or the client has left. */
function sent(response: ServerResponse, text: string): Promise<void> {
  return new Promise((resolve) => {
    if (response.destroyed) return resolve();
    response.write(text, () => resolve());
  });
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json", "x-request-id": "req_stub" }).end(JSON.stringify(body));
}

function sendText(response: ServerResponse, body: string): void {
  response.writeHead(200, { "content-type": "application/json" }).end(body);
}

function refuse(response: ServerResponse, status: number, message: string): void {
  sendJson(response, status, { error: { message, type: "invalid_request_error", param: null, code: null } });
}

function completion(body: OpenAIBody, answer: StubAnswer): object {
  const calls = (answer.toolCalls ?? []).map((call, index) => ({
    id: call.id ?? `call_${index}`,
    type: "function",
    function: { name: call.name, arguments: call.arguments },
  }));
  const said = {
    role: "assistant",
    content: wholeText(answer),
    refusal: answer.refusal ?? null,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return {
    ...head(body, "whole"),
    choices: [{ index: 0, message: said, finish_reason: finishOf(answer), logprobs: null }],
    ...(answer.usage === null ? {} : { usage: usageOf(body, answer) }),
  };
}

function head(body: OpenAIBody, form: "whole" | "chunk"): object {
  return { id: "chatcmpl-stub", object: form === "whole" ? "chat.completion" : "chat.completion.chunk", created: 0, model: body.model };
}

/** The finish reason: what the answer says, else what follows from its calls. */
function finishOf(answer: StubAnswer): string {
  return answer.finishReason ?? ((answer.toolCalls ?? []).length > 0 ? "tool_calls" : "stop");
}

/** Four characters to a token, unless the answer says otherwise. */
function usageOf(body: OpenAIBody, answer: StubAnswer): object {
  const calls = (answer.toolCalls ?? []).reduce((sum, call) => sum + call.name.length + call.arguments.length, 0);
  const { prompt_tokens, completion_tokens, cached_tokens } = answer.usage ?? {
    prompt_tokens: Math.ceil(JSON.stringify(body.messages).length / 4),
    completion_tokens: Math.ceil((wholeText(answer).length + calls) / 4),
  };
  const details = cached_tokens === undefined ? {} : { prompt_tokens_details: { cached_tokens } };
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens, ...details };
}
