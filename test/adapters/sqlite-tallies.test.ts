import { listedSummary } from "../../src/runtime/record/run-summary.ts";
import { describe, expect, it } from "vitest";
import { EVENT_VERSION, type RunEvent } from "../../src/runtime/record/event.ts";
import type { Journal, RunInfo } from "../../src/runtime/record/journal.ts";
import { connection, journalAt, meddle, newFile } from "./sqlite-setup.ts";

function envelope(seq: number): { readonly v: typeof EVENT_VERSION; readonly runId: string; readonly seq: number; readonly time: number } {
  return { v: EVENT_VERSION, runId: "r", seq, time: seq };
}

const beginning: RunEvent = { ...envelope(0), type: "run.started", team: "t", roles: [], seed: "s", scheduler: "rounds" };
const round = (seq: number): RunEvent => ({ ...envelope(seq), type: "round.ended", round: seq });
const end = (seq: number): RunEvent => ({ ...envelope(seq), type: "run.ended", status: "finished" });

async function keptIn(file: string): Promise<readonly (readonly [events: number])[]> {
  const db = await connection(file);
  const rows = db.all("SELECT json_extract(tally, '$.summary.events') FROM tallies");
  db.close();
  return rows.map(([events]) => [Number(events)]);
}

async function newest(journal: Journal): Promise<RunInfo | undefined> {
  return (await journal.newest?.({ limit: 1, tallies: true }))?.[0];
}

/** A file with one run of `length` events that has ended, and its journal is closed. */
async function ended(length: number): Promise<string> {
  const file = newFile();
  const journal = journalAt(file);
  await journal.create("r");
  const events = Array.from({ length: length - 1 }, (_, seq) => (seq === 0 ? beginning : round(seq)));
  await journal.append("r", (await journal.claim("r")).epoch, 0, [...events, end(length - 1)]);
  await journal.close();
  return file;
}

describe("the tallies of a journal in a file", () => {
  it("are kept by readers: of a run under way for each hundred events, of an ended one whole", async () => {
    const file = newFile();
    const journal = journalAt(file);
    await journal.create("r");
    const { epoch } = await journal.claim("r");
    await journal.append("r", epoch, 0, [beginning, round(1)]);
    expect((await newest(journal))?.tally?.summary).toMatchObject({ id: "r", status: "open", events: 2 });
    expect(await keptIn(file)).toEqual([]);
    const more = Array.from({ length: 98 }, (_, n) => round(n + 2));
    await journal.append("r", epoch, 2, more);
    expect((await newest(journal))?.tally?.summary).toMatchObject({ status: "open", events: 100 });
    expect(await keptIn(file)).toEqual([[100]]);
    await journal.append("r", epoch, 100, [end(100)]);
    expect((await journal.info?.("r"))?.tally?.summary).toMatchObject({ status: "finished", events: 101 });
    expect(await keptIn(file)).toEqual([[101]]);
  });

  it.each([
    ["missing", "DELETE FROM tallies"],
    ["damaged", `UPDATE tallies SET tally = replace(tally, '"cost":0', '"cost":9')`],
    ["no UTF-8", "UPDATE tallies SET tally = CAST(x'7bff' AS TEXT)"],
    ["no JSON", "UPDATE tallies SET tally = 'x'"],
    ["of another run", "UPDATE tallies SET checksum = x'00'"],
  ])("are made again where one is %s, and kept", async (_, sql) => {
    const file = await ended(3);
    await meddle(file, sql);
    const journal = journalAt(file);
    expect((await newest(journal))?.tally?.summary).toMatchObject({ events: 3, cost: 0, status: "finished" });
    expect(await keptIn(file)).toEqual([[3]]);
  });

  it("are no reason to fail where the run itself is damaged", async () => {
    const file = await ended(3);
    await meddle(file, "DELETE FROM tallies; UPDATE events SET body = x'00'");
    const journal = journalAt(file);
    const info = (await newest(journal)) ?? expect.fail();
    expect(info).toEqual({ runId: "r", events: 3 });
    expect(await listedSummary(journal, info)).toMatchObject({ id: "r", status: "damaged", events: 3 });
  });
});
