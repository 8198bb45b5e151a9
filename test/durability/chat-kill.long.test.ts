import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { sqlite } from "../../src/adapters/sqlite.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { openaiStub } from "../../src/testing/openai-stub.ts";
import { hasPostgres } from "../adapters/postgres-process.ts";
import { journalIn, newSchema, sharedServer } from "../adapters/postgres-setup.ts";
import { scratchFolder } from "../cli/fake-host.ts";
import { figure } from "../long.ts";
import { eventsOf } from "../team/recorded.ts";
import { start } from "./kills.ts";

/*
 * SIGKILL of a conversation of 1,000 turns with an agent that calls a tool in each, by real processes, over SQLite and Postgres.
 */

const CHILD = fileURLToPath(new URL("chat-child.mjs", import.meta.url));
const scratch = scratchFolder();
const TURNS = 1_000;
/** Durable writes of each process until its death. */
const DEATHS = Array.from({ length: 50 }, (_, nth) => 1 + ((nth * 37) % 90));

interface Place {
  readonly told: object;
  readonly journal: () => Promise<Journal>;
}

const places: Readonly<Record<string, () => Promise<Place>>> = {
  SQLite() {
    const store = join(mkdtempSync(join(scratch, "chat-")), "runs.db");
    return Promise.resolve({ told: { store }, journal: () => Promise.resolve(sqlite({ path: store })) });
  },
  async Postgres() {
    const schema = newSchema();
    const { url } = await sharedServer();
    return { told: { database: url, schema }, journal: () => journalIn(schema) };
  },
};

function only<T extends RunEvent["type"]>(events: readonly RunEvent[], type: T): Extract<RunEvent, { readonly type: T }>[] {
  return events.filter((event): event is Extract<RunEvent, { readonly type: T }> => event.type === type);
}

describe.each(Object.entries(places))("a conversation of 1,000 turns over %s", (name, place) => {
  test.skipIf(name === "Postgres" && !hasPostgres)(
    "comes to its end through 50 kills: each turn is answered once, and no recorded call is made again",
    { tags: ["kill", "long"], timeout: 3_600_000 },
    async () => {
      const { told, journal } = await place();
      let seen = 0;
      await using stub = await openaiStub({
        handler: ({ messages }) => {
          seen += 1;
          const last = messages.at(-1) as { readonly role: string; readonly content?: string };
          const asked = messages.findLast(({ role }) => role === "user") as { readonly content?: string } | undefined;
          const turn = Number(/turn (\d+)/.exec(asked?.content ?? "")?.[1]);
          const call = { name: "add", arguments: JSON.stringify({ n: turn }) };
          return last.role === "tool" ? { text: `answer ${String(last.content)}` } : { toolCalls: [call] };
        },
      });
      const common = { ...told, url: stub.url, turns: TURNS };
      let killed = 0;
      for (const killAt of DEATHS) if ((await start({ ...common, killAt }, CHILD).ended).signal === "SIGKILL") killed += 1;
      const { stdout, stderr } = await start(common, CHILD).ended;
      if (stdout === "") throw new Error(`the last process told nothing: ${stderr}`);
      expect(killed).toBe(DEATHS.length);
      expect(JSON.parse(stdout)).toEqual({
        said: Array.from({ length: TURNS }, (_, turn) => [`turn ${turn}`, `answer ${turn + 1}`]).flat(),
      });

      const kept = await journal();
      const events = await eventsOf(kept, "count");
      await kept.close();
      const models = new Set(only(events, "step.started").flatMap(({ act, key, kind }) => (kind === "model" ? [`${act} ${key}`] : [])));
      const recorded = only(events, "step.ended").filter(({ act, key, ok }) => ok && models.has(`${act} ${key}`)).length;
      expect(recorded).toBe(2 * TURNS);
      // A call that a death cut off is made again.
      expect(seen).toBeLessThanOrEqual(recorded + DEATHS.length);
      figure(`${name}: ${recorded} recorded calls, ${seen} seen, ${killed} kills, ${events.length} events`);
    },
  );
});
