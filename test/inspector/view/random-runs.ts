import fc from "fast-check";
import { corrupt, delay, drop, duplicate } from "../../../src/edges/index.ts";
import type { Role } from "../../../src/role/role.ts";
import { memoryJournal } from "../../../src/runtime/record/memory-journal.ts";
import type { SchedulerOption } from "../../../src/runtime/schedulers/scheduler.ts";
import type { Run } from "../../../src/team/run.ts";
import { Team } from "../../../src/team/team.ts";
import { answering } from "../../runtime/town.ts";
import { eventsOf } from "../../team/recorded.ts";
import type { RunEvent } from "../../../src/runtime/record/event.ts";
import { live } from "../../properties/lives.ts";
import { shuffled } from "../../properties/outside.ts";
import { rolesOf, teamSketch } from "../../properties/random-team.ts";

/** The plan of a random run: its team, its scheduler, the bound of its mailboxes, and where its first process dies. */
export const runSketch = fc.record({
  team: teamSketch,
  scheduler: fc.constantFrom<SchedulerOption>("rounds", "eager", "live", "shuffled", "events", { name: "poisson", rate: 0.5 }),
  faults: fc.boolean(),
  mailbox: fc.constantFrom(undefined, { limit: 1, overflow: "drop-oldest" as const }),
  seed: fc.nat(),
  diesAt: fc.option(fc.nat({ max: 60 })),
});

const NAMES = ["Una", "Vic", "Wim"] as const;

/** The plan of a random run whose team changes: the changes of the boss in each of its turns. */
export const changingSketch = fc.record({
  turns: fc.array(fc.array(fc.record({ hires: fc.boolean(), name: fc.constantFrom(...NAMES) }), { maxLength: 3 }), {
    minLength: 1,
    maxLength: 3,
  }),
  scheduler: fc.constantFrom("rounds" as const, "eager" as const),
  overflow: fc.constantFrom("refuse" as const, "drop-oldest" as const),
});

/** Lives a run whose boss hires and retires roles while messages are on their way to them. */
export async function eventsOfChangingRun({
  turns,
  scheduler,
  overflow,
}: typeof changingSketch extends fc.Arbitrary<infer T> ? T : never): Promise<readonly RunEvent[]> {
  const journal = memoryJournal();
  const now: { run?: Run } = {};
  const definitions = new Map<string, Role>(
    NAMES.map((name) => [
      name,
      answering(name, (rc) => [
        rc.message("done", { sendTo: "Boss", speech: `I, ${name}, am done.` }),
        rc.message("for Vic", { sendTo: "Vic" }),
      ]),
    ]),
  );
  const boss = answering("Boss", async (rc) => {
    const turn = Number(rc.state["turn"] ?? 0);
    rc.state["turn"] = turn + 1;
    for (const { hires, name } of turns[turn] ?? []) {
      await rc.step("change", { name, hires, turn }, async () => {
        const change = hires ? now.run?.hire(definitions.get(name) as Role) : now.run?.retire(name);
        // A role that is there is not hired again, and none is retired twice.
        await change?.catch(() => undefined);
        return null;
      });
    }
    if (turn >= turns.length) return undefined;
    return ["Una", "Vic", "Wim", "Vic"].map((sendTo) => rc.message(`work ${turn}`, { sendTo }));
  });
  const roles = [boss, ...NAMES.map((name) => definitions.get(name) as Role)];
  const mailbox = overflow === "refuse" ? {} : { mailbox: { limit: 2, overflow } };
  now.run = new Team({ seed: "s", scheduler, roles, reserve: roles, journal, ...mailbox }).run("idea", { id: "r" });
  await now.run.result;
  return eventsOf(journal, "r");
}

/** Lives a random run, in one process or in two, and returns its events. */
export async function eventsOfRun({
  team,
  scheduler,
  faults,
  mailbox,
  seed,
  diesAt,
}: typeof runSketch extends fc.Arbitrary<infer T> ? T : never): Promise<readonly RunEvent[]> {
  const edges = faults ? [drop(0.2), delay(0, 3), duplicate(0.3, 2), corrupt(0.2)] : [];
  const options = { scheduler, edges, ...(mailbox === undefined ? {} : { mailbox }) };
  const company = { roles: (outside: Parameters<typeof rolesOf>[1]) => rolesOf(team, outside, true), options };
  const { events } = await live(company, [], shuffled(seed));
  if (diesAt === null || diesAt >= events.length) return events;
  return (await live(company, events.slice(0, diesAt), shuffled(seed + 1))).events;
}
