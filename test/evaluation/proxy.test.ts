import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { openai } from "../../src/adapters/openai.ts";
import { openaiStub } from "../../src/testing/index.ts";
import { root } from "../architecture/read-house.ts";

interface Proxy {
  readonly url: string;
  readonly requests: readonly unknown[];
  close(): Promise<void>;
}
const { startProxy } = (await import(join(root, "evaluation/proxy.mjs"))) as {
  readonly startProxy: (o: { readonly upstream: string }) => Promise<Proxy>;
};
const question = { messages: [{ role: "user" as const, content: "Go." }] };

afterEach(() => {
  vi.unstubAllGlobals();
});

it("the proxy waits longer than the fetch of Node does, which gives up a silent model after five minutes", async () => {
  await using upstream = await openaiStub({ replies: ["late"] });
  const proxy = await startProxy({ upstream: upstream.url });
  const model = openai({ model: "any", baseURL: proxy.url, apiKey: "none", fetch: globalThis.fetch });
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("fetch failed")));
  const reply = await model.chat(question, { signal: AbortSignal.timeout(30_000) });
  await proxy.close();
  expect(reply.content).toBe("late");
  expect(proxy.requests).toHaveLength(1);
});
