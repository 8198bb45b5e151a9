import fc from "fast-check";
import { randomBytes } from "node:crypto";
import { deflateRawSync } from "node:zlib";
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { chained, chainStart } from "../../src/adapters/event-rows.ts";
import { PLACES } from "../../src/adapters/sqlite-runs.ts";
import type { JournalError } from "../../src/kernel/errors.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import {
  asked,
  connection,
  errorOf,
  journalAt,
  lively,
  meddle,
  newFile,
  readOut,
  started,
  written,
  writtenOneByOne,
} from "./sqlite-setup.ts";
import { tries } from "../long.ts";

const runs: Readonly<Record<string, readonly RunEvent[]>> = { a: lively("a", 60), b: lively("b", 60) };

/** A closed file with both runs in it. */
async function goodFile(): Promise<string> {
  const file = newFile();
  const journal = journalAt(file);
  for (const [runId, events] of Object.entries(runs)) await writtenOneByOne(journal, runId, events);
  await journal.close();
  return file;
}

/** The state of both runs after something happened to their file: never a wrong event, and never too few without a word. */
async function checkHonest(
  file: string,
): Promise<Readonly<Record<string, { readonly intact: number; readonly error: JournalError | undefined }>>> {
  const journal = journalAt(file);
  const found: Record<string, { intact: number; error: JournalError | undefined }> = {};
  for (const [runId, truth] of Object.entries(runs)) {
    const { events, error } = await readOut(journal, runId);
    expect(events).toEqual(truth.slice(0, events.length));
    if (error === undefined) expect(events.length).toBe(truth.length);
    else expect(error.code).toMatch(/^(JOURNAL_DAMAGED|JOURNAL_FOREIGN|JOURNAL_NEWER|JOURNAL_UNWRITABLE|RUN_UNKNOWN)$/);
    if (error?.code === "JOURNAL_DAMAGED") expect(error.data).toMatchObject({ runId, intact: events.length });
    found[runId] = { intact: events.length, error };
  }
  // Nobody continues a run that cannot be read; that too must end in a typed error or work.
  await errorOf(journal.claim("a"));
  await errorOf(journal.runs());
  await errorOf(journal.close());
  return found;
}

let good: string;
let bytes: Buffer;
beforeAll(async () => {
  good = await goodFile();
  bytes = readFileSync(good);
});

