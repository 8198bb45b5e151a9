import { existsSync } from "node:fs";
import { expect, it, vi } from "vitest";
import { sqlite } from "../../src/adapters/sqlite.ts";
import { errorOf, newFile } from "./sqlite-setup.ts";

vi.mock("libsql", () => {
  throw new Error("Cannot find module '@libsql/plan9-mips'");
});

it("where the library has no build, that is said, with the way out, and no file is made", async () => {
  const file = newFile();
  const journal = sqlite({ path: file });
  const error = await errorOf(journal.create("a"));
  expect(error).toMatchObject({ code: "JOURNAL_UNWRITABLE", cause: expect.anything() as unknown });
  expect(error?.message).toContain("memoryJournal()");
  expect(existsSync(file)).toBe(false);
  expect(await errorOf(journal.close())).toBeUndefined();
});
