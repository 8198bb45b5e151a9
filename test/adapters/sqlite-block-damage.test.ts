import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { encodeMessage } from "../../src/adapters/message-rows.ts";
import { sqliteStore } from "../../src/adapters/sqlite-store.ts";
import type { Message } from "../../src/message/message.ts";
import { idsOf, say, watched, type WatchedEmbedder } from "../memory/storage-setup.ts";
import { count, filledFile, messages, storageAt } from "./sqlite-block-setup.ts";
import { expectTrue, flipped, recoveredFrom } from "./spoiled-store.ts";
import { meddle, newFile } from "./sqlite-setup.ts";

function embedded({ batches }: WatchedEmbedder): readonly string[] {
  return batches.flat().toSorted();
}

describe("a block that is damaged", () => {
  it("SqliteStore.S2 is no loss of messages: they stand in their rows, and make the block again", async () => {
    const path = await filledFile();
    await meddle(
      path,
      "UPDATE message_blocks SET content = CAST(replace(CAST(content AS TEXT), 'subject', 'subjekt') AS BLOB) WHERE block % 2147483648 = 0",
      "UPDATE message_blocks SET block = block + 6400 WHERE block % 2147483648 = 64",
      "UPDATE message_blocks SET checksum = x'' WHERE block % 2147483648 = 128",
    );
    const storage = storageAt(path);
    expect(await storage.recover()).toEqual(messages);
    expect([storage.damaged, storage.pending]).toEqual([0, 0]);
    await storage.delete("m5");
    await storage.delete("m140");
    await storage.close();
    const again = storageAt(path);
    expect(idsOf((await again.recover()).map((message) => ({ message })))).toEqual(
      messages.map(({ id }) => id).filter((id) => id !== "m5" && id !== "m140"),
    );
    await again.close();
    expect(await count(path, "message_blocks WHERE block % 2147483648 IN (0, 64, 128)")).toBe(3);
  });

  it("SqliteStore.S2 whose messages' rows are damaged too is counted; of either alone nothing is", async () => {
    const path = await filledFile();
    const broken = "UPDATE messages SET body = replace(body, 'subject', 'subjekt') WHERE place % 2147483648";
    await meddle(path, `${broken} IN (3, 70, 195)`, "UPDATE message_blocks SET content = x'7b7d' WHERE block % 2147483648 = 64");
    const storage = storageAt(path);
    const read = await storage.recover();
    expect(storage.damaged).toBe(2);
    expect(idsOf(read.map((message) => ({ message })))).toEqual(messages.map(({ id }) => id).filter((id) => id !== "m69" && id !== "m194"));
    expect(read.find(({ id }) => id === "m2")).toEqual(messages[2]);
    // What another one of its block leaves behind does not take it along.
    await storage.delete("m4");
    await storage.close();
    const store = sqliteStore({ path });
    const again = await store.add(
      "r",
      messages.map((message) => ({ runId: "", addedAt: 1, message })),
    );
    await store.close();
    expect(again.flatMap(({ isNew }, n) => (isNew ? [messages[n]?.id] : []))).toEqual(["m4", "m69", "m194"]);
    const healed = storageAt(path);
    expect((await healed.recover()).toSorted((a, b) => Number(a.id.slice(1)) - Number(b.id.slice(1)))).toEqual(messages);
    expect(healed.damaged).toBe(0);
    await healed.close();
    expect(await count(path, "message_blocks WHERE block % 2147483648 IN (0, 64, 128)")).toBe(3);
  });

  it("SqliteStore.S2 gives a message that was healed the vector that it had", async () => {
    const path = await filledFile();
    await meddle(path, "UPDATE messages SET body = replace(body, 'subject', 'subjekt') WHERE place % 2147483648 = 195");
    const storage = storageAt(path);
    const added = await storage.adopt([say("new"), messages[194] as Message].map((message) => ({ runId: "", addedAt: 1, message })));
    await storage.recover();
    expect([added, storage.pending]).toEqual([2, 1]);
    await storage.close();
  });

  it("SqliteStore.S2 says of no message that it is held because another one stands where it is looked for", async () => {
    const path = await filledFile();
    const { identity } = encodeMessage({ runId: "", addedAt: 1, message: say("new") });
    await meddle(path, `UPDATE messages SET identity = x'${identity.toString("hex")}' WHERE place % 2147483648 = 10`);
    const storage = storageAt(path);
    expect(await storage.recover()).toEqual(messages);
    expect(await storage.add(say("new"))).toBe(true);
    await storage.close();
    const again = storageAt(path);
    expect((await again.recover()).map(({ id }) => id)).toContain("new");
    await again.close();
  });

  it("SqliteStore.S2 loses the vectors that are damaged, and only these are made again", async () => {
    const path = await filledFile();
    const changed = (from: number): string => `CAST(substr(vectors, 1, ${from}) || x'00000001' || substr(vectors, ${from + 5}) AS BLOB)`;
    await meddle(
      path,
      // The tenth and the eleventh vector of 16 numbers each.
      `UPDATE vector_blocks SET vectors = ${changed(9 * 64)} WHERE block % 2147483648 = 0`,
      `UPDATE vector_blocks SET vectors = ${changed(10 * 64)} WHERE block % 2147483648 = 0`,
      // The place of the third one.
      "UPDATE vector_blocks SET known = CAST(substr(known, 1, 24) || x'07' || substr(known, 26) AS BLOB) WHERE block % 2147483648 = 64",
      "UPDATE vector_blocks SET vectors = substr(vectors, 1, 62 * 64 + 5) WHERE block % 2147483648 = 128",
    );
    const embedder = watched({ dimensions: 16 });
    const storage = storageAt(path, embedder);
    await storage.recover();
    expect(storage.pending).toBe(5);
    for (const n of [9, 10, 65, 189, 190]) {
      expect(idsOf(await storage.searchSimilar(messages[n] as Message, { k: 1, threshold: 0.99 }))).toHaveLength(1);
    }
    const made = [9, 10, 65, 189, 190].map((n) => `subject ${n}`);
    expect(embedded(embedder).filter((text, n, texts) => texts.indexOf(text) === n)).toEqual(made.toSorted());
    await storage.close();
    const again = storageAt(path);
    await again.recover();
    expect(again.pending).toBe(0);
    await again.close();
  });

  it("SqliteStore.S2 loses all vectors when it says it is another's, or stands elsewhere", async () => {
    const path = await filledFile();
    await meddle(
      path,
      "UPDATE vector_blocks SET fingerprint = 'other' WHERE block % 2147483648 = 0",
      "UPDATE vector_blocks SET block = block + 6400 WHERE block % 2147483648 = 64",
    );
    const storage = storageAt(path);
    await storage.recover();
    expect(storage.pending).toBe(127);
    await storage.persist();
    expect(storage.pending).toBe(0);
    await storage.close();
    const again = storageAt(path);
    await again.recover();
    expect(again.pending).toBe(0);
    await again.close();
  });

  it("cut or with flipped bytes anywhere gives what was put in, or a typed error", async () => {
    const whole = readFileSync(await filledFile());
    let given = 0;
    for (let n = 0; n < 60; n++) {
      const path = newFile("memory.db");
      writeFileSync(path, flipped(whole, n));
      if (n % 3 === 0) truncateSync(path, Math.floor((whole.length * n) / 60));
      given += expectTrue(await recoveredFrom(storageAt(path)), messages, "MEMORY_NEWER") > 0 ? 1 : 0;
    }
    expect(given).toBeGreaterThan(5);
  });
});
