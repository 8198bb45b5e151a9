import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { getRequestListener } from "@hono/node-server";
import { createMcpHandler, inputRequired, McpServer, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { afterEach, expect, it } from "vitest";
import { z } from "zod";
import { mcpServer, type McpAddress, type McpProcess } from "../../src/adapters/mcp.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { directSteps } from "../../src/kernel/step.ts";
import { callTool } from "../../src/tool/call-tools.ts";
import { ToolCollection } from "../../src/tool/tool-collection.ts";
import { resultText } from "../../src/tool/tool-result.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

const NEWEST = "2026-07-28";

/** A server of the protocol's own package that tells in which era of the protocol it was called. */
function serverOf({ era }: { readonly era: string }): McpServer {
  const server = new McpServer({ name: "eras", version: "1" }, { capabilities: { tools: {} } });
  server.registerTool("era", { description: "Tells the era." }, () => ({ content: [{ type: "text", text: era }] }));
  server.registerTool("ask", { inputSchema: z.object({}) }, () =>
    inputRequired({
      inputRequests: {
        name: inputRequired.elicit({
          message: "Your name?",
          requestedSchema: { type: "object", properties: { name: { type: "string" } } },
        }),
      },
    }),
  );
  return server;
}

/** Serves it over HTTP; `versions` are those that the client names in its requests. */
async function remote(fetch: (request: Request) => Promise<Response>): Promise<{ readonly url: string; readonly versions: Set<string> }> {
  const versions = new Set<string>();
  const listener = getRequestListener((request) => {
    const version = request.headers.get("mcp-protocol-version");
    if (version !== null) versions.add(version);
    return fetch(request);
  });
  const server = createServer((request, response) => void listener(request, response));
  server.listen(0, "127.0.0.1");
  await new Promise((ready) => server.once("listening", ready));
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, versions };
}

/** A server that knows the protocol before 2026-07-28 alone. */
async function old(): Promise<(request: Request) => Promise<Response>> {
  const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => "one" });
  await serverOf({ era: "legacy" }).connect(transport);
  return (request) => transport.handleRequest(request);
}

/** The answer of a tool of a server; its tools are listed a second time before. */
async function answer(server: McpProcess | McpAddress, name = "s_era"): Promise<string> {
  const connected = await mcpServer({ name: "s", server });
  ends.push(() => connected.close());
  const tools = new ToolCollection(await connected.refresh());
  const { signal } = new AbortController();
  const asked = { id: "c1", type: "function", function: { name, arguments: "{}" } } as const;
  const called = await callTool(asked, { tools, steps: directSteps(signal), policy: { default: "allow" }, clock: systemClock, signal });
  return resultText(called.result);
}

it("the newest version of the protocol is spoken with a remote server that knows it", async () => {
  const handler = createMcpHandler(serverOf);
  ends.push(() => handler.close());
  const { url, versions } = await remote((request) => handler.fetch(request));
  expect(await answer({ url })).toMatch(/\nmodern\n/);
  expect([...versions]).toEqual([NEWEST]);
});

it("an older one is spoken with a remote server that knows no newer one", async () => {
  const { url, versions } = await remote(await old());
  expect(await answer({ url })).toMatch(/\nlegacy\n/);
  expect([...versions].filter((version) => version !== NEWEST)).toHaveLength(1);
});

it("the newest version is spoken with a process that knows it", async () => {
  const path = fileURLToPath(new URL("mcp-server-process.mjs", import.meta.url));
  expect(await answer({ command: process.execPath, args: [path] })).toMatch(/\nmodern\n/);
});

it("McpConnection.C4 a server of the newest version gets no answer when it asks back", async () => {
  const handler = createMcpHandler(serverOf);
  ends.push(() => handler.close());
  const { url } = await remote((request) => handler.fetch(request));
  expect(await answer({ url }, "s_ask")).toMatch(/^Error: /);
});
