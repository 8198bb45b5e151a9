import { readdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { defineAction } from "../../src/role/action.ts";
import { sqliteStore } from "../../src/adapters/sqlite-store.ts";
import { exportSnapshot } from "../../src/inspector/memory-snapshot.ts";
import { MemoryStorage } from "../../src/memory/memory-storage.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { Team } from "../../src/team/team.ts";
import { newFile } from "../adapters/sqlite-setup.ts";
import { eventsOf } from "../team/recorded.ts";
import { answerer, paidEmbedder } from "./role-setup.ts";

describe("a canary key", () => {
  it("is in nothing that is stored, whoever says it and wherever it is cut", { tags: ["numbers", "long"] }, async () => {
    const secret = 'sk-"canary"\n4711-ü';
    const path = newFile("memory.db");
    const store = sqliteStore({ path });
    const model = scriptedModel(({ messages }) => `I say ${secret} to ${messages.length}`);
    const Leak = defineAction({
      name: "Leak",
      run: async (ctx) => {
        ctx.memory.add(ctx.message(`noted ${secret}`, { metadata: { [secret]: secret }, instructContent: { [secret]: [secret] } }));
        const found = await ctx.recall(secret);
        // The embedder takes no more than the beginning of it.
        await ctx.recall(`${"x".repeat(95)} ${secret} and more`);
        // Of a message that is longer than all that may be recalled, the beginning is: wherever that ends.
        for (let length = 100; length < 600; length += 8) {
          ctx.memory.add(ctx.message(`${"y".repeat(length)} ${secret} ${"z".repeat(2_000)}`));
          await ctx.ask(`question ${length}`);
        }
        return `${await ctx.ask(secret, { recall: secret })} ${found[0]?.content ?? ""}`;
      },
    });
    const journal = memoryJournal();
    const memory = { store, summary: true, embedder: paidEmbedder({ maxChars: 110 }), recall: { threshold: -1, maxTokens: 300 } };
    const make = (): Team =>
      new Team({ model, journal, seed: 1, secrets: [secret], roles: [answerer("Ann", { actions: [Leak], memory })] });
    await make().run(`my key is ${secret}`, { id: "r" }).result;
    await make().fork("r", { id: "f", add: [secret] }).result;
    const storage = new MemoryStorage({ roleId: "Ann", store });
    const texts = [
      JSON.stringify(await exportSnapshot(storage)),
      JSON.stringify(await eventsOf(journal, "r")),
      JSON.stringify(await eventsOf(journal, "f")),
      ...readdirSync(dirname(path)).map((name) => readFileSync(`${dirname(path)}/${name}`).toString("latin1")),
    ];
    await storage.close();
    expect(texts[0]?.length).toBeGreaterThan(500);
    for (const text of texts) expect(/.{0,40}(canary|sk-).{0,20}/.exec(text)?.[0]).toBeUndefined();
  });
});
