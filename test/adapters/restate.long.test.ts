// @module-tag fleet
import { afterAll, describe, expect, it, vi } from "vitest";
import { restateDriver } from "../../src/adapters/restate.ts";
import type { Delivery, FleetDriver, Handled, Working } from "../../src/team/run-driver.ts";
import { runDriverContract } from "../../src/testing/index.ts";
import type { RunEngine } from "../../src/testing/contracts/run-driver.ts";
import { door } from "../server/served-team.ts";
import { engineOf } from "./run-engines.ts";
import { hasRestate, type RestateProcess, startRestate } from "./restate-process.ts";

describe.runIf(hasRestate)("with a real server of Restate", () => {
  const servers: RestateProcess[] = [];
  afterAll(() => Promise.all(servers.map((server) => server.kill())));

  async function engine(): Promise<RunEngine> {
    const server = await startRestate();
    servers.push(server);
    const { ingress, admin } = server;
    return engineOf(
      () => restateDriver({ ingress, admin }),
      (team) => ({ team, restate: { ingress, admin } }),
      () => server.kill(),
    );
  }

  runDriverContract({ describe, it, expect }, { name: "restateDriver", make: engine });

  /** A job of team x that its handler gives back for a minute. Until `go`, the worker does not know the answer to what it asks about the run then. */
  async function givenBack(): Promise<GivenBack> {
    const server = await startRestate();
    servers.push(server);
    const { ingress, admin } = server;
    const [driver, other] = [restateDriver({ ingress, admin }), restateDriver({ ingress, admin })];
    const came: (number | undefined)[] = [];
    let held: Held | undefined;
    const working = await driver.work(
      async ({ events }) => {
        came.push(events);
        if (events !== 1) return { is: "done" };
        held ??= holding(({ url, body }) => url === `${admin}/query` && body.includes("'a'"), "answer");
        return { is: "again", after: 60_000 };
      },
      { teams: ["x"], concurrency: 1 },
    );
    await other.submit({ runId: "a", team: "x", events: 1 });
    await vi.waitUntil(() => held !== undefined, WAIT);
    await held?.reached;
    return {
      admin,
      driver,
      other,
      working,
      came,
      go: () => held?.go(),
      async isWaiting() {
        const body = JSON.stringify({ query: "SELECT id FROM sys_invocation WHERE status = 'scheduled'" });
        const headers = { "content-type": "application/json", accept: "application/json" };
        const answer = await fetch(`${admin}/query`, { method: "POST", headers, body });
        return ((await answer.json()) as { rows: unknown[] }).rows.length === 1;
      },
      async close() {
        await Promise.all([driver.close(), other.close()]);
        await server.kill();
      },
    };
  }

  it("RestateWork.W5 a job that is submitted while the one before is given back comes at once", async () => {
    const { other, came, go, close } = await givenBack();
    await other.submit({ runId: "a", team: "x", events: 2 });
    go();
    await vi.waitUntil(() => came.length > 1, WAIT);
    expect(came).toEqual([1, 2]);
    await close();
  });

  it("RestateWork.W5 a job that is submitted while the one before is given back is the only one that is left", async () => {
    const { other, working, go, isWaiting, close } = await givenBack();
    const stopped = working.stop();
    await other.submit({ runId: "a", team: "x", events: 2 });
    go();
    await stopped;
    await vi.waitUntil(isWaiting, WAIT);
    expect(await other.list({ limit: 2 })).toEqual([{ runId: "a", team: "x", state: "waiting", attempts: 0 }]);
    const delivered: (number | undefined)[] = [];
    const handler = async ({ events }: Delivery): Promise<Handled> => {
      delivered.push(events);
      return { is: "done" };
    };
    await other.work(handler, { teams: ["x"], concurrency: 1 });
    await vi.waitUntil(async () => (await other.list({ limit: 1 })).length === 0, WAIT);
    expect(delivered).toEqual([2]);
    await close();
  });

  it("RestateDriver.D1 a run that is cancelled while its job is given back has no job left", async () => {
    const { admin, other, go, isWaiting, close } = await givenBack();
    const kill = holding(({ url }) => url.startsWith(`${admin}/invocations/`), "call");
    const cancelled = other.cancel("a");
    await kill.reached;
    go();
    await vi.waitUntil(isWaiting, WAIT);
    kill.go();
    await cancelled;
    expect(await other.list({ limit: 1 })).toEqual([]);
    await close();
  });
});

/** Far less than the time after which the job comes again. */
const WAIT = { timeout: 20_000, interval: 10 };

interface GivenBack {
  readonly admin: string;
  readonly driver: FleetDriver;
  /** As another process has it. */
  readonly other: FleetDriver;
  readonly working: Working;
  /** The events of the jobs that were delivered. */
  readonly came: readonly (number | undefined)[];
  go(): void;
  /** True when the job that was given back waits in the server for its time. */
  isWaiting(): Promise<boolean>;
  close(): Promise<void>;
}

interface Held {
  /** Resolves when the call is held. */
  readonly reached: Promise<void>;
  go(): void;
}

/** Calls the server, also where {@link holding} stands in between. */
const { fetch: call } = globalThis;

/** Holds the first call of the server that is meant, before it is made or before its answer is known. */
function holding(isMeant: (called: { readonly url: string; readonly body: string }) => boolean, what: "call" | "answer"): Held {
  const [reached, gate] = [door(), door()];
  let isOver = false;
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    // The driver gives texts.
    const [url, body] = [input as string, (init?.body ?? "") as string];
    if (isOver || !isMeant({ url, body })) return call(input, init);
    isOver = true;
    const answer = what === "answer" ? await call(input, init) : undefined;
    reached.open();
    await gate.passed;
    return answer ?? call(input, init);
  });
  return { reached: reached.passed, go: gate.open };
}
