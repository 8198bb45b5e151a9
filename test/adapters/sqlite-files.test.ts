import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { JOURNAL, openFile } from "../../src/adapters/sqlite-file.ts";
import { sqlite } from "../../src/adapters/sqlite.ts";
import { nextMacrotask, systemClock } from "../../src/kernel/clock.ts";
import { collectGarbage } from "../kernel/garbage.ts";
import { connection, errorOf, journalAt, lively, meddle, newFile, readOut, started, written } from "./sqlite-setup.ts";

function mode(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

/** Everything in a folder, byte for byte. */
function contents(folder: string): Record<string, string> {
  const files = readdirSync(folder).filter((name) => statSync(join(folder, name)).isFile());
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(folder, name), "base64")]));
}

describe("the files of a journal", () => {
  it("are not there before the first question", async () => {
    const file = newFile("deep/deeper/journal.db");
    const journal = sqlite({ path: file });
    expect(existsSync(dirname(file))).toBe(false);
    await journal.runs();
    expect(existsSync(file)).toBe(true);
    await journal.close();
  });

  it("SqliteJournal.J6 are their owner's alone from birth, whatever the umask, and so are their folders", async () => {
    const file = newFile("deep/journal.db");
    const before = process.umask(0);
    try {
      const journal = journalAt(file);
      await written(journal, "a", lively("a", 10));
      const made = readdirSync(dirname(file)).filter((name) => !name.endsWith("-locks"));
      expect(made.toSorted()).toEqual(["journal.db", "journal.db-shm", "journal.db-wal"]);
      expect(made.map((name) => mode(join(dirname(file), name)))).toEqual(["600", "600", "600"]);
      expect([mode(dirname(file)), mode(`${file}-locks`)]).toEqual(["700", "700"]);
      expect(readdirSync(`${file}-locks`).map((name) => mode(join(`${file}-locks`, name)))).toEqual(["600"]);
    } finally {
      process.umask(before);
    }
  });

  it("a lock file is gone with its run", async () => {
    const file = newFile();
    const journal = journalAt(file);
    for (const run of ["a", "b"]) await written(journal, run, [started(run, 0)]);
    await journal.remove("a");
    expect(readdirSync(`${file}-locks`).length).toBe(1);
    await journal.remove("b");
    expect(readdirSync(`${file}-locks`)).toEqual([]);
  });

  it("a removed run leaves nothing in the tables, and its place is used again", async () => {
    const file = newFile();
    const journal = journalAt(file);
    await written(journal, "b", lively("b", 10));
    await written(journal, "a", lively("a", 500));
    const grown = await sizeOf(file);
    await journal.remove("a");
    const db = await connection(file);
    for (const table of ["events", "chats", "chat_messages"]) {
      expect(db.first(`SELECT count(*) FROM ${table} WHERE ${table === "events" ? "place >= 2 << 31" : "number = 2"}`)).toEqual([0]);
    }
    db.close();
    expect((await readOut(journal, "b")).events.length).toBe(10);
    await written(journal, "a", lively("a", 500));
    expect(await sizeOf(file)).toBeLessThan(grown * 1.1);
  });

  async function sizeOf(file: string): Promise<number> {
    await meddle(file);
    return statSync(file).size;
  }
});

