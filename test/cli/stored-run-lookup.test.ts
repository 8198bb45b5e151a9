import { afterEach, describe, expect, it } from "vitest";
import { sqlite } from "../../src/adapters/sqlite.ts";
import { shortIdIn, storedRun } from "../../src/cli/stored-run.ts";
import { exportRun, importRun, type Journal } from "../../src/index.ts";
import { lively, newFile, written } from "../adapters/sqlite-setup.ts";

const open: Journal[] = [];
afterEach(async () => {
  for (const journal of open.splice(0)) await journal.close();
});

/** A journal with some runs, and how often its whole list was read. */
async function journalOf(ids: readonly string[]): Promise<{ readonly journal: Journal; readonly lists: () => number }> {
  const journal = sqlite({ path: newFile() });
  open.push(journal);
  for (const id of ids) await written(journal, id, lively(id, 1));
  let lists = 0;
  const runs = journal.runs.bind(journal);
  journal.runs = () => {
    lists += 1;
    return runs();
  };
  return { journal, lists: () => lists };
}

describe("a run that a command names", () => {
  it.each([
    ["game-2", "game-2"],
    ["game", "game"],
    ["lif", "life"],
  ])("%s is %s, and no list of all runs is read", async (given, id) => {
    const { journal, lists } = await journalOf(["game", "game-2", "life"]);
    expect(await storedRun(journal, given)).toBe(id);
    expect(await storedRun(journal, await shortIdIn(journal, id))).toBe(id);
    expect(lists()).toBe(0);
  });

  it.each([
    ["gam", "RUN_AMBIGUOUS"],
    ["x", "RUN_UNKNOWN"],
    ["", "RUN_UNKNOWN"],
  ])("%j is refused as %s", async (given, code) => {
    const { journal } = await journalOf(["game", "game-2", "life"]);
    await expect(storedRun(journal, given)).rejects.toMatchObject({ code });
  });
});

it("an import asks for its own run alone", async () => {
  const { journal } = await journalOf(["game"]);
  const { journal: other, lists } = await journalOf(["life"]);
  await importRun(other, exportRun(journal, "game"));
  await expect(importRun(other, exportRun(journal, "game"))).rejects.toMatchObject({ code: "RUN_EXISTS" });
  expect(lists()).toBe(0);
});
