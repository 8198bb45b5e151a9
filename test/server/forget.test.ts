import { describe, expect, it } from "vitest";
import {
  BrainMemory,
  type ChatModel,
  createMessage,
  defineAction,
  defineRole,
  Environment,
  memoryJournal,
  type Role,
  type RoleOptions,
  Team,
} from "../../src/index.ts";
import type { Cache } from "../../src/memory/cache.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { startWorker } from "../../src/fleet/index.ts";
import { forget } from "../../src/memories.ts";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { inMemoryStore, type MessageStore } from "../../src/memory/message-store.ts";
import type { MemoryReach } from "../../src/memory/memory-scope.ts";
import type { RunServer } from "../../src/server/index.ts";
import { memoryCache, memoryRunDriver, scriptedModel } from "../../src/testing/index.ts";
import { clientOf, door, serving, withMethods } from "./served-team.ts";
import { eventsOf } from "../team/recorded.ts";

const [ALICE, BOB] = ["alice-token-0123456789", "bob-token-0123456789ab"] as const;
const tenants = [
  { name: "alice", token: ALICE },
  { name: "bob", token: BOB },
];

interface Chat {
  readonly server: RunServer;
  readonly journal: Journal;
  readonly store: MessageStore;
  /** The last request to the model. */
  readonly asked: () => string;
}

interface ChatOptions {
  readonly reach?: MemoryReach;
  readonly tenants?: boolean;
  readonly wait?: Promise<void>;
  readonly journal?: Journal;
  readonly caches?: readonly Cache[];
}

function chat(o: ChatOptions = {}): Chat {
  let asked = "";
  const model = scriptedModel(async ({ messages }) => {
    asked = messages.map(({ content }) => content).join("\n");
    await o.wait;
    return "ok";
  });
  const store = inMemoryStore();
  const Answer = defineAction({ name: "Answer", prompt: (ctx) => ctx.text });
  const guide = defineRole({ name: "Guide", actions: [Answer], memory: { store, ...(o.reach === undefined ? {} : { scope: o.reach }) } });
  const { journal = memoryJournal(), caches = [] } = o;
  const team = new Team({ model, roles: [guide], journal });
  const server = serving({
    team,
    ...(caches.length === 0 ? {} : { caches }),
    ...(o.tenants === false ? { token: ALICE } : { tenants }),
  });
  return { server, journal, store, asked: () => asked };
}

const SECRET = "My secret number is 778899 exactly.";
const QUESTION = "What is my secret number exactly?";

async function codeOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => (error as { readonly code?: unknown }).code,
  );
}

describe("what a role of a server remembers", () => {
  it("is of one user, in all conversations, and of nobody else: not the tenant's other users, not another tenant", async () => {
    const { server, asked } = chat();
    const [alice, bob] = [clientOf(server, ALICE), clientOf(server, BOB)];
    await alice.say("c1", SECRET, { user: "ann" });
    const heard: boolean[] = [];
    for (const [client, conversation, user] of [
      [alice, "c2", "ann"],
      [alice, "c3", "ben"],
      [alice, "c4", undefined],
      [bob, "c1", "ann"],
      [bob, "c2", undefined],
    ] as const) {
      await client.say(conversation, QUESTION, user === undefined ? {} : { user });
      heard.push(asked().includes("778899"));
    }
    expect(heard).toEqual([true, false, false, false, false]);
  });

  it("is of one conversation where no user is named, also for the one user of a server without tenants", async () => {
    const { server, asked } = chat({ tenants: false });
    const client = clientOf(server, ALICE);
    await client.say("c1", SECRET);
    await client.say("c2", QUESTION);
    expect(asked()).not.toContain("778899");
    await client.say("c1", QUESTION);
    expect(asked()).toContain("778899");
  });

  it("stays out of a conversation in which another user speaks: USER_DIFFERS", async () => {
    const { server } = chat();
    const client = clientOf(server, ALICE);
    await client.say("c1", SECRET, { user: "ann" });
    expect(await codeOf(client.say("c1", QUESTION, { user: "ben" }))).toBe("USER_DIFFERS");
    await client.say("c1", QUESTION, { user: "ann" });
  });
});

