import { describe, expect, it } from "vitest";
import { openaiEmbedder, type OpenAIEmbedderOptions } from "../../src/adapters/openai.ts";
import { embedQuery } from "../../src/memory/embedder.ts";
import { priceOf } from "../../src/model/price.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import { say, storageOver } from "../memory/storage-setup.ts";

const KEY = "sk-a-secret-key-of-the-test";

interface Asked {
  readonly model: string;
  readonly input: readonly string[];
  readonly dimensions?: number;
  readonly encoding_format: string;
}

/** A server of embeddings: `answer` may put another in the place of a good one. */
function server(answer: (asked: Asked, n: number) => Response | undefined = () => undefined, options: Partial<OpenAIEmbedderOptions> = {}) {
  const asked: Asked[] = [];
  const headers: Headers[] = [];
  const urls: string[] = [];
  const send: typeof fetch = (url, init) => {
    const request = JSON.parse(init?.body as string) as Asked;
    asked.push(request);
    urls.push(url as string);
    headers.push(new Headers(init?.headers));
    return Promise.resolve(answer(request, asked.length - 1) ?? good(request));
  };
  const embedder = openaiEmbedder({ model: "embed-1", apiKey: KEY, baseURL: "http://127.0.0.1:9/v1", fetch: send, ...options });
  return { embedder, asked, headers, urls };
}

function good({ input, dimensions = 3 }: Asked): Response {
  const data = input.map((text, index) => ({
    object: "embedding",
    index,
    embedding: Array.from({ length: dimensions }, (_, n) => (n === 0 ? text.length : 1)),
  }));
  // In any order, as servers may.
  return Response.json({ object: "list", data: data.toReversed(), model: "embed-1", usage: { prompt_tokens: 1, total_tokens: 1 } });
}

function refused(status: number, error: object, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json({ error }, { status, headers });
}