describe("a file that is no journal", () => {
  async function checkRefused(file: string, code: string): Promise<void> {
    const before = contents(dirname(file));
    for (const question of [
      (journal: ReturnType<typeof sqlite>) => journal.runs(),
      (journal: ReturnType<typeof sqlite>) => journal.create("a"),
      (journal: ReturnType<typeof sqlite>) => journal.read("a", 0)[Symbol.asyncIterator]().next(),
    ]) {
      const journal = sqlite({ path: file });
      const error = await errorOf(question(journal) as Promise<unknown>);
      expect(error?.code).toBe(code);
      expect(error?.message).toContain(file);
      await journal.close();
    }
    // A connection that was closed, but collected only now, would write what is in the log into the file.
    collectGarbage();
    await nextMacrotask();
    // To look into a file that has a log, SQLite must have one, if an empty one, and a page of memory.
    const [name, after] = [basename(file), contents(dirname(file))];
    delete after[`${name}-shm`];
    delete before[`${name}-shm`];
    if (after[`${name}-wal`] === "") delete after[`${name}-wal`];
    expect(after).toEqual(before);
  }

  it("any other file", async () => {
    const file = newFile();
    writeFileSync(file, "To whom it may concern. ".repeat(100));
    await checkRefused(file, "JOURNAL_FOREIGN");
  });

  const customers = "CREATE TABLE customers (name TEXT); INSERT INTO customers VALUES ('Ada')";
  it.each([
    ["with tables", customers],
    ["with strings of another encoding", `PRAGMA encoding = 'UTF-16le'; ${customers}`],
    ["that is still empty, but marked as its own", "PRAGMA application_id = 7; PRAGMA user_version = 1"],
    ["that writes a log", `PRAGMA journal_mode = WAL; ${customers}`],
  ])("the database of another program %s", async (_what, sql) => {
    const file = newFile();
    const db = await connection(file);
    db.exec(sql);
    db.close();
    await checkRefused(file, "JOURNAL_FOREIGN");
  });

  it("the database of another program that was killed while it wrote: its log stays as it is", async () => {
    const [source, file] = [newFile(), newFile()];
    const db = await connection(source);
    db.exec(`PRAGMA journal_mode = WAL; ${customers}`);
    for (const end of ["", "-wal"]) copyFileSync(`${source}${end}`, `${file}${end}`);
    db.close();
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(0);
    await checkRefused(file, "JOURNAL_FOREIGN");
  });

  it("a journal of another version", async () => {
    const [source, file] = [newFile(), newFile()];
    const journal = sqlite({ path: source });
    await written(journal, "a", [started("a", 0)]);
    await journal.close();
    await meddle(source, `PRAGMA user_version = ${JOURNAL.version + 1}`);
    copyFileSync(source, file);
    await checkRefused(file, "JOURNAL_NEWER");
  });

  it("a file whose maker was killed before it had written a table is a new journal", async () => {
    const file = newFile();
    const db = await connection(file);
    db.exec("PRAGMA journal_mode = WAL");
    db.close();
    expect(statSync(file).size).toBeGreaterThan(0);
    await written(journalAt(file), "a", [started("a", 0)]);
  });
});

describe("an open file", () => {
  it("SqliteJournal.J1 forces every commit to the disk, and trusts nothing in the file", async () => {
    const db = await openFile({ kind: JOURNAL, file: newFile(), clock: systemClock, patience: 0 });
    const settings = ["journal_mode", "synchronous", "cell_size_check", "trusted_schema"].map(
      (name) => db.first(`PRAGMA file.${name}`)?.[0],
    );
    db.close();
    expect(settings).toEqual(["wal", 2, 1, 0]);
  });
});

describe("a path at which no file can be", () => {
  it.each([
    ["below a file", (file: string) => (writeFileSync(file, "a file"), join(file, "journal.db"))],
    ["at a folder", (file: string) => (mkdirSync(file), file)],
  ])("%s", async (_where, make) => {
    expect((await errorOf(sqlite({ path: make(newFile()) }).runs()))?.code).toBe("JOURNAL_UNWRITABLE");
  });

  it("is tried again by the next call", async () => {
    const file = newFile("later/journal.db");
    const blocked = dirname(file);
    writeFileSync(blocked, "in the way");
    const journal = journalAt(file);
    expect((await errorOf(journal.create("a")))?.code).toBe("JOURNAL_UNWRITABLE");
    rmSync(blocked);
    await written(journal, "a", [started("a", 0)]);
    expect(await journal.runs()).toEqual([{ runId: "a", events: 1 }]);
  });

  it("of the locks: nothing is claimed", async () => {
    const file = newFile();
    const journal = journalAt(file);
    await journal.create("a");
    writeFileSync(`${file}-locks`, "in the way");
    expect((await errorOf(journal.claim("a")))?.code).toBe("JOURNAL_UNWRITABLE");
  });
});
