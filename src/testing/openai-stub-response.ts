import type { ServerResponse } from "node:http";
import type { OpenAIBody } from "./openai-body.ts";
import { completion } from "./openai-stub-completion.ts";
import { answerOf, BROKEN_TEXT, type StubFault, type WrittenReply } from "./stub-reply.ts";

/** Answers in one piece, or breaks off as the fault says. */
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

/** Begins a response that never ends well. */
export async function sendHalf(response: ServerResponse, text: string, then: "cut" | "reset" | "stall"): Promise<void> {
  // The length promises more than comes.
  response.writeHead(200, { "content-type": "application/json", "content-length": text.length * 2 });
  await sent(response, text.slice(0, text.length / 2));
  if (then !== "stall") response.destroy();
}

/** Resolves when the text is on its way, or nobody is there to read it. */
export function sent(response: ServerResponse, text: string): Promise<void> {
  return new Promise((resolve) => {
    if (response.destroyed) return resolve();
    response.write(text, () => resolve());
  });
}

/** Ends a response with JSON. */
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
