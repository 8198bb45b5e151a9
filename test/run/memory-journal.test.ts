import { describe, expect, it, test } from "vitest";
import { EVENT_VERSION, type RunEvent, type RunEventBody } from "../../src/run/event.ts";
import type { Journal } from "../../src/run/journal.ts";
import { memoryJournal } from "../../src/run/memory-journal.ts";
import { journalContract } from "../../src/testing/contracts/journal.ts";

journalContract({ describe, it, expect }, "memoryJournal", () => memoryJournal());

const started: RunEventBody = { type: "run.started", team: "t", roles: [], seed: "1", scheduler: "rounds" };

function event(runId: string, seq: number, body: RunEventBody): RunEvent {
  return { v: EVENT_VERSION, runId, seq, time: 0, ...body };
}

/** A run of `count` events, the last of which ends it unless it is still open. */
async function written(journal: Journal, runId: string, count: number, end: "finished" | "waiting" | "open"): Promise<void> {
  await journal.create(runId);
  const epoch = await journal.claim(runId);
  const events = Array.from({ length: count }, (_, seq) =>
    event(runId, seq, seq === count - 1 && end !== "open" ? { type: "run.ended", status: end } : started),
  );
  await journal.append(runId, epoch, 0, events);
}

async function names(journal: Journal): Promise<string[]> {
  return (await journal.runs()).map((run) => run.runId);
}

describe("memoryJournal", () => {
  test("K3 at its limit it forgets whole runs that have ended, the oldest first", async () => {
    const journal = memoryJournal({ limit: 10 });
    await written(journal, "first", 4, "finished");
    await written(journal, "second", 4, "waiting");
    await written(journal, "third", 5, "finished");
    expect(await names(journal)).toEqual(["second", "third"]);
  });

  test("K3 it never forgets a run that is under way, nor the one that is written, nor any for nothing", async () => {
    const journal = memoryJournal({ limit: 10 });
    await written(journal, "open", 4, "open");
    await written(journal, "ended", 3, "finished");
    await expect(written(journal, "large", 8, "finished")).rejects.toMatchObject({ code: "JOURNAL_FULL" });
    expect((await names(journal)).filter((name) => name !== "large")).toEqual(["open", "ended"]);
    await expect(written(journal, "small", 6, "finished")).resolves.toBeUndefined();
    expect((await names(journal)).filter((name) => name !== "large")).toEqual(["open", "small"]);
  });

  test("K3 a removed run makes room", async () => {
    const journal = memoryJournal({ limit: 4 });
    await written(journal, "a", 4, "open");
    await expect(written(journal, "b", 1, "open")).rejects.toMatchObject({ code: "JOURNAL_FULL" });
    await journal.remove("a");
    await expect(written(journal, "c", 4, "open")).resolves.toBeUndefined();
  });

  test("a batch larger than a list of arguments can be", async () => {
    const journal = memoryJournal({ limit: 300_000 });
    await written(journal, "large", 200_000, "finished");
    expect(await journal.runs()).toEqual([{ runId: "large", events: 200_000 }]);
  });

  test.each([0, -1, 1.5, Number.NaN])("a limit of %s is refused", (limit) => {
    expect(() => memoryJournal({ limit })).toThrow(expect.objectContaining({ code: "LIMIT_INVALID" }));
  });
});
