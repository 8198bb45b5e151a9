import { describe, expect, it } from "vitest";
import { DrivenFolder } from "../../src/fleet/driven-folder.ts";
import type { RunWorkspaces } from "../../src/fleet/index.ts";
import { MovedError } from "../../src/kernel/errors.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import type { Run } from "../../src/team/run.ts";
import { SimulatedClock } from "../../src/testing/simulated-clock.ts";
import { door } from "../server/served-team.ts";

interface Watched {
  readonly folder: DrivenFolder;
  readonly clock: SimulatedClock;
  /** The last events of the stores that were begun. */
  readonly stores: readonly number[];
  readonly told: readonly unknown[];
  /** As if a round of the run ended with this event. */
  roundEnded(seq: number): void;
}

/** A folder that is here, of a run whose rounds a test ends. */
async function folderWith(store: () => Promise<boolean>): Promise<Watched> {
  const [clock, stores, told] = [new SimulatedClock(0), new Array<number>(), new Array<unknown>()];
  const workspaces = {
    fetch: () => Promise.resolve("new"),
    put: (_run: string, seq: number) => {
      stores.push(seq);
      return store();
    },
  } as unknown as RunWorkspaces;
  const logger = { debug() {}, info() {}, warn: (...line: readonly unknown[]): void => void told.push(line[1]), error() {} };
  const listeners = new Map<string, (event: { readonly seq: number }) => void>();
  const run = {
    on: (type: string, listener: (event: { readonly seq: number }) => void) => void listeners.set(type, listener),
  } as unknown as Run;
  const folder = new DrivenFolder("a", { workspaces, journal: memoryJournal(), every: 100, clock, logger });
  await folder.fetch(new AbortController().signal);
  folder.follow(run);
  return { folder, clock, stores, told, roundEnded: (seq) => listeners.get("round.ended")?.({ seq }) };
}

describe("the folder of a run that a worker drives", () => {
  it("DrivenFolder.F2 is stored when a round has ended and its time has come, one store at a time", async () => {
    const gate = door();
    const { folder, clock, stores, roundEnded } = await folderWith(async () => {
      await gate.passed;
      return true;
    });
    roundEnded(1);
    await clock.advance(100);
    roundEnded(2);
    await clock.advance(100);
    roundEnded(3);
    expect(stores).toEqual([2]);
    gate.open();
    await folder.rest(undefined);
    expect(stores).toEqual([2, 3]);
  });

  it("DrivenFolder.F3 is not stored where another worker has the run by now", async () => {
    const { folder, stores } = await folderWith(() => Promise.resolve(true));
    await folder.rest(new MovedError("a"));
    expect(stores).toEqual([]);
  });

  it("DrivenFolder.F4 is told where it could not be stored, and the run ends as it would", async () => {
    const { folder, told } = await folderWith(() => Promise.reject(new Error("the disk is full")));
    await folder.rest(undefined);
    expect(told).toEqual([expect.objectContaining({ run: "a", reason: expect.stringContaining("the disk is full") as string })]);
  });
});
