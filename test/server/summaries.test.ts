import { describe, expect, it } from "vitest";
import { memoryJournal } from "../../src/index.ts";
import { RunSummaries } from "../../src/server/summaries.ts";

describe("the summaries of a server", () => {
  it("RunSummaries.M2 are kept for the runs that were asked for of late", async () => {
    const journal = memoryJournal();
    const read: string[] = [];
    const counting = {
      ...journal,
      async *read(runId: string): AsyncIterable<never> {
        read.push(runId);
        yield* [];
      },
    };
    const summaries = new RunSummaries(counting as unknown as typeof journal, () => undefined);
    for (let n = 0; n <= 10_000; n += 1) await summaries.known(`r${n}`);
    await summaries.known("r10000");
    expect(read).toHaveLength(10_001);
    await summaries.known("r0");
    expect(read).toHaveLength(10_002);
  });
});
