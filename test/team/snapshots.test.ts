import { createHash } from "node:crypto";
import { deserialize, serialize } from "node:v8";
import { deflateSync, inflateSync } from "node:zlib";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import type { Role } from "../../src/role/role.ts";
import { ROUTE_TO_SELF } from "../../src/message/address.ts";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { fold } from "../../src/runtime/record/apply.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import type { Journal, RunSnapshot } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { restored, snapshotOf, recordedState } from "../../src/runtime/snapshot/snapshot.ts";
import { Team } from "../../src/team/team.ts";
import type { TeamOptions } from "../../src/team/team-options.ts";
import { tries } from "../long.ts";
import { answering } from "../runtime/town.ts";
import { stateText } from "../runtime/state-text.ts";
import { eventsOf, journalWith } from "./recorded.ts";

/** Counts down in messages to itself, with a step in each turn or without. */
function counter(from: number, withStep: boolean): Role {
  return answering("Ida", async (rc) => {
    const text = rc.news[0]?.content ?? "";
    const left = text === "begin" ? from : Number(text) - 1;
    if (withStep) await rc.step("look", { left }, async () => left * 2);
    return left === 0 ? undefined : rc.message(String(left), { sendTo: ROUTE_TO_SELF });
  });
}

function counting(journal: Journal, options: TeamOptions = {}, from: number = 20): Team {
  return new Team({ roles: [counter(from, true)], journal, seed: 1, ...options });
}

/** A journal in memory that keeps snapshots otherwise. */
function keeping(keepSnapshot: NonNullable<Journal["keepSnapshot"]>): Journal {
  return Object.assign(memoryJournal(), { keepSnapshot });
}

async function opened(journal: Journal, runId: string): Promise<ReturnType<typeof recordedState>> {
  return recordedState(journal, runId, (from) => journal.read(runId, from));
}

/** A body with the checksum that belongs to it. */
function signed(seq: number, body: string): RunSnapshot {
  return { seq, state: createHash("sha256").update(body).digest("hex") + body };
}

function bodyOf({ state }: RunSnapshot): string {
  return state.slice(64);
}

type Content = Record<string, unknown> & { form: Record<string, unknown> };

/** A snapshot with other contents, and the checksum that belongs to them. */
function rewritten(snapshot: RunSnapshot, change: (content: Content) => void): RunSnapshot {
  const content = deserialize(inflateSync(Buffer.from(bodyOf(snapshot), "base64"))) as Content;
  change(content);
  return signed(snapshot.seq, deflateSync(serialize(content)).toString("base64"));
}

describe("a run writes snapshots behind it", () => {
  test("SnapshotWriter.W3 one for so many events, and the run is opened from the newest", async () => {
    const journal = memoryJournal();
    const { runId, status } = await counting(journal, { snapshotEvery: 30 }).run("begin").result;
    expect(status).toBe("finished");
    const events = await eventsOf(journal, runId);
    const snapshot = (await journal.newestSnapshot?.(runId)) as RunSnapshot;
    // It is written behind the run, which may end before a later one is.
    expect(snapshot.seq).toBeGreaterThanOrEqual(30);
    const { state, last } = await opened(journal, runId);
    expect(last?.seq).toBe(snapshot.seq);
    expect(stateText(state)).toBe(stateText(fold(events)));
    await counting(journal, { snapshotEvery: 0 }).run("begin", { id: "none" }).result;
    expect(await journal.newestSnapshot?.("none")).toBeUndefined();
    expect(() => counting(journal, { snapshotEvery: -1 })).toThrow(/snapshotEvery/);
  });

  test("SnapshotWriter.W2 none is ahead of the record, however slow the journal is", async () => {
    const ahead: number[] = [];
    const journal = keeping(async (_runId, _epoch, { seq }) => {
      const [info] = await journal.runs();
      ahead.push(seq - (info?.events ?? 0));
    });
    const append = journal.append.bind(journal);
    journal.append = async (...given) => {
      for (let turns = 0; turns < 30; turns += 1) await nextMacrotask();
      await append(...given);
    };
    // Without a step the role does not wait for the journal, and its state is ahead of the record.
    await new Team({ roles: [counter(400, false)], journal, snapshotEvery: 1, scheduler: "eager" }).run("begin", { rounds: 500 }).result;
    expect(ahead.length).toBeGreaterThan(1);
    expect(Math.max(...ahead)).toBeLessThanOrEqual(0);
  });

  test("SnapshotWriter.W4 a journal that keeps none is warned of once, and the run finishes", async () => {
    const journal = keeping(() => Promise.reject(new Error("no room")));
    const run = counting(journal, { snapshotEvery: 10 }).run("begin");
    const warnings: string[] = [];
    run.on("warning", ({ text }) => void warnings.push(text));
    expect((await run.result).status).toBe("finished");
    expect(warnings).toEqual([expect.stringMatching(/could not be kept.*no room/)]);
  });

  test("SnapshotWriter.W1 SnapshotWriter.W5 a journal that never answers holds up the end for a limited time", async () => {
    const journal = keeping(() => new Promise(() => {}));
    const clock = {
      now: () => 1_000,
      timer: (ms: number, fire: () => void) => (ms === 5_000 ? void setImmediate(fire) : undefined, () => {}),
    };
    expect((await counting(journal, { snapshotEvery: 10, clock }).run("begin").result).status).toBe("finished");
  });
});

