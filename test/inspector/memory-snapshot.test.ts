import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { contentHash } from "../../src/kernel/json.ts";
import { inMemoryStore } from "../../src/memory/message-store.ts";
import { LongTermMemory } from "../../src/memory/long-term-memory.ts";
import { type MemorySnapshot, exportSnapshot, importSnapshot, snapshotLines } from "../../src/inspector/memory-snapshot.ts";
import type { MemoryStorage } from "../../src/memory/memory-storage.ts";
import { Memory } from "../../src/memory/memory.ts";
import { createMessage } from "../../src/message/message.ts";
import { tries } from "../long.ts";
import { simulatedClock } from "../../src/testing/index.ts";
import { say, storageOver, watched } from "../memory/storage-setup.ts";
import { errorOf } from "../workspace/scratch.ts";

const clock = simulatedClock(50_000);

async function textOf(memory: Parameters<typeof exportSnapshot>[0]): Promise<string> {
  return [...snapshotLines(await exportSnapshot(memory, { clock }))].join("\n");
}

function some(): Memory {
  const memory = new Memory();
  memory.addBatch([
    say("1", "first", { instructContent: { deep: [1, null, "x"] }, metadata: { k: true }, parents: ["0"], sendTo: ["Ann", "Bob"] }),
    say("2", "\u0000 \ud800 \u2028 数据库 😀", { role: "tool", sentFrom: "Ann", causeBy: "Write", instructContent: null }),
    say("3", "x".repeat(1_000_000)),
  ]);
  return memory;
}

async function filledStorage(): Promise<MemoryStorage> {
  const storage = storageOver(inMemoryStore(), { runId: "a", clock });
  await storage.addBatch([say("1"), say("2", "undated", { timestamp: 0 })]);
  await storage.addBatch([say("1", "of another run")], { runId: "../b" });
  return storage;
}

/** A changed snapshot with the checksum of its new content. */
async function forged(memory: Parameters<typeof exportSnapshot>[0], change: (body: Record<string, unknown>) => unknown): Promise<string> {
  const snapshot = JSON.parse(await textOf(memory)) as { body: Record<string, unknown>; sha256: string; messages: number };
  snapshot.body = change(snapshot.body) as Record<string, unknown>;
  snapshot.sha256 = contentHash(snapshot.body);
  if (Array.isArray(snapshot.body["messages"])) snapshot.messages = snapshot.body["messages"].length;
  return JSON.stringify(snapshot);
}

describe("a snapshot of a short-term memory", () => {
  it("restores every field of a message", async () => {
    const memory = some();
    const back = new Memory();
    expect(await importSnapshot(await textOf(memory), back)).toEqual({ messages: 3, added: 3 });
    expect(back.get()).toEqual(memory.get());
    expect(back.getByAction("Write")).toEqual(memory.getByAction("Write"));
  });

  it("is one JSON document with one message per line", async () => {
    const text = await textOf(some());
    expect(text.split("\n")).toHaveLength(5);
    expect(JSON.parse(text)).toEqual(await exportSnapshot(some(), { clock }));
    expect(JSON.parse(text)).toMatchObject({ troupe: "memory", v: 1, kind: "memory", takenAt: 50_000, messages: 3 });
    expect(JSON.parse(await textOf(new Memory()))).toMatchObject({ messages: 0, body: { messages: [] } });
  });

  it("restores any messages", { tags: "numbers" }, async () => {
    const text = fc.string({ unit: "binary" });
    const payload = fc.jsonValue().filter((value) => !JSON.stringify(value).includes("__proto__"));
    const message = fc.record({ content: text, sentFrom: text, causeBy: text, sendTo: fc.array(text), instructContent: payload });
    await fc.assert(
      fc.asyncProperty(fc.array(message, { maxLength: 8 }), fc.boolean(), async (list, ignoreId) => {
        const memory = new Memory({ ignoreId, limit: 5 });
        memory.addBatch(list.map(({ content, ...fields }, n) => createMessage(content, { id: `m${n}`, timestamp: n, ...fields })));
        const back = new Memory({ ignoreId, limit: 5 });
        await importSnapshot(await textOf(memory), back);
        expect(back.toJSON()).toEqual(memory.toJSON());
      }),
      { numRuns: tries(8, 300) },
    );
  });

  it("is appended, and a second import changes nothing", async () => {
    const memory = new Memory();
    memory.addBatch([say("0"), say("2")]);
    const text = await textOf(some());
    expect(await importSnapshot(text, memory)).toEqual({ messages: 3, added: 2 });
    expect(await importSnapshot(text, memory)).toEqual({ messages: 3, added: 0 });
    expect(memory.get().map(({ id }) => id)).toEqual(["0", "2", "1", "3"]);
    expect(memory.getByContent("words of 2")).toHaveLength(1);
  });

  it("is refused by a memory with another ignoreId", async () => {
    expect((await errorOf(async () => importSnapshot(await textOf(some()), new Memory({ ignoreId: true })))).code).toBe("SNAPSHOT_KIND");
  });
});

