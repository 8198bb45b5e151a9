// @module-tag numbers
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { defineAction } from "../../src/role/action.ts";
import { sqlite } from "../../src/adapters/sqlite.ts";
import { Database, loadDriver } from "../../src/adapters/sqlite-database.ts";
import { ROUTE_TO_SELF } from "../../src/message/address.ts";
import { defineRole } from "../../src/role/role.ts";
import { Team } from "../../src/team/team.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";

/** Bytes of rows for a hop without a step, and for the four events of one with a model step, which is written with each answer. */
const MAX_BYTES = 60;
const MAX_BYTES_OF_STEPS = 450;

const WORDS = "what a role has to say to itself, in about as many words as roles in a company use";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "troupe-stored-")));
afterAll(() => rmSync(folder, { recursive: true }));

/** Returns the bytes of rows for each hop of a role that talks to itself. */
async function talked(hops: number, asks: boolean): Promise<number> {
  const path = join(folder, `${hops} ${asks}.db`);
  const journal = sqlite({ path });
  const talk = defineAction({ name: "Talk to oneself", sendTo: () => [ROUTE_TO_SELF], run: (ctx) => (asks ? ctx.ask(WORDS) : WORDS) });
  const role = defineRole({ name: "Talker", actions: [talk], watch: ["UserRequirement", talk] });
  const model = scriptedModel(() => WORDS);
  const { status } = await new Team({ roles: [role], model, journal, scheduler: "eager", seed: 1 }).run("go", { rounds: hops }).result;
  expect(status).toBe("rounds");
  await journal.close();
  const db = new Database(await loadDriver(), path, 1_000);
  const [bytes] = db.first("SELECT sum(length(body)) FROM events") ?? [];
  db.close();
  return Number(bytes) / hops;
}

describe("the record of a hop", () => {
  it("is little, however long the run is", async () => {
    expect(await talked(2_000, false)).toBeLessThanOrEqual(MAX_BYTES);
  });

  it("with a model step is little for each of its four events", async () => {
    expect(await talked(150, true)).toBeLessThanOrEqual(MAX_BYTES_OF_STEPS);
  });
});
