import type { ServerResponse } from "node:http";
import { sendHalf, sendJson, sent } from "./openai-stub-response.ts";
import type { StubRaw, StubReply } from "./stub-reply.ts";

/** Whether a reply is sent word for word. */
export function isRaw(reply: StubReply): reply is StubRaw {
  return typeof reply === "object" && "pieces" in reply;
}

/** Sends what it is given, as a stream of events or in one piece. */
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
