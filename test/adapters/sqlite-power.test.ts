import { describe, expect, it, vi } from "vitest";
import { Database } from "../../src/adapters/sqlite-database.ts";
import { errorOf, journalAt, newFile, readOut, started } from "./sqlite-setup.ts";

/** The number that SQLite gives it. */
const SYNCHRONOUS_FULL = 2;

describe("a journal on a disk", () => {
  it("SqliteJournal.J1 each change waits until it is on the disk, and one that the disk refused leaves nothing behind", async () => {
    const journal = journalAt(newFile());
    const { exec } = Database.prototype;
    let isRefused = false;
    const spy = vi.spyOn(Database.prototype, "exec").mockImplementation(function (this: Database, sql: string) {
      if (sql === "COMMIT") expect(this.first("PRAGMA file.synchronous")).toEqual([SYNCHRONOUS_FULL]);
      if (sql === "COMMIT" && isRefused) throw Object.assign(new Error("no fsync"), { code: "SQLITE_IOERR_FSYNC" });
      exec.call(this, sql);
    });
    try {
      await journal.create("a");
      const { epoch } = await journal.claim("a");
      await journal.append("a", epoch, 0, [started("a", 0)]);
      isRefused = true;
      expect((await errorOf(journal.append("a", epoch, 1, [started("a", 1)])))?.code).toBe("JOURNAL_UNWRITABLE");
      isRefused = false;
      await journal.append("a", epoch, 1, [started("a", 1)]);
      await journal.release("a", epoch);
    } finally {
      spy.mockRestore();
    }
    expect((await readOut(journal, "a")).events.map(({ seq }) => seq)).toEqual([0, 1]);
  });
});
