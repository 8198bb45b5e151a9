import { describe, expect, it } from "vitest";
import { aiSdk, type AiSdkModel } from "../../src/adapters/ai-sdk.ts";
import { openai, openaiEmbedder } from "../../src/adapters/openai.ts";
import { createClient } from "../../src/client/index.ts";
import { defineRole, Team } from "../../src/index.ts";
import { withTimeout } from "../../src/kernel/abort.ts";
import { isRecord } from "../../src/kernel/value-kind.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import { collectGarbage } from "../kernel/garbage.ts";
import { all, settled } from "../server/served-team.ts";

/** Called with the signal that foreign code gets. */
type Foreign = (signal: AbortSignal | null | undefined) => void;
type Work = (signal: AbortSignal, foreign: Foreign) => Promise<unknown>;

const server = { apiKey: "sk-a-secret-key-of-the-test", baseURL: "http://127.0.0.1:9/v1" };
const messages = [{ role: "user", content: "Hello." }] as const;

function answering(foreign: Foreign, answer: object): typeof fetch {
  return (_url, init) => {
    foreign(init?.signal);
    return Promise.resolve(Response.json(answer));
  };
}

const works: readonly [string, Work][] = [
  ["work with a time limit", (signal, foreign) => withTimeout(simulatedClock(), 10, "work", signal, async (limited) => foreign(limited))],
  [
    "a run",
    (signal, foreign) => {
      const team = new Team({
        roles: (run) => {
          foreign(run.signal);
          return [defineRole({ name: "Bob", react: () => undefined })];
        },
      });
      return team.run("hello", { signal }).result;
    },
  ],
  [
    "a stream of a client",
    (signal, foreign) => {
      const client = createClient({
        url: "http://localhost",
        fetch: (asked) => {
          foreign(asked.signal);
          const headers = { "content-type": "text/event-stream" };
          return Promise.resolve(new Response('event: end\ndata: {"status":"finished"}\n\n', { headers }));
        },
      });
      return all(client.events("r", { signal }));
    },
  ],
  [
    "a model of openai",
    (signal, foreign) => {
      const choices = [{ index: 0, message: { role: "assistant", content: "Hi." }, finish_reason: "stop" }];
      return openai({ ...server, model: "m", fetch: answering(foreign, { choices }) }).chat({ messages }, { signal });
    },
  ],
  [
    "an embedder of openai",
    (signal, foreign) =>
      openaiEmbedder({ ...server, model: "m", fetch: answering(foreign, { data: [{ index: 0, embedding: [1] }] }) }).embed(["a"], {
        signal,
      }),
  ],
  [
    "a model of the AI SDK",
    (signal, foreign) => {
      const model = {
        specificationVersion: "v2",
        provider: "p",
        modelId: "m",
        doGenerate: ({ abortSignal }: { readonly abortSignal: AbortSignal }) => {
          foreign(abortSignal);
          return Promise.resolve({ content: [{ type: "text", text: "Hi." }], finishReason: "stop", usage: {}, warnings: [] });
        },
        doStream: () => Promise.reject(new Error("It is not asked to stream.")),
      };
      return aiSdk(model as unknown as AiSdkModel).chat({ messages }, { signal });
    },
  ],
];

/** The number of entries in the sets and maps of an object, listeners included. Those of Node are no instances of Set and Map. */
function entriesOf(signal: AbortSignal): number {
  const members = Reflect.ownKeys(signal).map((key): unknown => Reflect.get(signal, key));
  return members.reduce<number>((sum, member) => sum + (isRecord(member) && typeof member["size"] === "number" ? member["size"] : 0), 0);
}

describe("a signal that lives longer than the work", () => {
  it.each(works)("keeps nothing of %s, also where foreign code leaves a listener", async (_what, work) => {
    const { signal } = new AbortController();
    const given: WeakRef<AbortSignal>[] = [];
    const foreign: Foreign = (one) => {
      if (!(one instanceof AbortSignal)) return;
      given.push(new WeakRef(one));
      one.addEventListener("abort", () => undefined);
    };
    const once = async (): Promise<void> => void (await work(signal, foreign));
    for (let n = 0; n < 20; n += 1) await once();
    await settled();
    collectGarbage();
    await settled();
    expect(entriesOf(signal)).toBe(0);
    expect(given.length).toBeGreaterThanOrEqual(20);
    // One may still be on the stack.
    expect(given.filter((one) => one.deref() !== undefined).length).toBeLessThanOrEqual(1);
  });
});