describe("a run that was changed behind the journal's back", () => {
  const at = (seq: number): number => PLACES + seq;

  it.each([
    ["a byte of an event", `UPDATE events SET body = unhex('00' || substr(hex(body), 3)) WHERE place = ${at(30)}`, 30],
    ["a checksum", `UPDATE events SET checksum = zeroblob(16) WHERE place = ${at(30)}`, 30],
    ["a checksum that is cut", `UPDATE events SET checksum = x'00' WHERE place = ${at(30)}`, 30],
    [
      "checksums that are cut elsewhere",
      `UPDATE events SET checksum = zeroblob(47 - place + ${at(0)}) WHERE place IN (${at(30)}, ${at(32)})`,
      30,
    ],
    ["a body that is empty", `UPDATE events SET body = x'' WHERE place = ${at(30)}`, 30],
    ["a byte more", `UPDATE events SET body = unhex(hex(body) || '00') WHERE place = ${at(30)}`, 30],
    ["an event missing in the middle", `DELETE FROM events WHERE place = ${at(30)}`, 30],
    ["the first event missing", `DELETE FROM events WHERE place = ${at(0)}`, 0],
    ["the last event missing", `DELETE FROM events WHERE place = ${at(59)}`, 59],
    ["a shorter count", "UPDATE runs SET events = 40 WHERE number = 1", 40],
    ["a longer count", "UPDATE runs SET events = 70 WHERE number = 1", 60],
    ["a count that is none", "UPDATE runs SET events = -1 WHERE number = 1", 0],
    ["another end", "UPDATE runs SET head = zeroblob(16) WHERE number = 1", 60],
    [
      "two events in each other's place",
      `UPDATE events SET place = 1 WHERE place = ${at(30)};
       UPDATE events SET place = ${at(30)} WHERE place = ${at(31)};
       UPDATE events SET place = ${at(31)} WHERE place = 1`,
      30,
    ],
    [
      "an event of another run",
      `DELETE FROM events WHERE place = ${at(30)}; UPDATE events SET place = ${at(30)} WHERE place = ${2 * PLACES + 30}`,
      30,
    ],
    ["a message to a model", "UPDATE chat_messages SET body = replace(body, 'user', 'tool') WHERE body LIKE '%: ä%' AND number = 1", 2],
    ["messages missing", "DELETE FROM chat_messages WHERE number = 1", 2],
    ["conversations missing", "DELETE FROM chats WHERE number = 1", 2],
    [
      "a message in another's place",
      "UPDATE chats SET message = (SELECT message FROM chat_messages WHERE body LIKE '%7: ä%') WHERE number = 1",
      2,
    ],
  ])("%s: everything before it is read, then it is reported", async (_, change, intact) => {
    const file = newFile();
    copyFileSync(good, file);
    await meddle(file, change);
    const { a, b } = await checkHonest(file);
    expect(a).toMatchObject({ intact, error: { code: "JOURNAL_DAMAGED" } });
    expect(a?.error?.message).toContain("run a");
    expect(b?.intact).toBe(change.includes(String(2 * PLACES + 30)) ? 30 : 60);
  });

  it("SqliteJournal.J4 the error names the run, how much is intact, and what to do", async () => {
    const file = newFile();
    copyFileSync(good, file);
    await meddle(file, `UPDATE events SET body = x'00' WHERE place = ${at(7)}`);
    const { error } = await readOut(journalAt(file), "a");
    expect(error?.message).toBe(
      `Expected run a to be whole, but in ${file} its first 7 events, up to 6, are intact, and then: event 7 was changed since it was written. ` +
        "What is intact can still be read. Keep a copy of it and of its -wal, and put back a copy from before.",
    );
    expect(error?.data).toEqual({ file, runId: "a", intact: 7 });
  });

  it("a reader that begins later sees it too", async () => {
    const file = newFile();
    copyFileSync(good, file);
    await meddle(file, `DELETE FROM events WHERE place = ${at(30)}`);
    const journal = journalAt(file);
    expect(await readOut(journal, "a", 20)).toMatchObject({ events: runs["a"]?.slice(20, 30), error: { code: "JOURNAL_DAMAGED" } });
    expect(await readOut(journal, "a", 31)).toMatchObject({ events: [], error: { code: "JOURNAL_DAMAGED" } });
    expect((await readOut(journal, "a", 32)).events).toEqual(runs["a"]?.slice(32));
  });

  it("an event of the same run and place from another history of it does not fit", async () => {
    const [file, other] = [newFile(), newFile()];
    copyFileSync(good, file);
    const elsewhere = journalAt(other);
    const events = (runs["a"] ?? []).map((event) => ({ ...event, time: 7 }));
    await writtenOneByOne(elsewhere, "a", events);
    await meddle(
      file,
      `ATTACH '${other}' AS other`,
      `UPDATE events SET (body, checksum) = (SELECT body, checksum FROM other.events o WHERE o.place = ${at(30)}) WHERE place = ${at(30)}`,
    );
    const { a } = await checkHonest(file);
    expect(a).toMatchObject({ intact: 30, error: { code: "JOURNAL_DAMAGED" } });
    expect(chainStart("a")).not.toBe(chainStart("b"));
  });
});

