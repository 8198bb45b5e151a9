import { EVENT_VERSION, type RunEvent } from "../../runtime/record/event.ts";
import { type Journal, newestRuns, runInfo, type RunInfo } from "../../runtime/record/journal.ts";
import { codeOf, type Checks } from "./contract-kit.ts";
import { readTally, TallyFold } from "../../runtime/record/run-summary.ts";

/** True when a watcher ends; growth that it has not reported yet may come first. */
export async function isOver(watched: AsyncIterator<void>): Promise<boolean> {
  for (let n = 0; n < 10; n += 1) if ((await watched.next()).done === true) return true;
  return false;
}

export function eventOf(runId: string, seq: number, team = "contract"): RunEvent {
  return {
    v: EVENT_VERSION,
    runId,
    seq,
    time: 1_700_000_000_000 + seq,
    type: "run.started",
    team,
    roles: [],
    seed: "1",
    scheduler: "rounds",
  };
}

export async function filled(journal: Journal, runId: string, count: number): Promise<number> {
  await journal.create(runId);
  const { epoch } = await journal.claim(runId);
  await journal.append(
    runId,
    epoch,
    0,
    Array.from({ length: count }, (_, seq) => eventOf(runId, seq)),
  );
  return epoch;
}

export async function all(journal: Journal, runId: string, from: number): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of journal.read(runId, from)) events.push(event);
  return events;
}

export async function seqs(journal: Journal, runId: string): Promise<number[]> {
  return (await all(journal, runId, 0)).map((event) => event.seq);
}

/** The text of a state: longer than a page of a store, with what a string can have in it. */
const STATE = '0123{"a":"\\u0000 quoted \u00e9 \u{1f3ad} \n"}'.repeat(1_000);

export function snapshotChecks({ check, expect }: Checks<Journal>): void {
  check("Journal.K14 the newest snapshot of a run comes back as it went in, and runs keep apart", async (journal) => {
    if (journal.keepSnapshot === undefined || journal.newestSnapshot === undefined) return;
    const epoch = await filled(journal, "a", 3);
    await filled(journal, "b", 3);
    expect(await journal.newestSnapshot("a")).toBe(undefined);
    await journal.keepSnapshot("a", epoch, { seq: 2, state: STATE });
    expect(await journal.newestSnapshot("a")).toEqual({ seq: 2, state: STATE });
    await journal.keepSnapshot("a", epoch, { seq: 3, state: "{}" });
    expect(await journal.newestSnapshot("a")).toEqual({ seq: 3, state: "{}" });
    expect(await journal.newestSnapshot("b")).toBe(undefined);
  });

  check("Journal.K14 only the owner of a run keeps one, and the next owner finds it", async (journal) => {
    if (journal.keepSnapshot === undefined || journal.newestSnapshot === undefined) return;
    const { keepSnapshot } = journal;
    const keep = (epoch: number, seq: number): Promise<string> =>
      codeOf(() => keepSnapshot.call(journal, "a", epoch, { seq, state: STATE }));
    const former = await filled(journal, "a", 3);
    expect(await keep(former, 1)).toBe("resolved");
    const { epoch } = await journal.claim("a");
    expect(await keep(former, 2)).toBe("EPOCH_STALE");
    expect(await journal.newestSnapshot("a")).toEqual({ seq: 1, state: STATE });
    await journal.release("a", epoch);
    expect(await keep(epoch, 2)).toBe("EPOCH_STALE");
    expect(await journal.newestSnapshot("a")).toEqual({ seq: 1, state: STATE });
  });

  check("Journal.K14 a snapshot goes with its run", async (journal) => {
    if (journal.keepSnapshot === undefined || journal.newestSnapshot === undefined) return;
    const { newestSnapshot } = journal;
    const epoch = await filled(journal, "a", 3);
    await journal.keepSnapshot("a", epoch, { seq: 3, state: STATE });
    await journal.remove("a");
    expect(await codeOf(() => newestSnapshot.call(journal, "a"))).toBe("RUN_UNKNOWN");
    expect(await codeOf(() => journal.keepSnapshot?.("a", epoch, { seq: 3, state: STATE }))).toBe("RUN_UNKNOWN");
    await filled(journal, "a", 3);
    expect(await journal.newestSnapshot("a")).toBe(undefined);
  });
}

