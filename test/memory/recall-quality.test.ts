import MiniSearch from "minisearch";
import { expect, test } from "vitest";
import { hashingEmbedder } from "../../src/memory/embedder.ts";
import { MemoryStorage } from "../../src/memory/memory-storage.ts";
import { termsOf } from "../../src/memory/text-terms.ts";
import { conversation, EVIDENCE } from "./recall-conversations.ts";

const K = 4;
const said = conversation(900);

type Search = (question: string) => Promise<readonly string[]>;

async function storageWith(options: { readonly embedder?: ReturnType<typeof hashingEmbedder> }): Promise<MemoryStorage> {
  const storage = new MemoryStorage({ roleId: "Ann", runId: "r", ...options });
  await storage.addBatch(said);
  return storage;
}

function inStorage(storage: MemoryStorage, neighbours: number, threshold?: number): Search {
  return async (question) => {
    const found = await storage.search(question, { k: K, threshold });
    const told: string[] = [];
    for (const { message, place } of found) {
      const near = await storage.around(place, neighbours);
      told.push(message.content, ...near.map(({ message: { content } }) => content));
    }
    return told;
  };
}

/** The index as it was while function words of a question counted. */
function withFunctionWords(): Search {
  const index = new MiniSearch<{ id: number; text: string }>({
    fields: ["text"],
    tokenize: termsOf,
    processTerm: (term) => term,
    searchOptions: { fuzzy: (term) => (term.length < 5 ? false : 0.2), prefix: (term) => term.length >= 5 },
  });
  index.addAll(said.map(({ content }, id) => ({ id, text: content })));
  return (question) =>
    Promise.resolve(
      index
        .search(question)
        .slice(0, K)
        .map(({ id }) => said[id as number]?.content ?? ""),
    );
}

/** The share of questions whose evidence is among what was found. */
async function recallOf(search: Search): Promise<number> {
  let found = 0;
  for (const { question, answer } of EVIDENCE) if ((await search(question)).includes(answer)) found += 1;
  return found / EVIDENCE.length;
}

/* Measured when this was written: hashing .33, with function words .50, words .50, with neighbours .83. */
test("evidence is recalled more often by words than by hashes, without function words, and with neighbours of a hit", async () => {
  const words = await storageWith({});
  const recall = {
    hashing: await recallOf(inStorage(await storageWith({ embedder: hashingEmbedder() }), 0, -1)),
    functionWords: await recallOf(withFunctionWords()),
    words: await recallOf(inStorage(words, 0)),
    neighbours: await recallOf(inStorage(words, 1)),
  };
  expect(recall.words).toBeGreaterThan(recall.hashing + 0.1);
  expect(recall.words).toBeGreaterThanOrEqual(recall.functionWords);
  expect(recall.neighbours).toBeGreaterThan(recall.words + 0.1);
});
