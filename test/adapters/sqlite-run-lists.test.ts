import { afterEach, describe, expect, it, vi } from "vitest";
import { Database } from "../../src/adapters/sqlite-database.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { errorOf, journalAt, lively, newFile, readOut, written } from "./sqlite-setup.ts";

afterEach(() => vi.restoreAllMocks());

async function journalOf(count: number): Promise<Journal> {
  const journal = journalAt(newFile());
  for (let n = 0; n < count; n += 1) await written(journal, `ann.${n}`, lively(`ann.${n}`, 3));
  return journal;
}

/** The statements that some work gives, and the rows that they return. */
async function costOf(work: () => Promise<unknown>): Promise<{ readonly statements: number; readonly rows: number }> {
  const all = vi.spyOn(Database.prototype, "all");
  await work();
  const cost = {
    statements: all.mock.calls.length,
    rows: all.mock.results.reduce((sum, { value }) => sum + (value as unknown[]).length, 0),
  };
  all.mockRestore();
  return cost;
}

describe("an id that no run of a file has", () => {
  it.each<[string, (journal: Journal) => Promise<unknown>]>([
    ["read", (journal) => readOut(journal, "nope")],
    ["claim", (journal) => errorOf(journal.claim("nope"))],
    ["info", (journal) => errorOf(journal.info?.("nope") ?? Promise.resolve())],
    ["remove", (journal) => journal.remove("nope")],
  ])("costs %s the same with two runs and with forty", async (_call, ask) => {
    const [few, many] = [await journalOf(2), await journalOf(40)];
    expect(await costOf(() => ask(many))).toEqual(await costOf(() => ask(few)));
  });
});

describe("the list of a tenant", () => {
  it("has its runs alone, the newest first, whatever other ids begin with", async () => {
    const journal = journalAt(newFile());
    const ids = ["ann.1", "bob.1", "anna.1", "ann.2", "ann", "ann-2.1", "ann.x.y", 'a"nn.1', 'a"nn.2'];
    for (const id of ids) await journal.create(id);
    const listed = async (prefix: string, before?: string): Promise<readonly string[]> =>
      ((await journal.newest?.({ limit: 2, prefix, ...(before === undefined ? {} : { before }) })) ?? []).map(({ runId }) => runId);
    expect(await listed("ann.")).toEqual(["ann.x.y", "ann.2"]);
    expect(await listed("ann.", "ann.2")).toEqual(["ann.1"]);
    expect(await listed('a"nn.')).toEqual(['a"nn.2', 'a"nn.1']);
    expect(await listed("ann.x.")).toEqual(["ann.x.y"]);
  });
});
