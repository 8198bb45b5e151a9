import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { bounded, isTooLong, MAX_BYTES } from "../../src/adapters/mcp-transport.ts";
import { mcpServer } from "../../src/adapters/mcp.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { directSteps } from "../../src/kernel/step.ts";
import { callTool } from "../../src/tool/call-tools.ts";
import { ToolCollection } from "../../src/tool/tool-collection.ts";
import { resultText } from "../../src/tool/tool-result.ts";

const PIECE = 64 * 1024;

/** A response that comes in pieces, and how many were taken. */
function inPieces(
  count: number,
  piece: Uint8Array,
  headers: Record<string, string>,
): { readonly response: Response; readonly taken: () => number } {
  let taken = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(sink) {
        if (taken === count) return sink.close();
        taken += 1;
        sink.enqueue(piece);
      },
    },
    { highWaterMark: 0 },
  );
  return { response: new Response(body, { headers }), taken: () => taken };
}

const JSON_TYPE = { "content-type": "application/json" };
const EVENTS_TYPE = { "content-type": "text/event-stream" };
const ASKED = JSON.stringify({ jsonrpc: "2.0", id: 7, method: "tools/call" });

describe("an answer over HTTP", () => {
  test("that says that it is too long is refused before a byte of it is read", async () => {
    const { response, taken } = inPieces(1, new Uint8Array(1), { ...JSON_TYPE, "content-length": String(MAX_BYTES + 1) });
    await expect(bounded(response, ASKED)).rejects.toSatisfy(isTooLong);
    expect(taken()).toBe(0);
  });

  test("that is too long is refused where the limit is, not at its end", async () => {
    const { response, taken } = inPieces(1_000, new Uint8Array(PIECE), JSON_TYPE);
    await expect(bounded(response, ASKED)).rejects.toSatisfy(isTooLong);
    expect(taken()).toBe(Math.floor(MAX_BYTES / PIECE) + 1);
  });

  test("within the limit is passed on", async () => {
    const { response } = inPieces(2, Buffer.from("[]"), JSON_TYPE);
    const passed = await bounded(response, ASKED);
    expect([passed.headers.get("content-type"), await passed.text()]).toEqual(["application/json", "[][]"]);
  });

  test("as an event that is too long ends as an error of its request", async () => {
    const { response, taken } = inPieces(1_000, Buffer.alloc(PIECE, "x"), EVENTS_TYPE);
    const text = await (await bounded(response, ASKED)).text();
    const last = text.slice(text.lastIndexOf("data: ") + "data: ".length);
    expect(JSON.parse(last)).toMatchObject({ id: 7, error: { code: expect.any(Number) as number } });
    expect(isTooLong((JSON.parse(last) as { readonly error: unknown }).error)).toBe(true);
    expect(taken()).toBeLessThanOrEqual(Math.floor(MAX_BYTES / PIECE) + 3);
  });

  test.each([
    ["a line feed", "\n", 0],
    ["carriage return and line feed", "\r\n", 0],
    ["a carriage return", "\r", 0],
    ["a line feed, cut within", "\n", 1],
    ["carriage return and line feed, cut within", "\r\n", 2],
    ["carriage return and line feed, cut within a line end", "\r\n", 1],
  ])("short events with %s are read to their end, whatever their sum", async (_what, end, cut) => {
    const event = Buffer.from(`data: ${"x".repeat(PIECE)}${end}${end}`);
    const piece = Buffer.concat([event.subarray(event.length - cut), event.subarray(0, event.length - cut)]);
    const count = Math.ceil((2 * MAX_BYTES) / event.length);
    const { response, taken } = inPieces(count, piece, EVENTS_TYPE);
    expect((await (await bounded(response, ASKED)).text()).length).toBe(count * event.length);
    expect(taken()).toBe(count);
  });
});

test("a process whose answer is too long is refused at once, and the next call connects again", async () => {
  const script = fileURLToPath(new URL("mcp-lying-server.mjs", import.meta.url));
  const server = await mcpServer({ name: "s", server: { command: process.execPath, args: [script, "none"] } });
  const signal = new AbortController().signal;
  const call = async (name: string): Promise<string> => {
    const asked = { id: "c1", type: "function", function: { name, arguments: JSON.stringify({ bytes: MAX_BYTES }) } } as const;
    const tools = new ToolCollection(server.tools);
    const called = await callTool(asked, { tools, steps: directSteps(signal), policy: { default: "allow" }, clock: systemClock, signal });
    return resultText(called.result);
  };
  expect(await call("s_swell")).toMatch(/at most 10000000 bytes.*got a longer one/);
  expect(await call("s_work")).toContain("did work");
  await server.close();
});
