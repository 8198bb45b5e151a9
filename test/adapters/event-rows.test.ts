import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ChatRow } from "../../src/adapters/event-chats.ts";
import { chained, chainStart, encodeEvents, type Position, type StoredBlock } from "../../src/adapters/event-rows.ts";
import { readRun, type RowSource } from "../../src/adapters/run-reader.ts";
import { JournalError } from "../../src/kernel/errors.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import { eventsOfRun, runSketch } from "../inspector/view/random-runs.ts";
import { tries } from "../long.ts";
import { lively, started } from "./sqlite-setup.ts";

/** The rows of a run in memory, by number of its first event. */
function stored(events: readonly RunEvent[], runId: string): { rows: StoredBlock[]; turns: Map<string, ChatRow>; head: string } {
  let head = chainStart(runId);
  const turns = new Map<string, ChatRow>();
  const rows = encodeEvents(events, runId, 0).map(({ seq, body, chats }) => {
    for (const { chat, ...turn } of chats.flatMap((each) => each.turns)) turns.set(chat, turn);
    head = chained(head, body);
    return { seq, body, checksum: head };
  });
  return { rows, turns, head };
}

async function readBack(events: readonly RunEvent[], { rows, turns, head }: ReturnType<typeof stored>, from = 0) {
  const runId = events[0]?.runId ?? "";
  const within = (start: number, end: number) => rows.filter(({ seq }) => Number(seq) >= start && Number(seq) < end);
  const source: RowSource = {
    pageRows: 2,
    head: async () => ({ number: 1, events: events.length, head }),
    rowsBefore: async (_number, seq) => within(0, seq).slice(-2).reverse() as unknown as Position[],
    blocks: async (_number, start, end, limit) => within(start, end).slice(0, limit),
    turns: async () => turns,
    damaged: (_runId, intact, why) => new JournalError("JOURNAL_DAMAGED", why, { data: { intact } }),
  };
  const read: RunEvent[] = [];
  let error: unknown;
  try {
    for await (const event of readRun(source, runId, from)) read.push(event);
  } catch (thrown) {
    error = thrown;
  }
  return { read, error };
}

describe("events as rows", () => {
  it("property: are read back as they were, from any place on", { tags: "numbers" }, async () => {
    await fc.assert(
      fc.asyncProperty(runSketch, fc.nat(), async (sketch, cut) => {
        const events = await eventsOfRun(sketch);
        const { runId } = events[0] as RunEvent;
        const from = cut % (events.length + 1);
        const { read, error } = await readBack(events, stored(events, runId), from);
        expect([read, error]).toEqual([JSON.parse(JSON.stringify(events.slice(from))), undefined]);
      }),
      { numRuns: tries(5, 200) },
    );
  });

  it("have 64 events at most, and a million characters unless one event has more", () => {
    const counts = (events: readonly RunEvent[]): number[] => encodeEvents(events, "a", 0).map((block) => block.events);
    expect(counts(Array.from({ length: 130 }, (_, seq) => started("a", seq)))).toEqual([64, 64, 2]);
    expect(counts([400_000, 400_000, 400_000, 2_000_000, 10].map((size, seq) => started("a", seq, size)))).toEqual([2, 1, 1, 1]);
  });

  it("cut anywhere, or with a conversation lost, give what is before and the reason", async () => {
    const events = lively("a", 130);
    const all = stored(events, "a");
    const second = all.rows[1] as { body: Buffer; seq: number; checksum: string };
    for (const [wrong, why] of [
      [{ ...second, body: second.body.subarray(0, -1) }, "event 64 was changed since it was written"],
      [{ ...second, seq: 65 }, "event 64 is missing"],
      [{ ...second, body: undefined }, "event 64 was changed since it was written"],
    ] as const) {
      const { read, error } = await readBack(events, { ...all, rows: [all.rows[0], wrong, all.rows[2]] as StoredBlock[] });
      expect([read, error]).toEqual([events.slice(0, 64), expect.objectContaining({ message: why })]);
    }
    const { read, error } = await readBack(events, { ...all, turns: new Map() });
    expect([read, error]).toEqual([events.slice(0, 2), expect.objectContaining({ data: { intact: 2 } })]);
  });
});
