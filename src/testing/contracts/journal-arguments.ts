import { checksOf, codeOf, type ContractKit } from "./contract-kit.ts";
import type { MakeJournal } from "./journal.ts";
import { filled, seqs } from "./journal-kit.ts";

/** Programs without types pass other arguments. */
export function argumentChecks(kit: ContractKit, make: MakeJournal): void {
  const { expect } = kit;
  checksOf(kit, make)("Journal.K16 an argument of another kind is refused, and changes nothing", async (journal) => {
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
