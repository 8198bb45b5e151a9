import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { QueueFullError, UsageError } from "../../src/kernel/errors.ts";
import { createMessage, type Message, MESSAGE_VERSION } from "../../src/message/message.ts";
import { MessageQueue } from "../../src/message/message-queue.ts";
import { tries } from "../long.ts";

function said(id: string, priority?: number): Message {
  return createMessage(`content of ${id}`, { id, timestamp: 0, priority });
}

function ids(messages: readonly Message[]): string[] {
  return messages.map((message) => message.id);
}

function queueOf(...pushes: readonly (readonly [id: string, priority?: number])[]): MessageQueue {
  const queue = new MessageQueue();
  for (const [id, priority] of pushes) queue.push(said(id, priority));
  return queue;
}

describe("MessageQueue", () => {
  test("an empty queue gives nothing", () => {
    const queue = new MessageQueue();
    expect([queue.isEmpty, queue.size, queue.pop(), queue.has("a")]).toEqual([true, 0, undefined, false]);
    expect([queue.popAll(), queue.peek(5)]).toEqual([[], []]);
  });

  test("MessageQueue.Q2 an id that waits is refused and changes nothing, not even by another priority", () => {
    const queue = queueOf(["a"], ["b"]);
    expect(queue.push(said("b", -1))).toBe(false);
    expect(queue.push(createMessage("other words", { id: "a" }))).toBe(false);
    expect(() => queue.push(said("c"), { priority: 1 } as never)).toThrow(expect.objectContaining({ code: "OPTION_UNKNOWN" }));
    expect(queue.peek(9).map((message) => message.content)).toEqual(["content of a", "content of b"]);
  });

  test("MessageQueue.Q2 once it has left it may come again, whether it was popped or taken with all", () => {
    const queue = queueOf(["a"]);
    queue.pop();
    expect(queue.push(said("a"))).toBe(true);
    queue.popAll();
    expect(queue.has("a")).toBe(false);
    expect(queue.push(said("a"))).toBe(true);
    expect(queue.size).toBe(1);
  });

  test("peek takes nothing and shows the order of leaving", () => {
    const queue = queueOf(["a", 1], ["b", 0], ["c", 1]);
    expect(ids(queue.peek(2))).toEqual(["b", "a"]);
    expect(ids(queue.peek())).toEqual(["b"]);
    expect(queue.peek(0)).toEqual([]);
    expect(ids(queue.peek(100))).toEqual(["b", "a", "c"]);
    expect(queue.size).toBe(3);
  });

  test.each([-1, 1.5, Number.NaN])("peek refuses %s", (n) => {
    expect(() => new MessageQueue().peek(n)).toThrow(expect.objectContaining({ code: "ARGUMENT_INVALID" }));
  });

  test("a full queue refuses with a typed error and loses nothing", () => {
    const queue = new MessageQueue({ limit: 2 });
    queue.push(said("a"));
    queue.push(said("b"));
    expect(() => queue.push(said("c"))).toThrow(QueueFullError);
    expect(queue.push(said("a"))).toBe(false);
    expect(ids(queue.peek(9))).toEqual(["a", "b"]);
    queue.pop();
    expect(queue.push(said("c"))).toBe(true);
  });

  test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])("a limit of %s is refused", (limit) => {
    expect(() => new MessageQueue({ limit })).toThrow(UsageError);
  });

  test("MessageQueue.Q1 MessageQueue.Q2 property: it behaves as a plain sorted list does", { tags: "numbers" }, () => {
    type Step = { readonly push: number; readonly priority: number } | { readonly pops: number } | "append" | "popAll" | "json" | "asked";
    const step: fc.Arbitrary<Step> = fc.oneof(
      { weight: 6, arbitrary: fc.record({ push: fc.nat(30), priority: fc.integer({ min: -3, max: 3 }) }) },
      { weight: 3, arbitrary: fc.record({ pops: fc.integer({ min: 1, max: 6 }) }) },
      { weight: 5, arbitrary: fc.constant("append" as const) },
      { weight: 2, arbitrary: fc.constantFrom("popAll" as const, "json" as const, "asked" as const) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }), (steps, limit) => {
        let made = 0;
        let queue = new MessageQueue({ limit });
        // The model: waiting entries in order of leaving.
        const model: { id: string; priority: number }[] = [];
        for (const each of steps) {
          if (each === "popAll") expect(ids(queue.popAll())).toEqual(model.splice(0).map((entry) => entry.id));
          else if (each === "append") {
            // Known to be new: nobody has looked.
            const id = `new${(made += 1)}`;
            if (model.length === limit) expect(() => queue.append(said(id))).toThrow(QueueFullError);
            else {
              queue.append(said(id));
              model.push({ id, priority: 0 });
              model.sort((a, b) => a.priority - b.priority);
            }
          } else if (each === "asked") {
            for (const { id } of model) expect([queue.has(id), queue.push(said(id))]).toEqual([true, false]);
            for (let n = 0; n <= 30; n++) expect(queue.has(`m${n}`)).toBe(model.some((entry) => entry.id === `m${n}`));
          } else if (each === "json") queue = MessageQueue.fromJSON(JSON.parse(JSON.stringify(queue)));
          else if ("pops" in each) for (let n = 0; n < each.pops; n++) expect(queue.pop()?.id).toBe(model.shift()?.id);
          else {
            const id = `m${each.push}`;
            const isHeld = model.some((entry) => entry.id === id);
            if (!isHeld && model.length === limit) {
              expect(() => queue.push(said(id, each.priority))).toThrow(QueueFullError);
              continue;
            }
            expect(queue.push(said(id, each.priority))).toBe(!isHeld);
            if (!isHeld) {
              model.push({ id, priority: each.priority });
              model.sort((a, b) => a.priority - b.priority);
            }
          }
          expect(queue.size).toBe(model.length);
          expect(queue.isEmpty).toBe(model.length === 0);
          expect(ids(queue.peek(3))).toEqual(model.slice(0, 3).map((entry) => entry.id));
        }
        for (let n = 0; n <= 30; n++) expect(queue.has(`m${n}`)).toBe(model.some((entry) => entry.id === `m${n}`));
      }),
      { numRuns: tries(100, 1_200) },
    );
  });

  test("MessageQueue.Q3 [MetaGPT compared every waiting message, field by field] a push reads as much whatever waits", () => {
    let reads = 0;
    const counted = (id: string): Message =>
      new Proxy(said(id), {
        get(target, key, receiver) {
          reads++;
          return Reflect.get(target, key, receiver) as unknown;
        },
      });
    const readsForPushAndPop = (waiting: number): number => {
      const queue = new MessageQueue();
      for (let n = 0; n < waiting; n++) queue.push(counted(`w${n}`));
      reads = 0;
      queue.push(counted("one more"));
      queue.pop();
      return reads;
    };
    const few = readsForPushAndPop(10);
    expect(few).toBeLessThan(10);
    expect(readsForPushAndPop(10_000)).toBe(few);
  });
});

