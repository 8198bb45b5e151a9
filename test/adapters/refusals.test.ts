import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, describe, expect, it } from "vitest";
import { mcpServer } from "../../src/adapters/mcp.ts";
import { s3Objects } from "../../src/adapters/objects.ts";
import { restateDriver } from "../../src/adapters/restate.ts";
import { main } from "../../src/cli/program.ts";
import { createClient } from "../../src/client/index.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { unreachedText } from "../../src/kernel/server-answer.ts";
import { braveSearch } from "../../src/tools/search-provider.ts";
import { fakeHost } from "../cli/fake-host.ts";
import { freePort } from "../kernel/free-port.ts";
import { sqlite } from "../../src/adapters/sqlite.ts";
import { defineAction, defineRole, Team } from "../../src/index.ts";
import { freshFolder } from "../cli/kept-run.ts";
import { join } from "node:path";

const SECRET = "t0p-secret-0123456789";
const closers: (() => void)[] = [];
afterAll(() => {
  for (const close of closers) close();
});

interface Answer {
  readonly status: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The address of a server that gives one answer to everything, with the headers of the request in its text. */
async function answering({ status, body, headers = {} }: Answer): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => answer(response, request.headers));
  });
  const answer = (response: ServerResponse, got: IncomingHttpHeaders): void =>
    void response.writeHead(status, headers).end(body ?? `no \u001b[2J\u202eway, ${JSON.stringify(got)}`);
  server.listen(0, "127.0.0.1");
  await new Promise((ready) => server.once("listening", ready));
  closers.push(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const clock = systemClock;
const hasty = { now: () => clock.now(), timer: (ms: number, work: () => void) => clock.timer(ms > 5_000 ? ms : 0, work) };

async function exported(url: string): Promise<string> {
  const cwd = freshFolder();
  const journal = sqlite({ path: join(cwd, ".troupe/runs.db") });
  const Say = defineAction({ name: "Say", run: () => "hi" });
  await new Team({ name: "t", roles: [defineRole({ name: "Ann", actions: [Say] })], journal }).run("go", { id: "run-1" }).result;
  await journal.close();
  const host = fakeHost({ cwd, clock: hasty, env: { OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${SECRET}` } });
  host.stdin.end("");
  await main(host, ["runs", "export", "run-1", "--otlp", url]);
  throw new Error(host.stderr.text);
}

async function searched(url: string): Promise<never> {
  const access = { allow: [new URL(url).host] };
  const found = await braveSearch({ apiKey: SECRET, baseURL: url, access }).search(
    { text: "rain", limit: 1 },
    { signal: AbortSignal.timeout(10_000), clock },
  );
  throw new Error("reason" in found ? found.reason : JSON.stringify(found));
}

const headers = { authorization: `Bearer ${SECRET}` };
const credentials = { accessKeyId: "k", secretAccessKey: SECRET };
/** Everything that asks a server over HTTP, and what it calls its credentials. */
const DOORS: readonly (readonly [door: string, ask: (url: string) => Promise<unknown>, token: RegExp])[] = [
  ["an MCP server", (url) => mcpServer({ name: "x", server: { url: `${url}/mcp`, headers } }), /headers: \{ authorization \}/],
  ["a client", (url) => createClient({ url, token: SECRET }).read("a"), /give token/],
  ["a client that watches", (url) => createClient({ url, token: SECRET, patience: 0 }).events("a").next(), /give token/],
  ["a store of objects", (url) => s3Objects({ endpoint: url, bucket: "runs", credentials, retries: 0 }).get("a"), /key/],
  ["Restate", (url) => restateDriver({ admin: url, ingress: url }).list({ limit: 1 }), /lets this process in/],
  ["a search", searched, /apiKey/],
  ["a receiver of traces", exported, /OTEL_EXPORTER_OTLP_HEADERS/],
];

async function toldBy(ask: (url: string) => Promise<unknown>, url: string): Promise<string> {
  return ask(url).then(
    () => "no error",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

describe.each(DOORS)("%s that answers with an error", (_door, ask, token) => {
  it("reports 401, the words of the server and what to give, without control characters and secrets", async () => {
    const told = await toldBy(ask, await answering({ status: 401 }));
    expect(told).toMatch(/status 401/);
    expect(told).toMatch(token);
    expect(told).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    expect(told).not.toContain(SECRET);
    expect(told.length).toBeLessThan(900);
  });

  it("reports missing rights, also with an answer that is not JSON", async () => {
    const denied = await toldBy(ask, await answering({ status: 403, body: "forbidden" }));
    expect(denied).toMatch(/status 403.*forbids/s);
  });
});

const JSON_DOORS = DOORS.filter(([door]) => !/objects|traces|watches/.test(door));
it.each(JSON_DOORS)("%s that answers with a page is reported as not JSON or no such server", async (_door, ask) => {
  const page = { status: 200, body: "<html>Sign in", headers: { "content-type": "text/html" } };
  expect(await toldBy(ask, await answering(page))).toMatch(/JSON|no such server/);
});

// The driver of Restate waits for its server; its own test has this.
const PROMPT_DOORS = DOORS.filter(([door]) => door !== "Restate");
it.each(PROMPT_DOORS)("%s that refuses the connection is reported as such", async (_door, ask) => {
  expect(await toldBy(ask, `http://127.0.0.1:${await freePort()}`)).toMatch(/refuses the connection.*ECONNREFUSED/s);
});

it.each([
  [404, {}, /status 404.*path: look at its url/s],
  [405, {}, /status 405.*look at its url/s],
  [410, {}, /status 410.*path/s],
  [429, { "retry-after": "30" }, /status 429.*too many.*wait for 30 s/s],
  [503, { "retry-after": "Wed, 21 Oct 2026 07:28:00 GMT" }, /status 503.*server's.*wait until 2026-10-21T07:28/s],
  [500, {}, /status 500.*The fault is the server's/s],
])("an MCP server that answers %i: the error says what to do", async (status, more, told) => {
  const url = await answering({ status, headers: more, body: "" });
  const error: unknown = await mcpServer({ name: "x", server: { url } }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "MCP_REFUSED", data: { status }, message: expect.stringMatching(told) as string });
});

it("a client that waits for a busy server reports its status in the end", async () => {
  const url = await answering({ status: 503, body: "" });
  expect(await toldBy((at) => createClient({ url: at, patience: 0 }).events("a").next(), url)).toMatch(/status 503/);
});

it.each([
  ["ENOTFOUND", /name of the host/],
  ["EAI_AGAIN", /name of the host/],
  ["ECONNREFUSED", /refuses the connection/],
  ["UND_ERR_CONNECT_TIMEOUT", /in time/],
  ["ECONNRESET", /cut/],
  ["CERT_HAS_EXPIRED", /out of date/],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", /not trusted/],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", /not trusted/],
  ["ERR_TLS_CERT_ALTNAME_INVALID", /another host/],
  ["EPROTO", /TLS/],
])("a connection that fails with %s is described in words, wherever it is among the causes", (code, told) => {
  const inner = Object.assign(new Error("x"), { code });
  expect(unreachedText(new TypeError("fetch failed", { cause: new AggregateError([new Error("y"), inner]) }))).toMatch(told);
  expect(unreachedText(new Error("a", { cause: new TypeError("fetch failed", { cause: inner }) }))).toContain(code);
});

it("says what a cause says where it is not known, and nothing where there is none", () => {
  expect(unreachedText(new TypeError("fetch failed", { cause: new Error("bad port") }))).toBe("bad port");
  expect(unreachedText(new Error("other"))).toBeUndefined();
});
