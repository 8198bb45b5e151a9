import { EVENT_VERSION, type RunEvent } from "../../runtime/record/event.ts";
import { type Journal, newestRuns, type RunInfo, runInfo } from "../../runtime/record/journal.ts";
import { TallyFold, readTally } from "../../runtime/record/run-summary.ts";
import { checksOf, type ContractKit } from "./contract-kit.ts";

/** The check of the tallies of a journal, a part of Journal.K8. */
export function tallyCheck(kit: ContractKit, make: () => Journal | Promise<Journal>): void {
  const { expect } = kit;
  const check = checksOf(kit, make);
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
