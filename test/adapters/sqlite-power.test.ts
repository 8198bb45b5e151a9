import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { Database } from "../../src/adapters/sqlite-database.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import { connection, errorOf, journalAt, newFile, readOut, started, written } from "./sqlite-setup.ts";

/** How SQLite numbers it. */
const SYNCHRONOUS_FULL = 2;

/** A statement that fails: each time before it is done or after, or once. */
interface Fault {
  readonly at: string;
  readonly how: "before it is done" | "after it is done" | "once";
  readonly code: string;
}

/** What commits meanwhile, in order: whether each waited until it was on the disk. */
async function waitsOf(work: () => Promise<unknown>, fault?: Fault): Promise<string[]> {
  const commits: string[] = [];
  const { exec } = Database.prototype;
  let isPast = false;
  const spy = vi.spyOn(Database.prototype, "exec").mockImplementation(function (this: Database, sql: string) {
    if (sql === "COMMIT") commits.push(this.first("PRAGMA file.synchronous")?.[0] === SYNCHRONOUS_FULL ? "waited" : "did not wait");
    const isFault = sql === fault?.at && !isPast;
    if (!isFault || fault.how === "after it is done") exec.call(this, sql);
    if (!isFault) return;
    isPast = fault.how === "once";
    throw Object.assign(new Error(`no ${sql}`), { code: fault.code });
  });
  try {
    await work();
  } finally {
    spy.mockRestore();
  }
  return commits;
}

