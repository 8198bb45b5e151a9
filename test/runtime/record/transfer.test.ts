import fc from "fast-check";
import { createHash } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { nextMacrotask } from "../../../src/kernel/clock.ts";
import { JournalError } from "../../../src/kernel/errors.ts";
import { canonical } from "../../../src/runtime/record/canonical.ts";
import { fold } from "../../../src/runtime/record/apply.ts";
import type { RunEvent } from "../../../src/runtime/record/event.ts";
import type { Journal } from "../../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../../src/runtime/record/memory-journal.ts";
import { exportRun, type ImportOptions, importRun, linesOf } from "../../../src/runtime/record/transfer.ts";
import { Outside, shuffled } from "../../properties/outside.ts";
import { sixRoles, teamOf } from "../../properties/six-roles.ts";
import { eventsOf, journalWith } from "../../team/recorded.ts";
import { manyRuns } from "../many-runs.ts";
import { tries } from "../../long.ts";

let runs: ReadonlyMap<string, readonly RunEvent[]>;
let waiting: readonly RunEvent[];
let lines: readonly string[];

beforeAll(async () => {
  runs = await manyRuns();
  waiting = runs.get("waiting") ?? [];
  lines = await exported(waiting);
});

async function exported(events: readonly RunEvent[], runId = "run"): Promise<string[]> {
  return collected(exportRun(await journalWith(runId, events), runId));
}

async function collected(from: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const line of from) all.push(line);
  return all;
}

/** The error of an import of these lines; nothing of it is left. */
async function refusal(given: Iterable<string>, o: ImportOptions = {}): Promise<JournalError> {
  const journal = memoryJournal();
  const error: unknown = await importRun(journal, given, o).catch((thrown: unknown) => thrown);
  expect(await journal.runs()).toEqual([]);
  if (error instanceof JournalError) return error;
  return expect.unreachable(`it was refused with ${String(error)}`);
}

/** These lines of events under a header and an end that fit them. */
function around(inner: readonly string[]): string[] {
  return [JSON.stringify({ troupe: "run", v: 1, runId: "run", events: inner.length }), ...inner, endOf(inner, inner.length)];
}

function endOf(inner: readonly string[], events: number): string {
  const text = inner.map((line) => `${line}\n`).join("");
  return JSON.stringify({ troupe: "end", events, sha256: createHash("sha256").update(text).digest("hex") });
}

