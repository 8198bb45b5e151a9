import fc from "fast-check";
import { expect } from "vitest";
import type { Json } from "../../src/kernel/json.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { asked, readOut, started, written } from "./sqlite-setup.ts";

const IDS = ["a b", "", "\0", "a\0b", "\ud800", "\udfff", "../..", "'; DROP TABLE runs; --", "猫🎭", '"', '"$1" \\'];
const LONG_IDS = ["x".repeat(100_000), "y".repeat(250)];

/** Runs whose ids have any characters stay separate. */
export async function checkIds(journal: Journal): Promise<void> {
  const ids = [...IDS, ...LONG_IDS];
  for (const id of ids) await written(journal, id, [started(id, 0)]);
  expect((await journal.runs()).map(({ runId }) => runId)).toEqual(ids);
  for (const id of ids) expect(await readOut(journal, id)).toEqual({ events: [started(id, 0)], error: undefined });
}

const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("\0", "\ud83c", "_proto_", "proto", "\\", "\n", "\\x00", '","', "\u2028"),
);
const value = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("json"), { maxLength: 4 }),
    fc.dictionary(
      text.filter((name) => name !== "__proto__"),
      tie("json"),
      { maxKeys: 4 },
    ),
  ),
})).json;
const request = fc.oneof(value, fc.record({ model: value, messages: fc.array(value, { maxLength: 6 }) }), fc.record({ messages: value }));

/** Any JSON in requests comes back as it was written. */
export async function checkAnyJson(journal: Journal, numRuns: number): Promise<void> {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(request, { maxLength: 8 }), async (requests) => {
      const runId = `run ${(run += 1)}`;
      const events = requests.map((each, seq) => asked(runId, seq, each));
      await written(journal, runId, events);
      expect(await readOut(journal, runId)).toEqual({ events, error: undefined });
      expect((await readOut(journal, runId, 3)).events).toEqual(events.slice(3));
    }),
    { numRuns },
  );
}
