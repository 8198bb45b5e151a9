import { describe, expect, it } from "vitest";
import { debugMemory } from "../../src/inspector/memory-debug.ts";
import { Memory } from "../../src/memory/memory.ts";
import { MemoryDraft } from "../../src/memory/memory-draft.ts";
import type { Message } from "../../src/message/message.ts";
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

/** A memory with one answer that is wrong. */
function broken(member: string, answer: unknown): Memory {
  return new Proxy(filled(), {
    get: (memory, key) => {
      if (key === member) return answer;
      const value: unknown = Reflect.get(memory, key, memory);
      return typeof value === "function" ? (value.bind(memory) as unknown) : value;
    },
  });
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

  it("takes an empty memory, a list, a draft and a full memory, and finds no fault with them", () => {
    const empty = { messages: 0, bytes: 0, oldest: undefined, newest: undefined, byCause: [], repeated: [], faults: [] };
    expect(debugMemory(new Memory())).toMatchObject(empty);
    expect(debugMemory([])).toMatchObject(empty);
    const draft = new MemoryDraft({ base: filled(), by: { act: "a#1~1" } });
    draft.add(say("5", "light them"));
    draft.delete("1");
    expect(debugMemory(draft)).toMatchObject({ messages: 4, faults: [] });
    expect(debugMemory(filled({ limit: 2 }))).toMatchObject({ messages: 2, faults: [] });
    expect(debugMemory(filled({ ignoreId: true }))).toMatchObject({ messages: 3, repeated: [], faults: [] });
  });

  it("changes nothing", () => {
    const memory = filled();
    const before = JSON.stringify(memory);
    debugMemory(memory);
    expect(JSON.stringify(memory)).toBe(before);
  });

  it.each([
    ["an index that lost a message", "getByAction", () => [], /getByAction\("Do"\)/],
    ["an index that is in another order", "getByRole", (): Message[] => [...filled().getByRole("user")].reverse(), /getByRole\("user"\)/],
    ["a newest that is not", "newestBy", () => filled().getByPosition(0), /newestBy\("Do"\)/],
    ["a size that is not", "size", 7, /size is 7, but 4/],
    ["a limit that does not hold", "limit", 2, /the limit is 2, but 4/],
    ["a walk back that misses some", "newestFirst", () => [][Symbol.iterator](), /newestFirst\(\)/],
    ["identities that got lost", "has", () => false, /does not know a message that is held: 1$/],
    ["places that moved", "getByPosition", () => undefined, /getByPosition/],
  ])("finds %s", (_what, member, answer, fault) => {
    const { faults } = debugMemory(broken(member, answer));
    expect(faults.join("\n")).toMatch(new RegExp(fault.source, "m"));
  });

  it("finds messages that are held twice", () => {
    const twice = [...filled(), say("1", "other words")];
    const memory = broken(Symbol.iterator as unknown as string, () => twice[Symbol.iterator]());
    expect(debugMemory(memory).faults.join("\n")).toContain("2 messages are held that are the same: 1");
  });

  it("bounds what it tells of a memory that is broken all over", () => {
    const memory = new Memory();
    for (let n = 0; n < 100; n++) memory.addBatch([say(`a${n}`, `text ${n}`), say(`b${n}`, `text ${n}`)]);
    const wrong = new Proxy(memory, {
      get: (target, key) => {
        if (key === "has") return () => false;
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
    const report = debugMemory(wrong);
    expect(report.faults).toHaveLength(20);
    expect(report.repeated).toHaveLength(20);
  });
});
