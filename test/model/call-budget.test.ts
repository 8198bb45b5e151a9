// Loaded here, so that loading it takes no part of the simulated time.
import "p-queue";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BudgetError } from "../../src/kernel/errors.ts";
import { randomStream } from "../../src/kernel/random.ts";
import type { AttemptOutcome, Attempts } from "../../src/kernel/step.ts";
import { callModel } from "../../src/model/call.ts";
import type { ChatRequest } from "../../src/model/chat-model.ts";
import { modelError } from "../../src/model/failure.ts";
import { Ledger } from "../../src/model/ledger.ts";
import { modelLimits } from "../../src/model/limits.ts";
import type { MicroUsd } from "../../src/model/money.ts";
import { holdFor } from "../../src/model/price.ts";
import { scriptedModel, type ScriptedReply } from "../../src/testing/scripted-model.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import { withTime } from "./call-setup.ts";

const price = { input: 3, output: 15 };

/** The meter a run has, at its smallest: holds that do not fit wait, and are refused when none is open. */
class Meter {
  readonly ledger = new Ledger();
  readonly outcomes: AttemptOutcome[] = [];
  most = 0;
  readonly #budget: MicroUsd;
  #waiting: { readonly hold: MicroUsd; readonly enter: () => void; readonly refuse: (error: Error) => void }[] = [];

  constructor(budget: number) {
    this.#budget = budget as MicroUsd;
  }

  attempts(name: string): Attempts {
    let tries = 0;
    const key = (): string => `${name}#${tries}`;
    return {
      open: (amount) =>
        new Promise((resolve, reject) => {
          const hold = amount as MicroUsd;
          const enter = (): void => {
            tries++;
            this.ledger.open(key(), hold);
            this.most = Math.max(this.most, this.ledger.spent + this.ledger.held);
            resolve();
          };
          this.#waiting.push({ hold, enter, refuse: reject });
          this.#admit();
        }),
      settle: (outcome) => {
        this.outcomes.push(outcome);
        this.ledger.settle(key(), { cost: outcome.cost as MicroUsd | undefined, basis: outcome.basis });
        this.#admit();
      },
    };
  }

  #admit(): void {
    const line = this.#waiting;
    this.#waiting = [];
    for (const waiter of line) {
      if (this.ledger.fits(waiter.hold, this.#budget)) waiter.enter();
      else this.#waiting.push(waiter);
    }
    if (this.ledger.openHolds > 0) return;
    for (const { hold, refuse } of this.#waiting.splice(0)) {
      refuse(new BudgetError({ needed: hold, left: this.#budget - this.ledger.spent, budget: this.#budget }));
    }
  }
}

describe("callModel and a budget", () => {
  const fate = fc.record({
    kind: fc.constantFrom("good", "no usage", "cut", "rate limit", "empty", "server", "truncated", "auth"),
    latency: fc.integer({ min: 1, max: 90_000 }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
  });

  function replyTo(kind: string, share: number, request: ChatRequest): ScriptedReply {
    const bytes = Buffer.byteLength(JSON.stringify(request.messages));
    const usage = { inputTokens: Math.max(1, Math.floor(bytes * share)), outputTokens: Math.floor((request.maxTokens ?? 0) * share) };
    switch (kind) {
      case "good":
        return { content: "Good.", usage };
      case "no usage":
        return { content: "Good.", usage: { inputTokens: 0, outputTokens: 0 } };
      case "empty":
        return { content: "", usage };
      case "truncated":
        return { content: "Half", finishReason: "length", usage };
      case "cut":
        return modelError("MODEL_CUT", "cut");
      case "server":
        return modelError("MODEL_SERVER", "busy", { data: { mayHaveRun: false } });
      case "rate limit":
        return modelError("MODEL_RATE_LIMIT", "slow down", { data: { mayHaveRun: false, retryAfterMs: 500 } });
      default:
        return modelError("MODEL_AUTH", "no", { data: { mayHaveRun: false } });
    }
  }

  it("property: eight roles at once never spend more than it, whatever fails and however long it takes", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fate, { minLength: 1, maxLength: 30 }),
        fc.integer({ min: 0, max: 60_000 }),
        fc.option(fc.integer({ min: 1, max: 8 }), { nil: undefined }),
        async (fates, budget, concurrency) => {
          const clock = simulatedClock();
          const meter = new Meter(budget);
          const limits = concurrency === undefined ? undefined : modelLimits({ concurrency });
          const ends: string[] = [];
          const roles = Array.from({ length: 8 }, async (_, role) => {
            for (let n = 0; n < 4; n++) {
              const request: ChatRequest = {
                messages: [{ role: "user", content: `${role} asks ${"x".repeat(role * 40)}` }],
                maxTokens: 50 + 100 * n,
              };
              const next = (k: number): (typeof fates)[number] => fates[(role * 7 + n * 3 + k) % fates.length]!;
              const model = scriptedModel((asked, k) => replyTo(next(k).kind, next(k).share, asked), {
                price,
                clock,
                latency: (k) => next(k).latency,
              });
              const deps = {
                clock,
                random: randomStream("jitter", role),
                limits,
                attempts: meter.attempts(`${role}.${n}`),
                signal: new AbortController().signal,
              };
              ends.push(
                await callModel(model, request, deps).then(
                  () => "answer",
                  (error: { code: string }) => error.code,
                ),
              );
            }
          });
          await withTime(clock, Promise.all(roles));
          expect(meter.most).toBeLessThanOrEqual(budget);
          expect(meter.ledger.spent).toBeLessThanOrEqual(budget);
          expect([meter.ledger.held, meter.ledger.openHolds]).toEqual([0, 0]);
          expect(ends).toHaveLength(32);
          expect(meter.outcomes.every(({ cost, basis }) => cost !== undefined && (basis !== "none" || cost === 0))).toBe(true);
          expect(ends.every((how) => how === "answer" || how.startsWith("MODEL_") || how === "BUDGET")).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("a hold that does not fit waits for what is open, and gets what that leaves", async () => {
    const clock = simulatedClock();
    const request: ChatRequest = { messages: [{ role: "user", content: "Say something." }], maxTokens: 100 };
    const hold = holdFor(request, price);
    const meter = new Meter(hold + 100);
    const model = scriptedModel(() => ({ content: "ok", usage: { inputTokens: 1, outputTokens: 1 } }), {
      price,
      clock,
      latency: () => 1_000,
    });
    const call = (name: string): Promise<unknown> =>
      callModel(model, request, { clock, random: () => 0, attempts: meter.attempts(name), signal: new AbortController().signal });
    await withTime(clock, Promise.all([call("a"), call("b"), call("c")]));
    expect(model.calls).toHaveLength(3);
    // One after another: each had to wait for the one before.
    expect(clock.now()).toBe(3_000);
    expect(meter.ledger.spent).toBe(3 * 18);
  });

  it("a budget too small for the smallest call sends nothing", async () => {
    const clock = simulatedClock();
    const meter = new Meter(1);
    const model = scriptedModel(["never"], { price });
    const request: ChatRequest = { messages: [{ role: "user", content: "x" }], maxTokens: 1 };
    const work = callModel(model, request, { clock, random: () => 0, attempts: meter.attempts("a"), signal: new AbortController().signal });
    await expect(work).rejects.toMatchObject({ code: "BUDGET" });
    expect(model.calls).toHaveLength(0);
  });
});