describe("an exported run", () => {
  test("is a header, one line for each event, and an end with their hash", async () => {
    expect(JSON.parse(lines[0] ?? "")).toEqual({ troupe: "run", v: 1, runId: "run", events: waiting.length });
    const inner = lines.slice(1, -1);
    expect(inner.map((line) => JSON.parse(line) as RunEvent)).toEqual(waiting);
    expect(lines).toEqual(around(inner));
    expect(lines.join("")).not.toContain("\n");
    const reversed = waiting.map((event) => Object.fromEntries(Object.entries(event).toReversed()) as unknown as RunEvent);
    expect(await exported(reversed)).toEqual(lines);
  });

  test("comes back as it was, whatever happened in it", async () => {
    for (const [name, events] of runs) {
      const journal = memoryJournal();
      expect([name, await importRun(journal, await exported(events))]).toEqual([name, { runId: "run", events: events.length }]);
      expect(await eventsOf(journal, "run")).toEqual(events);
      expect(await collected(exportRun(journal, "run"))).toEqual(await exported(events));
    }
  });

  test("export, import, export gives the same bytes, wherever the run stands and however its lines end", { tags: "numbers" }, async () => {
    const any = fc.record({ run: fc.nat(), length: fc.nat(), end: fc.constantFrom("", "\n", "\r\n"), blank: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(any, async ({ run, length, end, blank }) => {
        const all = [...runs.values()][run % runs.size] ?? [];
        const events = all.slice(0, length % (all.length + 1));
        const first = await exported(events);
        const journal = memoryJournal();
        await importRun(journal, [...first.map((line) => line + end), ...(blank ? ["", "  "] : [])]);
        expect(await collected(exportRun(journal, "run"))).toEqual(first);
        expect(await eventsOf(journal, "run")).toEqual(events);
      }),
      { numRuns: tries(12, 400) },
    );
  });

  test("can be another run in its new journal, and goes on there", async () => {
    const whole = runs.get("rounds") ?? [];
    const kept = whole.slice(0, 60);
    const journal = await journalWith("run", kept);
    expect(await importRun(journal, await exported(kept), { id: "copy" })).toEqual({ runId: "copy", events: 60 });
    const copied = await eventsOf(journal, "copy");
    expect(copied).toEqual(kept.map((event) => ({ ...event, runId: "copy" })));
    expect(fold(copied).runId).toBe("copy");
    const outside = new Outside(shuffled("many"), kept);
    const team = teamOf(outside, sixRoles(outside, { pipelines: 2, steps: 2, laps: 2 }), { journal });
    expect((await team.resume("copy").result).status).toBe("finished");
    expect(canonical(await eventsOf(journal, "copy"))).toBe(canonical(whole));
  });

  test("shares nothing with whoever reads it: its events are frozen", async () => {
    const journal = memoryJournal();
    await importRun(journal, lines);
    await importRun(journal, lines, { id: "copy" });
    for (const id of ["run", "copy"]) {
      for await (const event of journal.read(id, 0)) {
        expect(Object.isFrozen(event)).toBe(true);
        if (event.type === "message") expect(Object.isFrozen(event.message.sendTo)).toBe(true);
      }
    }
  });

  test("must be one that can be imported: what is no event is not exported", async () => {
    const odd = { ...waiting[0], extra: 1 } as unknown as RunEvent;
    await expect(exported([odd])).rejects.toMatchObject({ code: "EVENT_INVALID" });
    const journal: Journal = {
      ...memoryJournal(),
      runs: async () => [{ runId: "run", events: 3 }],
      read: () => iterated(waiting.slice(0, 2)),
    };
    await expect(collected(exportRun(journal, "run"))).rejects.toMatchObject({ code: "JOURNAL_GAP" });
    const holed: Journal = { ...journal, read: () => iterated(waiting.filter(({ seq }) => seq !== 1)) };
    await expect(collected(exportRun(holed, "run"))).rejects.toMatchObject({ code: "JOURNAL_GAP" });
  });
});

async function* iterated<T>(items: Iterable<T>): AsyncIterable<T> {
  yield* items;
}

describe("an import that is refused leaves nothing behind", () => {
  test("RunImport.X1 RunImport.X4 a file that was cut, between lines or in one, is told with how far it is whole", async () => {
    for (let kept = 1; kept < lines.length; kept += 1) {
      const error = await refusal(lines.slice(0, kept));
      expect(error).toMatchObject({ code: "EXPORT_CUT", data: { intact: kept - 1, events: waiting.length } });
      const half = (lines[kept] ?? "").slice(0, 20);
      expect(await refusal([...lines.slice(0, kept), half])).toMatchObject({ code: "EXPORT_CUT", data: { intact: kept - 1 } });
    }
    expect((await refusal(lines.slice(0, 4))).message).toContain(
      `an export of ${waiting.length} events and its end, got one that was cut: events 0 to 2 are whole`,
    );
  });

  test("RunImport.X2 RunImport.X3 one character that is another is enough, wherever it stands", { tags: "numbers" }, async () => {
    const text = lines.join("\n");
    await fc.assert(
      fc.asyncProperty(fc.nat(text.length - 1), fc.constantFrom("0", "x", "}", '"', " ", "é"), async (place, character) => {
        fc.pre(text[place] !== character && text[place] !== "\n");
        const changed = text.slice(0, place) + character + text.slice(place + 1);
        expect((await refusal(changed.split("\n"))).code).toMatch(/^(EXPORT|EVENT|JOURNAL)_/);
      }),
      { numRuns: tries(40, 1_200) },
    );
  });

  test.each<[string, (inner: string[]) => readonly string[], string]>([
    ["lines that were taken out", (inner) => around(inner.toSpliced(2, 1)), "JOURNAL_GAP"],
    ["lines that stand twice", (inner) => around(inner.toSpliced(2, 0, inner[1] ?? "")), "JOURNAL_GAP"],
    ["lines in another order", ([a = "", b = "", ...rest]) => around([a, ...rest, b]), "JOURNAL_GAP"],
    ["no start", (inner) => around(inner.slice(1).map((line, seq) => reseated(line, { seq }))), "EXPORT_INVALID"],
    ["another run's event", (inner) => around(inner.with(2, reseated(inner[2] ?? "", { runId: "other" }))), "JOURNAL_DAMAGED"],
    ["a role that was never hired", (inner) => around(inner.with(2, reseated(inner[2] ?? "", { role: "Zed" }))), "JOURNAL_DAMAGED"],
    ["a newer event", (inner) => around(inner.with(2, reseated(inner[2] ?? "", { v: 2 }))), "EVENT_NEWER"],
    ["an event of no schema", (inner) => around(inner.with(2, reseated(inner[2] ?? "", { v: 0 }))), "EVENT_INVALID"],
    ["a prototype", (inner) => around(inner.with(2, (inner[2] ?? "").replace("{", '{"__proto__":{"a":1},'))), "EVENT_INVALID"],
    ["a broken line in the middle", (inner) => around(inner.with(2, "{")), "EXPORT_INVALID"],
    ["a line that is no object", (inner) => around(inner.with(2, "17")), "EVENT_INVALID"],
    ["more after the end", (inner) => [...around(inner), inner[0] ?? ""], "EXPORT_INVALID"],
    ["two ends", (inner) => [...around(inner), around(inner).at(-1) ?? ""], "EXPORT_INVALID"],
    ["more events than it tells of", (inner) => [around(inner.slice(1))[0] ?? "", ...inner], "EXPORT_INVALID"],
    ["fewer events than it tells of", (inner) => [around(inner)[0] ?? "", ...around(inner.slice(0, -1)).slice(1)], "EXPORT_INVALID"],
    [
      "an end that tells of more",
      (inner) => [around(inner)[0] ?? "", ...inner.slice(0, -1), endOf(inner.slice(0, -1), inner.length)],
      "EXPORT_INVALID",
    ],
    ["an end that tells of fewer", (inner) => [around(inner)[0] ?? "", ...inner, endOf(inner, 1)], "EXPORT_INVALID"],
    ["a hash that is not theirs", (inner) => [...around(inner).slice(0, -1), around(inner.slice(1)).at(-1) ?? ""], "EXPORT_INVALID"],
    ["no hash", (inner) => [...around(inner).slice(0, -1), '{"troupe":"end"}'], "EXPORT_INVALID"],
    ["nothing", () => [], "EXPORT_INVALID"],
    ["blank lines", () => ["", "\n"], "EXPORT_INVALID"],
    ["no header", (inner) => inner, "EXPORT_INVALID"],
    ["another file", () => ["# Read me", "This is not it."], "EXPORT_INVALID"],
    ["a cassette", () => ['{"troupe":"cassette","v":1,"runId":"run","events":[]}'], "EXPORT_INVALID"],
    ["a newer header", (inner) => ['{"troupe":"run","v":2,"runId":"run","events":0}', ...inner], "EVENT_NEWER"],
  ])("%s", async (_what, change, code) => {
    const error = await refusal(change(lines.slice(1, -1)));
    expect(error.code).toBe(code);
    expect(error.message).toMatch(/^Expected .*\./s);
  });

  test("a run that the journal has stays as it is", async () => {
    const journal = await journalWith("run", waiting.slice(0, 2));
    await expect(importRun(journal, lines)).rejects.toMatchObject({ code: "RUN_EXISTS" });
    await importRun(journal, lines, { id: "copy" });
    await expect(importRun(journal, lines, { id: "copy" })).rejects.toMatchObject({ code: "RUN_EXISTS" });
    expect((await journal.runs()).map(({ runId, events }) => [runId, events])).toEqual([
      ["run", 2],
      ["copy", waiting.length],
    ]);
  });

  test("an abort", async () => {
    const stop = new AbortController();
    const journal = memoryJournal();
    const aborting = function* (): Iterable<string> {
      for (const [place, line] of lines.entries()) {
        if (place === 4) stop.abort();
        yield line;
      }
    };
    await expect(importRun(journal, aborting(), { signal: stop.signal })).rejects.toMatchObject({ code: "ABORTED" });
    expect(await journal.runs()).toEqual([]);
    await expect(collected(exportRun(await journalWith("run", waiting), "run", { signal: stop.signal }))).rejects.toMatchObject({
      code: "ABORTED",
    });
  });

  test("an abort while it writes", async () => {
    const journal = memoryJournal();
    const stop = new AbortController();
    const { append } = journal;
    journal.append = (...given) => {
      stop.abort();
      return append.apply(journal, given);
    };
    await expect(importRun(journal, lines, { signal: stop.signal })).rejects.toMatchObject({ code: "ABORTED" });
    expect(await journal.runs()).toEqual([]);
  });

  test("unless the journal does not remove it, which the error reports with its cause", async () => {
    const journal = memoryJournal();
    journal.append = () => Promise.reject(new JournalError("JOURNAL_FULL", "It is."));
    journal.remove = () => Promise.reject(new Error("the disk is gone"));
    const error: unknown = await importRun(journal, lines).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "IMPORT_LEFT_OVER", cause: { code: "JOURNAL_FULL" } });
    expect(String(error)).toContain("the disk is gone");
  });
});

