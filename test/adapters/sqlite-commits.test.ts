import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { Team } from "../../src/team/team.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import { answering } from "../runtime/town.ts";
import { connection, errorOf, journalAt, newFile, readOut, started, written } from "./sqlite-setup.ts";

/** Counts the transactions in the log beside the file: a frame that ends one says how large the file is then. */
function commitsIn(file: string): number {
  const log = readFileSync(`${file}-wal`);
  const [header, frameHeader, page] = [32, 24, log.readUInt32BE(8)];
  const salt = log.subarray(16, 24);
  let commits = 0;
  for (let at = header; at + frameHeader + page <= log.length; at += frameHeader + page) {
    if (log.subarray(at + 8, at + 16).equals(salt) && log.readUInt32BE(at + 4) > 0) commits += 1;
  }
  return commits;
}

async function claimed(journal: Journal, names: readonly string[]): Promise<number[]> {
  return Promise.all(names.map((name) => written(journal, name, [])));
}

const names = Array.from({ length: 64 }, (_, place) => `run ${place}`);

describe("group commit", () => {
  it("SqliteJournal.J2 what comes in one turn of the event loop is one transaction", async () => {
    const file = newFile();
    const journal = journalAt(file);
    const epochs = await claimed(journal, names);
    const before = commitsIn(file);
    await Promise.all(names.map((name, place) => journal.append(name, epochs[place] ?? 0, 0, [started(name, 0)])));
    expect(commitsIn(file) - before).toBe(1);
    expect((await journal.runs()).map(({ events }) => events)).toEqual(names.map(() => 1));
  });

  it("SqliteJournal.J2 runs that go side by side in one process cost no more commits than one", async () => {
    const commitsOf = async (runs: readonly string[]): Promise<number> => {
      const file = newFile();
      const journal = journalAt(file);
      await journal.runs();
      const before = commitsIn(file);
      const worker = answering("Ann", async (rc) => void (await rc.step("work", {}, () => Promise.resolve(1))));
      const results = await Promise.all(runs.map((id) => new Team({ seed: "s", roles: [worker], journal }).run("go", { id }).result));
      expect(results.map(({ status }) => status)).toEqual(runs.map(() => "finished"));
      return commitsIn(file) - before;
    };
    const alone = await commitsOf(["run"]);
    expect(alone).toBeGreaterThan(4);
    expect(await commitsOf(names)).toBe(alone);
  });

  it("Commits.C1 an append is resolved when others can read it, and not before", async () => {
    const file = newFile();
    const [journal, other] = [journalAt(file), journalAt(file)];
    const epoch = await written(journal, "a", []);
    let isResolved = false;
    const append = journal.append("a", epoch, 0, [started("a", 0)]).then(() => (isResolved = true));
    await Promise.resolve();
    expect([isResolved, (await other.runs())[0]?.events]).toEqual([false, 0]);
    await append;
    expect((await other.runs())[0]?.events).toBe(1);
  });

  it("Commits.C2 what is refused harms no other, whatever it is", async () => {
    const file = newFile();
    const journal = journalAt(file);
    const [a = 0, b = 0, c = 0] = await claimed(journal, ["a", "b", "c"]);
    const before = commitsIn(file);
    const outcomes = await Promise.all(
      [
        journal.append("a", a, 0, [started("a", 0)]),
        journal.append("b", b + 100, 0, [started("b", 0)]),
        journal.append("nobody's", 1, 0, [started("nobody's", 0)]),
        journal.create("a"),
        journal.append("b", b, 5, [started("b", 5)]),
        journal.append("b", b, 0, [started("b", 0)]),
        journal.append("c", c, 0, [started("c", 0), started("c", 1)]),
        journal.append("c", c, 2, [started("c", 2)]),
      ].map(errorOf),
    );
    expect(outcomes.map((error) => error?.code)).toEqual([
      undefined,
      "EPOCH_STALE",
      "RUN_UNKNOWN",
      "RUN_EXISTS",
      "SEQ_MISMATCH",
      undefined,
      undefined,
      undefined,
    ]);
    expect(commitsIn(file) - before).toBe(1);
    expect((await journal.runs()).map(({ events }) => events)).toEqual([1, 1, 3]);
  });
});

describe("a full disk", () => {
  it("Commits.C3 rejects everything of the commit by JOURNAL_FULL, keeps the cause, and nothing of it stays", async () => {
    const file = newFile();
    const journal = journalAt(file, { maxPages: 60 });
    const epochs = await claimed(journal, ["a", "b"]);
    const kept = [0, 0];
    for (let isFull = false; !isFull;) {
      const errors = await Promise.all(
        ["a", "b"].map((name, place) =>
          errorOf(journal.append(name, epochs[place] ?? 0, kept[place] ?? 0, [started(name, kept[place] ?? 0, 3_000)])),
        ),
      );
      const codes = errors.map((error) => error?.code);
      isFull = codes[0] !== undefined;
      if (isFull) {
        expect(codes).toEqual(["JOURNAL_FULL", "JOURNAL_FULL"]);
        expect(errors[0]?.cause).toMatchObject({ code: "SQLITE_FULL" });
        expect(errors[0]?.message).toContain(file);
      } else kept.forEach((count, place) => (kept[place] = count + 1));
    }
    expect(kept[0]).toBeGreaterThan(5);
    for (const [place, name] of ["a", "b"].entries()) {
      const { events, error } = await readOut(journal, name);
      expect({ error, seqs: events.map(({ seq }) => seq) }).toEqual({
        error: undefined,
        seqs: Array.from({ length: kept[place] ?? 0 }, (_, seq) => seq),
      });
    }
    // With room again, the same journal goes on where it was.
    await journal.remove("b");
    await journal.append("a", epochs[0] ?? 0, kept[0] ?? 0, [started("a", kept[0] ?? 0, 3_000)]);
    expect((await readOut(journal, "a")).events.length).toBe((kept[0] ?? 0) + 1);
  });
});

describe("another process that writes", () => {
  it("is waited for", async () => {
    const file = newFile();
    const clock = simulatedClock();
    const journal = journalAt(file, { clock, patience: 1_000 });
    const epoch = await written(journal, "a", []);
    const other = await connection(file);
    other.exec("BEGIN IMMEDIATE");
    let isResolved = false;
    const append = journal.append("a", epoch, 0, [started("a", 0)]).then(() => (isResolved = true));
    await clock.advance(500);
    expect(isResolved).toBe(false);
    other.exec("ROLLBACK");
    other.close();
    await clock.advance(100);
    await append;
    expect((await readOut(journal, "a")).events.length).toBe(1);
  });

  it("and never ends is waited for until the limit; reading continues meanwhile", async () => {
    const file = newFile();
    const clock = simulatedClock();
    const journal = journalAt(file, { clock, patience: 200 });
    const epoch = await written(journal, "a", [started("a", 0)]);
    const other = await connection(file);
    other.exec("BEGIN IMMEDIATE; UPDATE runs SET events = 99");
    const refused = errorOf(journal.append("a", epoch, 1, [started("a", 1)]));
    expect((await readOut(journal, "a")).events.length).toBe(1);
    await clock.advance(400);
    expect(await refused).toMatchObject({ code: "JOURNAL_UNWRITABLE", cause: { code: "SQLITE_BUSY" } });
    other.exec("ROLLBACK");
    other.close();
    await journal.append("a", epoch, 1, [started("a", 1)]);
    expect((await readOut(journal, "a")).events.length).toBe(2);
  });
});
