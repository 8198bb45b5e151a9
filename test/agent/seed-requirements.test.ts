import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type AgentMemory, Brain, ChatMessage, MessagesMemory, type Tool, ToolCollection } from "../../src/agent/index.ts";
import type { Answer, NextAction } from "../../src/agent/agent-memory.ts";
import type { ChatChunk, ChatModel } from "../../src/model/chat-model.ts";
import type { Json } from "../../src/kernel/json.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { call, calls, noting } from "./setup.ts";

/** A memory that lives elsewhere: every answer takes its time and is a copy, as one out of a database is. */
class FarMemory implements AgentMemory {
  readonly tools: ToolCollection;
  done = false;
  nextAction: NextAction | undefined;
  answer: Answer | undefined;
  #stored = "[]";
  #goal = -1;
  readonly #notes = new Map<string, string>();

  constructor(tools: readonly Tool[]) {
    this.tools = new ToolCollection(tools);
  }

  async setGoal(goal: string): Promise<void> {
    this.done = false;
    this.#goal = (await this.dump()).length;
    await this.update([ChatMessage.user(goal)]);
  }

  async update(messages: readonly ChatMessage[]): Promise<void> {
    const before = await this.dump();
    await setImmediate();
    this.#stored = JSON.stringify([...before, ...messages]);
  }

  async goal(): Promise<readonly ChatMessage[]> {
    return (await this.dump()).filter((_message, n) => n === this.#goal);
  }

  async dump(): Promise<readonly ChatMessage[]> {
    await setImmediate();
    return JSON.parse(this.#stored) as ChatMessage[];
  }

  async note(key: string): Promise<Json | undefined> {
    await setImmediate();
    const text = this.#notes.get(key);
    return text === undefined ? undefined : (JSON.parse(text) as Json);
  }

  async setNote(key: string, value: Json): Promise<void> {
    await setImmediate();
    this.#notes.set(key, JSON.stringify(value));
  }

  listTools(): string {
    return JSON.stringify(this.tools.specs);
  }

  getTool(name: string): Tool | undefined {
    return this.tools.find(name);
  }
}

describe("the memory of the third seed", () => {
  it("may be anywhere: all that it may have to fetch is waited for", async () => {
    const look = noting();
    const memory = new FarMemory([look]);
    await memory.setGoal("What is there?");
    const brain = new Brain({ model: scriptedModel([calls(call("look", { q: "a" }), call("look", { q: "b" }, "look_2")), "a and b"]) });
    for await (const _piece of brain.run(memory));
    expect(memory).toMatchObject({ done: true, answer: { text: "a and b" } });
    expect(look.seen.toSorted()).toEqual(["a", "b"]);
    expect((await memory.dump()).map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "assistant"]);
  });
});

describe("the states of the third seed", () => {
  it("stream: the first words are there before the last ones are made", async () => {
    let goOn = (): void => {};
    const rest = new Promise<void>((resolve) => (goOn = resolve));
    async function* stream(): AsyncGenerator<ChatChunk> {
      yield { content: "The first" };
      await rest;
      yield { content: " and the last.", finishReason: "stop" };
    }
    const model: ChatModel = { id: "slow", chat: () => Promise.reject(new Error("it streams")), stream };
    const memory = new MessagesMemory({ tools: [] });
    await memory.setGoal("Speak.");
    const pieces = new Brain({ model }).run(memory);
    expect((await pieces.next()).value).toBe("The first");
    goOn();
    expect((await pieces.next()).value).toBe(" and the last.");
    expect((await pieces.next()).value).toMatchObject({ status: "finished" });
  });
});
