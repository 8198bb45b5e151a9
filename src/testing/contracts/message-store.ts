import type { MessageLookup, MessageStore, MessageToStore, SoughtWord, StoredMessage, StoredVector } from "../../memory/message-store.ts";
import { createMessage } from "../../message/message.ts";
import { checkContract, checksOf, type Checks, type ContractKit } from "./contract-kit.ts";

export type MakeStore = () => MessageStore | Promise<MessageStore>;

/** The contract of every {@link MessageStore}: MessageStore.V1 to MessageStore.V12 of the port, V9 for a store with `lookup`, V11 and V12 for one with `removed` and `scopes`. */
export function messageStoreContract(kit: ContractKit, name: string, make: MakeStore): void {
  checkContract("messageStoreContract", kit, name, make);
  kit.describe(`${name} keeps the contract of a message store`, () => {
    const checks = checksOf(kit, make);
    messageChecks(checks);
    vectorChecks(checks);
    lookupChecks(checks);
    removalChecks(checks);
  });
}

function removalChecks({ check, expect }: Checks<MessageStore>): void {
  check("MessageStore.V11 a removal is remembered, also of what is added again, unless the message may return", async (store) => {
    if (store.removed === undefined) return;
    const [a = { place: 0 }, b = { place: 0 }] = await store.add("r", entries("a", "b", "c"));
    await store.remove("r", [a.place]);
    await store.remove("r", [b.place], { mayReturn: true });
    const asked = ["a", "b", "c", "d"].map((id) => ({ runId: "", id }));
    expect(await store.removed("r", asked)).toEqual([true, false, false, false]);
    expect((await store.add("r", entries("a")))[0]?.isNew).toBe(true);
    expect(await store.removed("other", asked)).toEqual([false, false, false, false]);
  });

  check("MessageStore.V12 after a purge what was removed is gone, and the rest is found as before", async (store) => {
    if (store.scopes === undefined) return;
    const stored = await store.add("r", entries("a", "b"));
    await store.add("emptied", entries("a"));
    await store.remove("emptied", await store.places("emptied"));
    await store.remove("r", [stored[0]?.place ?? 0]);
    await store.purge?.();
    expect([await store.scopes(), await store.places("r")]).toEqual([["r"], [stored[1]?.place]]);
    expect((await all(store, "r")).map(({ message }) => message.content)).toEqual(["words of b"]);
    const [again] = await store.add("emptied", entries("b"));
    expect([again?.place, await store.scopes()]).toEqual([2, ["r", "emptied"]]);
  });
}

