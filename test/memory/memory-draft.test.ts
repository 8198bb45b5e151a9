import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ContextClosedError } from "../../src/kernel/errors.ts";
import { createMessage, type Message } from "../../src/message/message.ts";
import { Memory } from "../../src/memory/memory.ts";
import { applyMemoryOp, MemoryDraft, type MemoryOp } from "../../src/memory/memory-draft.ts";
import type { MessageMemory } from "../../src/memory/message-memory.ts";
import { tries } from "../long.ts";
import { anyWrite, expectSameAnswers, NaiveMemory, writeBoth, type Write } from "./naive-memory.ts";

function said(id: string, causeBy = "Talk", timestamp = 0): Message {
  return createMessage(`content of ${id}`, { id, causeBy, timestamp });
}

function memoryOf(...names: string[]): Memory {
  const memory = new Memory();
  memory.addBatch(names.map((id) => said(id)));
  return memory;
}

function draftOver(base: Memory): MemoryDraft {
  return new MemoryDraft({ base, by: { act: "Alice#1~1" } });
}

function ids(messages: Iterable<Message>): string[] {
  return [...messages].map((message) => message.id);
}

function applyAll(memory: Memory, ops: readonly MemoryOp[]): void {
  for (const op of ops) applyMemoryOp(memory, op);
}

const situation = fc.record({
  options: fc.record({ ignoreId: fc.boolean(), limit: fc.option(fc.integer({ min: 1, max: 10 }), { nil: undefined }) }),
  before: fc.array(anyWrite, { maxLength: 30 }),
  during: fc.array(anyWrite, { maxLength: 15 }),
});

function built(
  options: { ignoreId: boolean; limit: number | undefined },
  writes: readonly Write[],
): { memory: Memory; naive: NaiveMemory } {
  const memory = new Memory(options);
  const naive = new NaiveMemory(options);
  for (const write of writes) writeBoth(memory, naive, write);
  return { memory, naive };
}

describe("MemoryDraft", () => {
  test(
    "MemoryDraft.D1 property: it answers as if the writes had happened, and so does the base once they are applied",
    { tags: "numbers" },
    () => {
      fc.assert(
        fc.property(situation, ({ options, before, during }) => {
          const { memory, naive } = built(options, before);
          const untouched = JSON.stringify(memory);
          const draft = draftOver(memory);
          expectSameAnswers(draft, naive);
          for (const write of during) {
            writeBoth(draft, naive, write);
            expectSameAnswers(draft, naive);
          }
          expect(JSON.stringify(memory)).toBe(untouched);
          draft.close();
          applyAll(memory, draft.ops);
          expectSameAnswers(memory, naive);
          draft.settle();
          expectSameAnswers(draft, naive);
        }),
        { numRuns: tries(25, 400) },
      );
    },
  );

  test("MemoryDraft.D1 property: several activations after one another leave the base as one list would be", { tags: "numbers" }, () => {
    fc.assert(
      fc.property(situation, fc.array(fc.array(anyWrite, { maxLength: 8 }), { maxLength: 6 }), ({ options, before }, turns) => {
        const { memory, naive } = built(options, before);
        for (const turn of turns) {
          const draft = draftOver(memory);
          for (const write of turn) writeBoth(draft, naive, write);
          applyAll(memory, draft.ops);
        }
        expectSameAnswers(memory, naive);
        expect(memory.get()).toEqual(naive.held);
      }),
      { numRuns: tries(20, 300) },
    );
  });

  test("MemoryDraft.D1 MemoryDraft.D2 the limit makes room in the base first, then among what was added", () => {
    const base = new Memory({ limit: 3 });
    base.addBatch([said("a"), said("b"), said("c")]);
    const draft = draftOver(base);
    draft.add(said("d"));
    expect(ids(draft.get())).toEqual(["b", "c", "d"]);
    draft.addBatch([said("e"), said("f"), said("g")]);
    expect(ids(draft.get())).toEqual(["e", "f", "g"]);
    expect(draft.ops.map((op) => op[0])).toEqual(["+", "+", "+", "+"]);
    expect(ids(base.get())).toEqual(["a", "b", "c"]);
  });

  test("with ignoreId a forgotten message is named by its content, since ids do not tell it from others", () => {
    const base = new Memory({ ignoreId: true });
    base.addBatch([createMessage("one", { id: "a" }), createMessage("two", { id: "a" })]);
    const draft = draftOver(base);
    draft.delete(createMessage("one"));
    expect(draft.ops).toEqual([["-", "one"]]);
    applyAll(base, draft.ops);
    expect(base.get().map((message) => message.content)).toEqual(["two"]);
  });

  test("clear makes all earlier writes void", () => {
    const base = memoryOf("a", "b");
    const draft = draftOver(base);
    draft.add(said("c"));
    draft.clear();
    draft.add(said("b"));
    expect(draft.ops).toEqual([["0"], ["+", said("b")]]);
    expect([draft.size, draft.has("a"), draft.has("b")]).toEqual([1, false, true]);
  });

  test("writes that change nothing are not written down", () => {
    const draft = draftOver(memoryOf("a"));
    expect([draft.add(said("a")), draft.delete("x"), draft.deleteOlderThan(-1), draft.addBatch([])]).toEqual([false, false, 0, 0]);
    expect(draft.ops).toEqual([]);
    const empty = draftOver(new Memory());
    empty.clear();
    expect(empty.deleteNewest()).toBeUndefined();
    expect(empty.ops).toEqual([]);
  });

  test("MemoryDraft.D3 after close every write is refused, naming the activation, and reads continue", () => {
    const draft = draftOver(memoryOf("a"));
    draft.add(said("b"));
    draft.close();
    const writes: readonly ((memory: MessageMemory) => unknown)[] = [
      (memory) => memory.add(said("c")),
      (memory) => memory.addBatch([]),
      (memory) => memory.delete("a"),
      (memory) => memory.deleteNewest(),
      (memory) => memory.deleteOlderThan(0),
      (memory) => memory.clear(),
    ];
    for (const write of writes) {
      expect(() => write(draft)).toThrow(ContextClosedError);
      expect(() => write(draft)).toThrow(/memory\.\w+ came after activation Alice#1~1/);
    }
    expect(ids(draft.get())).toEqual(["a", "b"]);
    expect(draft.ops).toHaveLength(1);
  });

  test("MemoryDraft.D3 once settled it shows the base, with no message twice, also when the writes were dropped", () => {
    const base = memoryOf("a");
    const applied = draftOver(base);
    applied.add(said("b"));
    applyAll(base, applied.ops);
    applied.settle();
    expect(ids(applied.get())).toEqual(["a", "b"]);
    const dropped = draftOver(base);
    dropped.add(said("c"));
    dropped.settle();
    expect(ids(dropped.get())).toEqual(["a", "b"]);
    expect(() => dropped.add(said("d"))).toThrow(ContextClosedError);
  });

  test("what the base forgets meanwhile, an untouched draft forgets with it", () => {
    const base = memoryOf("a", "b");
    const draft = draftOver(base);
    base.delete("a");
    expect(ids(draft.get())).toEqual(["b"]);
  });
});