describe("rows whose checksum is right, and which are no events all the same", () => {
  /** Puts a row with its right checksum behind the first event of a run. */
  async function forged(json: string): Promise<{ readonly events: RunEvent[]; readonly error: JournalError | undefined }> {
    const file = newFile();
    const journal = journalAt(file);
    const first = started("a", 0);
    await written(journal, "a", [first]);
    const db = await connection(file);
    const body = deflateRawSync(json);
    const checksum = chained(String(db.first("SELECT hex(checksum) FROM events")?.[0]), body);
    db.run("INSERT INTO events VALUES (?, ?, unhex(?))", [PLACES + 1, body, checksum]);
    db.run("UPDATE runs SET events = 2, head = unhex(?)", [checksum]);
    db.close();
    return readOut(journal, "a");
  }
  const next = started("a", 1);

  it("are distinguished from real ones", async () => {
    expect(await forged(JSON.stringify([next]))).toEqual({ events: [started("a", 0), next], error: undefined });
  });

  it.each([
    ["no JSON", "{"],
    ["a list of nothing", "[]"],
    ["an object", JSON.stringify(next)],
    ["an event that is a number", "[5]"],
    ["a conversation that is a number", JSON.stringify([[next, 5]])],
    ["no type", JSON.stringify([{ ...next, type: undefined }])],
    ["an unknown type", JSON.stringify([{ ...next, type: "run.exploded" }])],
    ["a type that every object has", JSON.stringify([{ ...next, type: "toString" }])],
    ["another run", JSON.stringify([{ ...next, runId: "b" }])],
    ["another place", JSON.stringify([{ ...next, seq: 2 }])],
    ["an older version than the first", JSON.stringify([{ ...next, v: 0 }])],
    ["no time", JSON.stringify([{ ...next, time: "now" }])],
    ["a prototype", JSON.stringify([{ ...next, x: 1 }]).replace('"x"', '"__proto__"')],
    ["a prototype spelled in numbers", JSON.stringify([{ ...next, x: { y: 1 } }]).replace('"y"', '"\\u005f_pr\\u006fto__"')],
  ])("%s", async (_, body) => {
    expect(await forged(body)).toMatchObject({ events: [started("a", 0)], error: { code: "JOURNAL_DAMAGED", data: { intact: 1 } } });
  });

  it("an event of a newer version is refused by that name, after those before it", async () => {
    const { events, error } = await forged(JSON.stringify([{ ...next, v: 2 }]));
    expect(events).toEqual([started("a", 0)]);
    expect(error).toMatchObject({ code: "EVENT_NEWER", data: { runId: "a", intact: 1, version: 2 } });
  });
});

describe("a broken file", () => {
  /** A copy of the good file with other bytes. */
  function fileOf(contents: Uint8Array): string {
    const file = newFile();
    writeFileSync(file, contents);
    return file;
  }

  it("cut off at and around every page, and anywhere", { tags: "numbers" }, async () => {
    const page = 4096;
    expect(bytes.length % page).toBe(0);
    const borders = Array.from({ length: bytes.length / page }, (_, n) => n * page).flatMap((border) => [border - 1, border, border + 1]);
    const anywhere = fc.sample(fc.integer({ min: 1, max: bytes.length - 1 }), { numRuns: tries(12, 120), seed: 1 });
    for (const length of [...borders, ...anywhere].filter((each) => each > 0)) await checkHonest(fileOf(bytes.subarray(0, length)));
  });

  it("with a changed page in the middle of a long run is read up to there", async () => {
    const file = newFile();
    const journal = journalAt(file);
    const events = Array.from({ length: 400 }, (_, seq) => ({ ...started("a", seq), seed: randomBytes(500).toString("hex") }));
    await writtenOneByOne(journal, "a", events);
    await journal.close();
    const whole = readFileSync(file);
    whole.fill(0, Math.floor(whole.length / 8192) * 4096, (Math.floor(whole.length / 8192) + 1) * 4096);
    const { events: left, error } = await readOut(journalAt(fileOf(whole)), "a");
    expect(left).toEqual(events.slice(0, left.length));
    expect(left.length).toBeGreaterThan(100);
    expect(error).toMatchObject({ code: "JOURNAL_DAMAGED", data: { runId: "a", intact: left.length } });
  });

  it("cut off anywhere in its first page", { tags: "numbers" }, async () => {
    for (let length = 1; length < 4096; length += tries(311, 37)) await checkHonest(fileOf(bytes.subarray(0, length)));
  });

  it("cut off to nothing is a new one", async () => {
    const journal = journalAt(fileOf(new Uint8Array()));
    expect(await journal.runs()).toEqual([]);
    expect((await readOut(journal, "a")).error?.code).toBe("RUN_UNKNOWN");
  });

  it("with flipped bits", { tags: "numbers" }, async () => {
    const flip = fc.record({ at: fc.nat({ max: bytes.length - 1 }), bit: fc.nat({ max: 7 }) });
    const numRuns = tries(25, 1_000);
    let damaged = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(flip, { minLength: 1, maxLength: 4 }), async (flips) => {
        const copy = Buffer.from(bytes);
        for (const { at, bit } of flips) copy[at] = (copy[at] ?? 0) ^ (1 << bit);
        const { a, b } = await checkHonest(fileOf(copy));
        if (a?.error !== undefined || b?.error !== undefined) damaged += 1;
      }),
      { numRuns },
    );
    expect(damaged).toBeGreaterThan(numRuns / 10);
  });

  it("with flipped bits in its first page, where the program's own mark and the tables stand", { tags: "numbers" }, async () => {
    const flip = fc.record({ at: fc.nat({ max: 4095 }), bit: fc.nat({ max: 7 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(flip, { minLength: 1, maxLength: 2 }), async (flips) => {
        const copy = Buffer.from(bytes);
        for (const { at, bit } of flips) copy[at] = (copy[at] ?? 0) ^ (1 << bit);
        await checkHonest(fileOf(copy));
      }),
      { numRuns: tries(15, 500) },
    );
  });

  it("with a page of nothing, wherever it is", async () => {
    for (let page = 1; page < bytes.length / 4096; page += 1) {
      const copy = Buffer.from(bytes);
      copy.fill(0, page * 4096, (page + 1) * 4096);
      await checkHonest(fileOf(copy));
    }
  });
});