function messageChecks({ check, expect }: Checks<MessageStore>): void {
  check("MessageStore.V1 MessageStore.V3 what was added is there, at growing places, in order of arrival", async (store) => {
    const first = await store.add("r", entries("a", "b"));
    const second = await store.add("r", entries("c"));
    const places = [...first, ...second].map(({ place }) => place);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect((await all(store, "r")).map(({ message, place }) => [message.id, place])).toEqual(
      ["a", "b", "c"].map((id, n) => [id, places[n]]),
    );
    expect(await store.places("r")).toEqual(places);
    expect((await store.state("r")).last).toBe(places.at(-1));
  });

  check("MessageStore.V1 an empty batch changes nothing", async (store) => {
    expect(await store.add("r", [])).toEqual([]);
    expect(await all(store, "r")).toEqual([]);
  });

  check("MessageStore.V2 what is held is not kept again, also twice in one batch, and stays as it was", async (store) => {
    const [a] = await store.add("r", entries("a"));
    const again = await store.add("r", [entry("a", { content: "other words" }), entry("b"), entry("b")]);
    expect(again.map(({ isNew }) => isNew)).toEqual([false, true, false]);
    expect([again[0]?.place, again[1]?.place]).toEqual([a?.place, again[2]?.place]);
    expect((await all(store, "r")).map(({ message }) => message.content)).toEqual(["words of a", "words of b"]);
  });

  check("MessageStore.V2 one id in two runs is two messages", async (store) => {
    const stored = await store.add("r", [entry("a", { runId: "1" }), entry("a", { runId: "2" }), entry("a", {})]);
    expect(stored.map(({ isNew }) => isNew)).toEqual([true, true, true]);
    expect((await all(store, "r")).map(({ runId }) => runId)).toEqual(["1", "2", ""]);
  });

  check("MessageStore.V3 a removed message is gone, its place is never used again, and the removal is counted", async (store) => {
    const stored = await store.add("r", entries("a", "b", "c"));
    const before = await store.state("r");
    expect(await store.remove("r", [stored[1]?.place ?? 0, stored[2]?.place ?? 0, 9_999])).toBe(2);
    const after = await store.state("r");
    expect(after.removals - before.removals).toBe(2);
    const [again] = await store.add("r", entries("c"));
    expect((again?.place ?? 0) > before.last).toBe(true);
    expect((await all(store, "r")).map(({ message }) => message.id)).toEqual(["a", "c"]);
  });

  check("MessageStore.V3 a reader gets what follows from where it asked", async (store) => {
    const stored = await store.add("r", entries("a", "b", "c"));
    expect((await all(store, "r", stored[1]?.place)).map(({ message }) => message.id)).toEqual(["c"]);
    expect(await all(store, "r", 1_000_000)).toEqual([]);
  });

  check("MessageStore.V4 roles keep apart, whatever their ids are", async (store) => {
    const roles = ["a", "a/b", "../a", "a\u0000b", "a\u0000c", "", "%", "äöü 猫", "__proto__", '"'];
    for (const role of roles) await store.add(role, [entry("same", { content: `of ${role}` })]);
    for (const role of roles) expect((await all(store, role)).map(({ message }) => message.content)).toEqual([`of ${role}`]);
    await store.remove("a", await store.places("a"));
    expect(await all(store, "a")).toEqual([]);
    expect((await all(store, "a/b")).length).toBe(1);
    expect(await all(store, "nobody")).toEqual([]);
    expect([await store.remove("nobody", [1]), await store.places("nobody")]).toEqual([0, []]);
  });

  check("MessageStore.V5 messages come back as they went in", async (store) => {
    const words = [
      "",
      "\u0000 and \u001b[2J",
      "line\nbreak\r\n",
      '"quotes" \\ \u2028',
      "猫 and 🎭",
      "lone \ud800 half",
      "x".repeat(1_000_000),
    ];
    const given = words.map((content, n): MessageToStore => ({
      runId: `run/../${content.slice(0, 9)}`,
      addedAt: 1_700_000_000_000.5 + n,
      message: createMessage(content, { id: `id ${content.slice(0, 9)}`, timestamp: n, instructContent: { n, deep: [null] }, sendTo: "B" }),
    }));
    const stored = await store.add("r", given);
    expect(await all(store, "r")).toEqual(given.map((one, n) => ({ ...one, place: stored[n]?.place })));
  });

  check("MessageStore.V8 a closed store opens again when it is asked", async (store) => {
    await store.add("r", entries("a"));
    await store.close();
    await store.close();
    await store.add("r", entries("b"));
    expect((await all(store, "r")).length >= 1).toBe(true);
  });

  check("MessageStore.V7 many at once", async (store) => {
    const ids = Array.from({ length: 20 }, (_, n) => `m${n}`);
    await Promise.all(ids.map((id) => store.add("r", [entry(id), entry("common")])));
    const held = (await all(store, "r")).map(({ message }) => message.id);
    expect(held.toSorted()).toEqual([...ids, "common"].toSorted());
  });
}

function vectorChecks({ check, expect }: Checks<MessageStore>): void {
  const vector = (...numbers: number[]): Float32Array => Float32Array.from(numbers);

  check("MessageStore.V6 vectors come back under their fingerprint only, empty ones too", async (store) => {
    const [a, b] = (await store.add("r", entries("a", "b"))).map(({ place }) => place);
    await store.writeVectors("r", "one", [
      { place: a ?? 0, vector: vector(0.25, -1.5) },
      { place: b ?? 0, vector: vector() },
    ]);
    expect((await vectors(store, "one")).map(({ place, vector: held }) => [place, [...held]])).toEqual([
      [a, [0.25, -1.5]],
      [b, []],
    ]);
    expect(await vectors(store, "two")).toEqual([]);
    expect((await vectors(store, "one", a)).map(({ place }) => place)).toEqual([b]);
  });

  check("MessageStore.V6 a vector is replaced, also by one of another fingerprint", async (store) => {
    const [a = 0] = (await store.add("r", entries("a"))).map(({ place }) => place);
    await store.writeVectors("r", "one", [{ place: a, vector: vector(1) }]);
    await store.writeVectors("r", "two", [{ place: a, vector: vector(2) }]);
    expect(await vectors(store, "one")).toEqual([]);
    expect((await vectors(store, "two")).map(({ vector: held }) => [...held])).toEqual([[2]]);
  });

  check("MessageStore.V6 vectors go with their messages, and come for none that is gone", async (store) => {
    const [a = 0, b = 0] = (await store.add("r", entries("a", "b"))).map(({ place }) => place);
    await store.writeVectors("r", "one", [{ place: a, vector: vector(1) }]);
    await store.remove("r", [a]);
    await store.writeVectors("r", "one", [
      { place: a, vector: vector(1) },
      { place: b, vector: vector(2) },
    ]);
    expect((await vectors(store, "one")).map(({ place }) => place)).toEqual([b]);
    await store.clearVectors("r");
    expect(await vectors(store, "one")).toEqual([]);
    expect((await all(store, "r")).length).toBe(1);
  });
}

