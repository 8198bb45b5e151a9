import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { UsageError } from "../../src/kernel/errors.ts";
import { createMessage, type Message, MESSAGE_VERSION } from "../../src/message/message.ts";
import { Memory } from "../../src/memory/memory.ts";
import { anyWrite, expectSameAnswers, NaiveMemory, writeBoth } from "./naive-memory.ts";
import { tries } from "../long.ts";

function said(id: string, causeBy = "Talk", more: Partial<Message> = {}): Message {
  return createMessage(`content of ${id}`, { id, causeBy, timestamp: 0, ...more });
}

function memoryOf(...names: string[]): Memory {
  const memory = new Memory();
  memory.addBatch(names.map((id) => said(id)));
  return memory;
}

function ids(messages: Iterable<Message>): string[] {
  return [...messages].map((message) => message.id);
}

const options = fc.record({ ignoreId: fc.boolean(), limit: fc.option(fc.integer({ min: 1, max: 10 }), { nil: undefined }) });

describe("Memory", () => {
  test("Memory.M1 Memory.M2 Memory.M3 Memory.M4 property: it answers as a plain list does, after every write", { tags: "numbers" }, () => {
    fc.assert(
      fc.property(options, fc.array(anyWrite, { maxLength: 40 }), (given, writes) => {
        const memory = new Memory(given);
        const naive = new NaiveMemory(given);
        expectSameAnswers(memory, naive);
        for (const write of writes) {
          writeBoth(memory, naive, write);
          expectSameAnswers(memory, naive);
        }
        expect(memory.get()).toEqual(naive.held);
      }),
      { numRuns: tries(20, 240) },
    );
  });

  test(
    "Memory.M3 SlotList.A1 property: it still does after thousands of writes have made and closed its holes",
    { tags: "numbers" },
    () => {
      const size = fc.record({ limit: fc.option(fc.integer({ min: 1, max: 300 }), { nil: undefined }), seed: fc.nat(1000) });
      fc.assert(
        fc.property(size, ({ limit, seed }) => {
          const memory = new Memory({ limit });
          const naive = new NaiveMemory({ limit });
          let number = seed;
          const draw = (below: number): number => {
            number = (number * 1_103_515_245 + 12_345) % 2_147_483_648;
            return Math.floor((number / 2_147_483_648) * below);
          };
          for (let n = 0; n < 1500; n++) {
            const message = said(`m${draw(400)}`, `Action${draw(5)}`, { role: draw(2) === 0 ? "user" : "assistant" });
            // Phases of growing and of shrinking, so that holes come to outnumber what is held.
            if (draw(10) < (n % 600 < 300 ? 8 : 2)) expect(memory.add(message)).toBe(naive.add(message));
            else expect(memory.delete(message.id)).toBe(naive.delete(message.id));
            if (n % 7 === 0) {
              expect(memory.getByAction("Action1")).toEqual(naive.byActions(["Action1"]));
              expect(memory.newestBy("Action2")).toBe(naive.byActions(["Action2"]).at(-1));
            }
            const place = draw(100);
            expect(memory.getByPosition(place)).toBe(naive.held[place]);
          }
          expectSameAnswers(memory, naive);
        }),
        { numRuns: tries(10, 80) },
      );
    },
  );

  test(
    'Memory.M1 [MetaGPT: ignore_id wrote id "0" into the caller\'s message] with ignoreId the content decides, and ids stay',
    { tags: "numbers" },
    () => {
      const memory = new Memory({ ignoreId: true });
      const first = createMessage("hello", { id: "a" });
      expect(memory.add(first)).toBe(true);
      expect(memory.add(createMessage("hello", { id: "b" }))).toBe(false);
      expect(memory.add(createMessage("goodbye", { id: "a" }))).toBe(true);
      expect(first.id).toBe("a");
      expect(ids(memory.get())).toEqual(["a", "a"]);
      expect(memory.delete(createMessage("hello"))).toBe(true);
      expect(memory.get().map((message) => message.content)).toEqual(["goodbye"]);
    },
  );

  test("Memory.M2 [MetaGPT: get_by_action gave out the live list] what a query gives is the caller's own", { tags: "numbers" }, () => {
    const memory = memoryOf("a", "b", "c");
    memory.getByAction("Talk").length = 0;
    memory.getByActions(["Talk"]).reverse();
    memory.getByRole("user").pop();
    memory.getByContent("content").pop();
    memory.get().reverse();
    memory.get(2).pop();
    memory.findNews([said("d")]).pop();
    for (const answer of [memory.get(), memory.getByAction("Talk"), memory.getByRole("user"), memory.getByActions(["Talk"])]) {
      expect(ids(answer)).toEqual(["a", "b", "c"]);
    }
  });

  test(
    "Memory.M2 [MetaGPT: get_by_actions went action by action, in a set's order] several answer in order of arrival, once",
    { tags: "numbers" },
    () => {
      const memory = new Memory();
      for (const [id, cause] of [
        ["1", "B"],
        ["2", "A"],
        ["3", "C"],
        ["4", "B"],
        ["5", "A"],
      ] as const) {
        memory.add(said(id, cause));
      }
      expect(ids(memory.getByActions(["A", "B"]))).toEqual(["1", "2", "4", "5"]);
      expect(ids(memory.getByActions(new Set(["B", { name: "B" }, "A"])))).toEqual(["1", "2", "4", "5"]);
      expect(memory.getByActions([])).toEqual([]);
    },
  );

  test("Memory.M5 [MetaGPT: get(-2) dropped the first two] a count is a whole number of 0 or more", () => {
    const memory = memoryOf("a", "b", "c");
    for (const k of [-1, -2, 1.5, Number.NaN]) {
      expect(() => memory.get(k)).toThrow(expect.objectContaining({ code: "ARGUMENT_INVALID" }));
      expect(() => memory.findNews([], k)).toThrow(expect.objectContaining({ code: "ARGUMENT_INVALID" }));
    }
  });

  test("Memory.M4 the limit forgets the oldest, and what it forgot is news again", { tags: "numbers" }, () => {
    const memory = new Memory({ limit: 2 });
    for (const id of ["a", "b", "c"]) expect(memory.add(said(id))).toBe(true);
    expect(ids(memory.get())).toEqual(["b", "c"]);
    expect(memory.has("a")).toBe(false);
    expect(ids(memory.getByAction("Talk"))).toEqual(["b", "c"]);
    expect(ids(memory.findNews([said("a"), said("b")]))).toEqual(["a"]);
  });

  test("SlotList.A2 messages may be deleted while they are walked through", () => {
    for (const walk of ["oldest", "newest"] as const) {
      const memory = memoryOf(...Array.from({ length: 200 }, (_, n) => `m${n}`));
      const seen: string[] = [];
      for (const message of walk === "oldest" ? memory : memory.newestFirst()) {
        seen.push(message.id);
        memory.delete(message);
        memory.delete(`m${seen.length % 2 === 0 ? 199 - seen.length : 100}`);
      }
      expect(new Set(seen).size).toBe(seen.length);
      expect(memory.size).toBe(0);
    }
  });

  test("SlotList.A2 an iteration skips deleted messages, also after compacting", () => {
    const memory = memoryOf(...Array.from({ length: 100 }, (_, n) => `m${n}`));
    const seen: string[] = [];
    for (const message of memory) {
      seen.push(message.id);
      if (message.id === "m0") for (let n = 1; n < 99; n++) memory.delete(`m${n}`);
    }
    expect(seen).toEqual(["m0", "m99"]);
  });
});

