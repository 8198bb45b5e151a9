import { describe, expect, it } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { ControlError, JournalError, memoryJournal, TimeoutError } from "../../src/index.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import type { TeamOpener } from "../../src/server/index.ts";
import { all, atOnce, codeIn, request, served, serving, shouters } from "./served-team.ts";

/** A journal whose runs cannot be looked up while it has an error. */
function failing(): { readonly journal: Journal; error: Error | undefined } {
  const journal = memoryJournal();
  const info = journal.info?.bind(journal) ?? ((runId: string) => Promise.reject(new Error(runId)));
  const failed = { journal, error: undefined as Error | undefined };
  journal.info = (runId) => (failed.error === undefined ? info(runId) : Promise.reject(failed.error));
  return failed;
}

describe("a server whose journal is away", () => {
  it.each([
    ["JOURNAL_UNREACHABLE", new JournalError("JOURNAL_UNREACHABLE", "Expected an answer of db.internal."), 503],
    ["JOURNAL_UNWRITABLE", new JournalError("JOURNAL_UNWRITABLE", "Expected db.internal to do it."), 503],
    ["JOURNAL_FULL", new JournalError("JOURNAL_FULL", "Expected room in db.internal."), 507],
    ["BUDGET_UNREACHABLE", new ControlError("BUDGET_UNREACHABLE", "Expected an answer of db.internal."), 503],
    ["RUN_UNOWNED", new JournalError("RUN_UNOWNED", "Expected an owner."), 409],
    ["TIMEOUT", new TimeoutError("the owner of the run", 30_000), 504],
  ])("answers %s with a status of its own, tells no host, and logs what it does not tell", async (code, error, status) => {
    const failed = failing();
    const logged: unknown[] = [];
    const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: (_text: string, fields: unknown) => void logged.push(fields) };
    const server = serving({ team: shouters(failed.journal), logger });
    await server.ready();
    failed.error = error;
    const response = await server.fetch(request("/api/runs/r"));
    expect(response.headers.get("retry-after")).toBe(status === 503 ? "1" : null);
    const said = await response.clone().text();
    expect(await codeIn(response)).toEqual([status, code]);
    expect(said).not.toContain("db.internal");
    expect(logged).toEqual(error.message.includes("db.internal") ? [expect.objectContaining({ code, reason: error.message })] : []);
  });

  it("RunClient.C1 is asked again by a client that watches, until it answers", async () => {
    const failed = failing();
    const { server, client } = served({ team: shouters(failed.journal) });
    const { id } = await client.start({ idea: "go" });
    const whole = await all(client.events(id));
    for (const code of ["JOURNAL_UNREACHABLE", "JOURNAL_UNWRITABLE"]) {
      failed.error = new JournalError(code, "Expected the journal, it is away.");
      let asked = 0;
      const fetch = (one: Request): Promise<Response> => {
        asked += 1;
        if (asked > 3) failed.error = undefined;
        return server.fetch(one);
      };
      expect(await all(createClient({ url: "http://localhost", fetch, clock: atOnce }).events(id))).toEqual(whole);
      expect(asked).toBe(4);
    }
  });
});

describe("the description of a team", () => {
  it("opens the team with the signal of the server, and closes it although it cannot be read", async () => {
    const journal = memoryJournal();
    let [closed, hasSignal, isBroken] = [0, false, false];
    const teams: TeamOpener = ({ signal }) => {
      hasSignal = signal !== undefined;
      const team = shouters(journal);
      if (isBroken)
        Object.defineProperty(team, "roleNames", {
          get: () => {
            throw new RangeError("no names");
          },
        });
      return Promise.resolve({ team, close: () => void (closed += 1) });
    };
    const { client } = served({ teams, journal });
    expect(await client.team()).toEqual({ name: "shouters", roles: ["Sam"], reserve: [] });
    isBroken = true;
    await expect(client.team()).rejects.toMatchObject({ code: "INTERNAL" });
    expect([closed, hasSignal]).toEqual([2, true]);
  });
});
