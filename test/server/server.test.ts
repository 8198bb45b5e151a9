import { describe, expect, it } from "vitest";
import { importRun, memoryJournal } from "../../src/index.ts";
import type { RunClient } from "../../src/client/index.ts";
import { all, askers, clientOf, codeIn, door, request, served, shouters, waiters } from "./served-team.ts";

describe("a server of runs and its client", () => {
  it("start a run, list it, and tell its events", async () => {
    const { client } = served({ team: shouters() });
    const { id, idea } = await client.start({ idea: "hello" });
    const events = await all(client.events(id));
    expect(idea).toBe("hello");
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, place) => place));
    expect(events.at(-1)).toMatchObject({ type: "run.ended", status: "finished" });
    expect((await client.list()).runs).toMatchObject([{ id, status: "finished", roles: ["Sam"], team: "shouters", events: events.length }]);
    expect(await client.team()).toEqual({ name: "shouters", roles: ["Sam"], reserve: [] });
  });

  it("take a message into a run at rest, which reads it when it is resumed", async () => {
    const { client } = served({ team: shouters() });
    const { id } = await client.start({ idea: "one" });
    await all(client.events(id));
    expect(await client.publish(id, "two")).toMatchObject({ recipients: ["Sam"], waits: true });
    await client.resume(id);
    const said = (await all(client.events(id))).flatMap((event) => (event.type === "act.ended" ? event.said : []));
    expect(said.map(({ message }) => message.content)).toEqual(["ONE", "TWO"]);
  });

  it("TenantAccount.T1 hold a conversation under the id that a tenant chose, also when two begin it at once", async () => {
    const tenants = [
      { name: "acme", token: "acme-0123456789abcdef" },
      { name: "beta", token: "beta-0123456789abcdef" },
    ];
    const { server, client } = served({ team: shouters(), tenants }, "acme-0123456789abcdef");
    const told = async (one: RunClient, text: string): Promise<readonly string[]> =>
      (await one.say("table-4", text)).messages.map(({ sentFrom, content }) => `${sentFrom}: ${content}`);
    expect((await Promise.all(["one", "two"].map((text) => told(client, text)))).flat()).toEqual(
      expect.arrayContaining(["Sam: ONE", "Sam: TWO"]),
    );
    expect(await told(client, "two")).toEqual(["Sam: TWO"]);
    expect((await client.list()).runs.map(({ id }) => id)).toEqual(["acme.table-4"]);
    const beta = clientOf(server, "beta-0123456789abcdef");
    for (const id of ["table-4", "acme.table-4"]) await expect(beta.read(id)).rejects.toMatchObject({ code: "RUN_UNKNOWN" });
    expect(await told(beta, "three")).toEqual(["Sam: THREE"]);
  });

  it("hire a role of the team into a run under way or at rest, and retire it", async () => {
    const [gate, journal] = [door(), memoryJournal()];
    const { server, client } = served({ team: waiters(gate, journal) });
    expect((await client.team()).reserve).toEqual(["Wanda"]);
    const { id } = await client.start({ idea: "slow" });
    expect((await client.hire(id, "Wanda")).roles).toEqual(["Will", "Wanda"]);
    gate.open();
    await all(client.events(id));
    const { status, roles } = await client.hire(id, { role: "Wanda", as: "W/2" });
    expect([status, roles]).toEqual(["finished", ["Will", "Wanda", "W/2"]]);
    await client.retire(id, "W/2");
    for (const [attempt, code] of [
      [client.hire(id, "Wanda"), "ROLE_DUPLICATE"],
      [client.hire(id, "Zoe"), "ROLE_UNKNOWN"],
      [client.hire(id, { role: "Wanda", as: "" }), "BODY_INVALID"],
      [client.retire(id, "W/2"), "ROLE_UNKNOWN"],
    ] as const)
      await expect(attempt).rejects.toMatchObject({ code });
    await server.close();
    const later = served({ team: waiters(gate, journal) });
    expect(await later.client.publish(id, "again")).toMatchObject({ recipients: ["Will", "Wanda"], waits: true });
    await later.client.retire(id, "Wanda");
    await later.client.resume(id);
    const events = await all(later.client.events(id));
    expect(events.filter(({ type }) => type === "role.hired" || type === "role.retired")).toHaveLength(4);
    expect(events.at(-1)).toMatchObject({ type: "run.ended", status: "finished" });
  });

  it("ServedRuns.V1 answer a question once: of two tabs one is told that it was answered", async () => {
    const { server, client } = served({ team: askers() });
    const { id } = await client.start({ idea: "love" });
    await all(client.events(id));
    const { status, questions = [] } = await client.read(id);
    expect([status, questions[0]?.text]).toEqual(["waiting", "What is love?"]);
    const path = `/api/runs/${id}/answers/${questions[0]?.id ?? ""}`;
    const tabs = await Promise.all(["warm", "cold"].map((answer) => server.fetch(request(path, { json: { answer } }))));
    expect(tabs.map((tab) => tab.status)).toEqual([200, 409]);
    expect(await codeIn(tabs[1] as Response)).toEqual([409, "QUESTION_ANSWERED"]);
    const events = await all(client.events(id));
    expect(events.at(-1)).toMatchObject({ type: "run.ended", status: "finished" });
    expect(events.findLast((event) => event.type === "act.ended")?.said[0]?.message.content).toBe("You said warm.");
  });

  it("begin one run for one key, also when the requests race and after a restart", async () => {
    const journal = memoryJournal();
    const { server, client } = served({ team: shouters(journal) });
    const [one, other] = await Promise.all([client.start({ idea: "x" }, { key: "k1" }), client.start({ idea: "x" }, { key: "k1" })]);
    await all(client.events(one.id));
    await server.close();
    const later = served({ team: shouters(journal) });
    const again = await later.server.fetch(request("/api/runs", { json: { idea: "x" }, headers: { "idempotency-key": "k1" } }));
    expect([again.status, ((await again.json()) as { id: string }).id, other.id]).toEqual([200, one.id, one.id]);
    await expect(later.client.start({ idea: "y" }, { key: "k1" })).rejects.toMatchObject({
      code: "RUN_IDEA_DIFFERS",
      name: "JournalError",
    });
    expect((await later.client.list()).runs).toHaveLength(1);
    // With an id the key does not count.
    const named = await later.client.start({ idea: "x", id: "named" }, { key: "k1" });
    expect([named.id, (await later.client.start({ idea: "x", id: "named" }, { key: "k2" })).id]).toEqual(["named", "named"]);
  });

  it("pause, proceed and stop a run, and go on with it", async () => {
    const gate = door();
    const { client } = served({ team: waiters(gate) });
    const { id } = await client.start({ idea: "slow" });
    expect((await client.pause(id)).status).toBe("paused");
    expect((await client.proceed(id)).status).toBe("running");
    expect((await client.stop(id)).status).toBe("stopped");
    await expect(client.pause(id)).rejects.toMatchObject({ code: "RUN_INACTIVE" });
    gate.open();
    await client.resume(id);
    await all(client.events(id));
    expect((await client.read(id)).status).toBe("finished");
  });

  it("fork, replay and export a run", async () => {
    const { client } = served({ team: shouters() });
    const { id } = await client.start({ idea: "abc" });
    const events = await all(client.events(id));
    const idea = events.find((event) => event.type === "message");
    const fork = await client.fork(id, { change: [{ seq: idea?.seq ?? 0, content: "xyz" }] });
    const forked = await all(client.events(fork.id));
    expect(forked.findLast((event) => event.type === "act.ended")?.said[0]?.message.content).toBe("XYZ");
    expect((await client.read(fork.id)).parent?.runId).toBe(id);
    expect(await client.replay(id)).toEqual({ equal: true, events: events.length });
    const copy = await importRun(memoryJournal(), (await client.export(id)).split("\n"));
    expect(copy).toEqual({ runId: id, events: events.length });
  });

  it("list runs page by page, the newest first", async () => {
    const { client } = served({ team: shouters() });
    const ids: string[] = [];
    for (const idea of ["a", "b", "c"]) ids.unshift((await client.start({ idea, id: idea })).id);
    const first = await client.list({ limit: 2 });
    const rest = await client.list({ limit: 2, ...(first.next === undefined ? {} : { cursor: first.next }) });
    expect([...first.runs, ...rest.runs].map(({ id }) => id)).toEqual(ids);
    expect(rest.next).toBeUndefined();
    const [one, same] = await Promise.all([client.read("a"), client.read("a")]);
    expect(one).toEqual(same);
  });

  it("describe themselves by the schemas that check requests", async () => {
    const { server } = served({ team: shouters() });
    const document = (await (await server.fetch(request("/openapi.json"))).json()) as {
      readonly openapi: string;
      readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
    };
    expect(document.openapi).toBe("3.1.0");
    const operations = Object.values(document.paths).flatMap((path) => Object.values(path).map(({ operationId }) => operationId));
    expect(operations.toSorted()).toEqual(
      "answer events export file forget fork hire list pause proceed publish read replay resume retire signal start stop takeRole team".split(
        " ",
      ),
    );
    expect(JSON.stringify(document.paths["/api/runs"])).toContain("Idempotency-Key");
    // A generated client leaves a member that is only read out of its requests.
    expect(JSON.stringify(document).includes("readOnly")).toBe(false);
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, pointer = ""]) => pointer.split("/"));
    const found = refs.map((path) => path.reduce<unknown>((part, key) => (part as Record<string, unknown> | undefined)?.[key], document));
    expect(found.length).toBeGreaterThan(0);
    expect(found).not.toContain(undefined);
  });
});