describe("an import whose process dies", () => {
  /** Lets no change through after the first so many. */
  function dyingAfter(journal: Journal, changes: number): Journal {
    let left = changes;
    const alive = <A extends readonly unknown[], T>(change: (...given: A) => Promise<T>) => {
      const bound = change.bind(journal);
      return (...given: A): Promise<T> => {
        left -= 1;
        return left >= 0 ? bound(...given) : new Promise(() => {});
      };
    };
    const { create, claim, append, release, remove } = journal;
    return {
      create: alive(create),
      claim: alive(claim),
      append: alive(append),
      release: alive(release),
      remove: alive(remove),
      read: journal.read.bind(journal),
      runs: journal.runs.bind(journal),
      close: journal.close.bind(journal),
    };
  }

  test("before or after any of its changes, leaves the run whole or none that has events, and can be made again", async () => {
    const ends = new Set<number>();
    for (let changes = 0; changes <= 4; changes += 1) {
      const journal = memoryJournal();
      const import_ = importRun(dyingAfter(journal, changes), lines);
      const over = await Promise.race([import_, nextMacrotask().then(nextMacrotask)]);
      expect([changes, over === undefined]).toEqual([changes, changes < 4]);
      const events = (await journal.runs())[0]?.events ?? 0;
      ends.add(events);
      expect([0, waiting.length]).toContain(events);
      if (events === 0) expect(await importRun(journal, lines)).toEqual({ runId: "run", events: waiting.length });
      expect(await eventsOf(journal, "run")).toEqual(waiting);
    }
    expect([...ends]).toEqual([0, waiting.length]);
  });

  test("leaves a run to the other one that makes it at the same moment", async () => {
    const journal = memoryJournal();
    const { claim } = journal;
    journal.claim = async (runId) => {
      const epoch = await claim.call(journal, runId);
      journal.claim = claim;
      await importRun(journal, lines);
      return epoch;
    };
    await expect(importRun(journal, lines)).rejects.toMatchObject({ code: "EPOCH_STALE" });
    expect(await eventsOf(journal, "run")).toEqual(waiting);
  });

  test("fills no run that somebody else works on", async () => {
    const journal = memoryJournal();
    await journal.create("run");
    journal.claim = () => Promise.reject(new JournalError("RUN_OWNED", "It is."));
    await expect(importRun(journal, lines)).rejects.toMatchObject({ code: "RUN_OWNED" });
    expect(await journal.runs()).toEqual([{ runId: "run", events: 0 }]);
  });
});

