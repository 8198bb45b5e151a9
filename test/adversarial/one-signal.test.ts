import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { openai, openaiEmbedder } from "../../src/adapters/openai.ts";
import { sentEvents } from "../../src/client/event-lines.ts";
import { sleep } from "../../src/kernel/clock.ts";
import { modelLimits } from "../../src/model/limits.ts";
import { Places } from "../../src/server/admission.ts";
import { simulatedClock } from "../../src/testing/index.ts";
import { runProcess } from "../../src/workspace/process.ts";
import { settled } from "../server/served-team.ts";

/** More listeners than Node takes without a warning. */
const MANY = 12;

type Work = (signal: AbortSignal) => Promise<unknown>;

const listenersOf = (signal: AbortSignal): number => getEventListeners(signal, "abort").length;

const clock = simulatedClock();
const places = new Places(1, { code: "FULL", what: "guests", advice: "Wait." });
places.take();
const limits = modelLimits({ concurrency: 1 });
const rate = modelLimits({ requestsPerMinute: 1 });
for (const full of [limits, rate]) await full.acquire({ tokens: 1, signal: new AbortController().signal, clock });

const waits: readonly (readonly [string, Work])[] = [
  ["sleep", (signal) => sleep(clock, 1_000, signal)],
  ["wait for a place of a tenant", (signal) => places.free(signal)],
  ["wait for a place of a model", (signal) => limits.acquire({ tokens: 1, signal, clock })],
  ["wait for a rate of calls", (signal) => rate.acquire({ tokens: 1, signal, clock })],
  ["run of a program", (signal) => runProcess({ file: process.execPath, args: ["-e", "setTimeout(() => {}, 60_000)"], cwd: "/", signal })],
  ["stream of a server", (signal) => sentEvents(new ReadableStream(), signal).next()],
];

describe("one signal that many wait for at once", () => {
  it.each(waits)("has at most one listener for every %s together, and none afterwards", async (_what, work) => {
    const stop = new AbortController();
    const all = Array.from({ length: MANY }, () => work(stop.signal).catch(() => undefined));
    await settled();
    expect(listenersOf(stop.signal)).toBeLessThanOrEqual(1);
    stop.abort();
    await Promise.all(all);
    expect(listenersOf(stop.signal)).toBe(0);
  });
});

const server = { apiKey: "sk-canary-0123456789abcdef", baseURL: "http://127.0.0.1:9/v1" };
const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
const choices = [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "Hello." } }];
const answering = (body: object) => (): Promise<Response> => Promise.resolve(Response.json(body));
const streaming = (): Promise<Response> => {
  const delta = { choices: [{ index: 0, delta: { content: "Hello." }, finish_reason: "stop" }] };
  const body = `data: ${JSON.stringify(delta)}\n\ndata: [DONE]\n\n`;
  return Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" } }));
};
const messages = [{ role: "user", content: "Hi." }] as const;

const calls: readonly (readonly [string, Work])[] = [
  ["a call of a model", (signal) => openai({ model: "m", ...server, fetch: answering({ choices, usage }) }).chat({ messages }, { signal })],
  [
    "a streamed call of a model",
    async (signal) => {
      for await (const { content } of openai({ model: "m", ...server, fetch: streaming }).stream({ messages }, { signal }))
        if (content === "") break;
    },
  ],
  [
    "a call of an embedder",
    (signal) =>
      openaiEmbedder({ model: "e", ...server, fetch: answering({ data: [{ index: 0, embedding: [1] }], usage }) }).embed(["a"], { signal }),
  ],
];

describe("one signal that is passed to many calls", () => {
  it.each(calls)("has no listener after %s", async (_what, work) => {
    const { signal } = new AbortController();
    for (let n = 0; n < MANY; n += 1) await work(signal);
    expect(listenersOf(signal)).toBe(0);
  });
});
