import { describe, expect, test } from "vitest";
import { JournalError } from "../../src/kernel/errors.ts";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import type { Role } from "../../src/role/role.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import { answering } from "../runtime/town.ts";
import { eventsOf, journalWith } from "./recorded.ts";

const STEPS = 2_000;

/** Takes many steps, the answers of which it says. */
function diligent(steps = STEPS, effects: string[] = []): Role {
  return answering("Ann", async (rc) => {
    const answers = await Promise.all(
      Array.from({ length: steps }, (_, n) =>
        rc.step("look", { n }, () => {
          effects.push(`look ${n}`);
          return Promise.resolve(n);
        }),
      ),
    );
    return rc.message(answers.join());
  });
}

/** A record of many events, of which many are still to come when a reader is told to stop. */
async function longRecord(): Promise<Journal> {
  const journal = memoryJournal();
  const result = await new Team({ seed: "s", journal, roles: [diligent()] }).run("go", { id: "parent" }).result;
  expect(result.status).toBe("finished");
  return journal;
}

/** Counts how far its runs are read. */
function counted(journal: Journal): Journal & { readonly reads: () => number } {
  let reads = 0;
  const read: Journal["read"] = async function* (runId, from) {
    for await (const event of journal.read(runId, from)) {
      reads += 1;
      yield event;
    }
  };
  return new Proxy(journal, {
    get: (target, name) => {
      if (name === "read") return read;
      if (name === "reads") return () => reads;
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? (member.bind(target) as unknown) : member;
    },
  }) as Journal & { readonly reads: () => number };
}

describe("a stop is heard while a long record is read", () => {
  test("by a fork, of which nothing is left", async () => {
    const journal = counted(await longRecord());
    const events = (await journal.runs())[0]?.events ?? 0;
    expect(events).toBeGreaterThan(2 * STEPS);
    const fork = new Team({ journal, roles: [diligent()] }).fork("parent", { id: "f" });
    await nextMacrotask();
    fork.stop();
    const result = await fork.result;
    expect([result.status, result.error?.code]).toEqual(["stopped", "ABORTED"]);
    expect(journal.reads()).toBeLessThan(events / 2);
    expect((await journal.runs()).map(({ runId }) => runId)).toEqual(["parent"]);
  });

  test("by a run that continues, and by a replay", async () => {
    const events = await eventsOf(await longRecord(), "parent");
    const journal = counted(await journalWith("parent", events.slice(0, -2)));
    const team = new Team({ journal, roles: [diligent()] });
    for (const run of [team.resume("parent"), team.replay("parent")]) {
      const before = journal.reads();
      await nextMacrotask();
      run.stop();
      expect([(await run.result).status, journal.reads() - before < events.length / 2]).toEqual(["stopped", true]);
    }
    expect(await eventsOf(journal, "parent")).toHaveLength(events.length - 2);
  });
});

/** A journal in which a run cannot be read from an event on. */
function damagedFrom(journal: Journal, runId: string, seq: number): Journal {
  const read: Journal["read"] = async function* (id, from) {
    for await (const event of journal.read(id, from)) {
      if (id === runId && event.seq >= seq) throw new JournalError("JOURNAL_DAMAGED", `Expected event ${seq} to be whole, got another.`);
      yield event;
    }
  };
  return new Proxy(journal, {
    get: (target, name) => {
      const member: unknown = name === "read" ? read : Reflect.get(target, name);
      return typeof member === "function" ? (member.bind(target) as unknown) : member;
    },
  });
}

describe("a fork of a damaged run", () => {
  const few = 4;
  const parent = async (): Promise<{ journal: Journal; events: RunEvent[] }> => {
    const journal = memoryJournal();
    await new Team({ seed: "s", journal, roles: [diligent(few)] }).run("go", { id: "parent" }).result;
    return { journal, events: await eventsOf(journal, "parent") };
  };

  test("that was stopped continues without the parent, and warns", async () => {
    const { journal } = await parent();
    const warnings: string[] = [];
    const teamOn = (kept: Journal): Team => new Team({ journal: kept, roles: [diligent(few)] });
    for (const id of ["f", "g"]) await teamOn(journal).fork("parent", { id, at: 1, rounds: 0 }).result;
    const resumed = async (kept: Journal, id: string): Promise<void> => {
      const run = teamOn(kept).resume(id, { rounds: 100 });
      run.on("warning", ({ text }) => warnings.push(text));
      expect((await run.result).status).toBe("finished");
    };
    await resumed(damagedFrom(journal, "parent", 5), "f");
    await journal.remove("parent");
    await resumed(journal, "g");
    expect(warnings).toEqual(
      ["f", "g"].map((id) => expect.stringContaining(`Run parent, from which ${id} was forked, is gone or damaged`) as string),
    );
  });
});
