import fc from "fast-check";
import { expect, test } from "vitest";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import type { Run } from "../../src/team/run.ts";
import { Team } from "../../src/team/team.ts";
import { simulatedProcesses, type SimulatedProcess } from "../simulated-processes.ts";
import { tries } from "../long.ts";
import { eventsOf } from "../team/recorded.ts";

/** Three roles that hand a message on, each after two steps, until it is long enough. */
function relay(): Role[] {
  const next: Record<string, string> = { Ann: "Bob", Bob: "Cid", Cid: "Ann" };
  return Object.keys(next).map((name) =>
    defineRole({
      name,
      watch: name === "Ann" ? ["UserRequirement"] : [],
      react: async (rc) => {
        let word = rc.news[0]?.content ?? "";
        for (const nth of [1, 2]) {
          word = await rc.step("letter", { word, nth }, async () => {
            for (let turn = 0; turn < 3; turn += 1) await nextMacrotask();
            return `${word}${name[0]}`;
          });
        }
        if (word.length < 12) rc.publish(rc.message(word, { sendTo: next[name] ?? "" }));
      },
    }),
  );
}

type End = "kill" | "drain" | "take" | "stop";

interface Life {
  readonly run: Run;
  readonly process: SimulatedProcess;
}

async function grown(run: Run, events: () => Promise<number>, to: number): Promise<void> {
  let isOver = false;
  void run.result.then(() => (isOver = true));
  while (!isOver && (await events()) < to) await nextMacrotask();
}

/** Lets process after process go on with a run, each until so many events more are there. */
async function relayed(lives: readonly (readonly [events: number, end: End])[]): Promise<{ events: RunEvent[]; ends: unknown[] }> {
  const journal = memoryJournal();
  const host = simulatedProcesses(journal);
  const count = async (): Promise<number> => (await journal.runs())[0]?.events ?? 0;
  const ends: unknown[] = [];
  let before: Life | undefined;
  for (const [more, end] of [...lives, [Infinity, "drain"] as const]) {
    const process = host.start();
    const team = new Team({ seed: "s", journal: process.journal, roles: relay(), poisonAfter: 1_000 });
    const run = team.run("", { id: "r", onOwned: "take" });
    await run.started;
    if (before !== undefined) ends.push((await before.run.result).status);
    await grown(run, count, (await count()) + more);
    if (end === "kill") process.kill();
    if (end === "drain") run.drain();
    if (end === "stop") run.stop();
    if (end === "drain" || end === "stop") ends.push((await run.result).status);
    before = end === "take" ? { run, process } : undefined;
  }
  return { events: await eventsOf(journal, "r"), ends };
}

test(
  "owners that take a run from one another, die, stop or give it back leave the record of one process",
  { tags: "numbers" },
  async () => {
    const whole = canonical((await relayed([])).events);
    const end = fc.constantFrom<End>("kill", "drain", "take", "stop");
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(12), end), { maxLength: 6 }), async (lives) => {
        const { events, ends } = await relayed(lives);
        expect(canonical(events)).toBe(whole);
        expect(ends.filter((status) => !["moved", "stopped", "finished"].includes(String(status)))).toEqual([]);
        const answers = events.flatMap((event) =>
          event.type === "step.ended" && event.retry !== true ? [`${event.act} ${event.key}`] : [],
        );
        expect(new Set(answers).size).toBe(answers.length);
      }),
      { numRuns: tries(12, 300) },
    );
  },
);
