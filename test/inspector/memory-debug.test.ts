import { describe, expect, it } from "vitest";
import { debugMemory } from "../../src/inspector/memory-debug.ts";
import { Memory } from "../../src/memory/memory.ts";
import { MemoryDraft } from "../../src/memory/memory-draft.ts";
import { say } from "../memory/storage-setup.ts";

function filled(options: ConstructorParameters<typeof Memory>[0] = {}): Memory {
  const memory = new Memory(options);
  memory.addBatch([
    say("1", "plan the party", { causeBy: "Plan", sentFrom: "Ann", timestamp: 3_000 }),
    say("2", "buy a cake", { causeBy: "Do", sentFrom: "Bob", timestamp: 1_000 }),
    say("3", "buy candles", { causeBy: "Do", sentFrom: "Bob", timestamp: 3_000 }),
    say("4", "buy a cake", { causeBy: "Do", timestamp: 0 }),
  ]);
  return memory;
}

describe("debugMemory", () => {
  it("groups messages by cause and by sender, the largest group first", () => {
    const report = debugMemory(filled());
    expect(report.messages).toBe(4);
    expect(report.byCause).toEqual([
      { name: "Do", messages: 3, first: ["buy a cake", "buy candles", "buy a cake"] },
      { name: "Plan", messages: 1, first: ["plan the party"] },
    ]);
    expect(report.bySender.map(({ name, messages }) => [name, messages])).toEqual([
      ["Bob", 2],
      ["Ann", 1],
      ["", 1],
    ]);
  });

  it("reports the oldest and the newest message that have a time", () => {
    expect(debugMemory(filled())).toMatchObject({ oldest: { id: "2", timestamp: 1_000 }, newest: { id: "3", timestamp: 3_000 } });
  });

  it("reports the size of the messages as JSON in any script", () => {
    for (const content of ["plain", "数据库 😀", "\u0000\ud800"]) {
      const message = say("1", content);
      expect(debugMemory([message]).bytes).toBe(Buffer.byteLength(JSON.stringify(message)));
    }
  });

  it("cuts long contents between characters", () => {
    const texts = ["short", "😀".repeat(60), "x".repeat(50), "y".repeat(1_000_000)];
    const first = debugMemory(texts.map((text, n) => say(`${n}`, text))).byCause[0]?.first;
    expect(first).toEqual(["short", `${"😀".repeat(50)}…`, "x".repeat(50)]);
  });

  it("accepts an empty memory, a list, a draft and a full memory, and changes none", () => {
    const empty = { messages: 0, bytes: 0, byCause: [], bySender: [], oldest: undefined, newest: undefined };
    expect(debugMemory(new Memory())).toEqual(empty);
    expect(debugMemory([])).toEqual(empty);
    const draft = new MemoryDraft({ base: filled(), by: { act: "a#1~1" } });
    draft.add(say("5", "light them"));
    draft.delete("1");
    expect(debugMemory(draft).messages).toBe(4);
    const full = filled({ limit: 2 });
    const before = JSON.stringify(full);
    expect(debugMemory(full).messages).toBe(2);
    expect(JSON.stringify(full)).toBe(before);
  });
});
