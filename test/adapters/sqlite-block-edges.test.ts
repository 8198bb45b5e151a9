import { describe, expect, it } from "vitest";
import { SqliteStore, sqliteStore } from "../../src/adapters/sqlite-store.ts";
import type { MessageStore } from "../../src/memory/message-store.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import { say } from "../memory/storage-setup.ts";
import { count, messages, olderStore } from "./sqlite-block-setup.ts";
import { connection, meddle, newFile } from "./sqlite-setup.ts";

const FINGERPRINT = "f";

async function held(store: MessageStore): Promise<number> {
  let found = 0;
  for await (const page of store.read("r", 0)) found += page.messages.length;
  return found;
}

async function vectorsHeld(store: MessageStore): Promise<number> {
  let found = 0;
  for await (const page of store.readVectors("r", FINGERPRINT, 0)) found += page.length;
  return found;
}

describe("a store that is read", () => {
  it("waits for nobody who writes: what stands in rows is read from them", async () => {
    const path = await olderStore();
    const opened = sqliteStore({ path });
    expect(await opened.state("r")).toMatchObject({ last: messages.length });
    const writer = await connection(path);
    writer.exec("BEGIN IMMEDIATE");
    // Nobody moves this clock: whoever waited by it would wait for ever.
    const store = new SqliteStore({ file: path, clock: simulatedClock(), patience: 60_000 });
    expect(await held(store)).toBe(messages.length);
    expect(await count(path, "message_blocks")).toBe(0);
    writer.exec("ROLLBACK");
    writer.close();
    expect(await held(store)).toBe(messages.length);
    expect(await count(path, "message_blocks")).toBe(3);
    await store.close();
    await opened.close();
  });
});

describe("vectors that are too long for a block", () => {
  it("are all read again, also beside one that is empty", async () => {
    const path = newFile("memory.db");
    const store = sqliteStore({ path });
    const all = Array.from({ length: 130 }, (_, n) => ({ runId: "", addedAt: n, message: say(`m${n}`) }));
    const places = (await store.add("r", all)).map(({ place }) => place);
    const vectors = places.map((place) => ({ place, vector: new Float32Array(place === 70 ? 0 : 4_100).fill(place) }));
    await store.writeVectors("r", FINGERPRINT, vectors);
    expect([await vectorsHeld(store), await vectorsHeld(store)]).toEqual([130, 130]);
    expect(await count(path, "vector_blocks")).toBe(0);
    await store.close();
  });
});

describe("a message whose row is damaged and whose block is whole", () => {
  it("SqliteStore.S2 is held already, and healed by being added again", async () => {
    const path = newFile("memory.db");
    const all = Array.from({ length: 130 }, (_, n) => ({ runId: "", addedAt: n, message: say(`m${n}`) }));
    let store = sqliteStore({ path });
    await store.add("r", all);
    await store.close();
    await meddle(path, "UPDATE messages SET body = 'x' WHERE place % 2147483648 = 70");
    store = sqliteStore({ path });
    const [again] = await store.add("r", all.slice(69, 70));
    expect(again).toEqual({ place: 70, isNew: false });
    await store.close();
    await meddle(path, "UPDATE message_blocks SET checksum = x'00'");
    store = sqliteStore({ path });
    expect(await held(store)).toBe(130);
    await store.close();
  });
});
