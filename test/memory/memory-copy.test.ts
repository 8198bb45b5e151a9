import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Memory } from "../../src/memory/memory.ts";
import { createMessage, type Message } from "../../src/message/message.ts";
import { tries } from "../long.ts";

const messages = Array.from({ length: 12 }, (_, n) =>
  createMessage(`text ${n % 7}`, { id: `m${n}`, causeBy: n % 2 === 0 ? "Even" : "Odd", timestamp: n }),
);

type Deed = readonly ["add" | "delete" | "clear" | "copy", number, number];

const deeds: fc.Arbitrary<Deed[]> = fc.array(
  fc.tuple(
    fc.oneof(
      { weight: 8, arbitrary: fc.constant("add" as const) },
      { weight: 2, arbitrary: fc.constant("delete" as const) },
      { weight: 1, arbitrary: fc.constant("clear" as const) },
      { weight: 3, arbitrary: fc.constant("copy" as const) },
    ),
    fc.nat({ max: 7 }),
    fc.nat({ max: messages.length - 1 }),
  ),
  { maxLength: 60 },
);

/** A memory and the plain list that it should equal. */
interface Pair {
  readonly memory: Memory;
  list: Message[];
}

function identityOf(message: Message, ignoreId: boolean): string {
  return ignoreId ? message.content : message.id;
}

function change(pair: Pair, deed: Deed[0], message: Message, o: { readonly limit: number | undefined; readonly ignoreId: boolean }): void {
  const { memory } = pair;
  const same = (other: Message): boolean => identityOf(other, o.ignoreId) === identityOf(message, o.ignoreId);
  if (deed === "add") {
    memory.add(message);
    if (!pair.list.some(same)) pair.list = [...pair.list, message].slice(-(o.limit ?? Infinity));
  }
  if (deed === "delete") {
    memory.delete(message);
    pair.list = pair.list.filter((other) => !same(other));
  }
  if (deed === "clear") {
    memory.clear();
    pair.list = [];
  }
}

describe("Memory.copy", () => {
  test("property: a memory and its copies, and copies of those, change apart", { tags: "numbers" }, () => {
    fc.assert(
      fc.property(deeds, fc.constantFrom(undefined, 3, 8), fc.boolean(), (list, limit, ignoreId) => {
        const pairs: Pair[] = [{ memory: new Memory({ limit, ignoreId }), list: [] }];
        for (const [deed, which, what] of list) {
          const pair = pairs[which % pairs.length] as Pair;
          if (deed === "copy") pairs.push({ memory: pair.memory.copy(), list: pair.list });
          else change(pair, deed, messages[what] as Message, { limit, ignoreId });
          for (const one of pairs) {
            expect(one.memory.get()).toEqual(one.list);
            expect(one.memory.size).toBe(one.list.length);
            expect(one.memory.getByAction("Odd")).toEqual(one.list.filter(({ causeBy }) => causeBy === "Odd"));
            for (const message of messages) {
              const known = one.list.find((other) => identityOf(other, ignoreId) === identityOf(message, ignoreId));
              expect(one.memory.find(message)).toBe(known);
            }
          }
        }
      }),
      { numRuns: tries(60, 2_000) },
    );
  });
});
