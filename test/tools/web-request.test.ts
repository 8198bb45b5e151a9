import { type AddressInfo, createServer, type Socket } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it, vi } from "vitest";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import { getWeb, type WebOutcome, type WebRequest } from "../../src/tools/web-request.ts";
import { errorOf } from "../workspace/scratch.ts";
import { serve } from "./tool-kit.ts";

const zeros = Buffer.alloc(200 * 1024 ** 2);
const asked: string[] = [];
const headersAt = new Map<string, unknown>();

const { url, host, port } = await serve((request, response) => {
  asked.push(request.url ?? "");
  headersAt.set(request.url ?? "", request.headers);
  const way = new URL(request.url ?? "", "http://x").pathname;
  if (way.startsWith("/to/")) return response.writeHead(302, { location: decodeURIComponent(way.slice(4)) }).end("elsewhere");
  if (way === "/loop") return response.writeHead(301, { location: "/loop" }).end();
  if (way === "/endless") {
    const more = (): void => {
      while (response.write("x".repeat(65_536)));
      response.once("drain", more);
    };
    return more();
  }
  if (way === "/drip") return void response.writeHead(200).write("a");
  if (way === "/silent") return undefined;
  if (way === "/bomb") return response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(zeros));
  if (way === "/gzip") return response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("packed"));
  if (way === "/br") return response.writeHead(200, { "content-encoding": "br" }).end(brotliCompressSync("packed"));
  if (way === "/deflate") return response.writeHead(200, { "content-encoding": "deflate" }).end(deflateSync("packed"));
  if (way === "/twice") return response.writeHead(200, { "content-encoding": "gzip, gzip" }).end(gzipSync(gzipSync("packed")));
  if (way === "/broken") return response.writeHead(200, { "content-encoding": "gzip" }).end("this is no gzip");
  if (way === "/short") return void response.writeHead(200, { "content-length": "100" }).write("half", () => response.destroy());
  return response.writeHead(way === "/missing" ? 404 : 200, { "content-type": "text/plain" }).end("hello");
});

function get(path: string, more: Partial<WebRequest> = {}): Promise<WebOutcome> {
  return getWeb({ url: url + path, access: { allow: [host] }, signal: AbortSignal.timeout(20_000), ...more });
}

describe("a request", () => {
  it("brings status, headers and body", async () => {
    expect(await get("/")).toMatchObject({
      kind: "answer",
      status: 200,
      url: `${url}/`,
      headers: { "content-type": "text/plain" },
      body: Buffer.from("hello"),
      isCut: false,
    });
    expect(await get("/missing")).toMatchObject({ kind: "answer", status: 404 });
  });

  it.each(["/gzip", "/br", "/deflate"])("unpacks %s", async (path) => {
    expect(await get(path)).toMatchObject({ kind: "answer", body: Buffer.from("packed") });
  });

  it.each(["/broken", "/twice", "/short"])("fails with words on %s", async (path) => {
    expect(await get(path)).toMatchObject({ kind: "failed", reason: expect.stringMatching(/connection failed|encoding/) });
  });

  it("fails with words where nobody listens", async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => {
      closed.listen(0, "127.0.0.1", resolve);
    });
    const free = (closed.address() as AddressInfo).port;
    await new Promise((resolve) => {
      closed.close(resolve);
    });
    const request = {
      url: `http://127.0.0.1:${free}/?key=hidden`,
      access: { allow: [`127.0.0.1:${free}`] },
      signal: new AbortController().signal,
    };
    const outcome = await getWeb(request);
    expect(outcome).toMatchObject({ kind: "failed", reason: expect.stringContaining("ECONNREFUSED") });
    expect(JSON.stringify(outcome)).not.toContain("hidden");
  });
});

describe("a large response", () => {
  it("is cut at its limit, an endless stream too", async () => {
    expect(await get("/endless", { maxBytes: 100_000 })).toMatchObject({ kind: "answer", isCut: true, body: { length: 100_000 } });
    expect(await get("/", { maxBytes: 5 })).toMatchObject({ isCut: false, body: Buffer.from("hello") });
    expect(await get("/", { maxBytes: 4 })).toMatchObject({ isCut: true, body: Buffer.from("hell") });
  });

  it("is counted as it unpacks: a bomb of 200 MiB stops at the limit", { tags: ["numbers", "long"] }, async () => {
    const before = process.memoryUsage().arrayBuffers;
    expect(await get("/bomb", { maxBytes: 100_000 })).toMatchObject({ kind: "answer", isCut: true, body: { length: 100_000 } });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50 * 1024 ** 2);
  });
});

describe("time", () => {
  it.each(["/silent", "/drip"])("ends a server that says nothing more: %s", async (path) => {
    const clock = simulatedClock();
    const count = asked.length;
    const outcome = get(path, { clock, timeout: 5_000, signal: new AbortController().signal });
    await vi.waitUntil(() => asked.length > count, { timeout: 10_000, interval: 5 });
    await clock.advance(5_000);
    expect(await outcome).toEqual({ kind: "failed", reason: "no complete answer came within 5000 ms" });
  });

  it("is the caller's to end", async () => {
    const stop = new AbortController();
    const count = asked.length;
    const outcome = get("/silent", { signal: stop.signal });
    await vi.waitUntil(() => asked.length > count, { timeout: 10_000, interval: 5 });
    stop.abort();
    expect((await errorOf(() => outcome)).code).toBe("ABORTED");
  });
});

