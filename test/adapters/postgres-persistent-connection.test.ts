import { EventEmitter } from "node:events";
import type { Client } from "pg";
import { describe, expect, it } from "vitest";
import type { PostgresDatabase } from "../../src/adapters/postgres-database.ts";
import { type PersistentParts, PersistentConnection } from "../../src/adapters/postgres-persistent-connection.ts";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import type { LogFields } from "../../src/kernel/emit.ts";
import { JournalError } from "../../src/kernel/errors.ts";
import { SimulatedClock } from "../../src/testing/simulated-clock.ts";
import { errorOf } from "../workspace/scratch.ts";

class FakeClient extends EventEmitter {
  isRef = true;
  isEnded = false;
  async end(): Promise<void> {
    if (this.isEnded) return;
    this.isEnded = true;
    this.emit("end");
  }
  ref(): void {
    this.isRef = true;
  }
  unref(): void {
    this.isRef = false;
  }
}

/** An error as the server tells it. */
const told = (code: string, message: string): Error => Object.assign(new Error(message), { code });

/** A database whose connections a test loses and refuses. */
class FakeDatabase {
  readonly clock = new SimulatedClock();
  readonly clients: FakeClient[] = [];
  readonly asked: string[] = [];
  readonly logged: (string | LogFields | undefined)[][] = [];
  readonly closing = new AbortController();
  /** The error of the next connections. */
  away: Error | undefined;
  /** The error of the next questions. */
  refused: Error | undefined;
  readonly db: PostgresDatabase;
  connection: PersistentConnection;

  constructor(more: Partial<PersistentParts> = {}) {
    const log =
      (level: string) =>
      (text: string, fields?: LogFields): void =>
        void this.logged.push([level, text, fields]);
    const logger = { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
    const mask = (text: string): string => text.replace("s3cret", "***");
    const server = {
      clock: this.clock,
      patience: 60_000,
      timeout: 5_000,
      shown: "here/db",
      logger,
      mask,
      hide: mask,
    };
    const part = { name: "journal", steps: [], error: (fault: string, message: string) => new JournalError(fault.toUpperCase(), message) };
    this.db = {
      part,
      server,
      closing: this.closing.signal,
      pause: (ms: number) => new Promise<void>((resolve) => void this.clock.timer(ms, resolve)),
      connection: () => this.#connection(),
    } as unknown as PostgresDatabase;
    this.connection = new PersistentConnection({
      db: this.db,
      prepare: async (rows) => void (await rows("LOCK")),
      heard: () => undefined,
      renewed: async () => void this.asked.push("renewed"),
      ...more,
    });
  }

  count(statement: string): number {
    return this.asked.filter((one) => one === statement).length;
  }

  get client(): FakeClient | undefined {
    return this.clients.at(-1);
  }

  async #connection(): Promise<{ readonly client: Client; readonly rows: (statement: string) => Promise<readonly object[]> }> {
    if (this.away !== undefined) throw this.away;
    const client = new FakeClient();
    this.clients.push(client);
    const rows = async (statement: string): Promise<readonly object[]> => {
      if (client.isEnded) throw new Error("Connection terminated unexpectedly");
      this.asked.push(statement);
      if (statement === "SELECT" && this.refused !== undefined) throw this.refused;
      return [];
    };
    return { client: client as unknown as Client, rows };
  }
}

