import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { sqliteStore } from "../../src/adapters/sqlite-store.ts";
import { inMemoryStore, type MessageStore } from "../../src/memory/message-store.ts";
import { postgresStore } from "../../src/adapters/postgres.ts";
import {
  createMessage,
  defineAction,
  defineRole,
  hashingEmbedder,
  JournalError,
  memoryJournal,
  type RunEvent,
  Team,
} from "../../src/index.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { forget } from "../../src/memories.ts";
import { memoryCache, type ScriptedModel, scriptedModel, simulatedClock } from "../../src/testing/index.ts";
import { silentLogger } from "../../src/kernel/emit.ts";
import type { Cache } from "../../src/memory/cache.ts";
import { type FakeRemote, fakeRemote } from "../adapters/fake-remote.ts";
import { RemoteCache } from "../../src/adapters/remote-cache.ts";
import { hasPostgres } from "../adapters/postgres-process.ts";
import { journalIn, newSchema, sharedServer } from "../adapters/postgres-setup.ts";
import { journalAt, newFile } from "../adapters/sqlite-setup.ts";
import { eventsOf } from "./recorded.ts";

const CANARY = "canary778899";
/** So many messages that a file of SQLite has them in whole blocks, with an index of their words. */
const TALK = { "in memory": 6, "in SQLite": 70, "in Postgres": 6 };

interface Place {
  readonly journal: Journal;
  readonly store: MessageStore;
  /** Everything that is kept, as text. */
  readonly kept: () => Promise<string>;
}

async function inMemory(): Promise<Place> {
  const journal = memoryJournal();
  const store = inMemoryStore();
  const kept = async (): Promise<string> => {
    const lists: unknown[] = [];
    for (const { runId } of await journal.runs()) lists.push(await eventsOf(journal, runId), await journal.newestSnapshot?.(runId));
    for (const key of (await store.scopes?.()) ?? []) for await (const page of store.read(key, 0)) lists.push(key, page);
    return JSON.stringify(lists);
  };
  return { journal, store, kept };
}

async function inFiles(): Promise<Place> {
  const file = newFile();
  const store = sqliteStore({ path: join(dirname(file), "memory.db") });
  // The files as they are, with their logs and indexes.
  const kept = async (): Promise<string> =>
    readdirSync(dirname(file), { recursive: true })
      .map((name) => join(dirname(file), String(name)))
      .filter((name) => statSync(name).isFile())
      .map((name) => readFileSync(name, "latin1"))
      .join("\n");
  return { journal: journalAt(file), store, kept };
}

async function inPostgres(): Promise<Place> {
  const schema = newSchema();
  const { url } = await sharedServer();
  const { Client } = (await import("pg")).default;
  const kept = async (): Promise<string> => {
    const client = new Client({ connectionString: url });
    await client.connect();
    const tables = await client.query<{ name: string }>(
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = $1",
      [schema],
    );
    const texts: string[] = [];
    for (const { name } of tables.rows)
      texts.push(JSON.stringify((await client.query(`SELECT t::text FROM "${schema}"."${name}" t`)).rows));
    await client.end();
    return texts.join("\n");
  };
  return { journal: await journalIn(schema), store: postgresStore({ url, schema }), kept };
}

const places: readonly (readonly [keyof typeof TALK, () => Promise<Place>])[] = [
  ["in memory", inMemory],
  ["in SQLite", inFiles],
  ...(hasPostgres ? [["in Postgres", inPostgres] as const] : []),
];

function teamOver({ journal, store }: Pick<Place, "journal" | "store">, model: ScriptedModel = parrot(), memory: object = {}): Team {
  const Chat = defineAction({
    name: "Chat",
    run: async (ctx) => {
      const { text } = ctx;
      await ctx.step("look up", { [text.slice(0, 3)]: text }, async () => ({ found: text, code: 4711 }));
      return ctx.ask(`Answer: ${text}`);
    },
  });
  const guide = defineRole({ name: "Guide", actions: [Chat], memory: { store, embedder: hashingEmbedder(), summary: true, ...memory } });
  return new Team({ model, roles: [guide], journal, snapshotEvery: 5 });
}

