import { text as readText } from "node:stream/consumers";
import { parsedJson } from "../kernel/json.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { thrownText } from "../kernel/value-text.ts";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
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
  type WrittenReply,
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
  const stub = new Stub(options);
  await stub.listen();
  return stub;
}

class Stub implements OpenAIStub {
  readonly requests: OpenAIBody[] = [];
  readonly rejected: RejectedRequest[] = [];
  readonly authorizations: string[] = [];
  readonly #options: StubOptions;
  readonly #server: Server;
  #url = "";

  constructor(options: StubOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        if (!response.headersSent) refuse(response, 500, `The stub failed: ${thrownText(error)}`);
        response.destroy();
      });
    });
  }

  get url(): string {
    return this.#url;
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(0, "127.0.0.1", () => {
        this.#url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
        resolve();
      });
    });
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? "";
    if (request.method === "GET" && path === "/v1/models") {
      return sendJson(response, 200, { object: "list", data: [{ id: "stub-model", object: "model", created: 0, owned_by: "stub" }] });
    }
    if (request.method !== "POST" || path !== "/v1/chat/completions")
      return refuse(response, 404, `Unknown request URL: ${request.method} ${path}.`);
    const body = parsedJson(await readText(request));
    const parsed = OpenAIBodySchema.safeParse(body);
    if (!parsed.success) {
      const problem = z.prettifyError(parsed.error);
      this.rejected.push({ body, problem });
      return refuse(response, 400, problem);
    }
    const n = this.requests.push(parsed.data) - 1;
    const authorization = request.headers.authorization ?? "";
    this.authorizations.push(authorization);
    const reply = await this.#replyTo(parsed.data, n);
    if (reply === undefined) return refuse(response, 400, `The stub has no reply left for request ${n + 1}.`);
    if (isRaw(reply)) return rawReply(response, reply, parsed.data.stream === true);
    const isFault = typeof reply === "object" && "fault" in reply;
    const refusal = isFault ? refusalOf(reply, { model: parsed.data.model, authorization }) : undefined;
    if (refusal !== undefined) return void response.writeHead(refusal.status, refusal.headers).end(refusal.body);
    await (parsed.data.stream === true ? streamReply(response, parsed.data, reply) : wholeReply(response, parsed.data, reply));
  }

  async #replyTo(body: OpenAIBody, n: number): Promise<StubReply | undefined> {
    const { handler, replies, reply } = this.#options;
    if (handler !== undefined) return handler(body, n);
    return replies === undefined ? reply : replies[n];
  }
}

