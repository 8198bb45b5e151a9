import { describe, expect, it } from "vitest";
import { debugMemory } from "../../src/inspector/memory-debug.ts";
import { Memory } from "../../src/memory/memory.ts";
import { MemoryDraft } from "../../src/memory/memory-draft.ts";
import { say } from "../memory/storage-setup.ts";

function filled(options: ConstructorParameters<typeof Memory>[0] = {}): Memory {
  const memory = new Memory(options);
  memory.addBatch([
    say("1", "plan the party", { causeBy: "Plan", sentFrom: "Ann", timestamp: 3_000 }),
    say("2", "buy a cake", { causeBy: "Do", sentFrom: "Bob", timestamp: 1_000, role: "assistant" }),
    say("3", "buy candles", { causeBy: "Do", sentFrom: "Bob", timestamp: 3_000, role: "assistant" }),
    say("4", "buy a cake", { causeBy: "Do", timestamp: 0 }),
  ]);
  return memory;
}

describe("debugMemory", () => {
  it("counts by cause, role and sender, the largest first", () => {
    const report = debugMemory(filled());
    expect(report).toMatchObject({ messages: 4, characters: "plan the partybuy a cakebuy candlesbuy a cake".length });
    const counts = (groups: typeof report.byCause): unknown => groups.map(({ name, messages }) => [name, messages]);
    expect(counts(report.byCause)).toEqual([
      ["Do", 3],
      ["Plan", 1],
    ]);
    expect(counts(report.byRole)).toEqual([
      ["user", 2],
      ["assistant", 2],
    ]);
    expect(counts(report.bySender)).toEqual([
      ["Bob", 2],
      ["Ann", 1],
      ["", 1],
    ]);
  });

  it("tells the oldest and the newest by their times, and who has none", () => {
    expect(debugMemory(filled())).toMatchObject({
      oldest: { id: "2", timestamp: 1_000 },
      newest: { id: "3", timestamp: 3_000 },
      undated: 1,
    });
  });

  it("tells what was said more than once", () => {
    expect(debugMemory(filled()).repeated).toEqual([{ excerpt: "buy a cake", ids: ["2", "4"] }]);
  });

  it("estimates the size as that of its JSON, in any script", () => {
    for (const content of ["plain", "数据库 😀", "\u0000\ud800"]) {
      const message = say("1", content);
      expect(debugMemory([message]).bytes).toBe(Buffer.byteLength(JSON.stringify(message)));
    }
  });

  it("shows how texts begin without cutting a character, and marks only those that go on", () => {
    const texts = ["short", "😀".repeat(60), "x".repeat(50), "y".repeat(1_000_000)];
    const first = debugMemory(texts.map((text, n) => say(`${n}`, text))).byCause[0]?.first;
    expect(first).toEqual(["short", `${"😀".repeat(50)}…`, "x".repeat(50)]);
  });

  it("takes an empty memory, a list, a draft and a full memory", () => {
    const empty = { messages: 0, bytes: 0, oldest: undefined, newest: undefined, byCause: [], repeated: [] };
    expect(debugMemory(new Memory())).toMatchObject(empty);
    expect(debugMemory([])).toMatchObject(empty);
    const draft = new MemoryDraft({ base: filled(), by: { act: "a#1~1" } });
    draft.add(say("5", "light them"));
    draft.delete("1");
    expect(debugMemory(draft)).toMatchObject({ messages: 4 });
    expect(debugMemory(filled({ limit: 2 }))).toMatchObject({ messages: 2 });
    expect(debugMemory(filled({ ignoreId: true }))).toMatchObject({ messages: 3, repeated: [] });
  });

  it("changes nothing", () => {
    const memory = filled();
    const before = JSON.stringify(memory);
    debugMemory(memory);
    expect(JSON.stringify(memory)).toBe(before);
  });

  it("bounds the repeated contents", () => {
    const memory = new Memory();
    for (let n = 0; n < 100; n++) memory.addBatch([say(`a${n}`, `text ${n}`), say(`b${n}`, `text ${n}`)]);
    expect(debugMemory(memory).repeated).toHaveLength(20);
  });
});
