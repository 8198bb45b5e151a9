import { describe, expect, it } from "vitest";
import { type Fleet, knownRun, recordedRun, untilBegun } from "../../src/cli/fleet.ts";
import type { Session } from "../../src/cli/session.ts";
import { startWorker } from "../../src/fleet/index.ts";
import { defineAction, defineRole, memoryJournal, Team } from "../../src/index.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { codeOf } from "../../src/testing/contracts/contract-kit.ts";
import { memoryRunDriver } from "../../src/testing/index.ts";

describe("a run of a fleet that a command names", () => {
  it("may wait without a record: it is found by its beginning, and followed from when a worker begins it until its job is gone", async () => {
    const [journal, driver] = [memoryJournal(), memoryRunDriver()];
    const fleet = { journal, driver } as unknown as Fleet;
    const Say = defineAction({ name: "Say", run: () => "said" });
    const team = new Team({ name: "sayers", roles: [defineRole({ name: "Sal", actions: [Say] })], journal, driver });
    const said: string[] = [];
    const waits: { begin: () => unknown } = { begin: () => undefined };
    const screen = { say: (line: string) => (said.push(line), waits.begin()) };
    const interruptions = { signal: new AbortController().signal };
    const session = { host: { clock: systemClock }, interruptions, screen } as unknown as Session;

    await driver.submit({ runId: "waits-long", team: "sayers", idea: "a word" });
    expect(await codeOf(() => recordedRun(journal, "waits-l"))).toBe("RUN_UNKNOWN");
    expect(await knownRun(fleet, "waits-l")).toBe("waits-long");
    await driver.submit({ runId: "waits-less", team: "sayers", idea: "a word" });
    expect(await codeOf(() => knownRun(fleet, "waits-l"))).toBe("RUN_AMBIGUOUS");
    expect(await codeOf(() => knownRun(fleet, "waits-x"))).toBe("RUN_UNKNOWN");

    waits.begin = () => driver.cancel("waits-less");
    expect(await codeOf(() => untilBegun(session, fleet, "waits-less"))).toBe("RUN_UNKNOWN");
    let working: ReturnType<typeof startWorker> | undefined;
    waits.begin = () => (working = startWorker({ driver, journal, teams: [team] }));
    await untilBegun(session, fleet, "waits-long");
    expect(said).toEqual(["waits-less waits for a worker.", "waits-long waits for a worker."]);
    expect(await recordedRun(journal, "waits-l")).toBe("waits-long");
    await (await working)?.drain();
  });
});
