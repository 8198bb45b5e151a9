import { createServer, type Http2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { answers } from "../../src/adapters/restate-endpoint.ts";

describe("a worker that is asked whether it lives", () => {
  const servers: Http2Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  async function listening(server: Http2Server): Promise<string> {
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/object`;
  }

  it("lives when it answers, at the address that it was given", async () => {
    const uri = await listening(
      createServer((request, response) => void response.writeHead(request.url === "/object/health" ? 200 : 404).end()),
    );
    expect([await answers(uri), await answers(`${uri}/`), await answers(`${uri}/other`)]).toEqual([true, true, false]);
  });

  it("is gone when it ends while it is asked, by closing the connection, the stream or nothing at all", async () => {
    const closing = createServer();
    closing.on("stream", ({ session }) => session?.destroy());
    const resetting = createServer();
    resetting.on("stream", (stream) => stream.close());
    const silent = createServer(() => undefined);
    const uris = await Promise.all([closing, resetting, silent].map(listening));
    expect(await Promise.all(uris.map(answers))).toEqual([false, false, false]);
  });
});
