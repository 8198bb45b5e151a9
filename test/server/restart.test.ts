import { describe, expect, it } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { memoryJournal } from "../../src/index.ts";
import { ACME, all, BETA, CENT, clientOf, door, drafters, request, served, waiters } from "./served-team.ts";

describe("a server that starts again", () => {
  it("goes on with the runs that its close stopped, and not with those that a client stopped", async () => {
    const journal = memoryJournal();
    const gate = door();
    const { server } = served({ team: waiters(gate, journal) });
    let current = server;
    const client = createClient({ url: "http://localhost", fetch: (asked) => current.fetch(asked) });
    const { id } = await client.start({ idea: "goes on" });
    const stopped = await client.start({ idea: "stays" });
    await client.stop(stopped.id);
    const watched = all(client.events(id));
    await server.close({ grace: 0 });
    expect((await server.fetch(request("/api/runs"))).status).toBe(503);
    expect((await server.fetch(request("/readyz"))).status).toBe(503);
    gate.open();
    const later = served({ team: waiters(gate, journal) });
    current = later.server;
    expect(await watched).toEqual(await all(later.client.events(id)));
    expect((await later.client.read(id)).status).toBe("finished");
    expect((await later.client.read(stopped.id)).status).toBe("stopped");
  });

  it("holds budgets of tenants to the cent, when their runs race and across restarts", async () => {
    const journal = memoryJournal();
    const tenants = [
      { ...ACME, budget: 5 * CENT },
      { ...BETA, budget: 3 * CENT },
    ] as never;
    const spent = { acme: 0, beta: 0 };
    for (let lives = 0; lives < 2; lives += 1) {
      const { server } = served({ team: drafters(journal), tenants });
      const owners = { acme: clientOf(server, ACME.token), beta: clientOf(server, BETA.token) };
      await Promise.all(
        (["acme", "beta"] as const).flatMap((name) =>
          Array.from({ length: 4 }, async (_, n) => {
            const { id } = await owners[name].start({ idea: `sea ${n}`, id: `r${lives}-${n}` });
            await all(owners[name].events(id));
          }),
        ),
      );
      for (const name of ["acme", "beta"] as const) spent[name] = (await owners[name].list()).runs.reduce((sum, { cost }) => sum + cost, 0);
      await server.close();
    }
    expect(spent).toEqual({ acme: 5 * CENT, beta: 3 * CENT });
  });
});