/** The work of a role that lets another one, which remembers in a store, work inside its own. */
type Inside = (guide: Role, model: ChatModel, text: string) => Promise<unknown>;

const inTeam: Inside = (guide, model, text) => new Team({ model, roles: [guide] }).run(text).result;

const inAction = (inside: (text: string) => Promise<unknown>): Partial<RoleOptions> => ({
  actions: [defineAction({ name: "Act", run: (ctx) => inside(ctx.text).then(() => "ok") })],
});

const insides: readonly (readonly [where: string, make: (inside: (text: string) => Promise<unknown>) => Partial<RoleOptions>, Inside])[] = [
  ["a team in an action", inAction, inTeam],
  [
    "an environment in an action",
    inAction,
    async (guide, model, text) => {
      const environment = new Environment({ model });
      environment.engine.team.hire(guide, "Guide");
      environment.publishMessage(text);
      await environment.run();
    },
  ],
  [
    "a team in a team in a step",
    (inside) => ({
      actions: [defineAction({ name: "Act", run: (ctx) => ctx.step("work", {}, () => inside(ctx.text).then(() => "ok")) })],
    }),
    async (guide, model, text) => {
      const Act = defineAction({ name: "Act", run: () => inTeam(guide, model, text).then(() => "ok") });
      await new Team({ roles: [defineRole({ name: "Middle", actions: [Act] })] }).run("go").result;
    },
  ],
  [
    "a team that a driver runs",
    inAction,
    async (guide, model, text) => {
      const [journal, driver] = [memoryJournal(), memoryRunDriver()];
      const team = new Team({ name: "guides", model, roles: [guide], journal, driver });
      const worker = await startWorker({ driver, journal, teams: [team] });
      const id = await team.submit(text);
      while ((await journal.runs()).length === 0 || (await eventsOf(journal, id)).at(-1)?.type !== "run.ended") await nextMacrotask();
      await worker.drain();
    },
  ],
];

describe("what a role inside the work of a role remembers", () => {
  it.each(insides)("is of the same user, and is forgotten with that user: %s", async (_where, made, inside) => {
    let asked = "";
    const model = scriptedModel(({ messages }) => {
      asked = messages.map(({ content }) => content).join("\n");
      return "ok";
    });
    const store = inMemoryStore();
    const guide = defineRole({ name: "Guide", actions: [defineAction({ name: "Answer", prompt: (ctx) => ctx.text })], memory: { store } });
    const boss = defineRole({ name: "Boss", ...made((text) => inside(guide, model, text)) } as RoleOptions);
    const journal = memoryJournal();
    const server = serving({ team: new Team({ roles: [boss], journal }), tenants });
    await clientOf(server, ALICE).say("c1", SECRET, { user: "ann" });
    const heard: boolean[] = [];
    for (const [token, user] of [
      [ALICE, "ann"],
      [ALICE, "ben"],
      [BOB, "ann"],
    ] as const) {
      await clientOf(server, token).say("c2".concat(user), QUESTION, { user });
      heard.push(asked.includes("778899"));
    }
    expect(heard).toEqual([true, false, false]);
    await forget({ tenant: "alice", user: "ann" }, { journal, stores: [store] });
    expect((await store.scopes?.())?.length).toBe(2);
  });
});

