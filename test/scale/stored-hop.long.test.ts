// @module-tag numbers
import { mkdtempSync, realpathSync, rmSync, statSync } from "node:fs";
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

/** Letters of what is stored for a hop, beside the words said. One that gets by with less lowers these; one that needs more says why. */
const MOST_LETTERS = 100;
/** The same for the four events of a hop with a model step. */
const MOST_LETTERS_OF_STEPS = 490;
/** Bytes of the file for each hop, beside the words said. */
const MOST_BYTES = 160;

const WORDS = "what a role has to say to itself, in about as many words as roles in a company use";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "troupe-stored-")));
afterAll(() => rmSync(folder, { recursive: true }));

/** A role that talks to itself, and what the file of its run has become. */
async function talked(hops: number, asks: boolean): Promise<{ readonly bytes: number; readonly bodies: readonly string[] }> {
  const path = join(folder, `${hops} ${asks}.db`);
  const journal = sqlite({ path });
  await journal.runs();
  const empty = statSync(path).size;
  const talk = defineAction({ name: "Talk to oneself", sendTo: () => [ROUTE_TO_SELF], run: (ctx) => (asks ? ctx.ask(WORDS) : WORDS) });
  const role = defineRole({ name: "Talker", actions: [talk], watch: ["UserRequirement", talk] });
  const model = scriptedModel(() => WORDS);
  const { status } = await new Team({ roles: [role], model, journal, scheduler: "eager", seed: 1 }).run("go", { rounds: hops }).result;
  expect(status).toBe("rounds");
  await journal.close();
  const bytes = statSync(path).size - empty;
  const db = new Database(await loadDriver(), path, 1_000);
  const bodies = db.all("SELECT CAST(body AS BLOB) FROM events ORDER BY place").map(([body]) => String(body));
  db.close();
  return { bytes, bodies };
}

/** Letters of the events that nearly all of a run is made of. */
function lettersOf(bodies: readonly string[], perHop: number, hops: number): number {
  const middle = bodies.slice(2 + perHop * (hops - 100), 2 + perHop * hops);
  expect(middle.length).toBe(100 * perHop);
  const letters = middle.reduce((sum, body) => sum + body.replaceAll(WORDS, "").length, 0);
  return letters / 100;
}

describe("the record of a hop", () => {
  it("is its words and little else, however long the run is", async () => {
    const { bytes, bodies } = await talked(2_000, false);
    expect(lettersOf(bodies, 1, 2_000)).toBeLessThanOrEqual(MOST_LETTERS);
    expect(lettersOf(bodies, 1, 2_000)).toBeGreaterThan(50);
    expect(bytes / 2_000 - WORDS.length).toBeLessThanOrEqual(MOST_BYTES);
  });

  it("with a model step is little else for each of its four events", async () => {
    const { bodies } = await talked(150, true);
    expect(lettersOf(bodies, 4, 150)).toBeLessThanOrEqual(MOST_LETTERS_OF_STEPS);
  });
});
