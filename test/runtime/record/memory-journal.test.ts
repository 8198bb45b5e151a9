import { describe, expect, it, test } from "vitest";
import { defineRole } from "../../../src/role/role.ts";
import { EVENT_VERSION, type RunEvent, type RunEventBody } from "../../../src/runtime/record/event.ts";
import type { Journal } from "../../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../../src/runtime/record/memory-journal.ts";
import { exportRun } from "../../../src/runtime/record/transfer.ts";
import { Team } from "../../../src/team/team.ts";
import { journalContract } from "../../../src/testing/contracts/journal.ts";

journalContract({ describe, it, expect }, "memoryJournal (MemoryJournal.K1 MemoryJournal.K2)", () => memoryJournal());

const started: RunEventBody = { type: "run.started", team: "t", roles: [], seed: "1", scheduler: "rounds" };

function event(runId: string, seq: number, body: RunEventBody): RunEvent {
  return { v: EVENT_VERSION, runId, seq, time: 0, ...body };
}

/** A run of `count` events, the last of which ends it unless it is still open. */
async function written(journal: Journal, runId: string, count: number, end: "finished" | "waiting" | "open"): Promise<void> {
  await journal.create(runId);
  const { epoch } = await journal.claim(runId);
  const events = Array.from({ length: count }, (_, seq) =>
    event(runId, seq, seq === count - 1 && end !== "open" ? { type: "run.ended", status: end } : started),
  );
  await journal.append(runId, epoch, 0, events);
  await journal.release(runId, epoch);
}

async function names(journal: Journal): Promise<string[]> {
  return (await journal.runs()).map((run) => run.runId);
}

describe("memoryJournal", () => {
  test("MemoryJournal.K5 a watch of a run that is forgotten ends", async () => {
    const journal = memoryJournal({ limit: 1 });
    await written(journal, "first", 2, "finished");
    let turns = 0;
    const watching = (async () => {
      for await (const _ of journal.watch?.("first", { signal: new AbortController().signal }) ?? []) turns += 1;
    })();
    await new Promise((resolve) => void setImmediate(resolve));
    await written(journal, "second", 2, "finished");
    await watching;
    expect(turns).toBe(1);
  });

  test("MemoryJournal.K7 it forgets the oldest ended run with files for new ones, and refuses what has no room", async () => {
    const journal = memoryJournal();
    const large = new Uint8Array(new ArrayBuffer(300 * 1024 * 1024));
    for (const name of ["plain", "first"]) await written(journal, name, 2, "finished");
    const first = await journal.claim("first");
    await journal.keepFile?.("first", first.epoch, "a", large);
    await journal.release("first", first.epoch);
    await journal.create("second");
    const { epoch } = await journal.claim("second");
    await journal.keepFile?.("second", epoch, "b", large);
    await journal.keepFile?.("second", epoch, "b", large);
    expect(await names(journal)).toEqual(["plain", "second"]);
    await expect(journal.keepFile?.("second", epoch, "c", large)).rejects.toMatchObject({ code: "FILE_TOO_LARGE" });
    expect(await journal.file?.("second", "c")).toBeUndefined();
  });

  test("MemoryJournal.K3 MemoryJournal.K5 beyond its limit it forgets the oldest ended run, and says so to who asks for it", async () => {
    const journal = memoryJournal({ limit: 2 });
    for (const name of ["first", "second", "third"]) await written(journal, name, 2, "finished");
    expect(await names(journal)).toEqual(["second", "third"]);
    const read = async (id: string): Promise<void> => {
      for await (const _event of journal.read(id, 0));
    };
    for (const asking of [() => read("first"), () => journal.claim("first"), () => journal.create("first")]) {
      await expect(asking()).rejects.toMatchObject({ code: "RUN_FORGOTTEN" });
    }
    await expect(read("never was")).rejects.toMatchObject({ code: "RUN_UNKNOWN" });
    await journal.remove("first");
    await expect(journal.create("first")).resolves.toBeUndefined();
  });

  test("MemoryJournal.K4 runs under way, those that wait and those with an owner stay, however many there are", async () => {
    const journal = memoryJournal({ limit: 2 });
    await written(journal, "open", 2, "open");
    await written(journal, "waiting", 2, "waiting");
    await written(journal, "owned", 2, "finished");
    const { epoch } = await journal.claim("owned");
    await written(journal, "fourth", 2, "finished");
    expect(await names(journal)).toEqual(["open", "waiting", "owned", "fourth"]);
    await journal.release("owned", epoch);
    await written(journal, "fifth", 2, "open");
    expect(await names(journal)).toEqual(["open", "waiting", "fifth"]);
  });

  test("a team with one goes on with what is there, and is told of what was forgotten", async () => {
    const team = new Team({ roles: [defineRole({ name: "Ann", react: () => undefined })], journal: memoryJournal({ limit: 3 }) });
    for (let k = 0; k < 5; k += 1) await team.run("go", { id: `run-${k}` }).result;
    expect((await team.resume("run-4").result).status).toBe("finished");
    expect(await team.resume("run-0").result).toMatchObject({ status: "failed", error: { code: "RUN_FORGOTTEN" } });
    expect(await team.run("go", { id: "run-0" }).result).toMatchObject({ status: "failed", error: { code: "RUN_FORGOTTEN" } });
  });

  test("a fork goes on when its parent was forgotten, and a run that was forgotten can neither be forked nor exported", async () => {
    const journal = memoryJournal({ limit: 2 });
    const team = new Team({ roles: [defineRole({ name: "Ann", react: () => undefined })], journal });
    await team.run("go", { id: "parent" }).result;
    expect((await team.fork("parent", { id: "fork", at: 1, rounds: 0 }).result).status).toBe("rounds");
    await team.run("go", { id: "third" }).result;
    const warnings: string[] = [];
    const run = team.resume("fork", { rounds: 9 });
    run.on("warning", ({ text }) => void warnings.push(text));
    const { status, error } = await run.result;
    expect([status, error, warnings]).toEqual(["finished", undefined, [expect.stringContaining("Run parent")]]);
    expect((await team.fork("parent").result).error?.code).toBe("RUN_FORGOTTEN");
    await expect(exportRun(journal, "parent")[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: "RUN_FORGOTTEN" });
  });

  test.each([0, -1, 1.5, Number.NaN])("a limit of %s is refused", (limit) => {
    expect(() => memoryJournal({ limit })).toThrow(expect.objectContaining({ code: "LIMIT_INVALID" }));
  });
});
