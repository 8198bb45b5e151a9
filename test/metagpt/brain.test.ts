import { describe, expect, test } from "vitest";
import { BrainMemory, createMessage } from "../../src/index.ts";
import { fileCache } from "../../src/adapters/file-cache.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { scratchFolder } from "../workspace/scratch.ts";

function talk(brain: BrainMemory, count: number): void {
  for (let n = 0; n < count; n++) brain.addTalk(createMessage(`talk ${n}`, { id: `${n}` }));
}

describe("a brain memory", () => {
  test("[MetaGPT: storing and loading read a setting that was never filled in, and raised] without any settings both just work", async () => {
    const brain = new BrainMemory({ model: scriptedModel([]) });
    talk(brain, 3);
    expect([await brain.load(), await brain.save(), brain.history.length]).toEqual([{ kind: "nothing" }, false, 3]);
  });

  test("[MetaGPT: only one provider's summary worked, the other read a missing key] any model sums up, with a cache or without", async () => {
    const cache = fileCache({ dir: scratchFolder() });
    for (const options of [{}, { cache, key: { prefix: "a", userId: "b", chatId: "c" } }]) {
      const brain = new BrainMemory({ model: scriptedModel(["the summary"]), ...options });
      talk(brain, 10);
      expect([await brain.compress(), brain.summary, brain.history.length]).toEqual([true, "the summary", 4]);
    }
  });

  test("[MetaGPT: a text that stayed too long after a hundred rounds ended in an error] a text of any length is summarized", async () => {
    const brain = new BrainMemory({ model: scriptedModel(() => "word ".repeat(1000)), maxTokens: 100 });
    const summary = await brain.summarize("no end of it, ".repeat(20_000), { maxWords: 20 });
    expect(summary.replace("…", "").split(" ")).toHaveLength(20);
  });

  test("[MetaGPT: messages whose ids are no numbers were never recognized] a message is known by its id, whatever that is", () => {
    const brain = new BrainMemory({ model: scriptedModel([]) });
    const message = createMessage("hello", { id: "not-a-number" });
    expect([brain.addTalk(message), brain.addTalk(message), brain.history.length]).toEqual([true, false, 1]);
  });
});
