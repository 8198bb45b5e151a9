// @module-tag fleet
import { describe, expect, it } from "vitest";
import { graphileDriver } from "../../src/adapters/graphile.ts";
import { postgres } from "../../src/adapters/postgres.ts";
import { journalContract } from "../../src/testing/contracts/journal.ts";
import { runDriverContract } from "../../src/testing/contracts/run-driver.ts";
import { graphileEngine } from "./run-engines.ts";
import { hasPooler, startPooler } from "./pooler-process.ts";
import { hasPostgres } from "./postgres-process.ts";
import { journalIn, newSchema, sharedServer } from "./postgres-setup.ts";
import { errorOf } from "./sqlite-setup.ts";

describe.runIf(hasPostgres && hasPooler)("behind a pooler that keeps a connection for a client", async () => {
  const url = hasPostgres && hasPooler ? await startPooler(await sharedServer(), "session") : "";
  journalContract({ describe, it, expect }, "postgres", () => journalIn(newSchema(), { url }));
  runDriverContract({ describe, it, expect }, { name: "graphileDriver", make: () => graphileEngine(url) });
});

describe.runIf(hasPostgres && hasPooler)("behind a pooler that changes connections between transactions", () => {
  it("a run is not claimed: its owner would hold a lock that others release", async () => {
    const url = await startPooler(await sharedServer(), "transaction");
    const journal = postgres({ url, schema: newSchema() });
    await journal.create("a");
    expect(await errorOf(journal.claim("a"))).toMatchObject({
      code: "JOURNAL_UNWRITABLE",
      message: expect.stringContaining("mode session") as string,
    });
    await journal.close();
  });

  it("GraphileWork.W4 PersistentConnection.C5 a worker is refused: it could not show that it lives", async () => {
    const driver = graphileDriver({ url: await startPooler(await sharedServer(), "transaction"), schema: newSchema() });
    const starting = driver.work(async () => ({ is: "done" }), { teams: ["x"], concurrency: 1 });
    await expect(starting).rejects.toMatchObject({ code: "DRIVER_REFUSED", message: expect.stringContaining("mode session") as string });
    await driver.close();
  });
});
