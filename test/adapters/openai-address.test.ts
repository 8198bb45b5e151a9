import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { openai, openaiEmbedder } from "../../src/adapters/openai.ts";
import { ModelError } from "../../src/kernel/errors.ts";
import type { ChatRequest } from "../../src/model/chat-model.ts";
import { errorOf } from "../model/call-setup.ts";

const KEY = "sk-canary-0123456789abcdef";
const request: ChatRequest = { messages: [{ role: "user", content: "The prompt nobody else may read." }] };
const o = { signal: new AbortController().signal };

interface Heard {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly body: string;
  readonly key: string | undefined;
}

type Answer = (heard: Heard, response: ServerResponse) => void;

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

/** A server on this machine, at an origin of its own. */
async function serving(answer: Answer): Promise<{ readonly origin: string; readonly heard: readonly Heard[] }> {
  const heard: Heard[] = [];
  const server = createServer((incoming: IncomingMessage, response) => {
    const parts: Buffer[] = [];
    incoming.on("data", (part: Buffer) => parts.push(part));
    incoming.on("end", () => {
      const { method, url, headers } = incoming;
      const said = { method, url, body: Buffer.concat(parts).toString(), key: headers.authorization };
      heard.push(said);
      answer(said, response);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(() => {
    server.closeAllConnections();
    server.close();
    return once(server, "close");
  });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard };
}

const good: Answer = ({ url }, response) => {
  const embeds = url?.includes("/embeddings") === true;
  const choices = [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "Hello." } }];
  const data = [{ object: "embedding", index: 0, embedding: [1, 0] }];
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(embeds ? { data, usage } : { choices, usage }));
};

function sending(status: number, to: string): Answer {
  return (_, response) => void response.writeHead(status, { location: to }).end("moved");
}

/** Each way in which a request leaves: whole, streamed, and for embeddings. */
const ways: readonly (readonly [string, (baseURL: string) => Promise<unknown>])[] = [
  ["a whole answer", (baseURL) => openai({ model: "m", apiKey: KEY, baseURL }).chat(request, o)],
  [
    "a streamed answer",
    async (baseURL) => {
      let text = "";
      for await (const { content } of openai({ model: "m", apiKey: KEY, baseURL }).stream(request, o)) text += content ?? "";
      return text;
    },
  ],
  ["embeddings", (baseURL) => openaiEmbedder({ model: "e", apiKey: KEY, baseURL }).embed(["The prompt nobody else may read."])],
];

describe.each(ways)("a request for %s that is redirected", (_, ask) => {
  it.each([301, 302, 303, 307, 308])("to another origin by %i goes nowhere, and both origins are named", async (status) => {
    const other = await serving(good);
    const server = await serving(sending(status, `${other.origin}/v1/chat/completions?token=${KEY}`));
    const error = await errorOf(ask(`${server.origin}/v1`));
    expect(other.heard).toEqual([]);
    expect(error).toBeInstanceOf(ModelError);
    expect(error).toMatchObject({ code: "MODEL_REDIRECTED", retryable: false, data: { status, mayHaveRun: false } });
    expect(error.message).toContain(server.origin);
    expect(error.message).toContain(other.origin);
    expect(JSON.stringify([error.message, error.data])).not.toContain(KEY);
    expect(server.heard).toHaveLength(1);
  });

  it("within its origin is followed where method and body stay", async () => {
    const server = await serving((heard, response) =>
      (heard.url?.startsWith("/v1") === true ? sending(308, `/v2${heard.url.slice(3)}`) : good)(heard, response),
    );
    await ask(`${server.origin}/v1`);
    const [first, second] = server.heard;
    expect(second).toEqual({ ...first, url: first?.url?.replace("/v1", "/v2") });
  });

  it.each([301, 302, 303])("within its origin by %i is refused, for the question would be lost", async (status) => {
    const server = await serving(sending(status, "/v2"));
    expect(await errorOf(ask(`${server.origin}/v1`))).toMatchObject({ code: "MODEL_REDIRECTED" });
    expect(server.heard).toHaveLength(1);
  });

  it("in a ring ends", async () => {
    const server = await serving(sending(307, "/v1/again"));
    expect(await errorOf(ask(`${server.origin}/v1`))).toMatchObject({ code: "MODEL_REDIRECTED" });
    expect(server.heard.length).toBeLessThan(10);
  });

  it.each(["", "http://[", "file:///etc/passwd"])("to %o is refused", async (location) => {
    const server = await serving((_heard, response) => void response.writeHead(307, location === "" ? {} : { location }).end());
    expect(await errorOf(ask(`${server.origin}/v1`))).toMatchObject({ code: "MODEL_REDIRECTED" });
  });
});

describe.each(ways)("the query of a base URL, for %s", (_, ask) => {
  it.each([
    ["?api-version=2024-06-01", "?api-version=2024-06-01"],
    ["/?api-version=2024-06-01&x=a%20b&x=2#part", "?api-version=2024-06-01&x=a%20b&x=2"],
    ["", ""],
  ])("%o goes with each request", async (given, kept) => {
    const server = await serving(good);
    await ask(`${server.origin}/openai/deployments/gpt${given}`);
    const [path, query = ""] = server.heard[0]?.url?.split(/(?=\?)/) ?? [];
    expect(path).toMatch(/^\/openai\/deployments\/gpt\/(chat\/completions|embeddings)$/);
    expect(query).toBe(kept);
  });
});
