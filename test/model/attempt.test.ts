import { describe, expect, it } from "vitest";
import { AbortedError, type ModelError } from "../../src/kernel/errors.ts";
import { attempt, type AttemptBounds } from "../../src/model/attempt.ts";
import type { ChatChunk, ChatModel, ChatOptions, ChatRequest } from "../../src/model/chat-model.ts";
import { DEFAULT_TIMEOUTS } from "../../src/model/timeouts.ts";
import { simulatedClock, type SimulatedClock } from "../../src/testing/simulated-clock.ts";
import { errorOf, until } from "./call-setup.ts";

const request: ChatRequest = { messages: [{ role: "user", content: "x" }] };
const end: ChatChunk = { finishReason: "stop" };

function bounds(clock: SimulatedClock, more: Partial<AttemptBounds> = {}): AttemptBounds {
  return {
    signal: new AbortController().signal,
    clock,
    timeouts: { firstByte: 1_000, silence: 1_000, call: 10_000 },
    timeLeft: 10_000,
    ...more,
  };
}

function streaming(stream: (o: ChatOptions) => AsyncIterable<ChatChunk>): ChatModel {
  return { id: "m", chat: () => Promise.reject(new Error("not whole")), stream: (_request, o) => stream(o) };
}

/** A stream that records whether it was told to stop. */
function leaky(next: (n: number) => Promise<IteratorResult<ChatChunk>>): {
  readonly model: ChatModel;
  readonly seen: { returned: boolean; signal?: AbortSignal };
} {
  const seen: { returned: boolean; signal?: AbortSignal } = { returned: false };
  let n = 0;
  const model = streaming(({ signal }) => {
    seen.signal = signal;
    return {
      [Symbol.asyncIterator]: () => ({
        next: () => next(n++),
        return: () => {
          seen.returned = true;
          return new Promise<IteratorResult<ChatChunk>>(() => {});
        },
      }),
    };
  });
  return { model, seen };
}

describe("attempt", () => {
  it("leaves no timer and no listener behind, however it ends", async () => {
    const clock = simulatedClock();
    const { signal } = new AbortController();
    let listeners = 0;
    const counted = new Proxy(signal, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key, target);
        if (key === "addEventListener" || key === "removeEventListener") {
          return (...args: unknown[]): unknown => {
            listeners += key === "addEventListener" ? 1 : -1;
            return Reflect.apply(value as (...all: unknown[]) => unknown, target, args);
          };
        }
        return value;
      },
    });
    const good = streaming(async function* () {
      yield { content: "a" };
      yield end;
    });
    const bad = streaming(async function* () {
      yield { content: "a" };
      throw new Error("boom");
    });
    await attempt(good, request, bounds(clock, { signal: counted }));
    await errorOf(attempt(bad, request, bounds(clock, { signal: counted })));
    expect([clock.pending, listeners]).toEqual([0, 0]);
  });

  it("tells the stream to stop after a bad piece, and does not wait for it to obey", async () => {
    const { model, seen } = leaky((n) =>
      Promise.resolve({ done: false, value: n === 0 ? { content: "a", finishReason: "stop" } : { content: "after the end" } }),
    );
    expect((await errorOf(attempt(model, request, bounds(simulatedClock())))).code).toBe("MODEL_PROTOCOL");
    expect(seen.returned).toBe(true);
  });

  it("aborts the model's own signal when it gives up on silence", async () => {
    const clock = simulatedClock();
    const { model, seen } = leaky(() => new Promise(() => {}));
    const work = errorOf(attempt(model, request, bounds(clock)));
    await clock.advance(1_000);
    expect((await work).code).toBe("MODEL_TIMEOUT");
    expect([seen.signal?.aborted, seen.returned]).toEqual([true, true]);
  });

  it("a piece that comes too late is not an unhandled failure", async () => {
    const clock = simulatedClock();
    let fail = (_error: Error): void => {};
    const { model } = leaky(
      () =>
        new Promise((_resolve, reject) => {
          fail = reject;
        }),
    );
    const work = errorOf(attempt(model, request, bounds(clock)));
    const unhandled: unknown[] = [];
    const hear = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", hear);
    await clock.advance(1_000);
    await work;
    fail(new Error("much later"));
    let turns = 0;
    await until(() => ++turns > 5, "a few turns");
    process.off("unhandledRejection", hear);
    expect(unhandled).toEqual([]);
  });

  it("a model that throws before it streams, or that gives no iterator", async () => {
    const throwing = streaming(() => {
      throw new TypeError("fetch failed", { cause: Object.assign(new Error("x"), { code: "ECONNREFUSED" }) });
    });
    const none = streaming(() => ({}) as AsyncIterable<ChatChunk>);
    expect((await errorOf(attempt(throwing, request, bounds(simulatedClock())))).code).toBe("MODEL_UNREACHABLE");
    expect((await errorOf(attempt(none, request, bounds(simulatedClock())))).code).toBe("MODEL_FAILED");
  });

  it("a broken connection is a cut once something came, and unreachable before", async () => {
    const broken = (said: readonly ChatChunk[]): ChatModel =>
      streaming(async function* () {
        yield* said;
        throw new TypeError("terminated");
      });
    expect((await errorOf(attempt(broken([]), request, bounds(simulatedClock())))).code).toBe("MODEL_UNREACHABLE");
    expect((await errorOf(attempt(broken([{ content: "a" }]), request, bounds(simulatedClock())))).code).toBe("MODEL_CUT");
    expect((await errorOf(attempt(broken([end]), request, bounds(simulatedClock())))).code).toBe("MODEL_CUT");
  });

  it("the time of the call is final, the silence is not", async () => {
    const silent = streaming(() => leaky(() => new Promise(() => {})).model.stream(request, { signal: new AbortController().signal }));
    for (const [firstByte, timeLeft, retryable] of [
      [1_000, 10_000, true],
      [10_000, 1_000, false],
    ] as const) {
      const clock = simulatedClock();
      const work = errorOf(attempt(silent, request, bounds(clock, { timeouts: { ...DEFAULT_TIMEOUTS, firstByte }, timeLeft })));
      await clock.advance(1_000);
      expect([(await work).code, ((await work) as unknown as ModelError).retryable]).toEqual(["MODEL_TIMEOUT", retryable]);
    }
  });

  it("a stopped model call fails as stopped, whatever the model throws", async () => {
    const stop = new AbortController();
    const reason = new AbortedError("meanwhile");
    const model: ChatModel = {
      ...streaming(() => expect.unreachable()),
      streams: false,
      chat: () => {
        stop.abort(reason);
        throw new TypeError("fetch failed");
      },
    };
    expect(await errorOf(attempt(model, request, bounds(simulatedClock(), { signal: stop.signal })))).toBe(reason);
  });
});
