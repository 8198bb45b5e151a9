// Long-term memory: how fast it searches and opens, how much room it takes, and what it finds. Build first (`npm run build`), then
// `node --expose-gc bench/memory.mjs`, or `node bench/memory.mjs recall` for what it finds alone. All figures are of one run on one machine;
// `bench/memory-peers.mjs` searches side by side with others.
//
// Not measured: real embedding models, network, disks that are slow, vectors of real texts (those here lie in 300 groups).
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { minisearch } from "../dist/src/adapters/minisearch.js";
import { sqliteStore } from "../dist/src/adapters/sqlite.js";
import { createMessage, exactIndex, hashingEmbedder, LongTermMemory, MemoryStorage } from "../dist/src/index.js";
import { recallSet } from "./recall-set.mjs";
import { syntheticVectors } from "./synthetic-vectors.mjs";

const DIMENSIONS = 256;
const K = 4;
const folder = mkdtempSync(join(tmpdir(), "troupe-bench-"));

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}

function show(what, value) {
  console.log(`${what.padEnd(64)} ${value}`);
}

function vectors(count, stream) {
  const all = syntheticVectors(count, DIMENSIONS, stream);
  return Array.from({ length: count }, (_, n) => all.subarray(n * DIMENSIONS, (n + 1) * DIMENSIONS));
}

/** Memory of typed arrays is given back some time after they were collected. */
async function collected() {
  for (let n = 0; n < 3; n++) {
    globalThis.gc?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function timed(queries, search) {
  const times = [];
  const found = [];
  for (const query of queries) {
    const start = performance.now();
    found.push(await search(query));
    times.push(performance.now() - start);
  }
  return { p50: median(times), found };
}

async function searching() {
  const all = vectors(100_000, "kept");
  const queries = vectors(60, "asked");
  for (const count of [10_000, 100_000]) {
    await collected();
    const before = process.memoryUsage();
    const exact = exactIndex();
    for (let key = 0; key < count; key++) await exact.add(key, all[key]);
    await collected();
    const after = process.memoryUsage();
    const keysOf = async (index, query) => (await index.search(query, K)).map(({ key }) => key);
    const scanned = await timed(queries, (query) => keysOf(exact, query));
    show(`exact search of ${count} x ${DIMENSIONS}, p50`, `${scanned.p50.toFixed(2)} ms`);
    if (globalThis.gc !== undefined) {
      const bytes = (after.arrayBuffers + after.heapUsed - before.arrayBuffers - before.heapUsed) / count;
      show(`bytes a vector of ${DIMENSIONS} in memory, at ${count}`, bytes.toFixed(0));
    }
  }
}

async function opening() {
  const path = join(folder, "open.db");
  const embedder = hashingEmbedder({ dimensions: DIMENSIONS });
  const open = () => new MemoryStorage({ roleId: "r", embedder, store: sqliteStore({ path }) });
  const storage = open();
  const start = performance.now();
  for (let from = 0; from < 100_000; from += 5_000) {
    await storage.addBatch(
      Array.from({ length: 5_000 }, (_, n) => createMessage(`note ${from + n} on subject ${(from + n) % 977}`, { id: `m${from + n}` })),
    );
  }
  show("adding 100,000 messages with hashed vectors to SQLite", `${((performance.now() - start) / 1_000).toFixed(2)} s`);
  await storage.close();
  show("bytes a message on disk", (statSync(path).size / 100_000).toFixed(0));
  await collected();
  const cpu = process.cpuUsage();
  const began = performance.now();
  const opened = open();
  await opened.recover();
  const { user, system } = process.cpuUsage(cpu);
  show(
    "opening them",
    `${((performance.now() - began) / 1_000).toFixed(2)} s (CPU ${((user + system) / 1e6).toFixed(2)} s), ${opened.size} held, ${opened.pending} pending`,
  );
  const [first] = await opened.searchSimilar("note 4711 on subject 803");
  show("opening them, and the first search", `${((performance.now() - began) / 1_000).toFixed(2)} s (found ${first?.message.id})`);
  const more = Array.from({ length: 50 }, (_, n) => createMessage(`one more, number ${n}`, { id: `more${n}` }));
  const { p50 } = await timed(more, (message) => opened.add(message));
  show("adding one more, durable, p50", `${p50.toFixed(2)} ms`);
  await opened.close();
}

async function news() {
  const memory = new LongTermMemory({ storage: new MemoryStorage({ roleId: "r" }), maxUnsaved: Infinity, onError: () => {} });
  const messages = Array.from({ length: 100_000 }, (_, n) => createMessage(`note ${n}`, { id: `m${n}` }));
  memory.addBatch(messages);
  const observed = Array.from({ length: 1_000 }, (_, n) => (n % 2 === 0 ? messages[n * 100] : createMessage("new", { id: `new${n}` })));
  const times = Array.from({ length: 50 }, () => {
    const start = performance.now();
    memory.findNews(observed);
    return performance.now() - start;
  });
  show("findNews: 1,000 observed against 100,000 remembered, p50", `${median(times).toFixed(3)} ms`);
}

async function finding() {
  const { messages, questions } = recallSet();
  const storage = new MemoryStorage({ roleId: "r" });
  const lexical = minisearch();
  const ids = [];
  for (const { id, text } of messages) {
    await lexical.add(ids.length, text);
    ids.push(id);
  }
  await storage.addBatch(messages.map(({ id, text }) => createMessage(text, { id })));
  const ways = {
    lexical: async (text) => (await lexical.search(text, 10)).map(({ key }) => ids[key]),
    hashing: async (text) => (await storage.searchSimilar(text, { k: 10 })).map(({ message }) => message.id),
  };
  console.log(`\n${questions.length} questions over ${messages.length} messages: hit@4 / MRR@10`);
  for (const [way, search] of Object.entries(ways)) {
    const places = [];
    for (const one of questions) places.push({ ...one, place: (await search(one.text)).indexOf(one.answer) });
    const of = (some) => {
      const hit = some.filter(({ place }) => place >= 0 && place < K).length / some.length;
      const rank = some.reduce((sum, { place }) => sum + (place < 0 ? 0 : 1 / (place + 1)), 0) / some.length;
      return `${hit.toFixed(3)} / ${rank.toFixed(3)}`;
    };
    const groups = ["words", "noise", "meaning"].map((kind) => `${kind} ${of(places.filter((one) => one.kind === kind))}`);
    const languages = ["en", "zh"].map((language) => `${language} ${of(places.filter((one) => one.language === language))}`);
    console.log(`${way.padEnd(8)} all ${of(places)}   ${[...groups, ...languages].join("   ")}`);
  }
}

try {
  if (process.argv[2] !== "recall") {
    await searching();
    await news();
    await opening();
  }
  await finding();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);
