import { describe, expect, it } from "vitest";
import type { EventBlock } from "../../src/adapters/event-rows.ts";
import { PostgresAppends } from "../../src/adapters/postgres-appends.ts";
import type { PostgresDatabase, Rows } from "../../src/adapters/postgres-database.ts";

/** A database that takes every statement, and has one run. @returns it, with the bodies of each statement that writes events */
function writtenIn(): { readonly db: PostgresDatabase; readonly written: string[][] } {
  const written: string[][] = [];
  const rows = (statement: unknown, values: readonly unknown[] = []): Promise<readonly object[]> => {
    const text = typeof statement === "string" ? statement : ((statement as { readonly text?: string }).text ?? "");
    if (text.includes("AS MATERIALIZED"))
      written.push((JSON.parse(String(values[1])) as { readonly body: string }[]).map(({ body }) => body));
    return Promise.resolve([{ key: [values[0]].flat()[0], number: 1, epoch: 2, events: 3, head: "" }]);
  };
  const db = { schema: "s", server: { schema: "s" }, transaction: (work: (rows: Rows) => Promise<void>) => work(rows as Rows) };
  return { db: db as unknown as PostgresDatabase, written };
}

describe("a run that is rewritten in Postgres", () => {
  it("is sent in statements that are not too long, as appends are, with every event once and in its order", async () => {
    const { db, written } = writtenIn();
    const events = Array.from({ length: 20 }, (_, n): EventBlock => ({
      seq: n,
      events: 1,
      body: Buffer.from(`${n} ${"x".repeat(3_000_000)}`),
      chats: [],
    }));
    await new PostgresAppends(db).rewrite("a", 2, events, new Set());
    expect(written.flat().map((body) => Number.parseInt(Buffer.from(body, "base64").toString(), 10))).toEqual(events.map((_, n) => n));
    expect(Math.max(...written.map((bodies) => bodies.length))).toBe(3);
  });
});
