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

  test("MemoryDraft.D1 property: over an empty memory it answers so too, between all writes", { tags: "numbers" }, () => {
    const steps = fc.array(fc.tuple(anyWrite, fc.boolean()), { maxLength: 12 });
    fc.assert(
      fc.property(situation, steps, fc.boolean(), ({ options }, during, settles) => {
        const { memory, naive } = built(options, []);
        const draft = new MemoryDraft({ base: memory, by: { act: "Alice#1~1" } });
        for (const [write, isAsked] of during) {
          writeBoth(draft, naive, write);
          if (isAsked) expectSameAnswers(draft, naive);
        }
        draft.close();
        applyAll(memory, draft.ops);
        if (settles) draft.settle();
        else if (during.length > 0) return;
        expectSameAnswers(draft, naive);
      }),
      { numRuns: tries(25, 400) },
    );
  });

  test.each([null, undefined])("MemoryDraft.D1 what is no message, like %s, is refused as by the memory it stands on", (wrong) => {
    const nothing = wrong as unknown as Message;
    const draft = new MemoryDraft({ base: memoryOf(), by: { act: "Alice#1~1" } });
    expect(() => draft.has(nothing)).toThrow(expect.objectContaining({ code: "MESSAGE_INVALID" }));
    expect(() => draft.add(nothing)).toThrow(expect.objectContaining({ code: "MESSAGE_INVALID" }));
  });

  test("MemoryDraft.D3 once settled it shows the messages of its base", () => {
    const memory = new Memory();
    const draft = new MemoryDraft({ base: memory, by: { act: "Alice#1~1" } });
    draft.add(said("one"));
    draft.close();
    memory.add(said("one"));
    draft.settle();
    expect([draft.has("one"), draft.has("two"), draft.size]).toEqual([true, false, 1]);
  });

  test("MemoryDraft.D1 property: ops that went through JSON do the same", { tags: "numbers" }, () => {
    fc.assert(
      fc.property(situation, ({ options, before, during }) => {
        const { memory, naive } = built(options, before);
        const draft = draftOver(memory);
        for (const write of during) writeBoth(draft, naive, write);
        const ops = JSON.parse(JSON.stringify(draft.ops)) as typeof draft.ops;
        applyAll(memory, ops);
        expect(memory.get()).toEqual(naive.get());
        expectSameIndexes(memory, naive);
      }),
      { numRuns: tries(40, 400) },
    );
  });

  function expectSameIndexes(memory: Memory, naive: NaiveMemory): void {
    for (const action of ["WriteCode", "WriteTest", "Review"]) expect(memory.getByAction(action)).toEqual(naive.byActions([action]));
  }

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

  test("MemoryDraft.D1 the limit makes room in the base first, then among what was added", () => {
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

  test("MemoryDraft.D1 what made room is news again, and may come back", () => {
    const base = new Memory({ limit: 2 });
    base.addBatch([said("a"), said("b")]);
    const draft = draftOver(base);
    draft.add(said("c"));
    expect(ids(draft.findNews([said("a"), said("b")]))).toEqual(["a"]);
    expect(draft.add(said("a"))).toBe(true);
    expect(ids(draft.get())).toEqual(["c", "a"]);
    applyAll(base, draft.ops);
    expect(ids(base.get())).toEqual(["c", "a"]);
  });

  test("MemoryDraft.D1 a message forgotten and remembered again stands at the end", () => {
    const base = memoryOf("a", "b");
    const draft = draftOver(base);
    draft.delete("a");
    draft.add(said("a"));
    expect(ids(draft.getByAction("Talk"))).toEqual(["b", "a"]);
    expect(draft.newestBy("Talk")?.id).toBe("a");
    applyAll(base, draft.ops);
    expect(ids(base.get())).toEqual(["b", "a"]);
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

  test("ops are the caller's own, and empty before the first write", () => {
    const draft = draftOver(memoryOf("a"));
    expect(draft.ops).toEqual([]);
    draft.add(said("b"));
    (draft.ops as unknown[]).pop();
    expect(draft.ops).toHaveLength(1);
  });

  test("answers are the caller's own", () => {
    const draft = draftOver(memoryOf("a"));
    draft.add(said("b"));
    draft.get().pop();
    draft.getByAction("Talk").pop();
    draft.getByRole("user").pop();
    expect([draft.get(), draft.getByAction("Talk"), draft.getByRole("user")].map(ids)).toEqual([
      ["a", "b"],
      ["a", "b"],
      ["a", "b"],
    ]);
  });

  test.each([-1, 0.5, Number.NaN])("Memory.M5 get(%s) is refused before and after the first write", (k) => {
    const draft = draftOver(memoryOf("a"));
    expect(() => draft.get(k)).toThrow(expect.objectContaining({ code: "ARGUMENT_INVALID" }));
    draft.add(said("b"));
    expect(() => draft.get(k)).toThrow(expect.objectContaining({ code: "ARGUMENT_INVALID" }));
    expect(() => draft.findNews([], k)).toThrow(expect.objectContaining({ code: "ARGUMENT_INVALID" }));
    expect(draft.getByPosition(0.5)).toBeUndefined();
  });

  test("MemoryDraft.D3 after close every write is refused, naming the activation, and reads go on", () => {
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