describe("the log beside the file", () => {
  /** The files of a journal that was killed: what it had written is in the log alone. */
  async function killed(): Promise<{ readonly file: string; readonly log: Buffer }> {
    const source = newFile();
    const journal = journalAt(source);
    for (const [runId, events] of Object.entries(runs)) {
      const epoch = await written(journal, runId, events.slice(0, 20));
      for (let seq = 20; seq < events.length; seq += 8) await journal.append(runId, epoch, seq, events.slice(seq, seq + 8));
    }
    const file = newFile();
    copyFileSync(source, file);
    copyFileSync(`${source}-wal`, `${file}-wal`);
    return { file, log: readFileSync(`${source}-wal`) };
  }

  /** A prefix, whole or by a typed error: a tail of commits that is gone is like a kill before them. */
  async function checkPrefix(file: string): Promise<number> {
    const journal = journalAt(file);
    let seen = 0;
    for (const [runId, truth] of Object.entries(runs)) {
      const { events, error } = await readOut(journal, runId);
      expect(events).toEqual(truth.slice(0, events.length));
      expect(error === undefined || /^(JOURNAL_DAMAGED|RUN_UNKNOWN)$/.test(error.code)).toBe(true);
      seen += events.length;
    }
    await errorOf(journal.close());
    return seen;
  }

  it("brings everything back after a kill", async () => {
    const { file } = await killed();
    expect(await checkPrefix(file)).toBe(120);
  });

  it("when it was deleted, the runs are as they were at an earlier moment", async () => {
    const { file } = await killed();
    rmSync(`${file}-wal`);
    expect(await checkPrefix(file)).toBeLessThan(120);
    expect(existsSync(file)).toBe(true);
  });

  it("when it was cut off or bits of it flipped, too", { tags: "numbers" }, async () => {
    const { file, log } = await killed();
    const main = readFileSync(file);
    let lost = 0;
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: log.length - 1 }), fc.boolean(), async (at, isCut) => {
        const copy = newFile();
        writeFileSync(copy, main);
        const changed = Buffer.from(log);
        if (!isCut) changed[at] = (changed[at] ?? 0) ^ 1;
        writeFileSync(`${copy}-wal`, isCut ? changed.subarray(0, at) : changed);
        if ((await checkPrefix(copy)) < 120) lost += 1;
      }),
      { numRuns: tries(12, 120) },
    );
    expect(lost).toBeGreaterThan(0);
  });
});

describe("messages that a model was shown", () => {
  it("cannot be changed for a later event by the reader of an earlier one", async () => {
    const journal = journalAt(newFile());
    const said = { role: "user", content: "hello" };
    await written(journal, "a", [asked("a", 0, { messages: [said] }), asked("a", 1, { messages: [said, said] })]);
    const seen: unknown[] = [];
    for await (const event of journal.read("a", 0)) {
      const { messages } = (event as unknown as { readonly request: { readonly messages: { content: string }[] } }).request;
      expect(() => (messages[0]!.content = "changed")).toThrow(TypeError);
      expect(() => messages.push({ content: "more" })).toThrow(TypeError);
      seen.push(messages);
    }
    expect(seen).toEqual([[said], [said, said]]);
  });
});

describe("a row of the list of runs that was changed behind the journal's back", () => {
  it.each([
    ["a name that is none", "run = 'z'", { row: 2 }],
    ["a count that is none", "events = -1", { row: 2, runId: "b" }],
  ])("%s is reported by the list, with the row", async (_what, change, data) => {
    const file = newFile();
    copyFileSync(good, file);
    await meddle(file, `UPDATE runs SET ${change} WHERE number = 2`);
    expect(await errorOf(journalAt(file).runs())).toMatchObject({ code: "JOURNAL_DAMAGED", data });
  });
});
