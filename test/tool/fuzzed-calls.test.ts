import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { canonicalJson } from "../../src/kernel/json.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import type { Approver } from "../../src/tool/approval.ts";
import { toolMessage } from "../../src/tool/tool-result.ts";
import { callTools } from "../../src/tool/call-tools.ts";
import { defineTool, type Tool } from "../../src/tool/tool.ts";
import { call, calling } from "./calling.ts";
import { tries } from "../long.ts";

const LIMIT = 500;
const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);
beforeAll(() => void process.on("unhandledRejection", note));
afterAll(() => void process.off("unhandledRejection", note));

/** Behavior of a tool that its caller must survive. */
const deed: fc.Arbitrary<Tool["execute"]> = fc.oneof(
  fc
    .anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
      withNullPrototype: true,
      withSparseArray: true,
    })
    .map((value) => () => value as never),
  fc.anything().map((value) => () => {
    throw value;
  }),
  // oxlint-disable-next-line typescript/prefer-promise-reject-errors
  fc.anything().map((value) => () => Promise.reject(value)),
  fc
    .record(
      { output: fc.anything(), error: fc.anything(), images: fc.anything(), system: fc.anything(), data: fc.anything() },
      { requiredKeys: [] },
    )
    .map((value) => () => value as never),
  fc.constant<Tool["execute"]>(() => new Promise(() => {})),
  fc.constant<Tool["execute"]>(
    (_, ctx) => new Promise((_resolve, reject) => ctx.signal.addEventListener("abort", () => reject(new Error("late")))),
  ),
  fc.integer({ min: 0, max: 200_000 }).map((length) => () => "x".repeat(length)),
  fc.constant<Tool["execute"]>((_, ctx) => Promise.all([ctx.human?.ask("?"), ctx.human?.ask("?")]).then((answers) => answers.join())),
  fc.constant<Tool["execute"]>(async (_, ctx) => {
    ctx.progress("x");
    void ctx.step({ kind: "tool", name: "left", request: 1 }, () => Promise.reject(new Error("left alone"))).catch(() => {});
    await nextMacrotask();
    return "done";
  }),
);

const name = fc.oneof(fc.constantFrom("a", "b", "A", "end", "constructor", "__proto__", "toString", ""), fc.string());
const args = fc.oneof(
  fc.json(),
  fc.string(),
  fc.constantFrom(
    "",
    "{}",
    "null",
    "[]",
    '{"n": 1}',
    '{"n": "1"}',
    "{n: 1}",
    '{"n": 1',
    '{"__proto__": 1}',
    '"{}"',
    "{".repeat(500),
    "[".repeat(50_000),
  ),
  fc.string({ unit: fc.constantFrom("{", "}", "[", "]", '"', "'", ":", ",", "\\", "n", "1", " ", "\u0000", "\ud800"), maxLength: 60 }),
);
const reply = fc.array(fc.record({ name, args, id: fc.oneof(fc.constantFrom("1", "2", ""), fc.string()) }), { maxLength: 6 });
const answer: fc.Arbitrary<Approver> = fc.oneof(
  fc.anything().map((value) => () => value as boolean),
  fc.constantFrom<Approver>(
    () => true,
    () => "yes",
    () => Promise.reject(new Error("no")),
  ),
);
const policy = fc.constantFrom({ default: "allow" as const }, {}, { rules: [{ tool: "*", args: { n: "*" }, decide: "deny" as const }] });

test(
  "1,000 replies of fuzzed calls to fuzzed tools: each is answered, in bounds, in plain JSON; nothing throws or stays",
  { tags: "numbers" },
  async () => {
    await fc.assert(
      fc.asyncProperty(reply, deed, deed, answer, policy, fc.boolean(), async (calls, first, second, approve, rules, isStrict) => {
        const clock = simulatedClock();
        const parameters = isStrict ? z.object({ n: z.int().optional() }) : undefined;
        const tools = [
          ...[first, second].map((execute, n) =>
            defineTool({ name: n === 0 ? "a" : "b", description: "", maxOutput: LIMIT, parameters, execute } as never),
          ),
          defineTool({ name: "end", description: "", effect: "read", ends: true, execute: () => "ended" }),
        ];
        let answers: Awaited<ReturnType<typeof callTools>> | undefined;
        const asked = callTools(
          calls.map((one) => call(one.name, one.args, one.id)),
          calling(tools, { clock, policy: rules, approve, ask: () => Promise.reject(new Error("nobody")) }),
        ).then((all) => (answers = all));
        asked.catch(() => {});
        for (let turn = 0; answers === undefined && turn < 40; turn++) await clock.advance(60_000);
        await asked;
        expect(answers?.map(({ call: { id } }) => id)).toEqual(calls.map(({ id }) => id));
        for (const one of answers ?? []) {
          const { content = "" } = toolMessage(one);
          expect(content.length).toBeLessThan(5_000);
          expect(JSON.parse(canonicalJson(one.result))).toEqual(one.result);
        }
        expect(clock.pending).toBe(0);
      }),
      { numRuns: tries(150, 2_000) },
    );
    await nextMacrotask();
    expect(unhandled).toEqual([]);
  },
);
