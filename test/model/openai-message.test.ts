import { describe, expect, it } from "vitest";
import { ChatMessage } from "../../src/model/chat-message.ts";
import { openaiMessages, toOpenAI } from "../../src/model/openai-request.ts";

const picture = { mediaType: "image/png", data: "iVBORw0KGgo=" };
const photo = { mediaType: "image/jpeg", data: "/9j/4AAQ" };
const calls = [{ id: "c1", type: "function", function: { name: "look", arguments: "{}" } }] as const;

describe("one message as servers take it", () => {
  it.each<[string, ChatMessage, unknown]>([
    ["the user", ChatMessage.user("hi"), { role: "user", content: "hi" }],
    ["the system", ChatMessage.system("be brief"), { role: "system", content: "be brief" }],
    ["the assistant", ChatMessage.assistant("yes"), { role: "assistant", content: "yes" }],
    ["calls without words: no empty content, no null", ChatMessage.fromToolCalls(calls), { role: "assistant", tool_calls: calls }],
    ["calls with words", ChatMessage.fromToolCalls(calls, "I look."), { role: "assistant", content: "I look.", tool_calls: calls }],
    ["an answer", ChatMessage.tool({ content: "4", name: "look", toolCallId: "c1" }), { role: "tool", content: "4", tool_call_id: "c1" }],
  ])("%s", (_, message, wire) => {
    expect(toOpenAI(message)).toEqual(wire);
    expect(JSON.stringify(toOpenAI(message))).not.toContain("null");
  });

  it("keeps every picture with its own type, where the original keeps one and calls it a JPEG", () => {
    expect(toOpenAI(ChatMessage.user("what is this?", { images: [picture, photo, { url: "https://x.test/a.png" }] }))).toEqual({
      role: "user",
      content: [
        { type: "text", text: "what is this?" },
        { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
        { type: "image_url", image_url: { url: "data:image/jpeg;base64,/9j/4AAQ" } },
        { type: "image_url", image_url: { url: "https://x.test/a.png" } },
      ],
    });
  });
});

it("pictures of tools follow the last of their answers, as the user's", () => {
  const twice = [...calls, { ...calls[0], id: "c2" }];
  const seen = (toolCallId: string, images = [picture]): ChatMessage =>
    ChatMessage.tool({ content: "seen", name: "look", toolCallId, images });
  const wire = openaiMessages([ChatMessage.fromToolCalls(twice), seen("c1"), seen("c2", [photo]), ChatMessage.assistant("ok")]);
  expect(wire.map((message) => message["role"])).toEqual(["assistant", "tool", "tool", "user", "assistant"]);
  expect(JSON.stringify(wire[3])).toMatch(/image\/png.*image\/jpeg/);
});
