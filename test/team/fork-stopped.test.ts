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
  const answers = (events: readonly RunEvent[], to: number): number =>
    events.slice(0, to).filter(({ type }) => type === "step.ended").length;

  test("works before the damage, from every place, uses what is whole behind it, and says what is lost", async () => {
    const { journal, events } = await parent();
    for (let damage = 3; damage < events.length; damage += 1) {
      for (let at = 1; at < damage; at += 1) {
        const effects: string[] = [];
        const id = `f${damage}-${at}`;
        const fork = new Team({ journal: damagedFrom(journal, "parent", damage), roles: [diligent(few, effects)] }).fork("parent", {
          id,
          at,
        });
        const warnings: string[] = [];
        fork.on("warning", ({ text }) => warnings.push(text));
        const result = await fork.result;
        expect([damage, at, result.status, result.error?.message]).toEqual([damage, at, "finished", undefined]);
        expect(effects).toHaveLength(few - answers(events, damage));
        expect(warnings).toEqual([expect.stringContaining(`damaged after event ${damage - 1}`)]);
      }
    }
  });

  test("is refused at the damage and behind it, with or without a change, and leaves nothing", async () => {
    const { journal, events } = await parent();
    const team = new Team({ journal: damagedFrom(journal, "parent", 5), roles: [diligent(few)] });
    const change = [{ seq: 1, content: "stop" }];
    for (const o of [{}, { at: 5 }, { at: events.length - 1 }, { at: 6, change }])
      expect((await team.fork("parent", o).result).error?.code).toBe("JOURNAL_DAMAGED");
    expect((await team.fork("parent", { at: 1, change }).result).status).toBe("finished");
    expect((await journal.runs()).filter(({ runId }) => runId !== "parent")).toHaveLength(1);
  });

  test("that was stopped continues, and says what is lost", async () => {
    const { journal } = await parent();
    const cut = damagedFrom(journal, "parent", 5);
    const team = (): Team => new Team({ journal: cut, roles: [diligent(few)] });
    await team().fork("parent", { id: "f", at: 1, rounds: 0 }).result;
    const run = team().resume("f", { rounds: 100 });
    const warnings: string[] = [];
    run.on("warning", ({ text }) => warnings.push(text));
    expect((await run.result).status).toBe("finished");
    expect(warnings).toEqual([expect.stringContaining("damaged after event 4")]);
    await journal.remove("parent");
    await team().fork("f", { id: "g", at: 1, rounds: 0 }).result;
    await journal.remove("f");
    const orphan = team().resume("g", { rounds: 100 });
    orphan.on("warning", ({ text }) => warnings.push(text));
    expect((await orphan.result).status).toBe("finished");
    expect(warnings.at(-1)).toContain("Run f, from which g was forked, is gone");
  });
});
