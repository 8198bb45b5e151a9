import { describe, expect, it } from "vitest";
import { openai } from "../../src/adapters/openai.ts";
import { callModel } from "../../src/model/call.ts";
import type { ChatChunk, ChatModel, ChatRequest } from "../../src/model/chat-model.ts";
import { checkTimeouts, DEFAULT_TIMEOUTS, timeoutsOf } from "../../src/model/timeouts.ts";
import type { SimulatedClock } from "../../src/testing/simulated-clock.ts";
import { callSetup, errorOf, withTime } from "./call-setup.ts";

const request: ChatRequest = { messages: [{ role: "user", content: "Write a long file." }], maxTokens: 16_384 };
const end: ChatChunk = { finishReason: "stop", usage: { inputTokens: 5, outputTokens: 5 } };

/** A slow server: waits between what it sends; "alive" is a sign of life without content. */
type Slow = readonly (readonly [ms: number, sent: ChatChunk | "alive"])[];

function slowModel(
  clock: SimulatedClock,
  script: Iterable<readonly [number, ChatChunk | "alive"]>,
  more: Partial<ChatModel> = {},
): ChatModel {
  return {
    id: "slow",
    chat: () => Promise.reject(new Error("not whole")),
    async *stream(_request, { signal, alive }) {
      for (const [ms, sent] of script) {
        await new Promise<void>((resolve) => {
          clock.timer(ms, resolve);
        });
        if (signal.aborted) return;
        if (sent === "alive") alive?.();
        else yield sent;
      }
    },
    ...more,
  };
}

function* ofALocalModel(): Generator<readonly [number, ChatChunk | "alive"]> {
  for (let second = 0; second < 120; second += 15) yield [15_000, second % 30 === 0 ? "alive" : {}];
  for (let token = 0; token < 3 * 60 * 20; token++) yield [333, { content: "x" }];
  yield [333, end];
}

describe("a call that is alive is not cut", () => {
  it("two minutes to the first token and three tokens a second for twenty minutes, by the defaults", async () => {
    const { deps, clock, attempts } = callSetup();
    const reply = await withTime(clock, callModel(slowModel(clock, ofALocalModel()), request, deps));
    expect(reply.content).toHaveLength(3_600);
    expect(clock.now()).toBeGreaterThan(22 * 60_000 - 5_000);
    expect(attempts.line).toMatch(/^usage:/);
  });

  it("nine minutes of silence before the first token, and four in the middle", async () => {
    const script: Slow = [
      [540_000, { content: "a" }],
      [240_000, { content: "b" }],
      [240_000, end],
    ];
    const { deps, clock } = callSetup();
    expect((await withTime(clock, callModel(slowModel(clock, script), request, deps))).content).toBe("ab");
  });

  it("a server that says for an hour that it thinks", async () => {
    const script: Slow = [...Array.from({ length: 240 }, () => [15_000, "alive"] as const), [1_000, { content: "a" }], [1_000, end]];
    const { deps, clock } = callSetup();
    expect((await withTime(clock, callModel(slowModel(clock, script), request, deps))).content).toBe("a");
    expect(clock.now()).toBe(3_602_000);
  });
});

describe("a limit that is reached", () => {
  it.each([
    ["firstByte", { firstByte: 90_000 }, [[90_001, { content: "a" }]], "--first-byte", "the first piece"],
    [
      "silence",
      { silence: 2_500 },
      [
        [1, { content: "a" }],
        [2_501, end],
      ],
      "--silence",
      "the next piece",
    ],
    [
      "call",
      { call: 60_000 },
      [
        [1, { content: "a" }],
        [59_999, { content: "b" }],
        [1, end],
      ],
      "--call-limit",
      "the whole answer",
    ],
  ] as const)("%s is named with its value and the way to raise it", async (limit, timeouts, script, option, what) => {
    const { deps, clock, attempts } = callSetup({ retry: { tries: 1 } });
    const error = await errorOf(
      withTime(clock, callModel(slowModel(clock, script, { timeouts, price: { input: 1, output: 1 } }), request, deps)),
    );
    const [ms = 0] = Object.values(timeouts);
    expect(error).toMatchObject({ code: "MODEL_TIMEOUT", data: { limit, limitMs: ms } });
    expect(error.message).toContain(what);
    expect(error.message).toContain(`within ${ms % 1_000 === 0 ? `${ms / 1_000} s` : `${ms} ms`}`);
    expect(error.message).toContain(`timeouts.${limit}`);
    expect(error.message).toContain(option);
    expect(attempts.line).toMatch(/^hold:\d+!$/);
  });

  it("a server that does not stream has the limit on the whole call alone", async () => {
    const { deps, clock } = callSetup({ timeouts: { firstByte: 1, silence: 1, call: 50_000 } });
    const whole = (ms: number): ChatModel => ({
      ...slowModel(clock, []),
      streams: false,
      chat: () =>
        new Promise((resolve) => {
          clock.timer(ms, () => resolve({ content: "whole", toolCalls: [], finishReason: "stop" }));
        }),
    });
    expect((await withTime(clock, callModel(whole(49_999), request, deps))).content).toBe("whole");
    expect(await errorOf(withTime(clock, callModel(whole(50_001), request, deps)))).toMatchObject({ data: { limit: "call", tries: 1 } });
  });

  it("0 and Infinity are no limits: no timer waits", async () => {
    for (const none of [0, Infinity]) {
      const { deps, clock } = callSetup({ timeouts: { firstByte: none, silence: none, call: none } });
      const script: Slow = [
        [1e9, { content: "a" }],
        [1e9, end],
      ];
      const work = callModel(slowModel(clock, script), request, deps);
      expect((await withTime(clock, work)).content).toBe("a");
      expect(clock.pending).toBe(0);
    }
  });
});

describe("whose limits hold", () => {
  it("the model's own, else those of the caller, else the defaults, each by itself", () => {
    expect(timeoutsOf(undefined, undefined)).toEqual(DEFAULT_TIMEOUTS);
    expect(timeoutsOf({ silence: 5 }, { silence: 6, call: 7 })).toEqual({ ...DEFAULT_TIMEOUTS, silence: 5, call: 7 });
    expect(timeoutsOf({ call: 0 }, { call: 7 }).call).toBe(Infinity);
    expect(openai({ model: "m", apiKey: "k", timeouts: { silence: 5 } }).timeouts).toEqual({ silence: 5 });
  });

  it.each([{ silence: -1 }, { silence: Number.NaN }, { call: "2m" }, { firstBite: 1 }, 5, null])("%j is refused", (timeouts) => {
    expect(() => checkTimeouts(timeouts as object)).toThrow(expect.objectContaining({ name: "UsageError" }));
    expect(() => openai({ model: "m", apiKey: "k", timeouts: timeouts as object })).toThrow(
      expect.objectContaining({ name: "UsageError" }),
    );
  });
});
