import pg from "pg";
import { describe, expect, it } from "vitest";
import { reportDeath } from "../../src/adapters/postgres-runs.ts";
import { identityText } from "../../src/adapters/process-identity.ts";
import { hasPostgres } from "../adapters/postgres-process.ts";
import { journalIn, newSchema, sharedServer } from "../adapters/postgres-setup.ts";

/** A process of a machine that this one cannot see, and another one. */
const FAR = identityText({ machine: "0badcafe", boot: "0badcafe", space: "1", pid: 4711, start: "99" });
const NEAR = identityText({ machine: "0badcafe", boot: "0badcafe", space: "1", pid: 4712, start: "99" });

describe.runIf(hasPostgres)("the death of a process that only its parent saw", () => {
  it("is proven for every machine once it is reported, and for no other process", async () => {
    const schema = newSchema();
    const { url } = await sharedServer();
    const [one, other] = [await journalIn(schema), await journalIn(schema)];
    for (const runId of ["seen", "unseen"]) {
      await one.create(runId);
      await one.claim(runId);
    }
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    // Owners whose connections are gone: nobody holds the lock of this number.
    await client.query(`UPDATE ${schema}.runs SET session = 2147483000, owner = CASE WHEN run LIKE '%unseen%' THEN $1 ELSE $2 END`, [
      NEAR,
      FAR,
    ]);
    await client.end();
    await reportDeath({ url, schema }, FAR);
    expect([(await other.claim("seen")).former, (await other.claim("unseen")).former]).toEqual(["died", "taken"]);
  });
});
