import { once } from "node:events";
import { createServer, request as plainRequest, type RequestOptions } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test, vi } from "vitest";
import { getWeb } from "../../src/tools/web-request.ts";

vi.mock("node:https", () => ({
  request: (url: URL, options: RequestOptions) => plainRequest(new URL(url.href.replace("https:", "http:")), options),
}));

test("headers are not sent on where the same host is gone to without encryption", async () => {
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers["x-key"] as string | undefined);
    if (request.url === "/begin") response.writeHead(302, { location: `http://${request.headers.host ?? ""}/next` });
    response.end("here");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { signal } = new AbortController();
  const outcome = await getWeb({ url: `https://${place}/begin`, headers: { "x-key": "k" }, access: { allow: [place] }, signal });
  server.close();
  expect(outcome).toMatchObject({ kind: "answer", url: `http://${place}/next` });
  expect(seen).toEqual(["k", undefined]);
});
