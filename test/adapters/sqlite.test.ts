import fc from "fast-check";
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { sqlite } from "../../src/adapters/sqlite.ts";
import { NotJsonError } from "../../src/kernel/errors.ts";
import type { Json } from "../../src/kernel/json.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { journalContract } from "../../src/testing/contracts/journal.ts";
import { journalOwnersContract } from "../../src/testing/contracts/journal-owners.ts";
import { checkIds, checkAnyJson } from "./any-rows.ts";
import { asked, errorOf, journalAt, lively, meddle, newFile, readOut, started, written } from "./sqlite-setup.ts";
import { tries } from "../long.ts";

journalContract({ describe, it, expect }, "sqlite (SqliteRuns.N2)", () => sqlite({ path: newFile() }));

journalOwnersContract(
  { describe, it, expect },
  {
    name: "sqlite",
    takes: false,
    make() {
      const path = newFile();
      const [first, second] = [sqlite({ path }), sqlite({ path })];
      return { first, second, close: async () => void (await Promise.all([first.close(), second.close()])) };
    },
  },
);

describe("sqlite", () => {
  it.each(["", "a\0b", undefined as unknown as string])("a path of %j is refused", (path) => {
    expect(() => sqlite({ path })).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });

  it("a relative path counts from where the process is", async () => {
    const file = newFile();
    const journal = sqlite({ path: `${"../".repeat(process.cwd().split("/").length - 1)}${file.slice(1)}` });
    await journal.create("a");
    await journal.close();
    expect(existsSync(file)).toBe(true);
  });

  it("after close every question is refused, and giving back is done already", async () => {
    const journal = sqlite({ path: newFile() });
    const epoch = await written(journal, "a", [started("a", 0)]);
    await journal.close();
    const questions = [
      journal.create("b"),
      journal.claim("a"),
      journal.append("a", epoch, 1, []),
      journal.runs(),
      journal.remove("a"),
      journal.read("a", 0)[Symbol.asyncIterator]().next(),
    ];
    const errors = await Promise.all(questions.map(errorOf));
    expect(errors.map((error) => error?.code)).toEqual(questions.map(() => "JOURNAL_CLOSED"));
    expect(await errorOf(journal.release("a", epoch))).toBeUndefined();
  });

  it("closing waits for what was appended before", async () => {
    const file = newFile();
    const journal = sqlite({ path: file });
    const epoch = await written(journal, "a", [started("a", 0)]);
    const late = journal.append("a", epoch, 1, [started("a", 1)]);
    await journal.close();
    await late;
    expect((await readOut(journalAt(file), "a")).events.length).toBe(2);
  });

  it("a closed journal is one file, without a log beside it", async () => {
    const file = newFile();
    const journal = sqlite({ path: file });
    await written(journal, "a", lively("a", 50));
    await journal.close();
    const copy = newFile();
    copyFileSync(file, copy);
    expect((await readOut(journalAt(copy), "a")).events).toEqual(lively("a", 50));
  });
});

describe("what comes back", () => {
  it("ids with any characters stay separate", () => checkIds(journalAt(newFile())));

  it("any JSON, in requests with and without messages", { tags: "numbers" }, () => checkAnyJson(journalAt(newFile()), tries(20, 240)));

  it("a member named __proto__ is refused before it is written, however deep", async () => {
    const journal = journalAt(newFile());
    const epoch = await written(journal, "a", [started("a", 0)]);
    const hidden = JSON.parse('{"a":[{"__proto__":{"polluted":true}}]}') as Json;
    for (const request of [hidden, { messages: [hidden] }]) {
      await expect(journal.append("a", epoch, 1, [asked("a", 1, request)])).rejects.toBeInstanceOf(NotJsonError);
    }
    await journal.append("a", epoch, 1, [asked("a", 1, { messages: ["__proto__"], text: '{"__proto__":1}' })]);
    expect((await readOut(journal, "a")).events.length).toBe(2);
  });
});

