import { describe, expect, test } from "vitest";
import { isKnown, knownMemory, recordedMemory } from "../../../src/runtime/turn/recorded-memory.ts";
import { Memory } from "../../../src/memory/memory.ts";
import { MemoryDraft } from "../../../src/memory/memory-draft.ts";
import { createMessage, type Message } from "../../../src/message/message.ts";
import type { Sent } from "../../../src/runtime/record/event.ts";

const message = (id: string): Message => createMessage(`says ${id}`, { id, timestamp: 0 });
const sent = (one: Message): Sent => ({ message: one, to: [] });

function draftOf(...remembered: readonly Message[]): MemoryDraft {
  const draft = new MemoryDraft({ base: new Memory(), by: { act: "Ann#0~1" } });
  draft.addBatch(remembered);
  return draft;
}

const heard = message("heard");
const said = message("said");

describe("what an activation remembered", () => {
  test("is known where it is a few messages that it took or said, and is named then", () => {
    const draft = draftOf(heard, said);
    expect(knownMemory(draft, [heard], [sent(said)])).toEqual([heard, said]);
    expect(recordedMemory(draft, [heard], [sent(said)])).toEqual([
      ["+", "heard"],
      ["+", "said"],
    ]);
  });

  test("is known without a look at a draft where it is what it took, and then what it said", () => {
    const more = message("more");
    const told = [sent(said), sent(more)];
    const all = [[heard], [heard, said], [heard, said, more]];
    const others = [undefined, [said], [heard, more], [heard, said, more, said], [heard, message("said")]];
    expect(all.map((remembered) => isKnown(remembered, [heard], told))).toEqual([true, true, true]);
    expect(others.map((remembered) => isKnown(remembered, [heard], told))).toEqual([false, false, false, false, false]);
  });

  test.each([
    ["another of the same id was said", [heard], message("heard")],
    ["another of the same id was taken", [message("heard")], said],
    ["it was neither taken nor said", [], said],
  ])("is told whole where %s", (_, taken, word) => {
    const draft = draftOf(heard);
    expect(knownMemory(draft, taken, [sent(word)])).toBeUndefined();
    const [op] = recordedMemory(draft, taken, [sent(word)]);
    expect(op?.[1]).toBe(heard);
  });

  test("is told by its operations where they are more than that", () => {
    const draft = draftOf(heard);
    draft.delete(heard);
    expect(knownMemory(draft, [heard], [])).toBeUndefined();
    expect(recordedMemory(draft, [heard], [])).toEqual([
      ["+", "heard"],
      ["-", "heard"],
    ]);
    const many = Array.from({ length: 9 }, (_, n) => message(`m${n}`));
    expect(knownMemory(draftOf(...many.slice(0, 2)), many, [])).toBeUndefined();
    expect(knownMemory(draftOf(), [heard], [])).toBeUndefined();
    expect(recordedMemory(draftOf(), [heard], [])).toEqual([]);
  });
});