function lookupChecks({ check, expect }: Checks<MessageStore>): void {
  const many = Array.from({ length: 300 }, (_, n) =>
    entry(`m${n}`, { content: n % 100 === 50 ? `A rare Lighthouse ${n}` : `common ${n}` }),
  );
  const rare = ["m50", "m150", "m250"];

  check("MessageStore.V9 what holds the rarest words is found: whole, by its beginning, and misspelt", async (store) => {
    const { lookup } = store;
    if (lookup === undefined) return;
    await store.add("other", many.slice(0, 100));
    await store.add("r", many);
    for (const word of ["lighthouse", "lightho", "lighthuose", "lihgthouse"]) {
      expect([word, await idsWith(lookup, sought("common"), sought(word))]).toEqual([word, rare]);
    }
    expect(await idsWith(lookup, { ...sought("lightho"), isBeginning: false, wrongLetters: 0 })).toEqual([]);
    expect(await lookup.likeliest("nobody", [sought("common")], 9)).toEqual([]);
  });

  check("MessageStore.V9 no more is found than was asked for", async (store) => {
    const { lookup } = store;
    if (lookup === undefined) return;
    await store.add("r", many);
    const [one, some] = [await lookup.likeliest("r", [sought("common")], 1), await lookup.likeliest("r", [sought("common")], 200)];
    expect([one.length, some.length]).toEqual([1, 200]);
  });

  check("MessageStore.V9 it knows at once what was added and what is gone", async (store) => {
    const { lookup } = store;
    if (lookup === undefined) return;
    const stored = await store.add("r", many);
    await store.remove("r", [stored[50]?.place ?? 0, stored[299]?.place ?? 0]);
    await store.add("r", [entry("new", { content: "The lighthouse is new." })]);
    expect(await idsWith(lookup, sought("lighthouse"))).toEqual(["m150", "m250", "new"]);
    const asked = ["m50", "m51", "new", "never"].map((id) => ({ runId: "", id }));
    const places = await lookup.placesOf("r", asked);
    expect(places.map((place) => place !== undefined)).toEqual([false, true, true, false]);
    const found = await lookup.read("r", [...places.map((place) => place ?? 0), stored[50]?.place ?? 0, 9_999]);
    expect(found.map(({ message }) => message.id)).toEqual(["m51", "new"]);
    expect(await lookup.placesOf("nobody", asked)).toEqual(asked.map(() => undefined));
    expect(await lookup.read("nobody", [1])).toEqual([]);
  });
}

function sought(word: string): SoughtWord {
  return { word, isBeginning: true, wrongLetters: 2 };
}

/** The ids of the messages that have the last of some words, misspelt or not, among those that are found. */
async function idsWith(lookup: MessageLookup, ...words: readonly SoughtWord[]): Promise<readonly string[]> {
  const places = await lookup.likeliest("r", words, 10);
  const messages = await lookup.read("r", places);
  return messages.filter(({ message }) => message.content.toLowerCase().includes("lighthouse")).map(({ message }) => message.id);
}

function entry(
  id: string,
  { runId = "", content = `words of ${id}` }: { readonly runId?: string; readonly content?: string } = {},
): MessageToStore {
  return { runId, addedAt: 1_700_000_000_000, message: createMessage(content, { id, timestamp: 1 }) };
}

function entries(...ids: readonly string[]): MessageToStore[] {
  return ids.map((id) => entry(id));
}

async function all(store: MessageStore, role: string, after = 0): Promise<StoredMessage[]> {
  const messages: StoredMessage[] = [];
  for await (const page of store.read(role, after)) messages.push(...page);
  return messages;
}

async function vectors(store: MessageStore, fingerprint: string, after = 0): Promise<StoredVector[]> {
  const found: StoredVector[] = [];
  for await (const page of store.readVectors("r", fingerprint, after)) found.push(...page);
  return found;
}
