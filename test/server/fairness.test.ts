import { describe, expect, it } from "vitest";
import { sqlite } from "../../src/adapters/sqlite.ts";
import { type Clock, JournalError, memoryJournal } from "../../src/index.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import type { RunServer } from "../../src/server/index.ts";
import { FairTurns, type Turn } from "../../src/server/admission.ts";
import { Readiness } from "../../src/server/readiness.ts";
import { simulatedClock } from "../../src/testing/index.ts";
import { journalAt, meddle, newFile } from "../adapters/sqlite-setup.ts";
import { ACME, BETA, clientOf, codeIn, door, request, serving, settled, shouters, waiters } from "./served-team.ts";

const MB = 1_000_000;

/** A request to start a run whose body comes when the test says so. */
function slowStart(
  tenant: typeof ACME,
  headers: Record<string, string> = {},
): { readonly asked: Request; send(text: string): void; end(): void } {
  let sink: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({ start: (given) => void (sink = given) });
  const authorization = `Bearer ${tenant.token}`;
  const init = { method: "POST", body, duplex: "half", headers: { authorization, "content-type": "application/json", ...headers } };
  return {
    asked: request("/api/runs", init as RequestInit),
    send: (text) => sink?.enqueue(new TextEncoder().encode(text)),
    end: () => sink?.close(),
  };
}

describe("the bounds of a tenant", () => {
  it("TroupeServer.H4 refuse bytes that it has no room for before they are read, and give the room back with the answer", async () => {
    const server = serving({ team: shouters(), tenants: [{ ...ACME, bytes: 100 }, BETA] });
    const first = slowStart(ACME, { "content-length": "60" });
    const answer = server.fetch(first.asked);
    await settled();
    const second = slowStart(ACME, { "content-length": "60" });
    const refused = await server.fetch(second.asked);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(await codeIn(refused)).toEqual([429, "BYTES_TOO_MANY"]);
    // Another tenant has bounds of its own.
    await clientOf(server, BETA.token).start({ idea: "x".repeat(200) });
    first.send('{"idea":"hello"}'.padEnd(60));
    first.end();
    expect((await answer).status).toBe(201);
    await clientOf(server, ACME.token).start({ idea: "again" });
  });

  it("TroupeServer.H4 count a body that does not say its length as it comes", async () => {
    const server = serving({ team: shouters(), tenants: [{ ...ACME, bytes: 100 }] });
    const first = slowStart(ACME);
    const answer = server.fetch(first.asked);
    first.send('{"idea":"'.padEnd(60, "x"));
    await settled();
    const second = slowStart(ACME);
    const refused = server.fetch(second.asked);
    second.send('{"idea":"'.padEnd(60, "x"));
    expect(await codeIn(await refused)).toEqual([429, "BYTES_TOO_MANY"]);
    first.send('"}');
    first.end();
    expect((await answer).status).toBe(201);
  });

  it("TroupeServer.H4 bound requests and streams together", async () => {
    const gate = door();
    const server = serving({ team: waiters(gate), tenants: [{ ...ACME, connections: 3 }] });
    const client = clientOf(server, ACME.token);
    const headers = { authorization: `Bearer ${ACME.token}` };
    const { id } = await client.start({ idea: "go" });
    const streams = [1, 2].map(() => server.fetch(request(`/api/runs/${id}/events?follow=true`, { headers })));
    const [one, two] = await Promise.all(streams);
    expect([one?.status, two?.status]).toEqual([200, 200]);
    const third = slowStart(ACME);
    const answer = server.fetch(third.asked);
    await settled();
    const refused = await server.fetch(request("/api/runs", { headers }));
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(await codeIn(refused)).toEqual([429, "CONNECTIONS_TOO_MANY"]);
    await one?.body?.cancel();
    expect((await server.fetch(request("/api/runs", { headers }))).status).toBe(200);
    third.send("{}");
    third.end();
    expect((await answer).status).toBe(400);
    await two?.body?.cancel();
    gate.open();
  });
});

/** The order in which turns begin. Each takes one turn of the event loop. */
async function orderOf(asked: readonly (readonly [tenant: string, bytes: number])[]): Promise<readonly string[]> {
  const turns = new FairTurns(simulatedClock());
  const order: string[] = [];
  const taken = asked.map(async ([tenant, bytes], n) => {
    const turn = await turns.take(tenant, bytes);
    order.push(`${tenant}${n}`);
    turn.end();
  });
  await Promise.all(taken);
  return order;
}

/** Lets the event loop turn as often as between two turns of requests. */
async function passed(): Promise<void> {
  for (let n = 0; n < 4; n += 1) await settled();
}

