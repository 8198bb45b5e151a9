import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { PostgresDatabase } from "../../src/adapters/postgres-database.ts";
import { type PostgresOptions, type PostgresPart, postgresServer } from "../../src/adapters/postgres-server.ts";
import { JournalError } from "../../src/kernel/errors.ts";
import { SimulatedClock } from "../../src/testing/simulated-clock.ts";

import { errorOf } from "../workspace/scratch.ts";
import { hasPostgres, type PostgresProcess, startPostgres } from "./postgres-process.ts";
import { titled } from "../titled.ts";

const words: PostgresPart = {
  name: "list of words",
  version: 1,
  tables: (schema) => `CREATE TABLE ${schema}.words (word text NOT NULL)`,
  error: (fault, message, o) => new JournalError(fault.toUpperCase(), message, o),
};
const newer: PostgresPart = { ...words, version: 2 };
const other: PostgresPart = {
  ...words,
  name: "list of numbers",
  version: 3,
  tables: (schema) => `CREATE TABLE ${schema}.numbers (n integer)`,
};

describe("the options of what is kept in Postgres", () => {
  const url = "postgres://ada:s3cret-word@localhost/db";
  it.each(
    titled([
      [{ url: "http://ada:s3cret-word@localhost" }, "POSTGRES_URL_INVALID"],
      [{ url: "s3cret-word" }, "POSTGRES_URL_INVALID"],
      [{ url: "postgres://ada:s3cret-word%zz@localhost" }, "POSTGRES_URL_INVALID"],
      [{ url: "postgres:///db" }, "POSTGRES_URL_INVALID"],
      [{ url, schema: 'a"; DROP TABLE runs; --' }, "OPTION_INVALID"],
      [{ url, schema: "pg_own" }, "OPTION_INVALID"],
      [{ url, schema: "x".repeat(41) }, "OPTION_INVALID"],
      [{ url, patience: 0 }, "OPTION_INVALID"],
      [{ url, connections: 1.5 }, "OPTION_INVALID"],
      [{ url, sschema: "a" }, "OPTION_UNKNOWN"],
    ] as [PostgresOptions, string][]),
  )("%s is refused without a word of the password", async (_case, options, code) => {
    const error = await errorOf(async () => postgresServer("postgres", options));
    expect(error.code).toBe(code);
    expect(inspect(error, { depth: 9 })).not.toContain("s3cret-word");
  });

  it("shows host and database alone", () => {
    expect(postgresServer("postgres", { url }).shown).toBe("localhost/db");
  });
});

describe.runIf(hasPostgres)("the tables of a part", () => {
  let server: PostgresProcess;
  let made = 0;
  const open: PostgresDatabase[] = [];
  const newSchema = (): string => `s${(made += 1)}`;
  const database = (part: PostgresPart, schema: string, more: Partial<PostgresOptions> = {}): PostgresDatabase => {
    const db = new PostgresDatabase(part, postgresServer("test", { url: server.url, schema, ...more }));
    open.push(db);
    return db;
  };
  const count = async (db: PostgresDatabase, table: string): Promise<number> => (await db.rows(`SELECT FROM ${db.schema}.${table}`)).length;

  beforeAll(async () => void (server = await startPostgres()));
  afterAll(async () => void (await Promise.all(open.map((each) => each.close()))));

  it("PostgresDatabase.P3 are made once by many that come at once, and each part has its own version", async () => {
    const schema = newSchema();
    const many = [words, other, words, other].map((part) => database(part, schema));
    await Promise.all(many.map((db) => db.rows("SELECT")));
    expect(await database(words, schema).rows(`SELECT part, version FROM ${schema}.troupe_parts ORDER BY part`)).toEqual([
      { part: "list of numbers", version: 3 },
      { part: "list of words", version: 1 },
    ]);
  });

  it("PostgresDatabase.P3 of another version are refused with its number", async () => {
    const schema = newSchema();
    await database(words, schema).rows("SELECT");
    const message = expect.stringContaining("version 2 for the list of words") as string;
    expect(await errorOf(() => database(newer, schema).rows("SELECT"))).toMatchObject({ code: "NEWER", message });
  });

  it(
    "PostgresDatabase.P3 are not put beside tables of another program, and a failed start leaves nothing",
    { tags: ["fleet", "long"] },
    async () => {
      const schema = newSchema();
      await database(words, newSchema()).rows(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.theirs ()`);
      expect(await errorOf(() => database(words, schema).rows("SELECT"))).toMatchObject({ code: "FOREIGN" });
      const broken = newSchema();
      const bad = { ...words, tables: () => "SELECT nothing FROM nowhere" };
      expect(await errorOf(() => database(bad, broken).rows("SELECT"))).toMatchObject({ code: "REFUSED" });
      expect(await count(database(words, broken), "words")).toBe(0);
    },
  );

  it(
    "PostgresDatabase.P1 PostgresDatabase.P2 work continues after the server was killed; transactions are whole",
    { tags: "numbers" },
    async () => {
      const told: string[] = [];
      const tell = (text: string): void => void told.push(text);
      const db = database(words, newSchema(), { logger: { debug: tell, info: tell, warn: tell, error: tell } });
      await db.rows(`INSERT INTO ${db.schema}.words VALUES ('first')`);
      let tries = 0;
      await db.transaction(async (rows) => {
        tries += 1;
        await rows(`INSERT INTO ${db.schema}.words VALUES ('second')`);
        if (tries > 1) return;
        await server.kill();
        void server.restart();
      });
      expect([tries > 1, await count(db, "words")]).toEqual([true, 2]);
      expect(told).toEqual([expect.stringContaining("does not answer"), expect.stringContaining("answers again")]);
    },
  );

  it("PostgresDatabase.P1 a server that is away longer than patience is an error without the password", async () => {
    const clock = new SimulatedClock();
    const url = "postgres://ada:s3cret-word@127.0.0.1:1/db";
    const db = new PostgresDatabase(words, postgresServer("test", { url, clock, patience: 5_000 }));
    let isDone = false;
    const failed = errorOf(() => db.rows("SELECT")).finally(() => (isDone = true));
    while (!isDone) {
      await vi.waitUntil(() => isDone || clock.pending > 0, { interval: 1, timeout: 60_000 });
      await clock.advance(50);
    }
    const error = await failed;
    expect(error).toMatchObject({ code: "UNREACHABLE", message: expect.stringContaining("127.0.0.1:1/db") });
    expect(clock.now()).toBeGreaterThan(3_500);
    expect(inspect(error, { depth: 9 })).not.toContain("s3cret-word");
    await db.close();
  });

  it("PostgresDatabase.P4 a refusal of the server is an error with its code, and is not repeated", async () => {
    const db = database(words, newSchema());
    expect(await errorOf(() => db.rows("SELECT nothing FROM nowhere"))).toMatchObject({
      code: "REFUSED",
      message: expect.stringContaining("42P01"),
    });
  });

  it("PostgresDatabase.P5 closing ends waiting work, and later work is refused", async () => {
    const db = database(words, newSchema());
    await db.rows("SELECT");
    const waits = errorOf(() => db.rows("SELECT pg_sleep(60)"));
    await db.close();
    await db.close();
    expect([(await waits).code, (await errorOf(() => db.rows("SELECT"))).code]).toEqual(["CLOSED", "CLOSED"]);
  });
});