describe("POST /api/forget", () => {
  it("erases what one user of the tenant said, and nothing of another tenant's user of that name", async () => {
    const { server, journal, store } = chat();
    for (const token of [ALICE, BOB]) await clientOf(server, token).say("c1", SECRET, { user: "ann" });
    expect(await clientOf(server, ALICE).forget({ user: "ann" })).toMatchObject({ runs: 1, messages: 2 });
    const has = async (runId: string): Promise<boolean> => JSON.stringify(await eventsOf(journal, runId)).includes("778899");
    expect([await has("alice.c1"), await has("bob.c1")]).toEqual([false, true]);
    expect((await store.scopes?.())?.length).toBe(1);
  });

  it("leaves a conversation that nobody can go on with: 410, and another one begins without it", async () => {
    const { server, asked } = chat();
    const client = clientOf(server, ALICE);
    await client.say("c1", SECRET, { user: "ann" });
    expect(await client.forget({ conversation: "c1" })).toMatchObject({ runs: 1 });
    expect(await codeOf(client.say("c1", QUESTION))).toBe("TEXT_ERASED");
    expect(await codeOf(client.replay("c1"))).toBe("TEXT_ERASED");
    expect(await codeOf(client.fork("c1"))).toBe("TEXT_ERASED");
    await client.say("c2", QUESTION, { user: "ann" });
    expect(asked()).not.toContain("778899");
  });

  it("refuses while a run of the user is under way, and a body that names nobody, both or a tenant", async () => {
    const gate = door();
    const { server } = chat({ wait: gate.passed });
    const client = clientOf(server, ALICE);
    await client.start({ idea: SECRET, id: "c1", user: "ann" });
    expect(await codeOf(client.forget({ user: "ann" }))).toBe("RUN_OWNED");
    gate.open();
    for await (const _ of client.events("c1"));
    expect(await client.forget({ user: "ann" })).toMatchObject({ runs: 1 });
    for (const body of [{}, { user: "" }, { tenant: "bob" }, { user: "ann", conversation: "c1" }]) {
      expect(await codeOf(client.forget(body as never))).toBe("BODY_INVALID");
    }
  });

  it("names no run of another tenant, waits for none, and reads none, though their roles share a memory", async () => {
    const gate = door();
    const kept = memoryJournal();
    const read: string[] = [];
    const journal = withMethods(kept, {
      read: (runId, from) => (read.push(runId), kept.read(runId, from)),
      info: (runId) => (read.push(runId), kept.info?.(runId) ?? Promise.reject(new Error("no info"))),
    });
    let isOpen = true;
    const wait = { then: (done: () => void) => (isOpen ? done() : void gate.passed.then(done)) } as Promise<void>;
    const { server } = chat({ reach: "role", journal, wait });
    const [alice, bob] = [clientOf(server, ALICE), clientOf(server, BOB)];
    await alice.say("c1", SECRET, { user: "ann" });
    await bob.say("c1", QUESTION, { user: "ben" });
    isOpen = false;
    await bob.resume("c1", { add: [{ content: "Again: what is my secret number exactly?" }] });
    read.length = 0;
    expect(await alice.forget({ user: "ann" })).toMatchObject({ runs: 1 });
    expect([...new Set(read)]).toEqual(["alice.c1"]);
    gate.open();
    for await (const _ of bob.events("c1"));
  });

  it("forgets the brain memories of the user in the caches of the server, and in no other scope", async () => {
    const cache = memoryCache();
    const brain = (tenant: string): BrainMemory =>
      new BrainMemory({ model: scriptedModel(() => "ok"), cache, key: { role: "Guide", tenant, user: "ann" } });
    for (const tenant of ["alice", "bob"]) {
      const memory = brain(tenant);
      memory.addTalk(createMessage(SECRET));
      await memory.save();
    }
    const { server } = chat({ caches: [cache] });
    expect(await clientOf(server, ALICE).forget({ user: "ann" })).toMatchObject({ messages: 1 });
    const left: number[] = [];
    for (const tenant of ["alice", "bob"]) {
      const memory = brain(tenant);
      await memory.load();
      left.push(memory.history.length);
    }
    expect(left).toEqual([0, 1]);
  });
});
