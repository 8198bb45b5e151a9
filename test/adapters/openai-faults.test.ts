import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { openai } from "../../src/adapters/openai.ts";
import { OutputError, ModelError } from "../../src/kernel/errors.ts";
import type { StepDoor, StepPort } from "../../src/kernel/step.ts";
import { askModel } from "../../src/model/ask.ts";
import { callModel } from "../../src/model/call.ts";
import type { ChatRequest } from "../../src/model/chat-model.ts";
import { openaiStub, type StubReply } from "../../src/testing/index.ts";
import type { StubFault } from "../../src/testing/stub-reply.ts";
import { callSetup, RecordedAttempts, withSockets } from "../model/call-setup.ts";
import { tries } from "../long.ts";

const KEY = "sk-canary-0123456789abcdef";
const price = { input: 1, output: 2 };
const request: ChatRequest = { messages: [{ role: "user", content: "Say something." }], maxTokens: 100 };
const TEXT = "The one good answer.";

/** Every fault that ends by itself; those that stall are moved on by time and have tests of their own. */
const fault: fc.Arbitrary<StubFault> = fc.oneof(
  fc.record({ fault: fc.constantFrom("cut" as const, "reset" as const, "stream-error" as const), after: fc.nat(3) }),
  fc.record({
    fault: fc.constantFrom(
      "bad-json" as const,
      "no-usage" as const,
      "length" as const,
      "content-filter" as const,
      "text-after-end" as const,
    ),
    text: fc.string(),
  }),
  fc.record({
    fault: fc.constantFrom(
      "quota",
      "unauthorized",
      "not-found",
      "context-overflow",
      "format-unsupported",
      "rate-limit",
      "wrong-shape",
      "empty-choices",
      "refusal",
      "empty",
    ),
  }),
  fc.record({ fault: fc.constant("server-error" as const), status: fc.constantFrom(500, 502, 503, 504, 520, 529) }),
  fc.record({
    fault: fc.constant("status" as const),
    status: fc.constantFrom(200, 204, 400, 405, 409, 422, 451, 500),
    body: fc.oneof(fc.string(), fc.json()),
  }),
) as fc.Arbitrary<StubFault>;

/** A script is over when every fault in it was met; then the answer is good. */
function script(faults: readonly StubFault[]): { handler: (body: unknown, n: number) => StubReply } {
  return { handler: (_body, n) => faults[n] ?? { text: TEXT, usage: { prompt_tokens: 9, completion_tokens: 4 } } };
}

describe("openai, any faults in any order", () => {
  it("property: a call ends in a whole answer or in one typed error, each try settled, no key told", { tags: "numbers" }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fault, { maxLength: 5 }), fc.boolean(), async (faults, stream) => {
        await using stub = await openaiStub(script(faults));
        const { deps, attempts, clock } = callSetup({ random: () => 0, retry: { outage: 0 } });
        const model = openai({ model: "m", apiKey: KEY, baseURL: stub.url, price, stream });
        const outcome = await withSockets(
          clock,
          callModel(model, request, deps).then(
            (reply) => ({ reply }),
            (error: unknown) => ({ error }),
          ),
        );
        expect(attempts.isOpen).toBe(false);
        expect(attempts.told).toHaveLength(2 * stub.requests.length);
        expect(clock.pending).toBe(0);
        if ("error" in outcome) {
          expect(outcome.error).toBeInstanceOf(ModelError);
          expect(inspect(outcome.error, { depth: 20, showHidden: true })).not.toContain(KEY);
          return;
        }
        // A whole answer is the good one, or one whose fault does not touch its text: no usage told, or a stream's fault in a whole reply.
        const last = faults[stub.requests.length - 1];
        const harmless = last === undefined || last.fault === "no-usage" || (last.fault === "text-after-end" && !stream);
        expect(harmless).toBe(true);
        expect(outcome.reply.content).toBe(last === undefined ? TEXT : "text" in last ? last.text : undefined);
      }),
      { numRuns: tries(40, 300) },
    );
  });

  it("property: a typed value comes out typed, or not at all", { tags: "numbers" }, async () => {
    const Plan = z.object({ title: z.string().min(1), hours: z.number().optional() });
    const replies = fc.oneof(
      {
        weight: 3,
        arbitrary: fc.constantFrom<StubReply>('{"title": "T", "hours": null}', '```json\n{"title": "T",}\n```', "{'title': 'T'}"),
      },
      {
        weight: 2,
        arbitrary: fc.constantFrom<StubReply>('{"title": ""}', '{"title": "T", "hours": "two"}', "No.", '{"title": "T"', "[]", "{}"),
      },
      { weight: 1, arbitrary: fc.json().map((text): StubReply => ({ text: text === "" ? "x" : text })) },
      { weight: 2, arbitrary: fault },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(replies, { maxLength: 8 }), async (said) => {
        await using stub = await openaiStub({ handler: (_body, n) => said[n] ?? '{"title": "at last"}' });
        const { clock } = callSetup();
        const attempts = new RecordedAttempts();
        const signal = new AbortController().signal;
        const steps: StepPort = {
          step: (_spec, effect) => effect({ key: "k", mode: "live", signal, attempts, step: () => expect.unreachable() } as StepDoor),
        };
        const model = openai({ model: "m", apiKey: KEY, baseURL: stub.url, price });
        const work = askModel({
          steps,
          model,
          messages: request.messages,
          policy: { clock, random: () => 0, retry: { outage: 0 } },
          schema: Plan,
        }).then(
          (value) => ({ value }),
          (error: unknown) => ({ error }),
        );
        const outcome = await withSockets(clock, work);
        expect(attempts.isOpen).toBe(false);
        expect(stub.rejected).toEqual([]);
        // Two steps of at most three formats, each tried at most four times.
        expect(stub.requests.length).toBeLessThanOrEqual(24);
        if ("value" in outcome) expect(Plan.safeParse(outcome.value).success).toBe(true);
        else expect(outcome.error instanceof ModelError || outcome.error instanceof OutputError).toBe(true);
      }),
      { numRuns: tries(30, 240) },
    );
  });
});
