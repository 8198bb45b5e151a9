import { describe, expect, it } from "vitest";
import { memoryJournal, usd } from "../../src/index.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import type { ServerOptions } from "../../src/server/server-options.ts";
import { all, askers, request, served, shouters, withMethods } from "./served-team.ts";

describe("the summaries of a server", () => {
  it("come from the tallies of the journal: a list reads no event of a run at rest", async () => {
    const inner = memoryJournal();
    const { server, client } = served({ team: shouters(inner) });
    for (const idea of ["one", "two", "three"]) await all(client.events((await client.start({ idea })).id));
    await server.close();
    const { reader, told } = observed(inner);
    const listing = served({ team: shouters(reader), recover: false });
    await listing.server.ready();
    told.length = 0;
    const response = await listing.server.fetch(request("/api/runs?limit=2"));
    const { runs, next } = (await response.json()) as { readonly runs: readonly { readonly idea: string }[]; readonly next?: string };
    expect([response.status, runs.map(({ idea }) => idea), typeof next]).toEqual([200, ["three", "two"], "string"]);
    expect(told).toEqual([]);
  });

  it("Recovery.Y4 spare a start the events of runs at rest, unless a budget counts them or a question waits", async () => {
    const inner = memoryJournal();
    const first = served({ team: shouters(inner) });
    const { id } = await first.client.start({ idea: "one" });
    await all(first.client.events(id));
    await first.server.close();
    const { reader, told } = observed(inner);
    const second = served({ team: askers(reader) });
    const asks = await second.client.start({ idea: "two" });
    await all(second.client.events(asks.id));
    await second.server.close();
    const starts = async (options: Partial<ServerOptions>): Promise<readonly string[]> => {
      told.length = 0;
      const { server } = served({ team: askers(reader), ...options });
      await server.ready();
      await server.close();
      return [...new Set(told)];
    };
    expect(await starts({})).toEqual(["all runs", asks.id]);
    expect(await starts({ budget: usd(1) })).toEqual(["all runs", id, asks.id]);
  });
});

/** A journal that notes what is read. */
function observed(inner: Journal): { readonly reader: Journal; readonly told: string[] } {
  const told: string[] = [];
  const reader = withMethods(inner, {
    runs: () => {
      told.push("all runs");
      return inner.runs();
    },
    read: (runId, from) => {
      told.push(runId);
      return inner.read(runId, from);
    },
  });
  return { reader, told };
}