function parrot(): ScriptedModel {
  return scriptedModel(({ messages }) => `I heard ${messages.at(-1)?.content ?? ""}`);
}

async function talked(team: Team, id: string, user: string, words: readonly string[]): Promise<void> {
  const [first = "", ...more] = words;
  await team.run(first, { id, scope: { tenant: "shop", user } }).result;
  for (const text of more) await team.resume(id, { add: [text] }).result;
}

async function stored(store: MessageStore): Promise<string> {
  const found: string[] = [];
  for (const key of (await store.scopes?.()) ?? [])
    for await (const page of store.read(key, 0)) found.push(key, ...page.map(({ message }) => message.content));
  return found.join("\n");
}

async function codeOf(work: Promise<{ readonly error?: unknown } | object>): Promise<unknown> {
  const ended = await work.catch((error: unknown) => ({ error }));
  return ((ended as { readonly error?: { readonly code?: unknown } }).error ?? {}).code;
}

describe.each(places)("words that are forgotten %s", (name, make) => {
  it("are nowhere: not in events, snapshots, stores, vectors, words or free pages, and those of others stay", async () => {
    const place = await make();
    const team = teamOver(place);
    await talked(
      team,
      "a1",
      `ann ${CANARY}`,
      Array.from({ length: TALK[name] / 2 }, (_, n) => `My code is ${CANARY} ${n}.`),
    );
    await talked(team, "b1", "bob", ["My code is 1234."]);
    expect(await place.kept()).toContain(CANARY);
    const { runs, texts, messages } = await team.forget({ tenant: "shop", user: `ann ${CANARY}` });
    expect([runs, texts > TALK[name], messages]).toEqual([1, true, TALK[name]]);
    expect(await place.kept()).not.toContain(CANARY);
    await place.store.close();
    expect(await place.kept()).not.toContain(CANARY);
    expect(await stored(place.store)).toContain("My code is 1234.");
    expect((await eventsOf(place.journal, "b1")).some(({ type }) => type === "run.erased")).toBe(false);
    await place.store.close();
  });

  it("leave a record of the same form, which ends with run.erased and tells the costs and times as before", async () => {
    const place = await make();
    const team = teamOver(place);
    await talked(team, "a1", "ann", [`My code is ${CANARY}.`, "And again."]);
    const before = await eventsOf(place.journal, "a1");
    await team.forget({ user: "ann" });
    const after = await eventsOf(place.journal, "a1");
    const form = (events: readonly RunEvent[]): unknown => events.map(({ type, seq, time }) => [type, seq, time]);
    expect(form(after.slice(0, -1))).toEqual(form(before));
    expect(after.at(-1)).toMatchObject({ type: "run.erased", seq: before.length });
    const idea = after.find((event) => event.type === "message");
    expect(idea?.message.content).toMatch(/^\[erased [0-9a-f]{16} \d{4}-.*Z\]$/);
    expect(await team.forget({ user: "ann" })).toEqual({ runs: 0, texts: 0, messages: 0 });
    await place.store.close();
  });

  it("are missed by resume, replay, fork, answer and message with TEXT_ERASED, without a model call or a stored word", async () => {
    const place = await make();
    const model = parrot();
    const team = teamOver(place, model);
    await talked(team, "a1", "ann", [`My code is ${CANARY}.`]);
    await team.forget({ user: "ann" });
    const calls = model.calls.length;
    const codes = [
      await codeOf(team.resume("a1", { add: ["What is it?"] }).result),
      await codeOf(team.run(`My code is ${CANARY}.`, { id: "a1" }).result),
      await codeOf(team.replay("a1").result),
      await codeOf(team.fork("a1").result),
      await codeOf(team.fork("a1", { at: 1, reuse: "none" }).result),
      await codeOf(team.send("a1", "What is it?")),
      await codeOf(team.answer("a1", "any", "yes")),
    ];
    expect(codes).toEqual(codes.map(() => "TEXT_ERASED"));
    expect((await team.resume("a1").result).status).toBe("finished");
    expect([model.calls.length, await stored(place.store)]).toEqual([calls, ""]);
    await place.store.close();
  });

  it("stay while a run of them is under way, and go when it has stopped", async () => {
    const place = await make();
    let open = (): void => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    let began = (): void => {};
    const begun = new Promise<void>((resolve) => (began = resolve));
    const team = teamOver(
      place,
      scriptedModel(async () => (began(), await gate, "late")),
    );
    const run = team.run(`My code is ${CANARY}.`, { id: "a1", scope: { user: "ann" } });
    await begun;
    expect(await codeOf(team.forget({ user: "ann" }))).toBe("RUN_OWNED");
    open();
    await run.result;
    expect((await team.forget({ user: "ann" })).runs).toBe(1);
    expect(await place.kept()).not.toContain(CANARY);
    await place.store.close();
  });

  it("are forgotten in forks too, and where a wider memory has them", async () => {
    const place = await make();
    const team = teamOver(place, parrot(), { scope: "role" });
    await talked(team, "a1", "ann", [`My code is ${CANARY}.`]);
    await team.fork("a1", { id: "a2", at: 1, reuse: "none" }).result;
    await talked(team, "b1", "bob", ["Hello."]);
    expect(await team.forget({ conversation: "a1" })).toMatchObject({ runs: 2 });
    expect(await stored(place.store)).not.toContain(CANARY);
    expect(await stored(place.store)).toContain("Hello.");
    await place.store.close();
  });

  it("are erased where another conversation of the user has recalled them, which continues and cannot be replayed or forked", async () => {
    const place = await make();
    const model = parrot();
    const team = teamOver(place, model);
    await talked(team, "a1", "ann", [`My code is ${CANARY} exactly.`]);
    await talked(team, "a2", "ann", ["What is my code exactly?", "And what is two and two?"]);
    expect(JSON.stringify(await eventsOf(place.journal, "a2"))).toContain(CANARY);
    await team.forget({ conversation: "a1" });
    expect(await place.kept()).not.toContain(CANARY);
    expect(JSON.stringify(await eventsOf(place.journal, "a2"))).toContain("And what is two and two?");
    expect((await team.resume("a2", { add: ["And my code?"] }).result).status).toBe("finished");
    expect(JSON.stringify(model.calls.at(-1))).not.toContain(CANARY);
    const calls = model.calls.length;
    expect([await codeOf(team.replay("a2").result), await codeOf(team.fork("a2").result)]).toEqual(["TEXT_ERASED", "TEXT_ERASED"]);
    expect(model.calls.length).toBe(calls);
    await place.store.close();
  });
});