describe("openaiEmbedder", () => {
  it("tells the tokens that its server counted, and asks once where somebody else tries again", async () => {
    const usages: number[] = [];
    const onUsage = ({ inputTokens }: { readonly inputTokens: number }): void => void usages.push(inputTokens);
    await server().embedder.embed(["a"], { onUsage });
    const silent = server((asked) =>
      Response.json({ data: asked.input.map((_, index) => ({ index, embedding: [1, 2, 3] })), usage: { prompt_tokens: -1 } }),
    );
    await silent.embedder.embed(["a"], { onUsage });
    expect(usages).toEqual([1]);
    const busy = server(() => refused(429, { message: "slow down" }, { "retry-after": "1" }));
    await expect(busy.embedder.embed(["a"], { isOneTry: true })).rejects.toMatchObject({ code: "MODEL_RATE_LIMIT", retryable: true });
    expect(busy.asked.length).toBe(1);
  });

  it("has the name of its model, by which its price is known", () => {
    const { embedder } = server(undefined, { model: "text-embedding-3-small" });
    expect(priceOf({ id: embedder.model ?? "" })).toEqual({ input: 0.02, output: 0 });
    expect(server(undefined, { price: { input: 3, output: 0 } }).embedder.price).toEqual({ input: 3, output: 0 });
  });

  it("asks for numbers, sends dimensions only when they are given, and sorts what comes", async () => {
    const { embedder, asked, urls, headers } = server();
    expect(await embedder.embed(["a", "bbb"])).toEqual([
      [1, 1, 1],
      [3, 1, 1],
    ]);
    expect(asked).toEqual([{ model: "embed-1", input: ["a", "bbb"], encoding_format: "float" }]);
    expect(urls).toEqual(["http://127.0.0.1:9/v1/embeddings"]);
    expect(headers[0]?.get("authorization")).toBe(`Bearer ${KEY}`);
    const short = server(undefined, { dimensions: 5 });
    expect((await short.embedder.embed(["a"]))[0]?.length).toBe(5);
    expect(short.asked[0]?.dimensions).toBe(5);
  });

  it("is told apart by model, dimensions and prefix, for vectors of another are made again", () => {
    const ids = [{}, { model: "embed-2" }, { dimensions: 5 }, { prefix: { query: "q: ", document: "d: " } }].map(
      (options) => server(undefined, options).embedder.id,
    );
    expect(new Set(ids).size).toBe(4);
    expect(ids.join()).not.toContain(KEY);
  });

  it("puts a prefix before what is asked and what is kept", async () => {
    const { embedder, asked } = server(undefined, { prefix: { query: "query: ", document: "passage: " } });
    await embedder.embed(["a"]);
    await embedder.embed(["b"], { kind: "query" });
    expect(asked.map(({ input }) => input)).toEqual([["passage: a"], ["query: b"]]);
  });

  it("serves a storage in batches, and never sends a blank text", async () => {
    const { embedder, asked } = server(undefined, { maxBatch: 2, maxChars: 4 });
    const storage = storageOver(undefined, { embedder });
    await storage.addBatch([say("1", "one"), say("2", " "), say("3", "three"), say("4", "four"), say("5", "")]);
    expect(asked.map(({ input }) => input)).toEqual([["one"], ["thre", "four"]]);
    expect((await storage.searchSimilar("one", { k: 1 }))[0]?.message.id).toBe("1");
  });

  it("waits as long as the server asks, then tries again; four times at most", async () => {
    const clock = simulatedClock(1_000);
    const { embedder, asked } = server(
      (_asked, n) => (n === 0 ? refused(429, { message: "slow down" }, { "retry-after": "7" }) : undefined),
      {
        clock,
      },
    );
    const answer = embedder.embed(["a"]);
    await clock.advance(6_999);
    expect(asked.length).toBe(1);
    await clock.advance(1);
    expect((await answer).length).toBe(1);
    expect(asked.length).toBe(2);
    const down = server(() => refused(503, { message: "down" }), { clock });
    const failed = down.embedder.embed(["a"]).catch((error: unknown) => error);
    await clock.advance(60_000);
    expect(await failed).toMatchObject({ code: "MODEL_SERVER", retryable: true });
    expect(down.asked.length).toBe(4);
  });

  it.each([
    [401, { message: `bad key ${KEY}`, code: "invalid_api_key" }, "MODEL_AUTH"],
    [404, { message: "no such model" }, "MODEL_NOT_FOUND"],
    [400, { message: "dimensions not supported" }, "MODEL_BAD_REQUEST"],
    [429, { message: "quota", code: "insufficient_quota" }, "MODEL_QUOTA"],
  ])("tells %s once, as what it means, without its key", async (status, error, code) => {
    const { embedder, asked } = server(() => refused(status, error));
    const failed = await embedder.embed(["a"]).catch((one: unknown) => one);
    expect(failed).toMatchObject({ code });
    expect(asked.length).toBe(1);
    expect(JSON.stringify([String(failed), (failed as Error).message, (failed as { data: unknown }).data])).not.toContain(KEY);
  });

  it.each([
    ["a web page", () => new Response("<html>", { headers: { "content-type": "text/html" } })],
    ["another shape", () => Response.json({ embeddings: [[1]] })],
    ["too few", ({ model }: Asked) => Response.json({ data: [], model })],
    ["one index twice", () => Response.json({ data: [1, 1].map(() => ({ index: 0, embedding: [1] })) })],
    ["a place that is none", () => Response.json({ data: [0, 7].map((index) => ({ index, embedding: [1] })) })],
  ])("refuses %s", async (_what, answer) => {
    const clock = simulatedClock();
    const { embedder } = server(answer, { clock });
    const failed = embedder.embed(["a", "b"]).catch((error: unknown) => error);
    await clock.advance(60_000);
    expect(await failed).toMatchObject({ code: "MODEL_PROTOCOL" });
  });

  it("stops when its signal does, also while it waits to try again", async () => {
    const clock = simulatedClock();
    const stop = new AbortController();
    const { embedder, asked } = server(() => refused(503, { message: "down" }), { clock });
    const failed = embedder.embed(["a"], { signal: stop.signal }).catch((error: unknown) => error);
    await clock.advance(0);
    stop.abort(new Error("enough"));
    expect(String(await failed)).toMatch(/enough|stop/i);
    expect(asked.length).toBe(1);
  });

  it("is an EMBEDDING_FAILED for who remembers, with the reason", async () => {
    const { embedder } = server(() => refused(401, { message: "bad key" }));
    await expect(embedQuery(embedder, "a", { clock: systemClock, timeout: 10_000 })).rejects.toMatchObject({
      code: "EMBEDDING_FAILED",
      cause: { code: "MODEL_AUTH" },
    });
  });

  it.each([{ dimensions: 0 }, { maxBatch: 1.5 }, { maxChars: -1 }])("refuses %j", (options) => {
    expect(() => server(undefined, options)).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });
});
