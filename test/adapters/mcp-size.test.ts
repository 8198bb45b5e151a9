import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { bounded, isTooLong, MOST_BYTES, ServerLines } from "../../src/adapters/mcp-transport.ts";
import { mcpServer } from "../../src/adapters/mcp.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { directSteps } from "../../src/kernel/step.ts";
import { callTool } from "../../src/tool/call-tools.ts";
import { ToolCollection } from "../../src/tool/tool-collection.ts";
import { resultText } from "../../src/tool/tool-result.ts";

afterEach(() => vi.restoreAllMocks());

const parse = (line: string): JSONRPCMessage => JSON.parse(line) as JSONRPCMessage;
const PIECE = 64 * 1024;

/** All messages that pieces make. */
function read(lines: ServerLines, pieces: readonly (string | Buffer)[]): JSONRPCMessage[] {
  const found: JSONRPCMessage[] = [];
  for (const piece of pieces) {
    lines.append(Buffer.from(piece));
    for (let next = lines.readMessage(); next !== null; next = lines.readMessage()) found.push(next);
  }
  return found;
}

describe("the lines of a server's process", () => {
  test("are read whole, however they are cut; what is no JSON is skipped", () => {
    const text = '{"id":1}\r\nno JSON\n\n{"id":"\u{1f600}"}\n{"id":3}\n{"id":';
    const bytes = Buffer.from(text);
    for (let size = 1; size <= bytes.length; size += 1) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) => bytes.subarray(n * size, (n + 1) * size));
      expect(read(new ServerLines(parse, () => {}), pieces)).toEqual([{ id: 1 }, { id: "\u{1f600}" }, { id: 3 }]);
    }
  });

  test("ServerLines.L1 copies a long line once, not once more for each of its pieces", () => {
    const concat = vi.spyOn(Buffer, "concat");
    const long = Buffer.alloc(PIECE, "x");
    const pieces = ['{"id":"', ...Array.from({ length: 100 }, () => long), '"}\n'];
    expect(read(new ServerLines(parse, () => {}), pieces)).toHaveLength(1);
    const copied = concat.mock.results.reduce((sum, { value }) => sum + (value as Buffer).length, 0);
    expect(copied).toBe(100 * PIECE + 9);
  });

  test("ServerLines.L2 of more than the limit are refused before their end, once, and are not parsed", () => {
    const [parsed, refused] = [vi.fn<typeof parse>(parse), vi.fn<() => void>()];
    const lines = new ServerLines(parsed, refused);
    const long = Buffer.alloc(PIECE, "x");
    const whole = Math.floor(MOST_BYTES / PIECE);
    for (let n = 0; n < whole; n += 1) lines.append(long);
    expect(() => lines.append(long)).toThrow(expect.toSatisfy(isTooLong));
    lines.append(Buffer.from('\n{"id":1}\n'));
    expect(lines.readMessage()).toBeNull();
    expect([parsed.mock.calls.length, refused.mock.calls.length]).toEqual([0, 1]);
  });
});

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
    const { response, taken } = inPieces(1, new Uint8Array(1), { ...JSON_TYPE, "content-length": String(MOST_BYTES + 1) });
    await expect(bounded(response, ASKED)).rejects.toSatisfy(isTooLong);
    expect(taken()).toBe(0);
  });

  test("that is too long is refused where the limit is, not at its end", async () => {
    const { response, taken } = inPieces(1_000, new Uint8Array(PIECE), JSON_TYPE);
    await expect(bounded(response, ASKED)).rejects.toSatisfy(isTooLong);
    expect(taken()).toBe(Math.floor(MOST_BYTES / PIECE) + 1);
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
    expect(taken()).toBeLessThanOrEqual(Math.floor(MOST_BYTES / PIECE) + 3);
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
    const count = Math.ceil((2 * MOST_BYTES) / event.length);
    const { response, taken } = inPieces(count, piece, EVENTS_TYPE);
    expect((await (await bounded(response, ASKED)).text()).length).toBe(count * event.length);
    expect(taken()).toBe(count);
  });
});

test("a process that answers with too much is told so at once, and the next call connects again", async () => {
  const script = fileURLToPath(new URL("mcp-lying-server.mjs", import.meta.url));
  const server = await mcpServer({ name: "s", server: { command: process.execPath, args: [script, "none"] } });
  const signal = new AbortController().signal;
  const call = async (name: string): Promise<string> => {
    const asked = { id: "c1", type: "function", function: { name, arguments: JSON.stringify({ bytes: MOST_BYTES }) } } as const;
    const tools = new ToolCollection(server.tools);
    const called = await callTool(asked, { tools, steps: directSteps(signal), policy: { default: "allow" }, clock: systemClock, signal });
    return resultText(called.result);
  };
  expect(await call("s_swell")).toMatch(/at most 10000000 bytes.*got a longer one/);
  expect(await call("s_work")).toContain("did work");
  await server.close();
});