export function erasureChecks({ check, expect }: Checks<Journal>): void {
  check(
    "Journal.K15 a run that is rewritten has the new events alone, no snapshot, and takes further ones from its owner",
    async (journal) => {
      if (journal.rewrite === undefined) return;
      const epoch = await filled(journal, "a", 3);
      await filled(journal, "b", 2);
      await journal.keepSnapshot?.("a", epoch, { seq: 2, state: "{}" });
      const events: RunEvent[] = [eventOf("a", 0, "erased"), eventOf("a", 1, "erased")];
      await journal.rewrite("a", epoch, events);
      await journal.purge?.();
      await journal.append("a", epoch, 2, [eventOf("a", 2)]);
      expect(await all(journal, "a", 0)).toEqual([...events, eventOf("a", 2)]);
      expect([await journal.newestSnapshot?.("a"), (await all(journal, "b", 0)).length]).toEqual([undefined, 2]);
      expect((await journal.runs()).map(({ runId, events: count }) => [runId, count])).toEqual([
        ["a", 3],
        ["b", 2],
      ]);
    },
  );

  check("Journal.K15 only the owner rewrites a run, and a claim for it alone leaves an owner its run", async (journal) => {
    if (journal.rewrite === undefined) return;
    const { rewrite } = journal;
    const epoch = await filled(journal, "a", 1);
    expect(await codeOf(() => rewrite.call(journal, "a", epoch + 1, []))).toBe("EPOCH_STALE");
    expect(await codeOf(() => journal.claim("a", { ifFree: true }))).toBe("RUN_OWNED");
    await journal.append("a", epoch, 1, [eventOf("a", 1)]);
    await journal.release("a", epoch);
    const claim = await journal.claim("a", { ifFree: true });
    await journal.rewrite("a", claim.epoch, [eventOf("a", 0)]);
    expect((await all(journal, "a", 0)).length).toBe(1);
  });
}

export function fileChecks({ check, expect }: Checks<Journal>): void {
  const bytes = Uint8Array.from({ length: 70_000 }, (_, n) => n % 256);
  const message = (hash: string): RunEvent => ({
    ...{ v: EVENT_VERSION, runId: "a", seq: 1, time: 1_700_000_000_001, type: "message", to: [] },
    message: {
      ...{ id: "user#1", content: "", role: "user", causeBy: "UserRequirement", sentFrom: "", sendTo: ["<all>"] },
      ...{
        parents: [],
        timestamp: 1,
        metadata: {},
        files: [{ name: "a.bin", type: "application/octet-stream", size: bytes.length, hash }],
      },
    },
  });

  check("Journal.K17 a file, where the journal keeps some, comes back byte for byte, to its own run alone", async (journal) => {
    if (journal.keepFile === undefined || journal.file === undefined) return;
    const { file, keepFile } = journal;
    const epoch = await filled(journal, "a", 1);
    const other = await filled(journal, "b", 1);
    await journal.keepFile("a", epoch, "1", bytes);
    await journal.keepFile("a", epoch, "1", bytes);
    await journal.keepFile("b", other, "2", new Uint8Array());
    expect([...((await journal.file("a", "1")) ?? [])]).toEqual([...bytes]);
    expect([await journal.file("b", "1"), await journal.file("a", "2"), [...((await journal.file("b", "2")) ?? [1])]]).toEqual([
      ...[undefined, undefined, []],
    ]);
    expect(await codeOf(() => file.call(journal, "c", "1"))).toBe("RUN_UNKNOWN");
    expect(await codeOf(() => keepFile.call(journal, "a", epoch + 1_000, "3", bytes))).toBe("EPOCH_STALE");
  });

  check("Journal.K17 files go with their run, and with the events that name them", async (journal) => {
    if (journal.keepFile === undefined || journal.file === undefined) return;
    const epoch = await filled(journal, "a", 1);
    await journal.keepFile("a", epoch, "1", bytes);
    await journal.keepFile("a", epoch, "2", bytes);
    await journal.rewrite?.("a", epoch, [eventOf("a", 0), message("2")]);
    if (journal.rewrite !== undefined)
      expect([await journal.file("a", "1"), (await journal.file("a", "2"))?.length]).toEqual([undefined, bytes.length]);
    await journal.remove("a");
    await filled(journal, "a", 1);
    expect(await journal.file("a", "2")).toBe(undefined);
  });
}

