import { describe, expect, test } from "vitest";
import type { Journal, RunSnapshot } from "../../src/runtime/record/journal.ts";
import { connection, errorOf, journalAt, lively, meddle, newFile } from "./sqlite-setup.ts";

const SNAPSHOT: RunSnapshot = { seq: 5, state: "0{}" };

/** A closed file with a run of eight events and a snapshot after five. */
async function snapshotFile(): Promise<string> {
  const file = newFile();
  const journal = journalAt(file);
  await journal.create("a");
  const { epoch } = await journal.claim("a");
  for (const [seq, event] of lively("a", 8).entries()) await journal.append("a", epoch, seq, [event]);
  await journal.keepSnapshot?.("a", epoch, SNAPSHOT);
  await journal.close();
  return file;
}

async function found(journal: Journal): Promise<RunSnapshot | undefined> {
  return journal.newestSnapshot?.("a");
}

describe("snapshots in a SQLite file", () => {
  test("SqliteSnapshots.P1 one of another past is not returned, nor one whose row was changed", async () => {
    const changes = [
      "UPDATE snapshots SET seq = 4",
      "UPDATE snapshots SET seq = 9",
      "UPDATE snapshots SET seq = -1",
      "UPDATE snapshots SET head = x'00'",
      "UPDATE events SET checksum = x'00112233445566778899aabbccddeeff' WHERE place % 2147483648 = 4",
      "DELETE FROM events WHERE place % 2147483648 = 4",
      "DELETE FROM snapshots",
    ];
    for (const change of ["SELECT 1", ...changes]) {
      const file = await snapshotFile();
      await meddle(file, change);
      expect(await found(journalAt(file)), change).toEqual(change === "SELECT 1" ? SNAPSHOT : undefined);
    }
  });

  test("one ahead of the record is refused, and a removed run leaves none in the file", async () => {
    const file = await snapshotFile();
    const journal = journalAt(file);
    const { epoch } = await journal.claim("a");
    const ahead = Promise.resolve(journal.keepSnapshot?.("a", epoch, { ...SNAPSHOT, seq: 9 }));
    expect(await errorOf(ahead)).toMatchObject({ code: "SEQ_MISMATCH" });
    expect(await found(journal)).toEqual(SNAPSHOT);
    await journal.remove("a");
    await journal.close();
    const db = await connection(file);
    expect(db.all("SELECT count(*) FROM snapshots")).toEqual([[0]]);
    db.close();
  });
});
