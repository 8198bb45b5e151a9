import { expect, test } from "vitest";
import { createMessage, type Message } from "../../src/message/message.ts";
import { Memory } from "../../src/memory/memory.ts";
import { MemoryDraft } from "../../src/memory/memory-draft.ts";

const said = (id: string): Message => createMessage(id, { id, timestamp: 0 });

function draft(remembered?: readonly Message[]): MemoryDraft {
  const base = new Memory();
  base.add(said("old"));
  return new MemoryDraft({ base, by: { act: "Alice#1~1" }, remembered });
}

function known(one: MemoryDraft): unknown {
  return [one.remembered, one.size, one.ops, [...one], one.has("m0")];
}

test.each([1, 2, 8, 9])(
  "MemoryDraft.D1 a draft that is given %d messages as remembered equals one that they were added to, and leaves the list unchanged",
  (count) => {
    const before = Array.from({ length: count }, (_, n) => said(`m${n}`));
    const next = said("next");
    const given = draft(Object.freeze([...before]));
    const told = draft();
    told.addBatch(before);
    expect(given.remembered).toEqual(before);
    expect([given.add(said("m0")), given.add(next), told.add(next)]).toEqual([false, true, true]);
    expect(known(given)).toEqual(known(told));
  },
);
