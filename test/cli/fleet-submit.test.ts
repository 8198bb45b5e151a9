import { afterAll, describe, expect, it } from "vitest";
import { graphileDriver } from "../../src/adapters/graphile.ts";
import { postgres } from "../../src/adapters/postgres.ts";
import { main } from "../../src/cli/program.ts";
import { defineRole, Team } from "../../src/index.ts";
import type { Delivery } from "../../src/team/run-driver.ts";
import { hasPostgres, startPostgres } from "../adapters/postgres-process.ts";
import { fakeHost } from "./fake-host.ts";

describe.runIf(hasPostgres)("troupe submit", async () => {
  const server = hasPostgres ? await startPostgres() : undefined;
  const url = server?.url ?? "";
  afterAll(() => server?.kill());

  const submit = async (...words: readonly string[]): Promise<number> => {
    const host = fakeHost({ env: { TROUPE_JOURNAL: url, OPENAI_API_KEY: "our-own-key" } });
    return main(host, ["submit", ...words]);
  };

  it("puts no secret into the queue, and knows an idea again that had one", async () => {
    expect(await submit("--team", "writers", "--id", "a", "a poem about our-own-key")).toBe(0);
    const driver = graphileDriver({ url });
    let seen: (delivery: Delivery) => void = () => undefined;
    const delivered = new Promise<Delivery>((resolve) => (seen = resolve));
    const working = await driver.work(
      async (delivery) => {
        seen(delivery);
        return { is: "done" };
      },
      { teams: ["writers"], concurrency: 1 },
    );
    expect((await delivered).idea).toBe("a poem about [secret]");
    await working.stop();
    const journal = postgres({ url });
    const roles = [defineRole({ name: "Wes", react: () => undefined })];
    await new Team({ name: "writers", roles, journal, secrets: ["our-own-key"] }).run("a poem about our-own-key", { id: "a" }).result;
    expect([await submit("--id", "a", "a poem about our-own-key"), await submit("--id", "a", "another poem")]).toEqual([0, 2]);
    expect(await driver.list({ limit: 2 })).toMatchObject([{ runId: "a", team: "writers", state: "waiting" }]);
    await driver.close();
    await journal.close();
  });
});
