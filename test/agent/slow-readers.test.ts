import { describe, expect, it } from "vitest";
import { Brain, MessagesMemory, Net } from "../../src/agent/index.ts";
import { MessageTokens } from "../../src/agent/compaction.ts";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { ChatMemory } from "../../src/memory/chat-memory.ts";
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

/** Whoever takes the pieces takes far longer over each than the model needs for all of them. */
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

describe("the start of a run", () => {
  it("can be taken apart", () => {
    const { usage } = asking(spelling("A")).begin(new MessagesMemory());
    expect(usage()).toEqual({ inputTokens: 0, outputTokens: 0 });
  });
});

describe("the size of a memory", () => {
  const words = ["one", "two", "three"].map((content) => ({ role: "user", content }) as const);

  it("is that of what the model sees, where another class says what that is", async () => {
    class Informed extends MessagesMemory {
      override async dump(): Promise<readonly ChatMessage[]> {
        return [{ role: "user", content: "x".repeat(10_000) }, ...(await super.dump())];
      }
    }
    const memory = new Informed();
    await memory.update(words);
    const tokens = new MessageTokens({ name: "letters", count: (text) => text.length });
    expect(await tokens.ofMemory(memory, await memory.dump())).toBeGreaterThan(10_000);
  });

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
    await tokens.ofMemory(memory, await memory.dump());
    await memory.update([ChatMessage.user("one more")]);
    await tokens.ofMemory(memory, await memory.dump());
    expect(most).toBeLessThanOrEqual(2);
    expect(asked).toBeLessThanOrEqual(52);
  });

  it("does not keep a message out that the measure throws at", () => {
    const memory = new ChatMemory();
    const measure = ({ content = "" }: ChatMessage): number => {
      if (content === "bad") throw new Error("no token");
      return content?.length ?? 0;
    };
    memory.add(ChatMessage.user("a"));
    expect(memory.weigh(measure)).toBe(1);
    for (const content of ["bad", "next", "last"]) memory.add(ChatMessage.user(content));
    expect(memory.messages.map(({ content }) => content)).toEqual(["a", "bad", "next", "last"]);
    expect(memory.size).toBe(4);
    expect(() => memory.weigh(measure)).toThrow("no token");
  });
});
