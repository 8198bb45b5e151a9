import { UsageError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import { type Journal, newestRuns, type RunsPage } from "../../runtime/record/journal.ts";
import {
  all,
  argumentChecks,
  erasureChecks,
  eventOf,
  fileChecks,
  filled,
  isOver,
  seqs,
  snapshotChecks,
  tallyCheck,
} from "./journal-parts.ts";
import { checkContract, checksOf, codeOf, type Checks, type ContractKit } from "./contract-kit.ts";

export type MakeJournal = () => Journal | Promise<Journal>;

/**
 * The contract of every {@link Journal}. What is optional is checked where it exists.
 *
 * Journal.K1 a run is created once, and again after it was removed. Journal.K2 an unknown run is refused. Journal.K3 only the newest epoch
 * appends, until it is released. Journal.K4 events have no gap and no overlap; a refused append changes nothing, and one of two concurrent
 * appends wins. Journal.K5 a reader gets a dense prefix, also while others append. Journal.K6 a resolved `append` can be read. Journal.K7
 * events come back unchanged, and runs do not mix. Journal.K8 `runs` and `newest` list the runs; a tally agrees with the record. Journal.K9
 * closing twice is no error. Journal.K10 a claim says how the epoch before it ended. Journal.K11 an owner hears once that it has lost its
 * run. Journal.K12 `watch` yields at the start and after an append, and ends with its signal or its run. Journal.K13 `command` reaches the
 * owner. Journal.K14 the newest snapshot of a run is kept, for its owner alone. Journal.K15 `rewrite` replaces all events, for the owner
 * alone. Journal.K16 arguments of another type are refused.
 * Journal.K17 files of a run are kept byte for byte, until the run or the events that name them are removed.
 */
export function journalContract(kit: ContractKit, name: string, make: MakeJournal): void {
  checkContract("journalContract", kit, name, make);
  kit.describe(`${name} keeps the contract of a journal`, () => {
    const checks = checksOf(kit, make);
    owningChecks(checks);
    releasingChecks(checks);
    writingChecks(checks);
    readingChecks(checks);
    listingChecks(checks);
    tallyCheck(checks);
    formerChecks(checks);
    lostChecks(checks);
    watchChecks(checks);
    commandChecks(checks);
    snapshotChecks(checks);
    erasureChecks(checks);
    fileChecks(checks);
    argumentChecks(checks);
  });
}

function owningChecks({ check, expect }: Checks<Journal>): void {
  check("Journal.K1 creating a run twice is refused, and nothing of the first is lost", async (journal) => {
    await filled(journal, "a", 2);
    expect(await codeOf(() => journal.create("a"))).toBe("RUN_EXISTS");
    expect(await seqs(journal, "a")).toEqual([0, 1]);
  });

  check("Journal.K1 a removed run can be created again, and is empty then", async (journal) => {
    await filled(journal, "a", 3);
    await journal.remove("a");
    await journal.remove("a");
    await filled(journal, "a", 1);
    expect(await seqs(journal, "a")).toEqual([0]);
  });

  check("Journal.K2 what is asked of an unknown run is refused", async (journal) => {
    expect(await codeOf(() => journal.claim("nobody's"))).toBe("RUN_UNKNOWN");
    expect(await codeOf(() => journal.append("nobody's", 1, 0, [eventOf("nobody's", 0)]))).toBe("RUN_UNKNOWN");
    expect(await codeOf(() => seqs(journal, "nobody's"))).toBe("RUN_UNKNOWN");
  });

  check("Journal.K3 a new claim fences the former owner", async (journal) => {
    const former = await filled(journal, "a", 1);
    const { epoch: latter } = await journal.claim("a");
    expect(latter > former).toBe(true);
    expect(await codeOf(() => journal.append("a", former, 1, [eventOf("a", 1)]))).toBe("EPOCH_STALE");
    await journal.append("a", latter, 1, [eventOf("a", 1)]);
    expect(await seqs(journal, "a")).toEqual([0, 1]);
  });

  check("Journal.K3 an epoch that was never given cannot append, nor can who has not claimed", async (journal) => {
    await journal.create("unclaimed");
    for (const epoch of [0, 1])
      expect(await codeOf(() => journal.append("unclaimed", epoch, 0, [eventOf("unclaimed", 0)]))).toBe("EPOCH_STALE");
    const epoch = await filled(journal, "a", 1);
    expect(await codeOf(() => journal.append("a", epoch + 1, 1, [eventOf("a", 1)]))).toBe("EPOCH_STALE");
  });

  check("Journal.K3 the owner of a removed run owns no other of its name", async (journal) => {
    const former = await filled(journal, "a", 1);
    await journal.remove("a");
    const latter = await filled(journal, "a", 1);
    expect(latter === former).toBe(false);
    expect(await codeOf(() => journal.append("a", former, 1, [eventOf("a", 1)]))).toBe("EPOCH_STALE");
    expect(await codeOf(() => journal.append("a", latter, 1, [eventOf("a", 1)]))).toBe("resolved");
  });
}

function releasingChecks({ check, expect }: Checks<Journal>): void {
  check("Journal.K3 a former owner cannot append, and the next one continues", async (journal) => {
    const former = await filled(journal, "a", 1);
    await journal.release("a", former);
    expect(await codeOf(() => journal.append("a", former, 1, [eventOf("a", 1)]))).toBe("EPOCH_STALE");
    const { epoch: latter } = await journal.claim("a");
    expect(latter > former).toBe(true);
    await journal.append("a", latter, 1, [eventOf("a", 1)]);
    expect(await seqs(journal, "a")).toEqual([0, 1]);
  });

  check("Journal.K3 a stale epoch gives nothing back", async (journal) => {
    const former = await filled(journal, "a", 1);
    const { epoch: latter } = await journal.claim("a");
    expect(await codeOf(() => journal.release("a", former))).toBe("resolved");
    expect(await codeOf(() => journal.append("a", latter, 1, [eventOf("a", 1)]))).toBe("resolved");
  });

  check("Journal.K3 giving back what was given back, removed or never there is no error", async (journal) => {
    const epoch = await filled(journal, "a", 1);
    await journal.release("a", epoch);
    expect(await codeOf(() => journal.release("a", epoch))).toBe("resolved");
    await journal.remove("a");
    expect(await codeOf(() => journal.release("a", epoch))).toBe("resolved");
    expect(await codeOf(() => journal.release("nobody's", 1))).toBe("resolved");
  });

  check("Journal.K3 of a claim and a release that meet, the claim holds", async (journal) => {
    const former = await filled(journal, "a", 1);
    const [, { epoch: latter }] = await Promise.all([journal.release("a", former), journal.claim("a")]);
    expect(await codeOf(() => journal.append("a", latter, 1, [eventOf("a", 1)]))).toBe("resolved");
  });
}

function writingChecks({ check, expect }: Checks<Journal>): void {
  check("Journal.K4 an append that leaves a gap or overlaps is refused, and nothing of it is kept", async (journal) => {
    const epoch = await filled(journal, "a", 2);
    expect(await codeOf(() => journal.append("a", epoch, 3, [eventOf("a", 3)]))).toBe("SEQ_MISMATCH");
    expect(await codeOf(() => journal.append("a", epoch, 1, [eventOf("a", 1), eventOf("a", 2)]))).toBe("SEQ_MISMATCH");
    expect(await seqs(journal, "a")).toEqual([0, 1]);
    await journal.append("a", epoch, 2, [eventOf("a", 2)]);
    expect(await seqs(journal, "a")).toEqual([0, 1, 2]);
  });

  check("Journal.K4 of two appends that race for one place exactly one wins", async (journal) => {
    const epoch = await filled(journal, "a", 1);
    const outcomes = await Promise.all([1, 2].map((word) => codeOf(() => journal.append("a", epoch, 1, [eventOf("a", 1, String(word))]))));
    expect(outcomes.toSorted()).toEqual(["SEQ_MISMATCH", "resolved"]);
    expect(await seqs(journal, "a")).toEqual([0, 1]);
  });

  check("Journal.K4 what comes together for several runs is kept together, and a refused one harms no other", async (journal) => {
    const names = ["a", "b", "c", "d"];
    const epochs = await Promise.all(names.map((name) => filled(journal, name, 1)));
    const outcomes = await Promise.all(
      names.map((name, place) =>
        codeOf(() => journal.append(name, epochs[place] ?? 0, name === "c" ? 7 : 1, [eventOf(name, name === "c" ? 7 : 1)])),
      ),
    );
    expect(outcomes).toEqual(["resolved", "resolved", "SEQ_MISMATCH", "resolved"]);
    expect(await Promise.all(names.map(async (name) => (await seqs(journal, name)).length))).toEqual([2, 2, 1, 2]);
  });

  check("Journal.K6 an append of many, of one, and of none", async (journal) => {
    const epoch = await filled(journal, "a", 500);
    await journal.append("a", epoch, 500, []);
    await journal.append("a", epoch, 500, [eventOf("a", 500)]);
    expect((await seqs(journal, "a")).length).toBe(501);
  });

  check("Journal.K7 events come back as they went in", async (journal) => {
    await journal.create("a");
    const { epoch } = await journal.claim("a");
    const words = ["", "\u0000 and \u001b[2J", "line\nbreak\r\n", '"quotes" \\ and \u2028', "Umlaute äöü, 猫 and 🎭", "__proto__"];
    const events = words.map((word, seq) => eventOf("a", seq, word));
    await journal.append("a", epoch, 0, events);
    expect(await all(journal, "a", 0)).toEqual(events);
  });
}

function readingChecks({ check, expect }: Checks<Journal>): void {
  check("Journal.K5 a reader gets what follows from where it asked", async (journal) => {
    await filled(journal, "a", 4);
    expect((await all(journal, "a", 2)).map((event) => event.seq)).toEqual([2, 3]);
    expect(await all(journal, "a", 4)).toEqual([]);
    expect(await all(journal, "a", 99)).toEqual([]);
  });

  check("Journal.K5 a reader sees a dense prefix while others append", async (journal) => {
    const epoch = await filled(journal, "a", 3);
    const seen: number[] = [];
    for await (const event of journal.read("a", 0)) {
      seen.push(event.seq);
      if (seen.length <= 3) await journal.append("a", epoch, 2 + seen.length, [eventOf("a", 2 + seen.length)]);
    }
    expect(seen.length >= 3).toBe(true);
    expect(seen).toEqual(seen.map((_, place) => place));
    expect(await seqs(journal, "a")).toEqual([0, 1, 2, 3, 4, 5]);
  });

  check("Journal.K5 a reader that leaves early, and two at once, disturb no one", async (journal) => {
    await filled(journal, "a", 3);
    for await (const event of journal.read("a", 0)) if (event.seq === 1) break;
    expect(await Promise.all([seqs(journal, "a"), seqs(journal, "a")])).toEqual([
      [0, 1, 2],
      [0, 1, 2],
    ]);
  });
}

function listingChecks({ check, expect }: Checks<Journal>): void {
  check("Journal.K7 runs keep apart", async (journal) => {
    await filled(journal, "a", 2);
    await filled(journal, "b", 3);
    await journal.remove("a");
    expect(await codeOf(() => seqs(journal, "a"))).toBe("RUN_UNKNOWN");
    expect((await all(journal, "b", 0)).map((event) => event.runId)).toEqual(["b", "b", "b"]);
  });

  check("Journal.K8 the runs that are there, with how much is known of them", async (journal) => {
    expect(await journal.runs()).toEqual([]);
    await journal.create("empty");
    await filled(journal, "a", 2);
    const runs = (await journal.runs()).map(({ runId, events }) => `${runId}: ${events}`);
    expect(runs.toSorted()).toEqual(["a: 2", "empty: 0"]);
  });

  check("Journal.K8 a part of the list, the newest first, before a run and with a beginning", async (journal) => {
    for (const runId of ["a1", "b1", "a2", "a3"]) await filled(journal, runId, 1);
    const named = async (page: RunsPage): Promise<string> => (await newestRuns(journal, page)).map(({ runId }) => runId).join(" ");
    expect(await named({ limit: 2 })).toBe("a3 a2");
    expect(await named({ limit: 9, before: "a2" })).toBe("b1 a1");
    expect(await named({ limit: 2, prefix: "a" })).toBe("a3 a2");
    expect(await named({ limit: 9, prefix: "a", before: "a3" })).toBe("a2 a1");
    expect(await named({ limit: 9, prefix: "a2" })).toBe("a2");
    expect(await named({ limit: 9, prefix: "c" })).toBe("");
    expect(await codeOf(() => newestRuns(journal, { limit: 1, before: "nobody's" }))).toBe("RUN_UNKNOWN");
  });

  check("Journal.K9 closing twice is no error", async (journal) => {
    await filled(journal, "a", 1);
    expect([await codeOf(() => journal.close()), await codeOf(() => journal.close())]).toEqual(["resolved", "resolved"]);
  });
}

function formerChecks({ check, expect }: Checks<Journal>): void {
  check("Journal.K10 the first claim, and how an owner gave a run back", async (journal) => {
    await journal.create("a");
    const first = await journal.claim("a");
    expect(first.former).toBe("none");
    await journal.release("a", first.epoch);
    const second = await journal.claim("a");
    expect(second.former).toBe("released");
    await journal.release("a", second.epoch, { drained: true });
    const third = await journal.claim("a");
    expect(third.former).toBe("drained");
    await journal.release("a", third.epoch);
    expect((await journal.claim("a", { take: true })).former).toBe("released");
  });

  check("Journal.K10 an owner that only made a change hides nothing of the one before", async (journal) => {
    await journal.create("a");
    let seq = 0;
    for (const former of ["died", "drained", "moved", "taken", "released"] as const) {
      const { epoch } = await journal.claim("a");
      await journal.append("a", epoch, seq, [eventOf("a", seq)]);
      await journal.release("a", epoch, { former });
      const next = await journal.claim("a");
      expect(next.former).toBe(former);
      await journal.append("a", next.epoch, seq + 1, [eventOf("a", seq + 1)]);
      await journal.release("a", next.epoch);
      seq += 2;
    }
  });

  check("Journal.K10 MemoryJournal.K6 an owner that lives is not said to have died", async (journal) => {
    await filled(journal, "a", 1);
    const { former } = await journal.claim("a");
    expect(["none", "moved"].includes(former)).toBe(true);
  });
}

function lostChecks({ check, expect }: Checks<Journal>): void {
  check("Journal.K11 Owners.W1 an owner hears once that another claim has its run", async (journal) => {
    const reported: string[] = [];
    await journal.create("a");
    const { epoch } = await journal.claim("a", { lost: () => reported.push("first") });
    await journal.claim("a", { lost: () => reported.push("second") });
    expect(reported).toEqual(["first"]);
    expect(await codeOf(() => journal.append("a", epoch, 0, [eventOf("a", 0)]))).toBe("EPOCH_STALE");
    expect(reported).toEqual(["first"]);
  });

  check("Journal.K11 Owners.W2 a former owner does not hear of the next one, nor of the end of the journal", async (journal) => {
    const reported: string[] = [];
    await journal.create("a");
    const { epoch } = await journal.claim("a", { lost: () => reported.push("first") });
    await journal.release("a", epoch);
    await journal.claim("a", { lost: () => reported.push("second") });
    await journal.close();
    expect(reported).toEqual([]);
  });
}

function watchChecks({ check, expect }: Checks<Journal>): void {
  check("Journal.K12 Watchers.V1 a watcher hears of the start and of what is added, and ends with its signal", async (journal) => {
    const epoch = await filled(journal, "a", 1);
    const watch = new AbortController();
    const watched = journal.watch?.("a", { signal: watch.signal })[Symbol.asyncIterator]();
    if (watched === undefined) return;
    expect((await watched.next()).done).toBe(false);
    const grown = watched.next();
    await journal.append("a", epoch, 1, [eventOf("a", 1)]);
    expect((await grown).done).toBe(false);
    watch.abort();
    expect(await isOver(watched)).toBe(true);
  });

  check("Journal.K12 a watcher ends when its run is removed, and an unknown run has none", async (journal) => {
    if (journal.watch === undefined) return;
    const { signal } = new AbortController();
    await filled(journal, "a", 1);
    const watched = journal.watch("a", { signal })[Symbol.asyncIterator]();
    await watched.next();
    await journal.remove("a");
    expect(await isOver(watched)).toBe(true);
    expect(await codeOf(() => journal.watch?.("nobody's", { signal })[Symbol.asyncIterator]().next())).toBe("RUN_UNKNOWN");
  });
}

function commandChecks({ check, expect }: Checks<Journal>): void {
  check("Journal.K13 a command reaches the owner of the run, and its answer comes back", async (journal) => {
    if (journal.command === undefined) return;
    await journal.create("a");
    await journal.claim("a", { command: async (command) => ["got", command] });
    expect(await journal.command("a", { kind: "stop", why: ["äöü", null, 1.5] })).toEqual([
      "got",
      { kind: "stop", why: ["äöü", null, 1.5] },
    ]);
  });

  check("Journal.K13 the owner's refusal comes back by its code, and only the newest owner is asked", async (journal) => {
    if (journal.command === undefined) return;
    await journal.create("a");
    await journal.claim("a", { command: async () => "the former" });
    const refuse = (): Promise<Json> => Promise.reject(new UsageError("MESSAGE_INVALID", "Expected a message."));
    await journal.claim("a", { command: refuse });
    expect(await codeOf(() => journal.command?.("a", "x"))).toBe("MESSAGE_INVALID");
  });

  check("Journal.K13 without an owner, without a run, and to an owner that takes none, a command is refused", async (journal) => {
    if (journal.command === undefined) return;
    expect(await codeOf(() => journal.command?.("nobody's", "x"))).toBe("RUN_UNKNOWN");
    const epoch = await filled(journal, "a", 1);
    expect(await codeOf(() => journal.command?.("a", "x"))).toBe("RUN_OWNED");
    await journal.release("a", epoch);
    expect(await codeOf(() => journal.command?.("a", "x"))).toBe("RUN_UNOWNED");
  });

  check("Journal.K13 a sender waits no longer than it wants to", async (journal) => {
    if (journal.command === undefined) return;
    await journal.create("a");
    await journal.claim("a", { command: () => new Promise<Json>(() => undefined) });
    expect(await codeOf(() => journal.command?.("a", "x", { timeout: 1 }))).toBe("TIMEOUT");
    expect(await codeOf(() => journal.command?.("a", "x", { signal: AbortSignal.abort() }))).toBe("ABORTED");
  });
}
