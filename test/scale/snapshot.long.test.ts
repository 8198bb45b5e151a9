// @module-tag numbers
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sqlite } from "../../src/adapters/sqlite.ts";
import type { RunEvent, RunStarted } from "../../src/runtime/record/event.ts";
import { apply } from "../../src/runtime/record/apply.ts";
import type { Journal, RunSnapshot } from "../../src/runtime/record/journal.ts";
import { RunState } from "../../src/runtime/record/run-state.ts";
import { snapshotOf, recordedState, type RecordedState } from "../../src/runtime/snapshot/snapshot.ts";
import { postgres } from "../../src/adapters/postgres.ts";
import { Team } from "../../src/team/team.ts";
import { hasPostgres } from "../adapters/postgres-process.ts";
import { newSchema, sharedServer } from "../adapters/postgres-setup.ts";
import { longRecord, worker } from "./long-record.ts";

/** Events of a tail that no snapshot has yet: the most there are by default. */
const TAIL = 10_000;
/** Activations of a run, each with one message. So many have a snapshot of nearly 5 MB. */
const ACTIVATIONS = 15_074;
const folder = mkdtempSync(join(tmpdir(), "troupe-long-"));
const path = join(folder, "runs.db");
const schema = newSchema();

afterAll(() => rmSync(folder, { recursive: true }));

interface Kept {
  /** Tool calls of an activation, two events each. */
  readonly steps: number;
  /** Returns what makes journals over the same runs. */
  readonly journals: () => Promise<() => Journal>;
  /** True where opening includes a new connection to the journal. */
  readonly isOpened: boolean;
  /** By how much opening is quicker than folding all events, at least: what 200 ms are where folding takes as long as in docs/decisions/0040. */
  readonly quicker: number;
}

const databases: Readonly<Record<string, Kept>> = {
  "of a million events in a file": { steps: 32, journals: async () => () => sqlite({ path }), isOpened: true, quicker: 31 },
  // The journal of a worker is open. Fewer events are as good: a snapshot is found by its place.
  ...(hasPostgres && {
    "with as many messages in Postgres": {
      steps: 1,
      journals: async () => {
        const { url } = await sharedServer();
        return () => postgres({ url, schema });
      },
      isOpened: false,
      quicker: 3,
    },
  }),
};

function team(journal: Journal): Team {
  return new Team({ name: "long", roles: [worker()], journal });
}

async function firstEvent(journal: Journal, runId: string): Promise<RunEvent> {
  for await (const event of journal.read(runId, 0)) return event;
  throw new Error("the run is empty");
}

function opened(journal: Journal): Promise<RecordedState> {
  return recordedState(journal, "long", (from) => journal.read("long", from));
}

describe.each(Object.entries(databases))("a run %s", (_name, { steps, journals, isOpened, quicker }) => {
  /** Activations with 32 tool calls each have 67 events. */
  const perActivation = 2 * steps + 3;
  const most = ACTIVATIONS * perActivation - TAIL;
  let events = 0;
  let folded = 0;
  let make: () => Journal;

  /** Milliseconds that some work takes. */
  async function timed<T>(work: (journal: Journal) => Promise<T>): Promise<{ readonly ms: number; readonly found: T }> {
    const made = performance.now();
    const journal = make();
    if (!isOpened) await journal.newestSnapshot?.("first");
    const begun = isOpened ? made : performance.now();
    const found = await work(journal);
    const ms = performance.now() - begun;
    await journal.close();
    return { ms, found };
  }

  beforeAll(async () => {
    make = await journals();
    const journal = make();
    await team(journal).run("begin", { id: "first" }).result;
    const { v: _v, runId: _id, seq: _seq, time: _time, ...opening } = (await firstEvent(journal, "first")) as RunEvent & RunStarted;
    await journal.create("long");
    const { epoch } = await journal.claim("long");
    const state = new RunState("long");
    let [snapshot, batch]: [RunSnapshot | undefined, RunEvent[]] = [undefined, []];
    const append = async (): Promise<void> => {
      await journal.append("long", epoch, events, batch);
      events += batch.length;
      batch = [];
    };
    for (const event of longRecord({ runId: "long", opening, activations: ACTIVATIONS, steps })) {
      apply(state, event);
      if (event.seq === most) snapshot = snapshotOf(state, event);
      if (batch.push(event) === 5_000) await append();
    }
    await append();
    folded = (await timed(opened)).ms;
    await journal.keepSnapshot?.("long", epoch, snapshot as RunSnapshot);
    await journal.release("long", epoch);
    await journal.close();
  }, 900_000);

  test("is opened many times as fast as it is folded from a snapshot of at most 5 MB that is as old as it may be", async () => {
    const size = await timed(async (journal) => (await journal.newestSnapshot?.("long"))?.state.length ?? 0);
    expect(size.found).toBeGreaterThan(100_000);
    expect(size.found).toBeLessThan(5_000_000);
    const times: number[] = [];
    // The machine is shared, so the quickest of at most 20 counts.
    while (times.length < 20 && Math.min(...times) >= folded / quicker) {
      const { ms, found } = await timed(opened);
      expect(found.last?.seq).toBe(most + 1);
      expect(found.state.seq).toBe(events);
      times.push(ms);
    }
    expect(Math.min(...times), `${events} events take ${Math.round(folded)} ms to fold`).toBeLessThan(folded / quicker);
  }, 900_000);

  test("leaves a newer one when it goes on", async () => {
    const { found } = await timed((journal) => team(journal).resume("long", { rounds: 2 * ACTIVATIONS }).result);
    expect(found).toMatchObject({ status: "finished", rounds: ACTIVATIONS + 1 });
    const again = await timed(opened);
    expect(again.found.last?.seq).toBeGreaterThan(events);
  }, 900_000);
});
