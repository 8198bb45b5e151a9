import { describe, expect, it } from "vitest";
import { createMessage } from "../../src/message/message.ts";
import { renderForPrompt, toChat } from "../../src/model/chat-message.ts";

describe("toChat", () => {
  it("says who spoke and what", () => {
    expect(toChat(createMessage("Build it.", { sentFrom: "Alice" }))).toEqual({ role: "user", content: "Alice: Build it." });
    expect(toChat(createMessage("Build it."))).toEqual({ role: "user", content: "Build it." });
    expect(toChat(createMessage("I did.", { role: "assistant", sentFrom: "Bob" }))).toEqual({ role: "assistant", content: "Bob: I did." });
    expect(toChat(createMessage("Be brief.", { role: "system" }))).toEqual({ role: "system", content: "Be brief." });
  });

  it("a tool's message outside a call of a tool is the user's", () => {
    expect(toChat(createMessage("42", { role: "tool" })).role).toBe("user");
  });

  it("two messages that differ in id, time, cause and metadata alone read the same: or every fork would pay again", () => {
    const one = createMessage("Same.", { sentFrom: "A", id: "1", timestamp: 1, causeBy: "X", metadata: { run: 1 }, parents: ["p"] });
    const two = createMessage("Same.", { sentFrom: "A", id: "2", timestamp: 2, causeBy: "Y", metadata: { run: 2 } });
    expect(toChat(one)).toEqual(toChat(two));
    expect(renderForPrompt(one)).toBe(renderForPrompt(two));
  });
});