export function argumentChecks({ check, expect }: Checks<Journal>): void {
  check("Journal.K16 an argument of another kind is refused, and changes nothing", async (journal) => {
    await filled(journal, "a", 2);
    const { create, claim, append } = journal as unknown as Readonly<Record<string, (...given: unknown[]) => unknown>>;
    const read = journal.read.bind(journal) as (...given: unknown[]) => AsyncIterable<unknown>;
    const firstOf = (...given: unknown[]): Promise<unknown> =>
      read(...given)
        [Symbol.asyncIterator]()
        .next();
    const wrong = [
      () => create?.call(journal, 5),
      () => claim?.call(journal, ["a"]),
      () => append?.call(journal, "a", 1, 2),
      () => append?.call(journal, "a", 1, "2", []),
      () => firstOf("a"),
      () => firstOf("a", Number.NaN),
      () => firstOf(5, 0),
    ];
    for (const call of wrong) expect(await codeOf(async () => call())).toBe("ARGUMENT_INVALID");
    expect(await seqs(journal, "a")).toEqual([0, 1]);
  });
}

/** The check of the tallies of a journal, a part of Journal.K8. */
export function tallyCheck({ check, expect }: Checks<Journal>): void {
  check("Journal.K8 a tally, where the journal keeps one, agrees with the record and is whole at the end", async (journal) => {
    await journal.create("a");
    await agrees(0);
    const { epoch } = await journal.claim("a");
    await journal.append("a", epoch, 0, [started, rounds(1), rounds(2)]);
    await agrees(3);
    await journal.append("a", epoch, 3, [{ ...envelope(3), type: "run.ended", status: "finished" }]);
    const { tally } = await agrees(4);
    expect(tally?.summary.events ?? 4).toBe(4);
    await journal.release("a", epoch);
    const later = await journal.claim("a");
    await journal.append("a", later.epoch, 4, [{ ...envelope(4), type: "run.resumed", uncertain: [] }]);
    await agrees(5);
    await journal.remove("a");
    await journal.create("a");
    await agrees(0);

    async function agrees(events: number): Promise<RunInfo> {
      const one = await runInfo(journal, "a");
      const folded = new TallyFold("a");
      for await (const event of journal.read("a", 0)) folded.add(event);
      for (const info of [one, ...(await newestRuns(journal, { limit: 1, tallies: true }))]) {
        expect([info.runId, info.events]).toEqual(["a", events]);
        expect(await readTally(journal, info)).toEqual(folded.tally);
      }
      return one;
    }
  });
}

function envelope(seq: number): Pick<RunEvent, "v" | "runId" | "seq" | "time"> {
  return { v: EVENT_VERSION, runId: "a", seq, time: 1_700_000_000_000 + seq };
}

const started: RunEvent = { ...envelope(0), type: "run.started", team: "contract", roles: [], seed: "1", scheduler: "rounds" };

function rounds(seq: number): RunEvent {
  return { ...envelope(seq), type: "round.ended", round: seq };
}
