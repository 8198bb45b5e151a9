import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { openai } from "../../src/adapters/openai.ts";
import { patientFetch } from "../../src/adapters/openai-server.ts";
import { callModel } from "../../src/model/call.ts";
import type { ChatRequest } from "../../src/model/chat-model.ts";
import type { CallTimeouts } from "../../src/model/timeouts.ts";
import { openaiStub } from "../../src/testing/index.ts";
import { callSetup, until, withSockets } from "../model/call-setup.ts";

const request: ChatRequest = { messages: [{ role: "user", content: "Say something." }], maxTokens: 100 };
const price = { input: 1, output: 2 };

let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
});

/** A server whose answer the test writes piece by piece. */
async function handServer(): Promise<{ readonly baseURL: string; readonly response: () => Promise<ServerResponse> }> {
  const waiting: ServerResponse[] = [];
  server = createServer((incoming, response) => {
    incoming.resume();
    waiting.push(response);
  });
  await new Promise<void>((resolve) => {
    server?.listen(0, "127.0.0.1", resolve);
  });
  const response = async (): Promise<ServerResponse> => {
    await until(() => waiting.length > 0, "a request");
    return waiting.shift() as ServerResponse;
  };
  return { baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, response };
}

const piece = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

/** Turns enough for what was sent over a socket to be read. */
async function arrived(): Promise<void> {
  let turns = 0;
  await until(() => ++turns > 300, "what was sent");
}

async function asked(timeouts: CallTimeouts, minutes: readonly (readonly [text: string, waitedMs: number])[]): Promise<unknown> {
  const { baseURL, response } = await handServer();
  const { deps, clock } = callSetup({ retry: { tries: 1 } });
  const model = openai({ model: "slow", apiKey: "k", baseURL, price, timeouts });
  const work = callModel(model, request, deps).then(
    (reply) => reply.content,
    (error: unknown) => error,
  );
  const answer = await response();
  answer.writeHead(200, { "content-type": "text/event-stream" });
  answer.flushHeaders();
  for (const [text, ms] of minutes) {
    await arrived();
    await clock.advance(ms);
    answer.write(text);
  }
  await arrived();
  answer.end();
  return withSockets(clock, work);
}

describe("a slow server over HTTP is not cut while it is alive", () => {
  const minute = 60_000;

  it("comments and pieces without content for an hour, then a byte at a time", async () => {
    const thinking = Array.from(
      { length: 12 },
      (_, n) => [n % 2 === 0 ? ": thinking\n\n" : piece({ role: "assistant" }), 5 * minute] as const,
    );
    const bytes = Array.from(`${piece({ content: "Yes." })}${piece({}, "stop")}data: [DONE]\n\n`, (byte) => [byte, 10_000] as const);
    expect(await asked({}, [...thinking, ...bytes])).toBe("Yes.");
  });

  it("thoughts under another name are signs of life", async () => {
    const thoughts = Array.from({ length: 6 }, () => [piece({ reasoning_content: "Hm. " }), 9 * minute] as const);
    expect(await asked({}, [...thoughts, [piece({ content: "4" }, "stop"), minute]])).toBe("4");
  });

  it("headers alone are none: the wait for the first piece goes on", async () => {
    expect(await asked({ firstByte: 2 * minute }, [[piece({ content: "late" }, "stop"), 2 * minute + 1]])).toMatchObject({
      code: "MODEL_TIMEOUT",
      data: { limit: "firstByte" },
    });
  });

  it("a stream that never ends has the time of the call", async () => {
    const endless = Array.from({ length: 40 }, () => [piece({ content: "x" }), 4 * minute] as const);
    expect(await asked({}, endless)).toMatchObject({ code: "MODEL_TIMEOUT", data: { limit: "call", limitMs: 7_200_000 } });
  });
});

describe("the limits of the process's own fetch", () => {
  it("do not hold: they are off for headers and for the body, through the dispatcher of the process", async () => {
    await fetch("data:,warm");
    const symbol = Symbol.for("undici.globalDispatcher.1");
    const place = globalThis as { [key: symbol]: unknown };
    const real = place[symbol] as { dispatch(options: object, handler: object): boolean };
    const seen: object[] = [];
    place[symbol] = {
      dispatch: (options: object, handler: object) => {
        seen.push(options);
        return real.dispatch(options, handler);
      },
    };
    try {
      await using stub = await openaiStub({ reply: "Hello." });
      expect((await patientFetch(`${stub.url}/models`)).status).toBe(200);
    } finally {
      place[symbol] = real;
    }
    expect(seen).toEqual([expect.objectContaining({ headersTimeout: 0, bodyTimeout: 0, path: "/v1/models" })]);
  });
});

describe("a server that is away", () => {
  /** Reaches a server that answers once, is away for a time of the test's clock, and is there again on the same port. */
  async function away(
    ms: number,
  ): Promise<{ readonly outcome: unknown; readonly waited: number; readonly line: string; readonly told: readonly string[] }> {
    const { deps, clock, attempts } = callSetup();
    const told: string[] = [];
    const logger = { debug() {}, info() {}, warn() {}, error: (text: string) => void told.push(text) };
    const first = await openaiStub({ reply: "Here." });
    const model = openai({ model: "m", apiKey: "k", baseURL: first.url, price });
    await withSockets(clock, callModel(model, request, { ...deps, logger }));
    const port = Number(new URL(first.url).port);
    await first.close();
    const began = clock.now();
    let work: Promise<unknown> | undefined = callModel(model, request, { ...deps, logger }).catch((error: unknown) => error);
    let outcome: unknown;
    void work.then((value) => {
      outcome = value;
      work = undefined;
    });
    while (work !== undefined) {
      if (server === undefined && clock.now() - began >= ms) {
        server = createServer((incoming, response) => {
          incoming.resume().on("end", () => {
            response.writeHead(200, { "content-type": "text/event-stream" });
            response.end(`${piece({ content: "Again." })}${piece({}, "stop")}data: [DONE]\n\n`);
          });
        });
        await new Promise<void>((resolve) => {
          server?.listen(port, "127.0.0.1", resolve);
        });
      }
      // Between tries one timer waits; during a try two do, and no time passes.
      if (clock.pending === 1) await clock.advanceToNext();
      else await arrived();
    }
    return { outcome, waited: clock.now() - began, line: attempts.line, told };
  }

  it.each([5_000, 20_000])("for %i ms: the call goes on, and the tries cost nothing", async (ms) => {
    const { outcome, waited, line, told } = await away(ms);
    expect(outcome).toMatchObject({ content: "Again." });
    expect(waited).toBeGreaterThanOrEqual(ms);
    expect(waited).toBeLessThan(ms + 20_001);
    expect(line).toMatch(/^usage:\d+( none:0!)+ hold:\d+$/);
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(/^m is away and is asked again for 60 s, next in 1 s\. Expected to reach the server of m, .*ECONNREFUSED/);
  });

  it("for longer than a minute: one typed error", async () => {
    const { outcome, waited } = await away(100_000);
    expect(outcome).toMatchObject({ code: "MODEL_UNREACHABLE" });
    expect(waited).toBe(60_000);
  });
});
