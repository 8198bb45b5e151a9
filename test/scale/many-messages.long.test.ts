// @module-tag numbers
import { describe, expect, it } from "vitest";
import { workOf } from "./work.ts";
import { Memory } from "../../src/memory/memory.ts";
import { createMessage, type Message } from "../../src/message/message.ts";

function said(n: number): Message {
  return createMessage("hello", { id: `Writer#${n}.0`, timestamp: 0 });
}

/** The work of hearing so many more when `before` are known: each is asked for and told. */
async function hearing(before: number, more: number): Promise<number> {
  const memory = new Memory();
  const messages = Array.from({ length: before + more }, (_, n) => said(n));
  memory.addBatch(messages.slice(0, before));
  const news = messages.slice(before);
  return workOf(() => {
    for (const message of news) {
      if (memory.findNews([message]).length === 1) memory.add(message);
    }
    expect(memory.size).toBe(before + more);
  });
}

describe("a memory of very many messages", () => {
  it("Memory.M3 adds a message with the same amount of work, however many it holds", async () => {
    const more = 4_000;
    await hearing(1_000, 100);
    const many = await hearing(10_000, more);
    expect(many).toBeGreaterThan(more * 5);
    expect(await hearing(40_000, more)).toBeLessThan(many * 1.5);
  });
});
