import type { Journal } from "../../runtime/record/journal.ts";
import { checksOf, codeOf, type ContractKit } from "./contract-kit.ts";

/** The text of a state: longer than a page of a store, with what a text can have in it. */
const STATE = '0123{"a":"\\u0000 quoted \u00e9 \u{1f3ad} \n"}'.repeat(1_000);

/**
 * The part of a journal's contract about snapshots.
 *
 * @param filled creates a run with so many events and returns the epoch of its owner
 */
export function snapshotChecks(
  kit: ContractKit,
  make: () => Journal | Promise<Journal>,
  filled: (journal: Journal, runId: string, count: number) => Promise<number>,
): void {
  const { expect } = kit;
  const check = checksOf(kit, make);
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