describe("a snapshot of a long-term memory", () => {
  it("restores runs and times, and its messages can be searched", async () => {
    const storage = await filledStorage();
    const back = storageOver(inMemoryStore(), { clock });
    const text = await textOf(storage);
    expect(await importSnapshot(text, back)).toEqual({ messages: 3, added: 3 });
    expect(await back.entries()).toEqual(await storage.entries());
    expect(await textOf(back)).toBe(text);
    expect(await back.searchSimilar("another run")).toMatchObject([{ runId: "../b", message: { id: "1" } }]);
    expect(await importSnapshot(text, back)).toEqual({ messages: 3, added: 0 });
  });

  it("stores pending messages first, and needs no embedder", async () => {
    const embedder = watched();
    embedder.before = () => {
      throw new Error("no network");
    };
    const memory = new LongTermMemory({ storage: storageOver(inMemoryStore(), { embedder, runId: "r" }) });
    memory.addBatch([say("1"), say("2")]);
    const text = await textOf(memory);
    expect(memory.unsaved).toBe(0);
    const back = new LongTermMemory({ storage: storageOver(inMemoryStore(), { runId: "r" }) });
    expect(await importSnapshot(text, back)).toEqual({ messages: 2, added: 2 });
    expect(back.get()).toEqual(memory.get());
  });

  it("fails when a pending message cannot be stored", async () => {
    const store = inMemoryStore();
    vi.spyOn(store, "add").mockRejectedValue(new Error("disk full"));
    const memory = new LongTermMemory({ storage: storageOver(store) });
    memory.add(say("1"));
    await expect(exportSnapshot(memory)).rejects.toThrow("disk full");
  });

  it("cannot move the times of the store into the future", async () => {
    const text = await forged(await filledStorage(), (body) => ({
      ...body,
      messages: (body["messages"] as object[]).map((entry) => ({ ...entry, addedAt: 8e15 })),
    }));
    const back = storageOver(inMemoryStore(), { clock });
    await importSnapshot(text, back);
    expect(await back.nextTime()).toBeLessThan(50_001);
    expect((await back.entries()).map(({ message }) => message.content)).toEqual(["words of 1", "undated", "of another run"]);
  });
});

