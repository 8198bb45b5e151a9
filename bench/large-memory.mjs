// Measures the cost of a new process beside a large store: the first addition, opening, the first search, and the room it takes. Build first
// (`npm run build`), then `node bench/large-memory.mjs [messages]`; filling the store takes minutes for a million. Half of the questions
// are vectors without any structure, for which the index misses most. All figures are of one run on one machine.
import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sqliteStore } from "../dist/src/adapters/sqlite.js";
import { createMessage, MemoryStorage } from "../dist/src/index.js";
import { randomStream } from "../dist/inside/kernel/random.js";
import { syntheticVectors } from "./synthetic-vectors.mjs";

const DIMENSIONS = 128;
const K = 4;
const TOGETHER = 1_000;
const QUESTIONS = 100;

function randomVectors(count) {
  const random = randomStream("large memory", "random");
  return Float32Array.from({ length: count * DIMENSIONS }, () => random() + random() + random() + random() - 2);
}

/** The vector of a text is that of the number it begins with. */
function embedderOf(vectors) {
  const vectorAt = (n) => vectors.subarray(n * DIMENSIONS, (n + 1) * DIMENSIONS);
  const embed = (texts) => Promise.resolve(texts.map((text) => vectorAt(Number.parseInt(text, 10))));
  return { id: "bench", dimensions: DIMENSIONS, maxBatch: TOGETHER, maxChars: 1_000, threshold: -1, isFree: true, embed };
}

const storageAt = (path, embedder) => new MemoryStorage({ roleId: "r", store: sqliteStore({ path }), ...(embedder && { embedder }) });
const note = (n) => createMessage(`${n} note on part ${n % 1013}`, { id: `m${n}` });

async function timed(work) {
  const began = performance.now();
  const value = await work();
  return [value, performance.now() - began];
}

/** The best keys for each question, by the plainest comparison. */
function nearest(all, questions) {
  const best = questions.map(() => []);
  for (let key = 0; key < all.length / DIMENSIONS; key += 1) {
    const from = key * DIMENSIONS;
    let square = 0;
    for (let d = 0; d < DIMENSIONS; d += 1) square += all[from + d] ** 2;
    for (const [q, question] of questions.entries()) {
      let dot = 0;
      for (let d = 0; d < DIMENSIONS; d += 1) dot += all[from + d] * question[d];
      const score = dot / Math.sqrt(square);
      if (best[q].length === K && score <= best[q][K - 1].score) continue;
      best[q] = [...best[q], { key, score }].sort((a, b) => b.score - a.score).slice(0, K);
    }
  }
  return best.map((hits) => hits.map(({ key }) => `m${key}`));
}

const asked = [...["asked"].map((name) => syntheticVectors(QUESTIONS / 2, DIMENSIONS, name)), randomVectors(QUESTIONS / 2)];
const questions = asked.flatMap((some) =>
  Array.from({ length: QUESTIONS / 2 }, (_, n) => some.subarray(n * DIMENSIONS, (n + 1) * DIMENSIONS)),
);

/** A process of its own, so that it holds nothing of what was made. */
async function opened(path) {
  const storage = storageAt(path, embedderOf(Float32Array.from(asked.flatMap((some) => [...some]))));
  const [, opening] = await timed(() => storage.persist());
  const found = [];
  const times = [];
  for (let n = 0; n < QUESTIONS; n += 1) {
    const [hits, ms] = await timed(() => storage.searchSimilar(`${n}`, { k: K }));
    found.push(hits.map(({ message }) => message.id));
    times.push(ms);
  }
  await storage.close();
  process.send({ opening, times, found, rss: process.memoryUsage().rss });
}

async function added(path) {
  const storage = storageAt(path);
  await storage.searchSimilar("part 500", { k: K });
  const [, adding] = await timed(() => storage.add(createMessage("one more")));
  const [, searching] = await timed(() => storage.searchSimilar("part 500", { k: K }));
  await storage.close();
  process.send({ adding, searching });
}

function inProcess(what, path) {
  const child = fork(fileURLToPath(import.meta.url), [what, path]);
  return new Promise((resolve) => child.once("message", resolve));
}

async function measure(count) {
  const folder = mkdtempSync(join(tmpdir(), "troupe-bench-"));
  const path = join(folder, "memory.db");
  const all = syntheticVectors(count, DIMENSIONS, "kept");
  for (let from = 0; from < count; from += 50 * TOGETHER) {
    const storage = storageAt(path, embedderOf(all));
    for (let n = from; n < Math.min(count, from + 50 * TOGETHER); n += TOGETHER) {
      await storage.addBatch(Array.from({ length: Math.min(TOGETHER, count - n) }, (_, m) => note(n + m)));
    }
    await storage.close();
  }
  const { opening, times, found, rss } = await inProcess("opened", path);
  const wanted = nearest(all, questions);
  const recall = (from) => {
    const hits = found.slice(from, from + QUESTIONS / 2).map((ids, n) => ids.filter((id) => wanted[from + n].includes(id)).length);
    return (hits.reduce((sum, some) => sum + some, 0) / (hits.length * K)).toFixed(3);
  };
  const { adding, searching } = await inProcess("added", path);
  const median = times.toSorted((a, b) => a - b)[QUESTIONS / 2];
  console.log(`${count} messages, vectors of ${DIMENSIONS} numbers`);
  console.log(`opened in ${opening.toFixed(0)} ms; first search ${times[0].toFixed(0)} ms, median ${median.toFixed(0)} ms`);
  console.log(
    `${Math.round(rss / 1e6)} MB after ${QUESTIONS} searches; recall at ${K}: ${recall(0)} in groups, ${recall(QUESTIONS / 2)} at random`,
  );
  console.log(`without an embedder: first addition ${adding.toFixed(1)} ms, the search after it ${searching.toFixed(0)} ms`);
  rmSync(folder, { recursive: true });
}

const [what = "1000000", path] = process.argv.slice(2);
await (what === "opened" ? opened(path) : what === "added" ? added(path) : measure(Number(what)));
