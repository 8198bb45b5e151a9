import { describe, expect, it } from "vitest";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { journalContract } from "../../src/testing/contracts/journal.ts";
import { journalOwnersContract } from "../../src/testing/contracts/journal-owners.ts";
import { simulatedProcesses } from "../simulated-processes.ts";

journalContract({ describe, it, expect }, "a simulated process", () => simulatedProcesses(memoryJournal()).start().journal);

journalOwnersContract(
  { describe, it, expect },
  {
    name: "simulatedProcesses",
    takes: true,
    make() {
      const host = simulatedProcesses(memoryJournal());
      return { first: host.start().journal, second: host.start().journal, close: () => Promise.resolve() };
    },
  },
);

describe("a simulated process that is killed", () => {
  it("does nothing more, and the next owner knows that it died", async () => {
    const host = simulatedProcesses(memoryJournal());
    const [first, second] = [host.start(), host.start()];
    await first.journal.create("a");
    await first.journal.claim("a", { lost: () => expect.unreachable("it is dead"), command: () => Promise.resolve("alive") });
    first.kill();
    await expect(second.journal.command?.("a", "x")).rejects.toMatchObject({ code: "RUN_UNOWNED" });
    const claim = await second.journal.claim("a");
    expect(claim.former).toBe("died");
    const late = first.journal.create("b").then(() => "done");
    expect(await Promise.race([late, new Promise((resolve) => void setImmediate(() => resolve("nothing")))])).toBe("nothing");
    expect((await second.journal.runs()).map(({ runId }) => runId)).toEqual(["a"]);
  });

  it("needs a journal that reports and takes commands", () => {
    expect(() => simulatedProcesses({} as never)).toThrow(expect.objectContaining({ code: "ARGUMENT_INVALID" }));
  });
});
