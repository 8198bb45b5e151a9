import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sqlite } from "../../../src/adapters/sqlite.ts";
import type { RunEvent } from "../../../src/index.ts";
import type { Journal } from "../../../src/ports.ts";
import { RecordJournal } from "../../../src/research/experiment/record-journal.ts";
import { journalContract } from "../../../src/testing/index.ts";
import { scratchFolder } from "../../workspace/scratch.ts";

const inFile = (): Journal => sqlite({ path: join(scratchFolder(), "run.db") });

journalContract({ describe, it, expect }, "the record of a run in memory", () => new RecordJournal(undefined, undefined, undefined));
journalContract({ describe, it, expect }, "the record of a run in its file", () => new RecordJournal(undefined, inFile(), undefined));

const event = (seq: number, more: object = {}): RunEvent =>
  ({ v: 1, runId: "r", seq, time: 0, type: "round.ended", round: seq, ...more }) as RunEvent;
const paid = (seq: number): RunEvent =>
  event(seq, { type: "step.started", act: "A#1~1", key: "k", kind: "model", name: "m", asked: 0, try: 1, hold: 5, request: null });

async function read(journal: Journal): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const one of journal.read("r", 0)) events.push(one);
  return events;
}

describe("the record of a run", () => {
  it("RecordJournal.R1 RecordJournal.R2 moves into its file with the first call that is not free, in order, for its owner", async () => {
    const path = join(scratchFolder(), "run.db");
    const journal = new RecordJournal(() => sqlite({ path }), undefined, undefined);
    await journal.create("r");
    const former = await journal.claim("r");
    const { epoch } = await journal.claim("r");
    const appends = [
      journal.append("r", epoch, 0, [event(0), event(1)]),
      journal.append("r", epoch, 2, [paid(2)]),
      journal.append("r", epoch, 3, [event(3)]),
    ];
    await Promise.all(appends);
    await expect(journal.append("r", former.epoch, 4, [event(4)])).rejects.toMatchObject({ code: "EPOCH_STALE" });
    await journal.release("r", epoch);
    const next = await journal.claim("r");
    expect([next.epoch > epoch, next.former]).toEqual([true, "released"]);
    await journal.append("r", next.epoch, 4, [event(4)]);
    await journal.end();
    const file = sqlite({ path });
    expect(await read(file)).toEqual([event(0), event(1), paid(2), event(3), event(4)]);
    await file.close();
  });
});
