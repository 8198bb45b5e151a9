import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chained, chainStart, encodeEvents, eventsIn, openRows, type StoredBlock } from "../../src/adapters/event-rows.ts";
import { JournalError } from "../../src/kernel/errors.ts";
import type { Json } from "../../src/kernel/json.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import { eventsOfRun, runSketch } from "../inspector/view/random-runs.ts";
import { tries } from "../long.ts";
import { lively, started } from "./sqlite-setup.ts";

/** What a store has of some events: rows, and the messages of conversations. */
function stored(events: readonly RunEvent[], runId: string): { rows: StoredBlock[]; messages: Map<string, readonly Json[]> } {
  let checksum = chainStart(runId);
  const messages = new Map<string, readonly Json[]>();
  const rows = encodeEvents(events, runId, 0).map(({ seq, body, chats }) => {
    for (const { digest, turns } of chats)
      messages.set(
        digest,
        turns.map((turn) => JSON.parse(turn.body) as Json),
      );
    checksum = chained(checksum, body);
    return { seq, body, checksum };
  });
  return { rows, messages };
}

const run = (runId: string) => ({
  runId,
  damaged: (intact: number, why: string) => new JournalError("JOURNAL_DAMAGED", why, { data: { intact } }),
});

function readBack(rows: readonly StoredBlock[], messages: ReadonlyMap<string, readonly Json[]>, runId: string, from = 0) {
  const opened = openRows(rows, { seq: 0, checksum: chainStart(runId) }, run(runId));
  return eventsIn(opened, from, run(runId), (chat) => messages.get(chat));
}

describe("events as rows", () => {
  it("property: are read back as they were, from any place on", { tags: "numbers" }, async () => {
    await fc.assert(
      fc.asyncProperty(runSketch, fc.nat(), async (sketch, cut) => {
        const events = await eventsOfRun(sketch);
        const { runId } = events[0] as RunEvent;
        const { rows, messages } = stored(events, runId);
        const from = cut % (events.length + 1);
        expect(readBack(rows, messages, runId, from).events).toEqual(JSON.parse(JSON.stringify(events.slice(from))));
      }),
      { numRuns: tries(5, 200) },
    );
  });

  it("have 64 events at most, and a million characters unless one event has more", () => {
    const counts = (events: readonly RunEvent[]): number[] => encodeEvents(events, "a", 0).map((block) => block.events);
    expect(counts(Array.from({ length: 130 }, (_, seq) => started("a", seq)))).toEqual([64, 64, 2]);
    expect(counts([400_000, 400_000, 400_000, 2_000_000, 10].map((size, seq) => started("a", seq, size)))).toEqual([2, 1, 1, 1]);
  });

  it("cut anywhere, or with a conversation lost, give what is before and the reason", () => {
    const events = lively("a", 130);
    const { rows, messages } = stored(events, "a");
    const second = rows[1] as { body: Buffer; seq: number; checksum: string };
    for (const [wrong, why] of [
      [{ ...second, body: second.body.subarray(0, -1) }, "event 64 was changed since it was written"],
      [{ ...second, seq: 65 }, "event 64 is missing"],
      [{ ...second, body: undefined }, "event 64 was changed since it was written"],
    ] as const) {
      const { events: read, failed } = readBack([rows[0] as StoredBlock, wrong, rows[2] as StoredBlock], messages, "a");
      expect([read, failed?.error]).toEqual([events.slice(0, 64), expect.objectContaining({ message: why })]);
    }
    const { events: read, failed } = readBack(rows, new Map(), "a");
    expect([read, failed?.error]).toEqual([events.slice(0, 2), expect.objectContaining({ data: { intact: 2 } })]);
  });
});
