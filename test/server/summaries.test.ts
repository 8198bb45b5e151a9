import { describe, expect, it } from "vitest";
import { type Journal, memoryJournal } from "../../src/index.ts";
import { newestRuns, runInfo } from "../../src/runtime/record/journal.ts";
import { all, request, served, shouters } from "./served-team.ts";

describe("the summaries of a server", () => {
  it("come from the tallies of the journal: a list reads no event of a run at rest", async () => {
    const inner = memoryJournal();
    const { server, client } = served({ team: shouters(inner) });
    for (const idea of ["one", "two", "three"]) await all(client.events((await client.start({ idea })).id));
    await server.close();
    const told: string[] = [];
    const reader: Journal = {
      ...bound(inner),
      runs: () => {
        told.push("all runs");
        return inner.runs();
      },
      read: (runId, from) => {
        told.push(runId);
        return inner.read(runId, from);
      },
    };
    const listing = served({ team: shouters(reader), recover: false });
    // The start of a server counts the money of former runs.
    await listing.server.ready();
    told.length = 0;
    const response = await listing.server.fetch(request("/api/runs?limit=2"));
    const { runs, next } = (await response.json()) as { readonly runs: readonly { readonly idea: string }[]; readonly next?: string };
    expect([response.status, runs.map(({ idea }) => idea), typeof next]).toEqual([200, ["three", "two"], "string"]);
    expect(told).toEqual([]);
    await listing.server.close();
  });
});

function bound(inner: Journal): Journal {
  return {
    create: (id) => inner.create(id),
    claim: (...given) => inner.claim(...given),
    release: (...given) => inner.release(...given),
    append: (...given) => inner.append(...given),
    read: (id, from) => inner.read(id, from),
    runs: () => inner.runs(),
    newest: (page) => newestRuns(inner, page),
    info: (id) => runInfo(inner, id),
    remove: (id) => inner.remove(id),
    close: () => inner.close(),
  };
}
