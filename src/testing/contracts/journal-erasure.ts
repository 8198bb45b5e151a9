import type { RunEvent } from "../../runtime/record/event.ts";
import type { Journal } from "../../runtime/record/journal.ts";
import { checksOf, codeOf, type ContractKit } from "./contract-kit.ts";
import { all, eventOf } from "./journal-kit.ts";

/**
 * The part of a journal's contract about runs that are written again.
 *
 * @param filled creates a run with so many events and returns the epoch of its owner
 */
export function erasureChecks(
  kit: ContractKit,
  make: () => Journal | Promise<Journal>,
  filled: (journal: Journal, runId: string, count: number) => Promise<number>,
): void {
  const { expect } = kit;
  const check = checksOf(kit, make);
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
