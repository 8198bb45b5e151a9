// @module-tag fleet
import { describe, expect, it } from "vitest";
import { PostgresDatabase } from "../../src/adapters/postgres-database.ts";
import { postgresServer } from "../../src/adapters/postgres-server.ts";
import { JOURNAL_TABLES } from "../../src/adapters/postgres-tables.ts";
import { checkIds, checkAnyJson } from "./any-rows.ts";
import { hasPostgres } from "./postgres-process.ts";
import { journalIn, newSchema, sharedServer } from "./postgres-setup.ts";
import { errorOf, lively, readOut, started, written, writtenOneByOne } from "./sqlite-setup.ts";

/** Does something to the tables behind the journal's back. */
async function meddle(schema: string, statement: string): Promise<void> {
  const { url } = await sharedServer();
  const db = new PostgresDatabase(JOURNAL_TABLES, postgresServer("test", { url, schema }));
  await db.rows(statement.replaceAll("s.", `${schema}.`));
  await db.close();
}

describe.runIf(hasPostgres)("rows of a journal in Postgres", () => {
  it("ids with any characters stay separate, and are listed by their beginning", async () => {
    const journal = await journalIn(newSchema());
    await checkIds(journal);
    for (const [prefix, found] of [
      ["y".repeat(249), ["y".repeat(250)]],
      ["y".repeat(251), []],
      ["'; DROP", ["'; DROP TABLE runs; --"]],
      ["猫", ["猫🎭"]],
    ] as const)
      expect((await journal.newest?.({ limit: 5, prefix }))?.map(({ runId }) => runId)).toEqual(found);
  });

  it("any JSON comes back, in requests with and without messages", async () => checkAnyJson(await journalIn(newSchema()), 200));

  it("pages of many conversations come back as they were written, from any place", async () => {
    const journal = await journalIn(newSchema());
    const events = lively("a", 1_300);
    const epoch = await written(journal, "a", events.slice(0, 700));
    await journal.append("a", epoch, 700, events.slice(700));
    expect(await readOut(journal, "a")).toEqual({ events, error: undefined });
    expect((await readOut(journal, "a", 650)).events).toEqual(events.slice(650));
  });

  const at7 = "number = 1 AND seq = 7";
  it.each([
    ["a changed text", `UPDATE s.events SET body = set_byte(body, 9, get_byte(body, 9) # 1) WHERE ${at7}`, 7],
    ["a text that is none", `UPDATE s.events SET body = '\\x00' WHERE ${at7}`, 7],
    ["a missing row", `DELETE FROM s.events WHERE ${at7}`, 7],
    ["a missing end", "DELETE FROM s.events WHERE number = 1 AND seq > 16", 17],
    [
      "two rows in each other's place",
      "UPDATE s.events SET body = (SELECT body FROM s.events WHERE number = 1 AND seq = 9) WHERE number = 1 AND seq = 7",
      7,
    ],
    ["a changed count", "UPDATE s.runs SET events = 19 WHERE number = 1", 19],
    ["another end", "UPDATE s.runs SET head = '\\x00' WHERE number = 1", 20],
    ["a changed message", "UPDATE s.chat_messages SET body = '\"other\"' WHERE number = 1", 2],
    ["a missing turn", "DELETE FROM s.chats WHERE number = 1 AND before = ''", 2],
    ["a conversation that leads into itself", "UPDATE s.chats SET before = chat WHERE number = 1", 2],
    [
      "a row of another run",
      "UPDATE s.events SET body = (SELECT body FROM s.events WHERE number = 2 AND seq = 9) WHERE number = 1 AND seq = 7",
      7,
    ],
  ])("Postgres.J4 %s is reported after everything intact, and harms no other run", async (_name, statement, intact) => {
    const schema = newSchema();
    const journal = await journalIn(schema);
    const events = lively("a", 20);
    await writtenOneByOne(journal, "a", events);
    await writtenOneByOne(journal, "b", lively("b", 20));
    await meddle(schema, statement);
    const { events: read, error } = await readOut(journal, "a");
    expect([read, error?.code, error?.data]).toEqual([events.slice(0, intact), "JOURNAL_DAMAGED", expect.objectContaining({ intact })]);
    expect(await readOut(journal, "b")).toEqual({ events: lively("b", 20), error: undefined });
  });

  it("Postgres.J4 a changed name of a run is reported, and an owner does not write after a changed end", async () => {
    const schema = newSchema();
    const journal = await journalIn(schema);
    const epoch = await written(journal, "a", lively("a", 3));
    await meddle(schema, "UPDATE s.runs SET head = '\\x00'");
    expect((await errorOf(journal.append("a", epoch, 3, [started("a", 3)])))?.code).toBe("JOURNAL_DAMAGED");
    await meddle(schema, "UPDATE s.runs SET run = '\"b\"'");
    expect((await errorOf(journal.runs()))?.code).toBe("JOURNAL_DAMAGED");
  });

  it("Postgres.J5 tables of a newer version are refused and not touched", async () => {
    const schema = newSchema();
    await (await journalIn(schema)).create("a");
    await meddle(schema, "UPDATE s.troupe_parts SET version = 99");
    expect((await errorOf((await journalIn(schema)).runs()))?.code).toBe("JOURNAL_NEWER");
  });

  it("PostgresSnapshots.P1 the newest snapshot is kept for the present owner alone, and a damaged one is none", async () => {
    const schema = newSchema();
    const journal = await journalIn(schema);
    const epoch = await written(journal, "a", lively("a", 2));
    await journal.append("a", epoch, 2, lively("a", 3).slice(2));
    expect(await journal.newestSnapshot?.("a")).toBeUndefined();
    for (const state of ["1", '{"ä":"\\u0000"}']) await journal.keepSnapshot?.("a", epoch, { seq: 3, state });
    expect(await journal.newestSnapshot?.("a")).toEqual({ seq: 3, state: '{"ä":"\\u0000"}' });
    const later = await journal.claim("a");
    for (const [old, code] of [
      [epoch, "EPOCH_STALE"],
      [0, "EPOCH_STALE"],
    ] as const) {
      expect((await errorOf(journal.keepSnapshot?.("a", old, { seq: 2, state: "1" }) ?? Promise.resolve()))?.code).toBe(code);
    }
    await meddle(schema, "UPDATE s.snapshots SET seq = 2");
    expect(await journal.newestSnapshot?.("a")).toBeUndefined();
    await journal.release("a", later.epoch);
  });

  it("a tally is made where it is damaged or missing", async () => {
    const schema = newSchema();
    const journal = await journalIn(schema);
    await written(journal, "a", lively("a", 30));
    const { tally } = (await journal.info?.("a")) ?? {};
    expect(tally?.summary.events).toBe(30);
    for (const harm of ["UPDATE s.tallies SET tally = replace(tally, '30', '29')", "DELETE FROM s.tallies"]) {
      await meddle(schema, harm);
      expect(await journal.newest?.({ limit: 1, tallies: true })).toEqual([{ runId: "a", events: 30, tally }]);
      expect(await journal.newest?.({ limit: 1 })).toEqual([{ runId: "a", events: 30 }]);
    }
  });

  it("a removed run leaves nothing", async () => {
    const schema = newSchema();
    const journal = await journalIn(schema);
    const epoch = await written(journal, "a", lively("a", 30));
    await journal.keepSnapshot?.("a", epoch, { seq: 1, state: "1" });
    await journal.remove("a");
    const { url } = await sharedServer();
    const db = new PostgresDatabase(JOURNAL_TABLES, postgresServer("test", { url, schema }));
    for (const table of ["runs", "events", "chats", "chat_messages", "snapshots", "tallies", "removed", "commands"]) {
      expect([table, await db.rows(`SELECT FROM ${schema}.${table}`)]).toEqual([table, []]);
    }
    await db.close();
  });
});
