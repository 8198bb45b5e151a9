import type { ServerResponse } from "node:http";
import type { OpenAIBody } from "./openai-body.ts";
import { finishOf, head, usageOf } from "./openai-stub-completion.ts";
import { sent } from "./openai-stub-response.ts";
import { answerOf, BROKEN_TEXT, piecesOf, type StubAnswer, type StubFault, type WrittenReply } from "./stub-reply.ts";

/** Answers as a stream of events, or breaks off as the fault says. */
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

/** Writes the events of one reply. */
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