async function wholeReply(response: ServerResponse, body: OpenAIBody, reply: WrittenReply): Promise<void> {
  const answer = answerOf(reply);
  if (answer !== undefined) {
    await answer.pace?.(0);
    return sendJson(response, 200, completion(body, answer));
  }
  const fault = reply as StubFault;
  const good = JSON.stringify(completion(body, { text: fault.text ?? BROKEN_TEXT }));
  switch (fault.fault) {
    case "cut":
    case "reset":
    case "stall":
      if (fault.after === 0) return fault.fault === "stall" ? undefined : void response.destroy();
      return sendHalf(response, good, fault.fault);
    case "bad-json":
      return sendText(response, `${good.slice(0, -10)}`);
    case "empty-choices":
      return sendJson(response, 200, { ...completion(body, {}), choices: [] });
    case "wrong-shape":
      return sendJson(response, 200, { hello: "world" });
    case "stream-error":
      return sendJson(response, 200, { error: { message: fault.message ?? "The engine fell over.", code: fault.code ?? "server_error" } });
    default:
      return sendText(response, good);
  }
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

function isRaw(reply: StubReply): reply is StubRaw {
  return typeof reply === "object" && "pieces" in reply;
}

async function rawReply(response: ServerResponse, { pieces, whole, end = "done" }: StubRaw, stream: boolean): Promise<void> {
  if (!stream) return end === "done" ? sendJson(response, 200, whole) : sendHalf(response, JSON.stringify(whole), end);
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
  for (const piece of pieces) await sent(response, `data: ${JSON.stringify(piece)}\n\n`);
  switch (end) {
    case "done":
      return void response.end("data: [DONE]\n\n");
    case "cut":
      return void response.end();
    case "reset":
      return void response.destroy();
    case "stall":
  }
}

async function streamReply(response: ServerResponse, body: OpenAIBody, reply: WrittenReply): Promise<void> {
  const answer = answerOf(reply);
  const fault = answer === undefined ? (reply as StubFault) : undefined;
  const after = fault?.after ?? 1;
  if (fault !== undefined && after === 0 && fault.fault === "stall") return;
  if (fault !== undefined && after === 0 && fault.fault === "reset") return void response.destroy();
  response.writeHead(200, { "content-type": "text/event-stream", "x-request-id": "req_stub" });
  response.flushHeaders();
  const stream = new EventStream(response, body);
  if (answer !== undefined) return stream.whole(answer);
  if (fault !== undefined) return stream.broken(fault, after);
}

class EventStream {
  readonly #response: ServerResponse;
  readonly #body: OpenAIBody;

  constructor(response: ServerResponse, body: OpenAIBody) {
    this.#response = response;
    this.#body = body;
  }

  async whole(answer: StubAnswer): Promise<void> {
    let n = 0;
    for (let comment = 0; comment < (answer.comments ?? 0); comment++) {
      await answer.pace?.(n++);
      await sent(this.#response, ": still thinking\n\n");
    }
    await this.#choice({ role: "assistant" });
    for (const piece of piecesOf(answer)) {
      await answer.pace?.(n++);
      await this.#choice({ content: piece });
    }
    if (answer.refusal !== undefined) await this.#choice({ refusal: answer.refusal });
    await this.#toolCalls(answer);
    await this.#choice({}, finishOf(answer));
    await this.#usage(answer);
    this.#done();
  }

  async broken(fault: StubFault, after: number): Promise<void> {
    const { text = BROKEN_TEXT } = fault;
    const pieces = piecesOf({ text });
    const early = ["cut", "stall", "reset", "stream-error"].includes(fault.fault);
    for (const piece of early ? pieces.slice(0, after) : pieces) await this.#choice({ content: piece });
    switch (fault.fault) {
      case "stall":
        return;
      case "cut":
        this.#response.end();
        return;
      case "reset":
        this.#response.destroy();
        return;
      case "stream-error":
        await this.#data({
          error: { message: fault.message ?? "The engine fell over.", code: fault.code ?? "server_error", type: "server_error" },
        });
        return this.#done();
      case "bad-json":
        await sent(this.#response, 'data: {"choices": [{"delta": oops\n\n');
        break;
      case "wrong-shape":
        await this.#data({ choices: "none" });
        break;
      case "empty-choices":
        await this.#data({ ...head(this.#body, "chunk"), choices: [] });
        return this.#done();
      case "duplicate-chunk":
        await this.#choice({ content: " End." }, "stop");
        await this.#choice({ content: " End." }, "stop");
        break;
      default:
        await this.#choice({}, "stop");
        await this.#choice({ content: "And another thing." });
    }
    await this.#usage({ text });
    this.#done();
  }

  async #toolCalls(answer: StubAnswer): Promise<void> {
    for (const [index, call] of (answer.toolCalls ?? []).entries()) {
      const middle = Math.ceil(call.arguments.length / 2);
      const begin = { index, id: call.id ?? `call_${index}`, type: "function", function: { name: call.name, arguments: "" } };
      await this.#choice({ tool_calls: [begin] });
      await this.#choice({ tool_calls: [{ index, function: { arguments: call.arguments.slice(0, middle) } }] });
      await this.#choice({ tool_calls: [{ index, function: { arguments: call.arguments.slice(middle) } }] });
    }
  }

  async #usage(answer: StubAnswer): Promise<void> {
    if (this.#body.stream_options?.include_usage !== true || answer.usage === null) return;
    await this.#data({ ...head(this.#body, "chunk"), choices: [], usage: usageOf(this.#body, answer) });
  }

  #choice(delta: object, finish: string | null = null): Promise<void> {
    return this.#data({ ...head(this.#body, "chunk"), choices: [{ index: 0, delta, finish_reason: finish, logprobs: null }] });
  }

  #data(event: unknown): Promise<void> {
    return sent(this.#response, `data: ${JSON.stringify(event)}\n\n`);
  }

  #done(): void {
    this.#response.end("data: [DONE]\n\n");
  }
}
