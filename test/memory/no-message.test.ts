import { describe, expect, it } from "vitest";
import { LongTermMemory } from "../../src/memory/long-term-memory.ts";
import { Memory } from "../../src/memory/memory.ts";
import { MemoryDraft } from "../../src/memory/memory-draft.ts";
import { ShardedStorage } from "../../src/memory/sharded-storage.ts";
import type { Message } from "../../src/message/message.ts";
import { MessageQueue } from "../../src/message/message-queue.ts";
import { errorOf } from "../workspace/scratch.ts";
import { brainWith } from "./brain-setup.ts";
import { storageOver } from "./storage-setup.ts";

type Door = (value: Message) => unknown;

/** Every door through which a program hands over a message. Those of plain JavaScript are given anything. */
const doors: readonly (readonly [name: string, open: () => Door])[] = [
  ["Memory.add", () => (value) => new Memory().add(value)],
  ["Memory.addBatch", () => (value) => new Memory().addBatch([value])],
  ["Memory.has", () => (value) => new Memory().has(value)],
  ["Memory.delete", () => (value) => new Memory().delete(value)],
  ["a draft's add", () => (value) => new MemoryDraft({ base: new Memory(), by: { act: "a#0~1" } }).add(value)],
  ["a draft's has", () => (value) => new MemoryDraft({ base: new Memory(), by: { act: "a#0~1" } }).has(value)],
  ["a draft's delete", () => (value) => new MemoryDraft({ base: new Memory(), by: { act: "a#0~1" } }).delete(value)],
  ["MessageQueue.push", () => (value) => new MessageQueue().push(value)],
  ["LongTermMemory.add", () => (value) => new LongTermMemory({ storage: storageOver() }).add(value)],
  ["MemoryStorage.add", () => (value) => storageOver().add(value)],
  ["MemoryStorage.delete", () => (value) => storageOver().delete(value)],
  ["MemoryStorage.has", () => (value) => storageOver().has(value)],
  ["ShardedStorage.add", () => (value) => new ShardedStorage({ shards: [storageOver()] }).add(value)],
  ["BrainMemory.addTalk", () => (value) => brainWith().brain.addTalk(value)],
  ["BrainMemory.addAnswer", () => (value) => brainWith().brain.addAnswer(value)],
  ["BrainMemory.addKnowledge", () => (value) => brainWith().brain.addKnowledge(value)],
];

describe.each(doors)("%s", (_name, open) => {
  it.each([
    ["nothing", undefined],
    ["null", null],
    ["another object", { foo: 1 }],
    ["a number", 5],
    ["a list", []],
  ])("refuses what is no message, with what came: %s", async (_what, value) => {
    const error = await errorOf(async () => open()(value as unknown as Message));
    expect(error).toMatchObject({ name: "UsageError", code: "MESSAGE_INVALID", message: expect.stringContaining("Expected a message") });
  });
});