describe("Memory as JSON", () => {
  test("property: what comes back answers as what was saved", { tags: "numbers" }, () => {
    fc.assert(
      fc.property(options, fc.array(anyWrite, { maxLength: 30 }), (given, writes) => {
        const memory = new Memory(given);
        const naive = new NaiveMemory(given);
        for (const write of writes) writeBoth(memory, naive, write);
        const read = Memory.fromJSON(JSON.parse(JSON.stringify(memory)));
        expectSameAnswersByValue(read, memory);
        // And goes on as it would have.
        for (const write of writes) {
          if (write === "deleteNewest") continue;
          writeBoth(read, naive, write);
        }
        expect(ids(read.get())).toEqual(ids(naive.held));
      }),
      { numRuns: tries(20, 240) },
    );
  });

  function expectSameAnswersByValue(one: Memory, other: Memory): void {
    expect(one.get()).toEqual(other.get());
    expect([one.ignoreId, one.limit]).toEqual([other.ignoreId, other.limit]);
    for (const action of ["WriteCode", "Review"]) expect(one.getByAction(action)).toEqual(other.getByAction(action));
  }

  test(
    "[MetaGPT: after a load the list and the index held separate copies] it holds one object for each message, in every index",
    { tags: "numbers" },
    () => {
      const read = Memory.fromJSON(JSON.parse(JSON.stringify(memoryOf("a", "b"))));
      const [first] = read.get();
      expect(read.getByAction("Talk")[0]).toBe(first);
      expect(read.getByRole("user")[0]).toBe(first);
      read.delete("a");
      expect(ids(read.getByAction("Talk"))).toEqual(["b"]);
    },
  );

  test("messages carry their wire version, and options are written only when set", { tags: "numbers" }, () => {
    expect(memoryOf("a").toJSON()).toEqual({ messages: [{ v: MESSAGE_VERSION, ...said("a") }] });
    expect(new Memory({ ignoreId: true, limit: 3 }).toJSON()).toEqual({ ignoreId: true, limit: 3, messages: [] });
  });

  test.each([
    ["nothing", null, "expected object"],
    ["no messages", {}, "messages"],
    ["a bad message", { messages: [{ content: 5 }] }, "messages[0].content"],
    ["a message of a newer version", { messages: [{ v: MESSAGE_VERSION + 1, content: "x" }] }, "newer version"],
    ["a limit that is none", { limit: "many", messages: [] }, "limit"],
  ])("refuses %s, naming it", { tags: "numbers" }, (_what, json, named) => {
    expect(() => Memory.fromJSON(json)).toThrow(UsageError);
    expect(() => Memory.fromJSON(json)).toThrow(named);
  });
});