describe("a large run", () => {
  test("is written at once, and one that is too large for that in parts", { tags: ["numbers", "long"] }, async () => {
    const [start = "", message = ""] = lines.slice(1);
    const long = "x".repeat(1024 * 1024);
    const many = (count: number, content: string): string[] =>
      Array.from({ length: count }, (_, place) => {
        const event = JSON.parse(message) as RunEvent & { message: { id: string } };
        return JSON.stringify({ ...event, seq: place + 1, message: { ...event.message, content, id: `m${place}` } });
      });
    for (const [count, content, parts] of [
      [2_000, "short", 1],
      [66, long, 2],
    ] as const) {
      const journal = memoryJournal();
      const sizes: number[] = [];
      const { append } = journal;
      journal.append = (runId, epoch, seq, events) => {
        sizes.push(events.length);
        return append.call(journal, runId, epoch, seq, events);
      };
      expect(await importRun(journal, around([start, ...many(count, content)]))).toEqual({ runId: "run", events: count + 1 });
      expect(sizes).toHaveLength(parts);
    }
  });

  test("its text may come in pieces of any size", async () => {
    const text = `${lines.join("\n")}\n`;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(text.length), { maxLength: 20 }), fc.boolean(), async (cuts, hasEnd) => {
        const whole = hasEnd ? text : text.slice(0, -1);
        const places = [0, ...cuts.toSorted((a, b) => a - b), whole.length];
        const pieces = places.slice(1).map((end, nth) => whole.slice(places[nth], end));
        expect(await collected(linesOf(pieces))).toEqual(lines);
      }),
    );
  });

  test("a line without end is refused before it fills the memory", { tags: ["numbers", "long"] }, async () => {
    let given = 0;
    const endless = function* (): Iterable<string> {
      for (;;) {
        given += 1;
        yield "x".repeat(1_000_000);
      }
    };
    await expect(collected(linesOf(endless()))).rejects.toMatchObject({ code: "EXPORT_INVALID" });
    expect(given).toBeLessThan(100);
    expect((await refusal([lines[0] ?? "", "x".repeat(65 * 1024 * 1024)])).message).toContain("a longer one");
  });
});

/** The same event with other members. */
function reseated(line: string, members: object): string {
  return JSON.stringify({ ...(JSON.parse(line) as object), ...members });
}