describe("a value that is not a snapshot", () => {
  const good = filledStorage().then(textOf);

  /** The code of an import, which must have changed nothing. */
  async function refused(snapshot: unknown): Promise<string> {
    const into = storageOver();
    const error = await errorOf(() => importSnapshot(snapshot, into));
    expect(await into.entries()).toEqual([]);
    return error.code;
  }

  it("is refused when it is cut anywhere, or a character of its body changes", { tags: ["pages", "long"] }, async () => {
    const text = await good;
    for (let end = 0; end < text.length; end++) expect(await refused(text.slice(0, end))).toBe("SNAPSHOT_INVALID");
    const start = text.indexOf('"body"');
    for (let at = start + 8; at < text.length; at++) {
      const changed = `${text.slice(0, at)}${text[at] === "7" ? "8" : "7"}${text.slice(at + 1)}`;
      expect(await refused(changed)).toBe("SNAPSHOT_INVALID");
    }
  });

  it.each([
    ["nothing", undefined, "SNAPSHOT_FOREIGN"],
    ["null", "null", "SNAPSHOT_FOREIGN"],
    ["a list", "[]", "SNAPSHOT_FOREIGN"],
    ["the snapshot of another program", { timestamp: "2026", count: 0, messages: [] }, "SNAPSHOT_FOREIGN"],
    ["an exported run", '{"troupe":"run","v":1}', "SNAPSHOT_FOREIGN"],
    ["a newer version", { troupe: "memory", v: 2, whatever: true }, "SNAPSHOT_NEWER"],
    ["one without a body", head({}), "SNAPSHOT_INVALID"],
    ["one whose body is no object", head({ body: 7 }), "SNAPSHOT_INVALID"],
    ["a version that is none", { troupe: "memory", v: "1" }, "SNAPSHOT_INVALID"],
    ["an empty text", "", "SNAPSHOT_INVALID"],
    ["nesting without end", "[".repeat(1_000_000), "SNAPSHOT_INVALID"],
  ])("is refused: %s", async (_what, snapshot, code) => {
    expect(await refused(snapshot)).toBe(code);
  });

  it.each([
    ["in a message", (m: string) => m.replace('"metadata":{}', '"metadata":{"__proto__":{"polluted":true}}')],
    ["beside the messages", (m: string) => m.replace('"body":{', '"body":{"__proto__":{"messages":[]},')],
    ["in the head", (m: string) => m.replace('{"troupe"', '{"__proto__":{"v":1},"troupe"')],
  ])("is refused with __proto__ %s", async (_where, change) => {
    const text = await good;
    expect(change(text)).not.toBe(text);
    expect(await refused(change(text))).toBe("SNAPSHOT_INVALID");
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it("is refused with damaged or doubled messages", async () => {
    const storage = await filledStorage();
    type Entries = { runId: string; addedAt: unknown; message: Record<string, unknown> }[];
    const changed = (change: (entries: Entries) => unknown): Promise<string> =>
      forged(storage, (body) => ({ ...body, messages: change(body["messages"] as Entries) }));
    const first = (patch: object): ((entries: Entries) => unknown) => {
      return ([entry, ...rest]) => [{ ...entry, message: { ...entry?.message, ...patch } }, ...rest];
    };
    expect(await refused(await changed(first({ v: 2 })))).toBe("SNAPSHOT_NEWER");
    for (const change of [
      first({ id: "" }),
      first({ id: undefined }),
      first({ timestamp: undefined }),
      first({ content: 7 }),
      (entries: Entries) => [...entries, entries[0]],
      (entries: Entries) => entries.map((entry) => ({ ...entry, addedAt: -1 })),
      (entries: Entries) => entries.map((entry) => ({ ...entry, addedAt: "now" })),
      (entries: Entries) => entries.map((entry) => ({ ...entry, addedAt: 1e300 })),
      (entries: Entries) => entries.map((entry) => ({ ...entry, extra: 1 })),
      () => [null],
      () => ({}),
    ]) {
      expect(await refused(await changed(change))).toBe("SNAPSHOT_INVALID");
    }
    // The same words in two messages are two messages, and an id may come back in another run.
    expect(await errorOf(async () => importSnapshot(await textOf(storage), storageOver())).catch(() => "taken")).toBe("taken");
  });

  it("is refused when its count is wrong", async () => {
    const snapshot = JSON.parse(await good) as MemorySnapshot;
    expect(await refused({ ...snapshot, messages: 2 })).toBe("SNAPSHOT_INVALID");
  });

  it("is refused by memories of another kind", async () => {
    expect((await errorOf(async () => importSnapshot(await textOf(some()), storageOver()))).code).toBe("SNAPSHOT_KIND");
    expect((await errorOf(async () => importSnapshot(await good, new Memory()))).code).toBe("SNAPSHOT_KIND");
  });
});

function head(more: object): unknown {
  return { troupe: "memory", v: 1, kind: "memory", takenAt: 0, messages: 0, sha256: contentHash(7), ...more };
}
