import fc from "fast-check";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { sqliteStore } from "../../src/adapters/sqlite-store.ts";
import { postgresStore } from "../../src/adapters/postgres.ts";
import { defineAction, defineRole, hashingEmbedder, memoryJournal, MemoryStorage, Team } from "../../src/index.ts";
import type { Scope } from "../../src/kernel/scope.ts";
import { ShardedStorage } from "../../src/memory/sharded-storage.ts";
import { inMemoryStore, type MessageStore } from "../../src/memory/message-store.ts";
import { isWithin, type MemoryReach, memoryScope, scopeKey, scopeOfKey } from "../../src/memory/memory-scope.ts";
import { createMessage } from "../../src/message/message.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { hasPostgres } from "../adapters/postgres-process.ts";
import { newSchema, sharedServer } from "../adapters/postgres-setup.ts";
import { newFile } from "../adapters/sqlite-setup.ts";

/** Names that could be taken for a part of a key. */
const name = fc.constantFrom("a", "b", "a,b", '"', '["a"', "[", "null", "a\u0000b", "__proto__", "ä 猫");
const scope: fc.Arbitrary<Scope> = fc.record({ tenant: name, user: name, conversation: name }, { requiredKeys: [] });
const role = fc.oneof(name, fc.record({ role: name, tenant: name }).map(scopeKey));
const memory = fc.record({ role, scope });

describe("the key of a scope", () => {
  it("is equal for equal scopes alone, and gives the scope back", () => {
    fc.assert(
      fc.property(memory, memory, (one, other) => {
        const [a, b] = [one, other].map(({ role: owner, scope: parts }) => ({ ...parts, role: owner }));
        if (a === undefined || b === undefined) throw new Error("two scopes");
        expect(scopeOfKey(scopeKey(a))).toEqual(a);
        expect(scopeKey(a) === scopeKey(b)).toBe(isWithin(a, b) && isWithin(b, a) && a.role === b.role);
      }),
    );
  });

  it("narrows by what the run names: a user, else the conversation, else nothing", () => {
    const of = (run: Scope | undefined, reach?: MemoryReach): Scope => {
      const { role: _role, ...parts } = memoryScope("r", run, "run", reach);
      return parts;
    };
    const run = { tenant: "t", user: "u", conversation: "c" };
    expect([of(run), of(run, "conversation"), of(run, "tenant"), of(run, "role")]).toEqual([
      { tenant: "t", user: "u" },
      { tenant: "t", conversation: "c" },
      { tenant: "t" },
      {},
    ]);
    expect([of({ tenant: "t" }), of({ tenant: "t" }, "user"), of(undefined), of(undefined, "user")]).toEqual([
      { tenant: "t", conversation: "run" },
      { tenant: "t", conversation: "run" },
      {},
      { conversation: "run" },
    ]);
  });
});

type MakeStore = () => Promise<MessageStore>;

const stores: readonly (readonly [string, MakeStore])[] = [
  ["in memory", async () => inMemoryStore()],
  ["in SQLite", async () => sqliteStore({ path: join(dirname(newFile()), "memory.db") })],
  ...(hasPostgres ? [["in Postgres", async () => postgresStore({ url: (await sharedServer()).url, schema: newSchema() })] as const] : []),
];

describe.each(stores)("memories of one store %s", (_name, make) => {
  it("never find a message of another scope: by words, by vectors, in shards, among neighbours, or when all is read", async () => {
    const store = await make();
    const scenes = fc.array(memory, { minLength: 2, maxLength: 8 });
    const scene = async (memories: readonly { readonly role: string; readonly scope: Scope }[], isMeant: boolean): Promise<void> => {
      const embedder = isMeant ? hashingEmbedder({ dimensions: 32 }) : undefined;
      const open = (n: number): MemoryStorage => {
        const { role: roleId, scope: whose } = memories[n] as (typeof memories)[number];
        return new MemoryStorage({ roleId, scope: whose, runId: "run", store, embedder });
      };
      const keyOf = (n: number): string => scopeKey(open(n).scope);
      for (const n of memories.keys()) await open(n).add(createMessage(`the secret code of ${keyOf(n)}`, { id: `${n}` }));
      for (const n of memories.keys()) {
        const storage = open(n);
        const sharded = new ShardedStorage({ shards: [open(n)] });
        const found = [
          ...(await storage.recover()),
          ...(await storage.searchSimilar("secret code", { k: 99, ...(isMeant ? { threshold: -1 } : {}) })).map(({ message }) => message),
          ...(await sharded.searchSimilar("secret code", { k: 99 })).map(({ message }) => message),
          ...(await storage.around(1, 20)).map(({ message }) => message),
        ];
        expect(found.length).toBeGreaterThan(0);
        expect(found.map(({ content }) => content).filter((content) => content !== `the secret code of ${keyOf(n)}`)).toEqual([]);
      }
    };
    await fc.assert(fc.asyncProperty(scenes, fc.boolean(), scene), { numRuns: 8 });
    await store.close();
  });

  it("give a run of a team the words of its own scope alone", async () => {
    const store = await make();
    const scoped = fc.record({
      scope: fc.option(scope, { nil: undefined }),
      reach: fc.constantFrom<MemoryReach | undefined>("conversation", "user", "tenant", undefined),
    });
    let world = 0;
    const scene = async (
      runs: readonly { readonly scope: Scope | undefined; readonly reach: MemoryReach | undefined }[],
    ): Promise<void> => {
      world += 1;
      const journal = memoryJournal();
      for (const [n, run] of runs.entries()) {
        const own = scopeKey(memoryScope(`Guide${world}`, run.scope, `${n}`, run.reach));
        let read = "";
        const model = scriptedModel(({ messages }) => {
          read = messages.map(({ content }) => content).join("\n");
          return "ok";
        });
        const Chat = defineAction({ name: "Chat", run: (ctx) => ctx.ask(ctx.text) });
        const memoryOptions = { store, ...(run.reach === undefined ? {} : { scope: run.reach }) };
        const guide = defineRole({ name: `Guide${world}`, actions: [Chat], memory: memoryOptions });
        const said = `What is the secret code <${Buffer.from(own).toString("hex")}> ${n}?`;
        const { status } = await new Team({ model, roles: [guide], journal }).run(said, {
          id: `${n}`,
          ...(run.scope === undefined ? {} : { scope: run.scope }),
        }).result;
        const owners = new Set([...read.matchAll(/<([0-9a-f]+)>/g)].map(([, hex = ""]) => Buffer.from(hex, "hex").toString()));
        expect([status, [...owners]]).toEqual(["finished", [own]]);
      }
    };
    await fc.assert(fc.asyncProperty(fc.array(scoped, { minLength: 2, maxLength: 5 }), scene), { numRuns: 4 });
    await store.close();
  });
});

describe("shards", () => {
  it("of two scopes are refused, because messages move between shards", () => {
    const [one, other] = ["a", "b"].map((tenant) => new MemoryStorage({ roleId: "r", scope: { tenant } }));
    expect(() => new ShardedStorage({ shards: [one, other] as MemoryStorage[] })).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID" }),
    );
  });
});