describe("a snapshot that is not the run's is ignored", () => {
  let events: readonly RunEvent[];
  let whole: string;
  let snapshot: RunSnapshot;

  beforeAll(async () => {
    const journal = memoryJournal();
    const { runId } = await counting(journal, { snapshotEvery: 0 }, 6).run("begin", { id: "run" }).result;
    events = await eventsOf(journal, runId);
    whole = stateText(fold(events));
    snapshot = snapshotOf(fold(events.slice(0, 20)), events[19] as RunEvent);
  });

  async function expectFolded(wrong: RunSnapshot): Promise<void> {
    const { state, last } = await opened(await journalWith("run", events, wrong), "run");
    expect(last).toBeUndefined();
    expect(stateText(state)).toBe(whole);
  }

  test("Snapshot.S3 any changed character, and a text that was cut", async () => {
    const body = bodyOf(snapshot);
    const sha256 = snapshot.state.slice(0, 64);
    for (const [n, place] of [0, 1, 100, body.length >> 1, body.length - 1].entries()) {
      const changed = `${body.slice(0, place)}${body[place] === "1" ? "2" : "1"}${body.slice(place + (n % 2))}`;
      await expectFolded({ seq: 20, state: sha256 + changed });
    }
    await expectFolded({ seq: 20, state: sha256 + body.slice(0, -10) });
    for (const state of ["", "text", sha256, body, sha256.slice(1) + body, JSON.stringify({ sha256, body })])
      await expectFolded({ seq: 20, state });
  });

  test("Snapshot.S4 of a run that was removed and created again", async () => {
    const again = memoryJournal();
    await counting(again, { snapshotEvery: 0, clock: { now: () => 7, timer: () => () => {} } }, 6).run("begin", { id: "run" }).result;
    const after = await eventsOf(again, "run");
    const { state, last } = await opened(await journalWith("run", after, snapshot), "run");
    expect(last).toBeUndefined();
    expect(stateText(state)).toBe(stateText(fold(after)));
  });

  test("property: Snapshot.S3 whatever is written into one, opening the run never fails", { tags: "numbers" }, async () => {
    const values = fc.oneof(fc.constantFrom(null, -1, 1.5, 1e300, "", "x", true, [], {}, [[]], [{}], [7, 7]), fc.jsonValue());
    await fc.assert(
      fc.asyncProperty(fc.nat(), values, fc.boolean(), async (nth, value, isRemoved) => {
        const wrong = rewritten(snapshot, (content) => {
          const places = placesIn(content);
          const [holder, key] = places[nth % places.length] as (typeof places)[number];
          if (isRemoved) Reflect.deleteProperty(holder, key);
          else Reflect.set(holder, key, value);
        });
        expect(() => restored("run", wrong)).not.toThrow();
        const { state } = await opened(await journalWith("run", events, wrong), "run");
        expect(state.seq).toBe(events.length);
      }),
      { numRuns: tries(60, 2_000) },
    );
  });
});

/** Every member and every item of a value, with what holds it. */
function placesIn(value: unknown): (readonly [object, string])[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [[value, key] as const, ...placesIn(member)]);
}