describe("a redirect", () => {
  it("is followed, relative ones too", async () => {
    expect(await get(`/to/${encodeURIComponent("../end?x=1")}`)).toMatchObject({ kind: "answer", url: `${url}/end?x=1` });
  });

  it.each([
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://[::ffff:169.254.169.254]/",
    "http://localhost/",
    "http://127.0.0.1:9/",
    "file:///etc/passwd",
    "http://user:secret@127.0.0.1/",
  ])("to %s is refused", async (target) => {
    const outcome = await get(`/to/${encodeURIComponent(target)}`);
    expect(outcome).toMatchObject({ kind: "refused" });
    expect(JSON.stringify(outcome)).not.toContain("root:");
  });

  it("is one of at most so many", async () => {
    const count = asked.length;
    expect(await get("/loop", { maxRedirects: 3 })).toMatchObject({
      kind: "failed",
      reason: expect.stringContaining("at most 3 redirects"),
    });
    expect(asked.length - count).toBe(4);
  });

  it("takes headers to no other host", async () => {
    const target = `http://other.test:${port}/seen`;
    const access = { allow: [host, `other.test:${port}`], resolve: () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]) };
    expect(await get(`/to/${encodeURIComponent(target)}`, { headers: { "x-key": "secret" }, access })).toMatchObject({
      kind: "answer",
      url: target,
    });
    expect(headersAt.get(`/to/${encodeURIComponent(target)}`)).toMatchObject({ "x-key": "secret" });
    expect(headersAt.get("/seen")).not.toHaveProperty("x-key");
    expect(headersAt.get("/seen")).toMatchObject({ host: `other.test:${port}` });
  });
});

describe("a name", () => {
  it("is asked once, and the connection goes to what was looked at", async () => {
    let times = 0;
    // The second answer would be refused, and the machine's own resolver does not know the name.
    const resolve = (): Promise<{ address: string; family: number }[]> =>
      Promise.resolve([{ address: times++ === 0 ? "127.0.0.1" : "10.255.255.1", family: 4 }]);
    const outcome = await getWeb({
      url: `http://rebind.test:${port}/`,
      access: { allow: [`rebind.test:${port}`], resolve },
      signal: AbortSignal.timeout(10_000),
    });
    expect(outcome).toMatchObject({ kind: "answer", status: 200 });
    expect(times).toBe(1);
  });

  it("is the one a secure server is asked for, at the address that was looked at", async () => {
    const hellos: string[] = [];
    const secure = createServer((socket: Socket) => {
      socket.on("error", () => {});
      socket.once("data", (bytes) => {
        hellos.push(bytes.toString("latin1"));
        socket.end("this is no handshake");
      });
    });
    await new Promise<void>((resolve) => {
      secure.listen(0, "127.0.0.1", resolve);
    });
    const place = `pinned.test:${(secure.address() as AddressInfo).port}`;
    const resolve = (): Promise<{ address: string; family: number }[]> => Promise.resolve([{ address: "127.0.0.1", family: 4 }]);
    const request = { url: `https://${place}/?key=hidden`, access: { allow: [place], resolve }, signal: AbortSignal.timeout(10_000) };
    expect(await getWeb(request)).toMatchObject({ kind: "failed" });
    secure.close();
    expect(hellos).toEqual([expect.stringContaining("pinned.test")]);
    expect(hellos[0]).not.toContain("hidden");
  });

  it("with several addresses is tried at each", async () => {
    const resolve = (): Promise<{ address: string; family: number }[]> =>
      Promise.resolve([
        { address: "::1", family: 6 },
        { address: "127.0.0.1", family: 4 },
      ]);
    const access = { allow: [`two.test:${port}`], resolve };
    expect(await getWeb({ url: `http://two.test:${port}/`, access, signal: AbortSignal.timeout(10_000) })).toMatchObject({
      kind: "answer",
    });
  });
});

describe("a server that speaks strangely", () => {
  it.each([
    ["an upgrade nobody asked for", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"],
    ["headers without end", `HTTP/1.1 200 OK\r\n${"X-Long: y\r\n".repeat(100_000)}`],
    ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello"],
    ["a length that is none", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nhello"],
    ["chunks that are none", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello"],
    ["a redirect to nowhere", "HTTP/1.1 302 Found\r\nLocation: http://\r\nContent-Length: 0\r\n\r\n"],
    ["a redirect to itself by nothing", "HTTP/1.1 302 Found\r\nLocation: \r\nContent-Length: 0\r\n\r\n"],
    ["nothing at all", ""],
  ])("is told of in words: %s", async (_what, bytes) => {
    const strange = createServer((socket: Socket) => {
      socket.on("error", () => {});
      socket.end(bytes);
    });
    await new Promise<void>((resolve) => {
      strange.listen(0, "127.0.0.1", resolve);
    });
    const place = `127.0.0.1:${(strange.address() as AddressInfo).port}`;
    const outcome = await getWeb({ url: `http://${place}/`, access: { allow: [place] }, signal: AbortSignal.timeout(20_000) });
    strange.close();
    expect(outcome).toMatchObject({ kind: expect.stringMatching(/^(failed|refused)$/), reason: expect.any(String) });
  });
});