describe("a persistent connection", () => {
  it("PersistentConnection.C1 is asked every ten seconds while it is needed, however often users come and go", async () => {
    for (const [isHeldByOne, questions] of [
      [true, 13],
      [false, 12],
    ] as const) {
      const fake = new FakeDatabase();
      if (isHeldByOne) fake.connection.keep();
      await fake.connection.opened();
      for (let second = 0; second < 120; second += 1) {
        const letGo = fake.connection.keep();
        await fake.clock.advance(900);
        letGo();
        await fake.clock.advance(100);
      }
      expect(fake.count("SELECT")).toBe(questions);
    }
  });

  it("PersistentConnection.C1 is not asked, and keeps no process running, without users", async () => {
    const fake = new FakeDatabase();
    await fake.connection.opened();
    expect([fake.client?.isRef, fake.clock.pending]).toEqual([false, 0]);
    const letGo = fake.connection.keep();
    expect([fake.client?.isRef, fake.clock.pending]).toEqual([true, 1]);
    letGo();
    letGo();
    expect([fake.client?.isRef, fake.clock.pending]).toEqual([false, 0]);
    await fake.client?.end();
    await nextMacrotask();
    expect([fake.connection.isOpen, fake.clients.length, fake.logged]).toEqual([false, 1, []]);
    await fake.connection.opened();
    expect([fake.connection.isOpen, fake.count("renewed")]).toEqual([true, 1]);
  });

  it("PersistentConnection.C3 PersistentConnection.C4 a lost one is opened again, with growing pauses; each reason is logged", async () => {
    const fake = new FakeDatabase();
    fake.connection.keep();
    await fake.connection.opened();
    await fake.clock.advance(0);
    fake.away = told("ECONNREFUSED", "connect s3cret");
    fake.client?.emit("error", told("57P01", "terminating connection"));
    await fake.client?.end();
    await fake.clock.advance(10_000);
    fake.away = undefined;
    const [before] = [fake.clients.length];
    await fake.clock.advance(1_000);
    expect([before, fake.clients.length, fake.count("renewed"), fake.connection.isOpen]).toEqual([1, 2, 1, true]);
    expect(fake.logged).toEqual([
      ["warn", expect.stringContaining("here/db failed"), { code: "57P01", reason: "terminating connection" }],
      ["warn", expect.stringContaining("here/db failed"), { code: "ECONNREFUSED", reason: "connect ***" }],
      ["info", expect.stringContaining("works again"), undefined],
    ]);
  });

  it("PersistentConnection.C3 one that is lost before a question is answered is opened again after longer and longer pauses", async () => {
    const fake = new FakeDatabase();
    fake.connection.keep();
    fake.refused = told("57014", "canceling statement");
    await fake.connection.opened();
    await fake.clock.advance(5_000);
    expect(fake.clients.length).toBeLessThan(20);
    expect(fake.clients.length).toBeGreaterThan(8);
    expect(fake.logged.length).toBe(1);
    fake.refused = undefined;
    await fake.clock.advance(1_000);
    const { length } = fake.clients;
    await fake.client?.end();
    await nextMacrotask();
    // The question was answered, so there is no pause.
    expect(fake.clients.length).toBe(length + 1);
  });

  it("PersistentConnection.C3 one whose question is refused stays open", async () => {
    const fake = new FakeDatabase();
    fake.connection.keep();
    fake.refused = told("42P01", "relation does not exist");
    await fake.connection.opened();
    await fake.clock.advance(60_000);
    expect([fake.clients.length, fake.connection.isOpen, fake.logged.length]).toEqual([1, true, 1]);
    expect(fake.count("SELECT")).toBe(7);
  });

  it("PersistentConnection.C5 waiting for it fails at once, after patience, or when the database is closed", async () => {
    const refused = new FakeDatabase();
    refused.away = told("28P01", "password authentication failed");
    expect((await errorOf(() => refused.connection.opened())).code).toBe("REFUSED");
    const away = new FakeDatabase();
    away.away = told("ECONNREFUSED", "connect");
    const waiting = errorOf(() => away.connection.opened());
    await away.clock.advance(60_500);
    expect((await waiting).code).toBe("UNREACHABLE");
    const closed = new FakeDatabase();
    closed.away = told("ECONNREFUSED", "connect");
    const ended = errorOf(() => closed.connection.opened());
    await closed.clock.advance(100);
    closed.closing.abort();
    await closed.clock.advance(1_000);
    expect((await ended).code).toBe("CLOSED");
  });

  it("PersistentConnection.C5 one that is lost again during `renewed` is waited for", async () => {
    let times = 0;
    const fake: FakeDatabase = new FakeDatabase({
      renewed: async () => {
        times += 1;
        if (times === 1) await fake.client?.end();
      },
    });
    fake.connection.keep();
    await fake.connection.opened();
    await fake.clock.advance(0);
    await fake.client?.end();
    const opened = fake.connection.opened().then(() => fake.connection.isOpen);
    await fake.clock.advance(1_000);
    expect([await opened, times]).toEqual([true, 2]);
  });

  it("PersistentConnection.C6 frees its locks before it ends, and opens nothing afterwards", async () => {
    const fake = new FakeDatabase();
    fake.connection.keep();
    await fake.connection.opened();
    await fake.connection.close();
    expect([fake.asked.at(-1)?.includes("pg_advisory_unlock_all"), fake.client?.isEnded]).toEqual([true, true]);
    await fake.clock.advance(60_000);
    expect([fake.clients.length, fake.clock.pending, fake.logged]).toEqual([1, 0, []]);
    expect((await errorOf(() => fake.connection.opened())).code).toBe("CLOSED");
  });
});
