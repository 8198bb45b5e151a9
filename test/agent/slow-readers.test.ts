import { describe, expect, it } from "vitest";
import { Brain, MessagesMemory, Net } from "../../src/agent/index.ts";
import { MessageTokens } from "../../src/agent/compaction.ts";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { ChatMessage } from "../../src/model/chat-message.ts";
import type { ChatChunk, ChatModel } from "../../src/model/chat-model.ts";

/** A model whose answer comes letter by letter, a turn of the event loop apart, and then perhaps breaks off. */
function spelling(letters: string, breaks = false): ChatModel {
  return {
    id: "spelling",
    streams: true,
    chat: () => Promise.reject(new Error("it streams")),
    async *stream(): AsyncGenerator<ChatChunk> {
      for (const content of letters) {
        await nextMacrotask();
        yield { content };
      }
      if (breaks) throw new Error("broken off");
      yield { finishReason: "stop", usage: { inputTokens: 1, outputTokens: 1 } };
    },
  };
}

function asking(model: ChatModel): Brain {
  const net = new Net({
    name: "one",
    start: "only",
    states: {
      only: {
        async *run(_memory, mind) {
          yield* mind.ask({ messages: [{ role: "user", content: "go" }] });
        },
        nextState: () => Promise.resolve("END"),
      },
    },
  });
  return new Brain({ model, maxSteps: 1, net });
}

/** The reader needs far longer for each piece than the model needs for all of them. */
async function slowlyRead(brain: Brain): Promise<{ readonly text: string; readonly failed: boolean }> {
  let text = "";
  try {
    for await (const piece of brain.run(new MessagesMemory())) {
      text += piece;
      for (let turn = 0; turn < 50; turn += 1) await nextMacrotask();
    }
  } catch {
    return { text, failed: true };
  }
  return { text, failed: false };
}

describe("a reader that is slow", () => {
  it("gets all that was said, although the answer had ended long before", async () => {
    expect((await slowlyRead(asking(spelling("ABCD")))).text).toBe("ABCD");
  });

  it("gets what was said before the answer broke off, and then that it did", async () => {
    expect(await slowlyRead(asking(spelling("ABC", true)))).toEqual({ text: "ABC", failed: true });
  });
});

describe("the size of a memory", () => {
  it("is asked of a counter that answers later one message after another, each once", async () => {
    let [now, most, asked] = [0, 0, 0];
    const tokens = new MessageTokens({
      name: "late",
      async count(text) {
        asked += 1;
        most = Math.max(most, (now += 1));
        await nextMacrotask();
        now -= 1;
        return text.length;
      },
    });
    const memory = new MessagesMemory();
    await memory.update(Array.from({ length: 50 }, (_, n) => ChatMessage.user(`message ${n}`)));
    await tokens.ofMessages(await memory.dump());
    await memory.update([ChatMessage.user("one more")]);
    await tokens.ofMessages(await memory.dump());
    expect(most).toBeLessThanOrEqual(2);
    expect(asked).toBeLessThanOrEqual(52);
  });
});
