import { nextMacrotask } from "../../kernel/clock.ts";
import { UsageError } from "../../kernel/errors.ts";
import type { Claim, Journal } from "../../runtime/record/journal.ts";
import { checkContractObject, codeOf, type Checks, checksOf, type ContractKit } from "./contract-kit.ts";
import { all, eventOf, isOver } from "./journal-parts.ts";

/** Two processes, or two journal objects that act as such, over one store. */
export interface TwoJournals {
  readonly first: Journal;
  readonly second: Journal;
  close(): Promise<void>;
}

/** Runs that one creates while the other looks for them. */
const NEW_RUNS = 25;

export interface JournalOwnersContract {
  readonly name: string;
  /** True for a journal whose owners can be fenced by others: `claim` with `take` takes a run. */
  readonly takes: boolean;
  readonly make: () => TwoJournals | Promise<TwoJournals>;
}

/**
 * The contract of a {@link Journal} that several processes share.
 *
 * JournalOwners.P1 an owned run is refused to the other, which can read it. JournalOwners.P2 where runs can be taken, the former owner
 * hears of it and writes nothing more. JournalOwners.P3 the next owner learns how a run was given back. JournalOwners.P4 a command reaches
 * the remote owner. JournalOwners.P5 a watcher sees what the other adds. JournalOwners.P6 a run that is being created is unknown or whole.
 */
export function journalOwnersContract(kit: ContractKit, contract: JournalOwnersContract): void {
  checkContractObject("journalOwnersContract", kit, contract);
  kit.describe(`${contract.name} keeps the contract of a journal that processes share`, () => {
    const checks = checksOf(kit, () => contract.make());
    owningChecks(checks, contract.takes);
    tellingChecks(checks);
  });
}

function owningChecks({ check, expect }: Checks<TwoJournals>, takes: boolean): void {
  check("JournalOwners.P1 a run that another process owns is refused, and can be read", async ({ first, second }) => {
    const { epoch } = await started(first);
    expect([await codeOf(() => second.claim("a")), await codeOf(() => second.remove("a"))]).toEqual(["RUN_OWNED", "RUN_OWNED"]);
    await first.append("a", epoch, 1, [eventOf("a", 1)]);
    expect((await all(second, "a", 0)).map(({ seq }) => seq)).toEqual([0, 1]);
  });

  check("JournalOwners.P2 a run is taken where that is possible, and refused elsewhere", async ({ first, second }) => {
    const reported: string[] = [];
    const { epoch } = await started(first, () => reported.push("lost"));
    if (!takes) return expect(await codeOf(() => second.claim("a", { take: true }))).toBe("RUN_OWNED");
    const taken = await second.claim("a", { take: true });
    expect([taken.former, taken.epoch > epoch]).toEqual(["moved", true]);
    expect(await codeOf(() => first.append("a", epoch, 1, [eventOf("a", 1)]))).toBe("EPOCH_STALE");
    await first.release("a", epoch);
    await second.append("a", taken.epoch, 1, [eventOf("a", 1)]);
    expect([reported, await codeOf(() => first.claim("a"))]).toEqual([["lost"], "RUN_OWNED"]);
  });

  check("JournalOwners.P3 the next owner learns how a run was given back", async ({ first, second }) => {
    const { epoch } = await started(first);
    await first.release("a", epoch, { drained: true });
    const next = await second.claim("a");
    await second.release("a", next.epoch);
    expect([next.former, (await first.claim("a")).former]).toEqual(["drained", "released"]);
  });
}

function tellingChecks({ check, expect }: Checks<TwoJournals>): void {
  check(
    "JournalOwners.P4 a command reaches the owner in the other process, and its answer or refusal comes back",
    async ({ first, second }) => {
      if (second.command === undefined) return;
      await first.create("a");
      const { epoch } = await first.claim("a", {
        command: async (command) => {
          if (command === "bad") throw new UsageError("MESSAGE_INVALID", "Expected a message.");
          return ["got", command];
        },
      });
      expect(await second.command("a", { do: "stop" })).toEqual(["got", { do: "stop" }]);
      expect(await codeOf(() => second.command?.("a", "bad"))).toBe("MESSAGE_INVALID");
      await first.release("a", epoch);
      expect(await codeOf(() => second.command?.("a", "late"))).toBe("RUN_UNOWNED");
    },
  );

  check("JournalOwners.P5 a watcher hears of what the other process adds and removes", async ({ first, second }) => {
    const { epoch } = await started(first);
    const watched = second.watch?.("a", { signal: new AbortController().signal })[Symbol.asyncIterator]();
    if (watched === undefined) return;
    await watched.next();
    const grown = watched.next();
    await first.append("a", epoch, 1, [eventOf("a", 1)]);
    expect((await grown).done).toBe(false);
    await nextMacrotask();
    await first.remove("a");
    expect(await isOver(watched)).toBe(true);
  });

  check("JournalOwners.P6 a run that is looked for while the other process creates it is unknown or whole", async ({ first, second }) => {
    for (let n = 0; n < NEW_RUNS; n += 1) {
      const reported = new Set<string>();
      const isFound = foundIn(second, `new ${n}`, (code) => reported.add(code));
      await first.create(`new ${n}`);
      await isFound;
      expect([...reported].filter((code) => code !== "RUN_UNKNOWN")).toEqual([]);
    }
  });
}

async function started(journal: Journal, lost?: () => void): Promise<Claim> {
  await journal.create("a");
  const claim = await journal.claim("a", lost === undefined ? {} : { lost });
  await journal.append("a", claim.epoch, 0, [eventOf("a", 0)]);
  return claim;
}

async function foundIn(journal: Journal, runId: string, refused: (code: string) => void): Promise<void> {
  for (;;) {
    const code = await codeOf(() => all(journal, runId, 0));
    if (code === "resolved") return;
    refused(code);
    await nextMacrotask();
  }
}