describe("the turns of requests", () => {
  it("FairTurns.F1 go round the tenants, however many requests one of them has", async () => {
    const asked = [...Array.from({ length: 4 }, () => ["a", MB] as const), ["b", 10] as const, ["c", MB] as const, ["b", 10] as const];
    expect(await orderOf(asked)).toEqual(["a0", "a1", "b4", "c5", "a2", "b6", "a3"]);
  });

  it("FairTurns.F2 FairTurns.F3 one long request works at a time, short ones together, with a turn of the event loop between", async () => {
    const turns = new FairTurns(simulatedClock());
    const begun: number[] = [];
    const take = (n: number, bytes: number): Promise<Turn> => turns.take("a", bytes).then((turn) => (begun.push(n), turn));
    const [first, second, third] = [take(0, MB), take(1, 10), take(2, 10)];
    await Promise.resolve();
    expect(begun).toEqual([0]);
    (await first).end();
    await Promise.resolve();
    expect(begun).toEqual([0]);
    await passed();
    expect(begun).toEqual([0, 1, 2]);
    for (const taken of [second, third]) (await taken).end();
  });

  it("FairTurns.F4 end by their time, and only once", async () => {
    const clock = simulatedClock();
    const turns = new FairTurns(clock);
    const begun: number[] = [];
    const take = (n: number): Promise<Turn> => turns.take("a", MB).then((turn) => (begun.push(n), turn));
    const [first] = [take(0), take(1), take(2)];
    await passed();
    await clock.advance(250);
    await passed();
    expect(begun).toEqual([0, 1]);
    (await first).end();
    await passed();
    expect(begun).toEqual([0, 1]);
  });
});

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

async function statusOf(server: RunServer): Promise<readonly [number, string]> {
  const response = await server.fetch(request("/readyz"));
  return [response.status, ((await response.json()) as { readonly status: string }).status];
}

/** A clock that the test sets forward. */
function stepped(): Clock & { pass(ms: number): void } {
  let now = 0;
  return { now: () => now, timer: () => () => undefined, pass: (ms) => void (now += ms) };
}

describe("the readiness of a server", () => {
  it.each<[string, (file: string) => Promise<Journal>]>([
    ["whose file is full", async (file) => journalAt(file, { maxPages: 12 })],
    [
      "that was closed",
      async (file) => {
        const journal = sqlite({ path: file });
        await journal.runs();
        await journal.close();
        return journal;
      },
    ],
  ])("is 503 with a journal %s", async (_what, open) => {
    const file = newFile();
    await sqlite({ path: file }).runs();
    await meddle(file, "CREATE TABLE filler (body BLOB)", "INSERT INTO filler VALUES (zeroblob(200000))");
    const journal = await open(file);
    const parts = { journal, clock: stepped(), logger: silent };
    expect(await new Readiness(parts).canWrite()).toBe(false);
  });

  it("follows a journal that cannot write and can again", async () => {
    const journal = memoryJournal();
    const clock = stepped();
    let fault: Error | undefined;
    journal.probe = () => (fault === undefined ? Promise.resolve() : Promise.reject(fault));
    const server = serving({ team: shouters(journal), clock });
    await server.ready();
    const statuses: (readonly [number, string])[] = [];
    for (const next of [undefined, new JournalError("JOURNAL_UNWRITABLE", "Expected a disk."), undefined]) {
      fault = next;
      clock.pass(1_000);
      statuses.push(await statusOf(server));
    }
    expect(statuses).toEqual([
      [200, "ready"],
      [503, "unwritable"],
      [200, "ready"],
    ]);
  });

  it("Readiness.W1 Readiness.W2 Readiness.W3 asks the journal once a second, waits two seconds, and logs each change", async () => {
    const clock = simulatedClock();
    const logged: string[] = [];
    const note = (text: string): void => void logged.push(text);
    let asked = 0;
    let answer = (): void => {};
    const journal = memoryJournal();
    journal.probe = () => {
      asked += 1;
      return new Promise((resolve) => (answer = resolve));
    };
    const readiness = new Readiness({ journal, clock, logger: { ...silent, info: note, error: note } });
    const both = [readiness.canWrite(), readiness.canWrite()];
    answer();
    expect([await Promise.all(both), asked]).toEqual([[true, true], 1]);
    await clock.advance(999);
    expect([await readiness.canWrite(), asked]).toEqual([true, 1]);
    await clock.advance(1);
    const late = readiness.canWrite();
    await clock.advance(2_000);
    expect([await late, asked]).toEqual([false, 2]);
    expect(logged).toEqual([]);
    journal.probe = () => Promise.reject(new Error("gone"));
    answer();
    await settled();
    expect(await readiness.canWrite()).toBe(false);
    expect(logged).toHaveLength(1);
  });
});