describe("what waits for the disk", () => {
  it("Commits.C1 is all that happened, and not who owns a run", async () => {
    const journal = journalAt(newFile());
    await journal.runs();
    let epoch = 0;
    expect(await waitsOf(() => journal.create("a"))).toEqual(["waited"]);
    expect(await waitsOf(async () => ({ epoch } = await journal.claim("a")))).toEqual(["did not wait"]);
    expect(await waitsOf(() => journal.append("a", epoch, 0, [started("a", 0)]))).toEqual(["waited"]);
    expect(await waitsOf(() => journal.release("a", epoch))).toEqual(["did not wait"]);
    expect(await waitsOf(() => journal.remove("a"))).toEqual(["waited"]);
  });

  it("Commits.C1 is also what happened together with a change of owners, in whatever order they were asked", async () => {
    const journal = journalAt(newFile());
    const epoch = await written(journal, "a", []);
    await journal.create("b");
    const both = [
      () => Promise.all([journal.claim("b"), journal.append("a", epoch, 0, [started("a", 0)])]),
      () => Promise.all([journal.append("a", epoch, 1, [started("a", 1)]), journal.release("a", epoch)]),
    ];
    for (const work of both) expect(await waitsOf(work)).toEqual(["waited"]);
  });

  it("Commits.C1 is also what comes after a release that failed", async () => {
    const file = newFile();
    const clock = simulatedClock();
    const journal = journalAt(file, { clock, patience: 200 });
    const epoch = await written(journal, "a", [started("a", 0)]);
    const other = await connection(file);
    other.exec("BEGIN IMMEDIATE");
    const refused = errorOf(journal.release("a", epoch));
    expect((await readOut(journal, "a")).events.length).toBe(1);
    await clock.advance(400);
    expect(await refused).toMatchObject({ code: "JOURNAL_UNWRITABLE" });
    other.exec("ROLLBACK");
    other.close();
    expect(await waitsOf(() => journal.append("a", epoch, 1, [started("a", 1)]))).toEqual(["waited"]);
  });

  it("Commits.C1 is also what comes when a connection cannot be told to wait again: it is refused until it can be", async () => {
    const journal = journalAt(newFile());
    const epoch = await written(journal, "a", []);
    await journal.create("b");
    const fault: Fault = { at: "PRAGMA file.synchronous = FULL", how: "before it is done", code: "SQLITE_NOMEM" };
    const append = (): Promise<void> => journal.append("a", epoch, 0, [started("a", 0)]);
    const work = async (): Promise<void> => {
      // Who owns a run is sure all the same: its commit is over by then.
      await journal.claim("b");
      expect((await errorOf(append()))?.code).toBe("JOURNAL_UNWRITABLE");
    };
    expect(await waitsOf(work, fault)).toEqual(["did not wait"]);
    expect((await readOut(journal, "a")).events).toEqual([]);
    expect(await waitsOf(append)).toEqual(["waited"]);
  });

  it("Commits.C1 is also what comes when a connection told not to wait says it failed, and did it", async () => {
    const journal = journalAt(newFile());
    const epoch = await written(journal, "a", []);
    await journal.create("b");
    const fault: Fault = { at: "PRAGMA file.synchronous = NORMAL", how: "after it is done", code: "SQLITE_NOMEM" };
    const work = async (): Promise<void> => expect((await errorOf(journal.claim("b")))?.code).toBe("JOURNAL_UNWRITABLE");
    expect(await waitsOf(work, fault)).toEqual([]);
    expect(await waitsOf(() => journal.append("a", epoch, 0, [started("a", 0)]))).toEqual(["waited"]);
  });

  it("Commits.C4 Commits.C1 is each for itself when a commit of several is taken apart", async () => {
    const journal = journalAt(newFile());
    const epoch = await written(journal, "a", []);
    await journal.create("b");
    const work = (): Promise<unknown> => Promise.all([journal.append("a", epoch, 0, [started("a", 0)]), journal.claim("b")]);
    const commits = await waitsOf(work, { at: "COMMIT", how: "once", code: "SQLITE_CORRUPT" });
    expect(commits).toEqual(["waited", "waited", "did not wait"]);
  });

  it("SqliteJournal.J1 nothing is appended behind what the disk refused, until the log has begun anew", async () => {
    const file = newFile();
    const clock = simulatedClock();
    const journal = journalAt(file, { clock, patience: 200 });
    const epoch = await written(journal, "a", [started("a", 0)]);
    const append = (): Promise<void> => journal.append("a", epoch, 1, [started("a", 1)]);
    const fault: Fault = { at: "COMMIT", how: "once", code: "SQLITE_IOERR_FSYNC" };
    await waitsOf(async () => expect((await errorOf(append()))?.code).toBe("JOURNAL_UNWRITABLE"), fault);
    const reader = await connection(file);
    reader.exec("BEGIN; SELECT * FROM runs");
    expect(reader.first("SELECT count(*) FROM events")).toEqual([1]);
    const refused = errorOf(append());
    expect((await readOut(journal, "a")).events.length).toBe(1);
    await clock.advance(400);
    expect((await refused)?.code).toBe("JOURNAL_UNWRITABLE");
    reader.exec("COMMIT");
    reader.close();
    const old = readFileSync(`${file}-wal`).subarray(16, 24);
    await append();
    expect(readFileSync(`${file}-wal`).subarray(16, 24).equals(old)).toBe(false);
    const salt = readFileSync(`${file}-wal`).subarray(16, 24);
    await journal.append("a", epoch, 2, [started("a", 2)]);
    expect(readFileSync(`${file}-wal`).subarray(16, 24).equals(salt)).toBe(true);
    expect((await readOut(journal, "a")).events.map(({ seq }) => seq)).toEqual([0, 1, 2]);
  });

  it("SqliteJournal.J1 a machine that loses its power may forget who owned a run, and nothing that happened", async () => {
    const [file, after] = [newFile(), newFile()];
    const journal = journalAt(file);
    const first = await written(journal, "a", [started("a", 0)]);
    await journal.release("a", first);
    const disk = { base: readFileSync(file), log: readFileSync(`${file}-wal`) };
    const forgotten = await journal.claim("a");
    // What the disk has when the machine comes up again: all but that claim.
    writeFileSync(after, disk.base);
    writeFileSync(`${after}-wal`, disk.log);
    const later = journalAt(after);
    const { epoch } = await later.claim("a");
    expect(epoch).toBe(forgotten.epoch);
    await later.append("a", epoch, 1, [started("a", 1)]);
    expect((await readOut(later, "a")).events.map(({ seq }) => seq)).toEqual([0, 1]);
    await later.release("a", epoch);
    expect(await later.claim("a")).toEqual({ epoch: epoch + 1, former: "released" });
  });
});