describe("MessageQueue as JSON", () => {
  test("[MetaGPT: what nobody had processed was lost on save] what waits is saved and comes back in order, with its priorities", () => {
    const queue = queueOf(["a", 2], ["b"], ["c", -1], ["d"]);
    const read = MessageQueue.fromJSON(JSON.parse(JSON.stringify(queue)));
    read.push(said("e", 1));
    expect(ids(read.popAll())).toEqual(["c", "b", "d", "e", "a"]);
  });

  test("[MetaGPT: a dump drained the queue and let messages pass each other] toJSON answers at once and changes nothing", () => {
    const queue = queueOf(["a"], ["b"]);
    const json = queue.toJSON();
    queue.push(said("c"));
    expect(json.messages.map(({ id }) => id)).toEqual(["a", "b"]);
    expect(ids(queue.popAll())).toEqual(["a", "b", "c"]);
  });

  test("messages carry the version of their wire form, and a limit stays in force", () => {
    const queue = new MessageQueue({ limit: 1 });
    queue.push(said("a", 4));
    const json = JSON.parse(JSON.stringify(queue)) as unknown;
    expect(json).toEqual({ limit: 1, messages: [{ v: MESSAGE_VERSION, ...said("a", 4) }] });
    expect(() => MessageQueue.fromJSON(json).push(said("b"))).toThrow(QueueFullError);
  });

  test("messages of an older form are filled up, and come back frozen", () => {
    const queue = MessageQueue.fromJSON({ messages: [{ content: "hello", role: "user" }] });
    const message = queue.pop();
    expect(message).toMatchObject({ content: "hello", causeBy: "UserRequirement", sendTo: ["<all>"] });
    expect(Object.isFrozen(message)).toBe(true);
  });

  test.each([
    ["nothing", undefined, "expected object"],
    ["a list", [], "expected object"],
    ["no messages", {}, "messages"],
    ["[MetaGPT: an element that could not be loaded was pushed as None] a bad message", { messages: [null] }, "messages[0]"],
    ["a message of a newer version", { messages: [{ v: MESSAGE_VERSION + 1, content: "x" }] }, "newer version"],
    ["a priority that is none", { messages: [{ content: "x", priority: "high" }] }, "messages[0].priority"],
    ["a limit that is none", { limit: 0, messages: [] }, "limit"],
  ])("refuses %s, naming it", (_what, json, named) => {
    expect(() => MessageQueue.fromJSON(json)).toThrow(UsageError);
    expect(() => MessageQueue.fromJSON(json)).toThrow(named);
  });
});
