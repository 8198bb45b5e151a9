import { expect } from "vitest";
import { canonical } from "../../src/runtime/record/canonical.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { journalWith } from "../team/recorded.ts";
import { type Company, isRepeated } from "./lives.ts";
import { Outside } from "./outside.ts";
import { teamOf } from "./six-roles.ts";

/** A model that may only be asked for its id and price. */
const mute = scriptedModel(() => expect.unreachable("a replay called the model"), {
  price: { input: 1, output: 10 },
  maxOutputTokens: 100,
});

/** A record that happens again without a call, and tells the same; only writes are done again. */
export async function expectSameAgain({ roles, options }: Company, record: readonly RunEvent[]): Promise<void> {
  const outside = new Outside();
  const runId = record[0]?.runId ?? "";
  const journal = await journalWith(runId, record);
  const run = teamOf(outside, roles(outside), {
    ...options,
    journal,
    model: mute,
    human: () => expect.unreachable("somebody was asked"),
  }).replay(runId);
  const again: RunEvent[] = [];
  for await (const event of run) again.push(event);
  const { error } = await run.result;
  expect(error?.code === "DIFFERENCE" ? error.message : undefined, `a record of ${record.length} events`).toBeUndefined();
  expect(canonical(again), `a record of ${record.length} events`).toBe(canonical(record));
  expect([...outside.begun.keys()].filter((label) => !isRepeated(label))).toEqual([]);
}
