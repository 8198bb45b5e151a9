import { Agent, request as requestOf } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { networkInterfaces } from "node:os";
import { describe, expect, it } from "vitest";
import { memoryJournal } from "../../src/index.ts";
import { jsonLogger, type RunServer } from "../../src/server/index.ts";
import { ACME, all, BETA, clientOf, codeIn, door, request, served, serving, shouters, waiters } from "./served-team.ts";

/** All that a server says to bytes on a socket. */
function told(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    let said = "";
    socket.on("data", (data) => (said += data.toString("latin1")));
    socket.on("error", reject);
    socket.on("close", () => resolve(said));
  });
}

/** All routes of the interface, as the server describes them. */
async function routesOf({ fetch }: RunServer): Promise<readonly { readonly method: string; readonly path: string }[]> {
  const { paths } = (await (await fetch(request("/openapi.json"))).json()) as { readonly paths: Readonly<Record<string, object>> };
  return Object.entries(paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })));
}

describe("a server among others", () => {
  it("TenantAccount.T1 TroupeServer.H2 shows a tenant nothing of another", async () => {
    const { server, client } = served({ team: shouters(), tenants: [ACME, BETA] }, ACME.token);
    const beta = clientOf(server, BETA.token);
    const { id } = await client.start({ idea: "ours", id: "r1" });
    await all(client.events(id));
    expect(id).toBe("acme.r1");
    expect((await beta.list()).runs).toEqual([]);
    expect((await beta.start({ idea: "theirs", id: "r1" })).id).toBe("beta.r1");
  });

  it("TroupeServer.H1 TroupeServer.H2 shows and changes nothing by any route: no token, another host, another tenant", async () => {
    const journal = memoryJournal();
    const { server, client } = served({ team: shouters(journal), tenants: [ACME, BETA] }, ACME.token);
    const { id } = await client.start({ idea: "ours", id: "r1" });
    await all(client.events(id));
    const before = (await journal.runs()).map((run) => ({ ...run }));
    const routes = await routesOf(server);
    expect(routes.length).toBeGreaterThan(15);
    // A route that names no run is one of these, or is thought about here.
    expect(routes.filter(({ path }) => !path.includes("{id}")).map(({ path }) => path)).toEqual([
      "/api/team",
      "/api/runs",
      "/api/runs",
      "/api/forget",
    ]);
    const ask = async (method: string, path: string, headers: Record<string, string>): Promise<readonly [number, string]> =>
      codeIn(await server.fetch(request(path, { method, headers })));
    const beta = { authorization: `Bearer ${BETA.token}` };
    for (const { method, path } of routes) {
      const filled = path.replace("{id}", id).replaceAll(/\{\w+\}/g, "x");
      expect(await ask(method, filled, {}), path).toEqual([401, "TOKEN_INVALID"]);
      expect(await ask(method, filled, { authorization: "Bearer gamma-token-0123456789" }), path).toEqual([401, "TOKEN_INVALID"]);
      expect(await ask(method, filled, { ...beta, host: "evil.example" }), path).toEqual([421, "HOST_REFUSED"]);
      expect(await ask(method, filled, { ...beta, origin: "https://evil.example" }), path).toEqual([403, "ORIGIN_REFUSED"]);
      if (path.includes("{id}")) expect(await ask(method, filled, beta), path).toEqual([404, "RUN_UNKNOWN"]);
      else if (method === "GET") expect(await (await server.fetch(request(filled, { headers: beta }))).text()).not.toContain("ours");
    }
    expect(await journal.runs()).toEqual(before);
  });

  it("Tenants.T1 TroupeServer.H1 answers nobody without the token", async () => {
    const { server } = served({ team: shouters(), tenants: [ACME] });
    const headers: readonly Record<string, string>[] = [
      {},
      { authorization: "Bearer" },
      { authorization: `Basic ${ACME.token}` },
      { authorization: `Bearer ${ACME.token}x` },
      { authorization: `Bearer ${ACME.token.slice(0, -1)}` },
    ];
    for (const one of headers)
      expect(await codeIn(await server.fetch(request("/api/runs", { headers: one })))).toEqual([401, "TOKEN_INVALID"]);
    const known = await server.fetch(request("/api/runs", { headers: { authorization: `Bearer ${ACME.token}` } }));
    expect(known.status).toBe(200);
    for (const path of ["/healthz", "/openapi.json"]) expect((await server.fetch(request(path))).status).toBe(200);
  });

  it("Guard.G1 Guard.G2 refuses another host and the page of another site", async () => {
    const { server } = served({ team: shouters(), hosts: ["api.example.com"], origins: ["https://app.example.com"] });
    const ask = async (headers: Record<string, string>): Promise<number> => (await server.fetch(request("/api/runs", { headers }))).status;
    expect(await ask({ host: "evil.example" })).toBe(421);
    expect(await ask({ host: "localhost:1@evil.example" })).toBe(421);
    expect(await ask({ host: "localhost.evil.example:80" })).toBe(421);
    expect(await ask({ host: "api.example.com:443" })).toBe(200);
    expect(await ask({ origin: "https://evil.example" })).toBe(403);
    expect(await ask({ origin: "null" })).toBe(403);
    expect(await ask({ origin: "http://localhost" })).toBe(200);
    const elsewhere = await server.fetch(request("/api/runs", { headers: { origin: "https://app.example.com" } }));
    expect(elsewhere.headers.get("access-control-allow-origin")).toBe("https://app.example.com");
    const asks = await server.fetch(request("/api/runs", { method: "OPTIONS", headers: { origin: "https://app.example.com" } }));
    expect([asks.status, asks.headers.get("access-control-allow-headers")]).toEqual([204, expect.stringContaining("authorization")]);
  });

  it("TroupeServer.H1 tells its health under any name, as those who watch over a process ask for it", async () => {
    const { server } = served({ team: shouters() });
    const headers = { host: "10.0.0.7:4711" };
    expect((await server.fetch(request("/healthz", { headers }))).status).toBe(200);
    await server.ready();
    expect((await server.fetch(request("/readyz", { headers }))).status).toBe(200);
    expect((await server.fetch(request("/", { headers }))).status).toBe(421);
  });

  it("TroupeServer.H1 reads no body of somebody without a token", async () => {
    const { server } = served({ team: shouters(), tenants: [ACME] });
    let isRead = false;
    const pull = (sink: ReadableStreamDefaultController<Uint8Array>): void => {
      isRead = true;
      sink.close();
    };
    const body = new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 });
    const init = { method: "POST", body, duplex: "half" } as RequestInit;
    expect(await codeIn(await server.fetch(request("/api/runs", init)))).toEqual([401, "TOKEN_INVALID"]);
    expect(isRead).toBe(false);
  });

  it("TroupeServer.H3 sends the page with a policy that allows its own script alone", async () => {
    const page = "<!doctype html><style>p{}</style><script>let a;</script><p>Hi";
    const { server } = served({ team: shouters(), page });
    const response = await server.fetch(request("/"));
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(/script-src 'sha256-[\w+/=]+';/);
    expect(policy).not.toContain("unsafe");
    expect(policy).toContain("frame-ancestors 'none'");
    const json = await server.fetch(request("/api/runs"));
    expect(json.headers.get("x-content-type-options")).toBe("nosniff");
    expect(json.headers.get("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'none'");
    const none = served({ team: shouters() });
    expect((await none.server.fetch(request("/"))).status).toBe(404);
  });

  it("refuses bodies that are too long, no JSON, of another type, or of another form", async () => {
    const { server } = served({ team: shouters(), bodyLimit: 1_000 });
    const post = async (body: string, type = "application/json"): Promise<readonly [number, string]> =>
      codeIn(await server.fetch(request("/api/runs", { method: "POST", body, headers: { "content-type": type } })));
    expect(await post(JSON.stringify({ idea: "x".repeat(2_000) }))).toEqual([413, "BODY_TOO_LONG"]);
    expect(await post("{")).toEqual([400, "BODY_INVALID"]);
    expect(await post('{"idea":"a"}', "text/plain")).toEqual([415, "BODY_TYPE"]);
    expect(await post("[]")).toEqual([400, "BODY_INVALID"]);
    expect(await post('{"idea":""}')).toEqual([400, "BODY_INVALID"]);
    expect(await post('{"idea":"a","idee":1}')).toEqual([400, "BODY_INVALID"]);
    expect(await post('{"idea":"a","id":"../../etc/passwd"}')).toEqual([400, "BODY_INVALID"]);
    expect(await post('{"idea":"a","budget":-1}')).toEqual([400, "BODY_INVALID"]);
    expect(await codeIn(await server.fetch(request("/api/runs?limit=0")))).toEqual([400, "QUERY_INVALID"]);
    expect(await codeIn(await server.fetch(request("/api/nothing")))).toEqual([404, "ROUTE_UNKNOWN"]);
    expect(await codeIn(await server.fetch(request("/api/runs/%00%ff/events")))).toEqual([404, "RUN_UNKNOWN"]);
  });

  it("tells a client that its body is too long, however it is sent, and answers its next request on the same connection", async () => {
    const { server } = served({ team: shouters() });
    const { url } = await server.listen();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const long = Buffer.from(JSON.stringify({ idea: "x".repeat(2_000_000) }));
    const json = { "content-type": "application/json" };
    const send = (method: string, headers: Record<string, string>, body: Buffer, path = "/api/runs"): Promise<readonly [number, string]> =>
      new Promise((resolve, reject) => {
        const asked = requestOf(url + path, { agent, method, headers }, (answer) => {
          const { statusCode = 0 } = answer;
          void text(answer).then((said) => resolve([statusCode, (JSON.parse(said) as { error: { code: string } }).error.code]), reject);
        });
        asked.on("error", reject);
        asked.write(body);
        asked.end();
      });
    for (const headers of [json, { ...json, "content-length": `${long.length}` }]) {
      expect(await send("POST", headers, long)).toEqual([413, "BODY_TOO_LONG"]);
      expect(await send("POST", json, Buffer.from("{"))).toEqual([400, "BODY_INVALID"]);
      expect(await send("POST", json, Buffer.from("{}"), "/api/runs/none/messages")).toEqual([404, "RUN_UNKNOWN"]);
    }
    agent.destroy();
  });

  it("TenantAccount.T2 Places.P1 bounds requests, runs and streams of a tenant", async () => {
    const gate = door();
    const tenant = { ...ACME, runs: 1, streams: 1, rate: { perSecond: 0.001, burst: 7 } };
    const { server, client } = served({ team: waiters(gate), tenants: [tenant, BETA] }, ACME.token);
    const { id } = await client.start({ idea: "one" });
    await expect(client.start({ idea: "two" })).rejects.toMatchObject({ code: "RUNS_TOO_MANY" });
    const headers = { authorization: `Bearer ${ACME.token}` };
    const stream = await server.fetch(request(`/api/runs/${id}/events`, { headers }));
    expect(await codeIn(await server.fetch(request(`/api/runs/${id}/events`, { headers })))).toEqual([429, "STREAMS_TOO_MANY"]);
    expect(await codeIn(await server.fetch(request(`/api/runs/${id}/export`, { headers })))).toEqual([429, "STREAMS_TOO_MANY"]);
    await stream.body?.cancel();
    const again = await server.fetch(request(`/api/runs/${id}/events`, { headers }));
    expect(again.status).toBe(200);
    await again.body?.cancel();
    await client.read(id);
    const refused = await server.fetch(request(`/api/runs/${id}`, { headers }));
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
    expect((await clientOf(server, BETA.token).list()).runs).toEqual([]);
    gate.open();
  });

  it("Places.P1 bounds the exports of a tenant", async () => {
    const { server, client } = served({ team: shouters(), tenants: [{ ...ACME, streams: 1 }] }, ACME.token);
    const { id } = await client.start({ idea: "one" });
    await all(client.events(id));
    const headers = { authorization: `Bearer ${ACME.token}` };
    const first = await server.fetch(request(`/api/runs/${id}/export`, { headers }));
    const refused = await server.fetch(request(`/api/runs/${id}/export`, { headers }));
    expect([refused.headers.get("retry-after"), ...(await codeIn(refused))]).toEqual(["1", 429, "STREAMS_TOO_MANY"]);
    expect((await first.text()).trimEnd().split("\n").length).toBeGreaterThan(2);
    const next = await server.fetch(request(`/api/runs/${id}/export`, { headers }));
    await next.body?.cancel();
    expect((await server.fetch(request(`/api/runs/${id}/export`, { headers }))).status).toBe(200);
  });

  it("writes no token and no key into its log or its answers", async () => {
    const lines: string[] = [];
    const secret = "hunter2-hunter2";
    const logger = jsonLogger({ level: "debug", write: (line) => lines.push(line), secrets: [secret, ACME.token] });
    const { server, client } = served({ team: shouters(), tenants: [ACME], logger, secrets: [secret] }, ACME.token);
    const { id } = await client.start({ idea: `keep ${secret}` });
    await all(client.events(id));
    await client.read(`acme.${secret}`).catch((error: Error) => expect(error.message).not.toContain(secret));
    await server.fetch(request(`/api/${ACME.token}`));
    await server.close();
    const entries = lines.map((line) => JSON.parse(line) as { readonly message: string });
    expect(entries.map(({ message }) => message)).toEqual(expect.arrayContaining(["A run started.", "A role acted.", "A run is at rest."]));
    expect(lines.join("")).not.toContain(secret);
    expect(lines.join("")).not.toContain(ACME.token);
  });

  it("listens on this machine alone unless it has tokens", async () => {
    const bare = serving({ team: shouters() });
    await expect(bare.listen({ hostname: "0.0.0.0" })).rejects.toMatchObject({ code: "LISTEN_OPEN" });
    await expect(bare.listen({ hostname: "127.0.0.1:8080" })).rejects.toMatchObject({
      code: "OPTION_INVALID",
      message: expect.stringContaining("--listen 127.0.0.1 --port 8080") as string,
    });
    const { url } = await bare.listen();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  const hasIPv6 = Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === "::1"));
  const places: readonly (readonly [string, string])[] = [
    ["0.0.0.0", "127.0.0.1"],
    ["127.0.0.2", "127.0.0.2"],
  ];
  it.each(hasIPv6 ? [...places, ["::", "[::1]"] as const] : places)(
    "listens on %s, and answers at the address that it tells",
    async (hostname, host) => {
      const server = serving({ team: shouters(), token: "listen-token-0123456789" });
      const { url, port } = await server.listen({ hostname });
      expect(url).toBe(`http://${host}:${port}`);
      expect((await fetch(`${url}/api/runs`)).status).toBe(401);
    },
  );

  it("answers no request that says where it goes in a hostile way, on a socket", async () => {
    const { server, client } = served({ team: shouters() });
    await client.start({ idea: "secret", id: "r" });
    const { port } = await server.listen();
    const heads: readonly (readonly [string, RegExp])[] = [
      ["GET /api/runs HTTP/1.1\r\nHost: evil.example", /421/],
      ["GET /api/runs HTTP/1.1\r\nHost: localhost\r\nHost: evil.example", /400|421/],
      ["GET /api/runs HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: localhost", /421/],
      ["GET http://evil.example/api/runs HTTP/1.1\r\nHost: evil.example", /400|421/],
      ["GET http://localhost/api/runs HTTP/1.1\r\nHost: evil.example", /400|421/],
      ["GET http://evil.example/api/runs HTTP/1.1\r\nHost: localhost", /400|421|200/],
      ["GET /api/runs HTTP/1.1\r\nHost: localhost/@evil.example", /400|421/],
      ["GET /api/runs HTTP/1.1\r\nHost:", /400|421/],
      ["GET /api/runs HTTP/1.1", /400|421/],
      ["GET /api/runs HTTP/1.0", /400|421/],
      ["GET //evil.example/api/runs HTTP/1.1\r\nHost: localhost", /404/],
      ["GET /api/runs HTTP/1.1\r\nHost: localhost", /200/],
    ];
    for (const [head, status] of heads) {
      const said = await told(port, `${head}\r\nConnection: close\r\n\r\n`);
      expect(said.split(" ")[1], head).toMatch(status);
      if (!said.startsWith("HTTP/1.1 200")) expect(said, head).not.toContain("secret");
    }
  });
});