describe("a reader", () => {
  it("SqliteRuns.N1 RunReader.R1 fails when the run is removed, even if another one gets its name", async () => {
    const journal = journalAt(newFile());
    await written(
      journal,
      "a",
      Array.from({ length: 1_200 }, (_, seq) => started("a", seq)),
    );
    const reader = journal.read("a", 0)[Symbol.asyncIterator]();
    await reader.next();
    await journal.remove("a");
    await written(
      journal,
      "a",
      Array.from({ length: 1_200 }, (_, seq) => started("a", seq, 50)),
    );
    const rest = async (): Promise<void> => {
      while ((await reader.next()).done !== true);
    };
    expect((await errorOf(rest()))?.code).toBe("RUN_UNKNOWN");
  });

  it("lets the process breathe between pages", async () => {
    const journal = journalAt(newFile());
    await written(
      journal,
      "a",
      Array.from({ length: 3_000 }, (_, seq) => started("a", seq)),
    );
    let breaths = 0;
    const breathe = (): void => {
      breaths += 1;
      if (breaths < 100) setImmediate(breathe);
    };
    setImmediate(breathe);
    await readOut(journal, "a");
    expect(breaths).toBeGreaterThan(3);
  });

  it("does not block writers, nor the move of the log into the file", async () => {
    const file = newFile();
    const journal = journalAt(file);
    const epoch = await written(
      journal,
      "a",
      Array.from({ length: 1_000 }, (_, seq) => started("a", seq)),
    );
    const reader = journal.read("a", 0)[Symbol.asyncIterator]();
    await reader.next();
    await journal.append("a", epoch, 1_000, [started("a", 1_000)]);
    await meddle(file);
    expect(readFileSync(`${file}-wal`).length).toBe(0);
    await reader.return?.();
  });
});

/** Operations that anybody can do on a journal. */
type Deed =
  | readonly ["create" | "claim" | "remove" | "read" | "release" | "stale release", string]
  | readonly ["append", string, number]
  | readonly ["stale append" | "gap", string];

const deeds: fc.Arbitrary<Deed> = fc.oneof(
  fc.tuple(
    fc.constantFrom("create", "claim", "remove", "read", "release", "stale release"),
    fc.constantFrom("a", "b"),
  ) as fc.Arbitrary<Deed>,
  fc.tuple(fc.constant("append"), fc.constantFrom("a", "b"), fc.integer({ min: 0, max: 3 })) as fc.Arbitrary<Deed>,
  fc.tuple(fc.constantFrom("stale append", "gap"), fc.constantFrom("a", "b")) as fc.Arbitrary<Deed>,
);

/** Does them one after another and tells what came of each. */
async function story(journal: Journal, told: readonly Deed[]): Promise<unknown[]> {
  const epochs = new Map<string, number[]>();
  const outcome = async ([deed, run, count = 0]: Deed): Promise<unknown> => {
    const mine = epochs.get(run) ?? [];
    const length = (await journal.runs()).find(({ runId }) => runId === run)?.events ?? 0;
    const events = Array.from({ length: count }, (_, place) => started(run, length + place));
    if (deed === "create") return journal.create(run);
    if (deed === "claim") return void epochs.set(run, [...mine, (await journal.claim(run)).epoch]);
    if (deed === "remove") return journal.remove(run);
    if (deed === "read") return readOut(journal, run);
    if (deed === "release") return journal.release(run, mine.at(-1) ?? 0);
    if (deed === "stale release") return journal.release(run, mine.at(-2) ?? 0);
    if (deed === "append") return journal.append(run, mine.at(-1) ?? 0, length, events);
    if (deed === "stale append") return journal.append(run, mine.at(-2) ?? 0, length, [started(run, length)]);
    return journal.append(run, mine.at(-1) ?? 0, length + 1, [started(run, length + 1)]);
  };
  const came: unknown[] = [];
  for (const deed of told) {
    const error = await errorOf(outcome(deed).then((value) => came.push(value)));
    if (error !== undefined) came.push(error.code);
  }
  return [...came, await journal.runs(), await readOut(journal, "a"), await readOut(journal, "b")].map(withoutWords);
}

function withoutWords(value: unknown): unknown {
  return typeof value === "object" && value !== null && "error" in value
    ? { ...value, error: (value.error as { code?: string } | undefined)?.code }
    : value;
}

describe("sqlite and memoryJournal", () => {
  it("behave the same", { tags: "numbers" }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(deeds, { maxLength: 25 }), async (told) => {
        const [onDisk, inMemory] = [journalAt(newFile()), memoryJournal()];
        expect(await story(onDisk, told)).toEqual(await story(inMemory, told));
        await onDisk.close();
      }),
      { numRuns: tries(14, 160) },
    );
  });
});
