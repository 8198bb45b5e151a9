import { describe, expect, it } from "vitest";
import { journalAt, newFile } from "./sqlite-setup.ts";

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