describe("forget", () => {
  it("refuses a scope without parts, unknown ones, and a journal that cannot rewrite", async () => {
    const journal = memoryJournal();
    const { rewrite: _rewrite, ...others } = { ...(await inMemory()).journal };
    expect(await codeOf(forget(undefined as never, { journal }))).toBe("OPTION_INVALID");
    expect(await codeOf(forget({}, { journal }))).toBe("OPTION_INVALID");
    expect(await codeOf(forget({ user: "" }, { journal }))).toBe("OPTION_INVALID");
    expect(await codeOf(forget({ person: "ann" } as object, { journal }))).toBe("OPTION_UNKNOWN");
    expect(await codeOf(forget({ user: "ann" }, { journal: { ...others } as Journal }))).not.toBeUndefined();
  });

  it("refuses stores and caches that cannot say what they have, and erases nothing: nobody would know what is left", async () => {
    const { journal, store } = await inMemory();
    const cache = memoryCache();
    const team = new Team({
      model: scriptedModel(() => "ok"),
      roles: [defineRole({ name: "Guide", actions: [defineAction({ name: "Chat", prompt: (ctx) => ctx.text })], memory: { store } })],
      journal,
    });
    await team.run(`I say ${CANARY}`, { scope: { user: "ann" } }).result;
    const without = <T extends object>(whole: T, method: keyof T): T => Object.assign(Object.create(whole) as T, { [method]: undefined });
    const clock = simulatedClock();
    const onServer = (remote: FakeRemote, local: Cache): Cache => new RemoteCache({ remote, local, clock, logger: silentLogger });
    for (const parts of [
      { stores: [store, without(store, "scopes")] },
      { caches: [cache, without(cache, "keys")] },
      { caches: [onServer(fakeRemote(clock), without(cache, "keys"))] },
      { caches: [onServer(without(fakeRemote(clock), "keys"), cache)] },
    ]) {
      expect(await codeOf(forget({ user: "ann" }, { journal, ...parts }))).toMatch(/^(ARGUMENT|OPTION)_INVALID$/);
    }
    expect((await store.scopes?.())?.length).toBe(1);
  });

  it("says what was erased when a run is resumed between the look and the erasing, and completes it the next time", async () => {
    for (const code of ["RUN_OWNED", "EPOCH_STALE"]) {
      const place = await inMemory();
      const { journal } = place;
      const team = teamOver(place);
      for (const id of ["a1", "a2"]) await talked(team, id, "ann", [`My code is ${CANARY}.`]);
      let claims = 0;
      const others = new Proxy(journal, {
        get(of, key) {
          if (key === "claim")
            return async (...given: Parameters<Journal["claim"]>) => {
              claims += 1;
              // The last look comes with claim 2, the first erasing with claim 3.
              if (claims === 4 && code === "RUN_OWNED") throw new JournalError("RUN_OWNED", "It is under way.");
              return journal.claim(...given);
            };
          if (key === "rewrite")
            return async (...given: Parameters<NonNullable<Journal["rewrite"]>>) => {
              // Somebody who resumes it takes it from this journal.
              if (claims === 4) await journal.claim(given[0]);
              return journal.rewrite?.(...given);
            };
          const own: unknown = Reflect.get(of, key);
          return typeof own === "function" ? (own.bind(of) as unknown) : own;
        },
      });
      const error = await forget({ user: "ann" }, { journal: others, stores: [place.store] }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "RUN_OWNED", data: { runs: 1, messages: 4 } });
      expect((error as Error).message).toContain("only 1 runs and 4 messages were erased");
      for (const { runId } of await journal.runs()) {
        const { epoch, former } = await journal.claim(runId);
        await journal.release(runId, epoch, { former });
      }
      expect(await team.forget({ user: "ann" })).toMatchObject({ runs: 1 });
      expect(await place.kept()).not.toContain(CANARY);
    }
  });

  it("leaves no address that a person or a model wrote, and the names of roles and actions", async () => {
    const place = await inMemory();
    const Write = defineAction({
      name: "Write",
      run: async (ctx) => {
        const [known = "", unknown = ""] = (await ctx.ask(ctx.text)).split(";");
        return createMessage("done", { sendTo: [known, unknown, "Ben"], causeBy: `cause ${CANARY}`, role: `role ${CANARY}` });
      },
    });
    const roles = [
      defineRole({ name: "Ada", actions: [Write], watch: ["UserRequirement"] }),
      defineRole({ name: "Ben", actions: [defineAction({ name: "Read", run: () => "" })], watch: [] }),
      defineRole({ name: CANARY.toUpperCase(), actions: [defineAction({ name: "Rest", run: () => "" })], watch: [] }),
    ];
    const model = scriptedModel(() => `** ${CANARY.toUpperCase()} **;nobody, ${CANARY}`);
    const team = new Team({ model, roles, journal: place.journal });
    await team.run("Begin.", { id: "a1", scope: { user: "ann" } }).result;
    await team.send("a1", createMessage("More.", { sendTo: [`to ${CANARY}`, "Ada"], causeBy: `why ${CANARY}` }));
    await team.resume("a1").result;
    const before = JSON.stringify(await eventsOf(place.journal, "a1"));
    for (const written of [`** ${CANARY.toUpperCase()} **`, `nobody, ${CANARY}`, `to ${CANARY}`, `why ${CANARY}`, `cause ${CANARY}`])
      expect(before).toContain(written);
    await team.forget({ user: "ann" });
    const after = await eventsOf(place.journal, "a1");
    expect(JSON.stringify(after)).not.toContain(CANARY);
    expect(JSON.stringify(after)).not.toContain("**");
    const said = after.flatMap((event) => (event.type === "act.ended" ? event.said : []));
    expect(said[0]).toMatchObject({
      to: ["Ben", CANARY.toUpperCase()],
      message: { sentFrom: "Ada", sendTo: expect.arrayContaining(["Ben"]) as unknown },
    });
  });
});
