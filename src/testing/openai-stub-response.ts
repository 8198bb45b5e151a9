import type { ServerResponse } from "node:http";
import type { OpenAIBody } from "./openai-body.ts";
import {
  answerOf,
  BROKEN_TEXT,
  type StubFault,
  type WrittenReply,
  type StubAnswer,
  textOf,
  type StubRaw,
  type StubReply,
  piecesOf,
} from "./stub-reply.ts";

export async function wholeReply(response: ServerResponse, body: OpenAIBody, reply: WrittenReply): Promise<void> {
  const answer = answerOf(reply);
  if (answer !== undefined) {
    await answer.pace?.(0);
    return sendJson(response, 200, completion(body, answer));
  }
  const fault = reply as StubFault;
  const good = JSON.stringify(completion(body, { text: "text" in fault && fault.text !== undefined ? fault.text : BROKEN_TEXT }));
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

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json", "x-request-id": "req_stub" }).end(JSON.stringify(body));
}

function sendText(response: ServerResponse, body: string): void {
  response.writeHead(200, { "content-type": "application/json" }).end(body);
}

/** Ends a response as the real server refuses a request. */
export function refuse(response: ServerResponse, status: number, message: string): void {
  sendJson(response, status, { error: { message, type: "invalid_request_error", param: null, code: null } });
}

/** A whole answer as OpenAI's protocol writes it. */
function completion(body: OpenAIBody, answer: StubAnswer): object {
  const calls = (answer.toolCalls ?? []).map((call, index) => ({
    id: call.id ?? `call_${index}`,
    type: "function",
    function: { name: call.name, arguments: call.arguments },
  }));
  const said = {
    role: "assistant",
    content: textOf(answer),
    refusal: answer.refusal ?? null,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return {
    ...head(body, "whole"),
    choices: [{ index: 0, message: said, finish_reason: finishOf(answer), logprobs: null }],
    ...(answer.usage === null ? {} : { usage: usageOf(body, answer) }),
  };
}

/** The first fields of every object of the protocol, a whole answer or a piece. */
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
    completion_tokens: Math.ceil((textOf(answer).length + calls) / 4),
  };
  const details = cached_tokens === undefined ? {} : { prompt_tokens_details: { cached_tokens } };
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens, ...details };
}

/** True when a reply is sent word for word. */
export function isRaw(reply: StubReply): reply is StubRaw {
  return typeof reply === "object" && "pieces" in reply;
}

/** Sends an answer as a stream of events or in one piece. */
export async function rawReply(response: ServerResponse, { pieces, whole, end = "done" }: StubRaw, stream: boolean): Promise<void> {
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

export async function streamReply(response: ServerResponse, body: OpenAIBody, reply: WrittenReply): Promise<void> {
  const answer = answerOf(reply);
  const fault = answer === undefined ? (reply as StubFault) : undefined;
  const after = fault !== undefined && "after" in fault ? (fault.after ?? 1) : 1;
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
    const text = "text" in fault && fault.text !== undefined ? fault.text : BROKEN_TEXT;
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
