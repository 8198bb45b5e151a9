import fc from "fast-check";
import { expect, test } from "vitest";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { TroupeError } from "../../src/kernel/errors.ts";
import type { Role } from "../../src/role/role.ts";
import type { SchedulerOption } from "../../src/runtime/schedulers/scheduler.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import type { RunResult } from "../../src/runtime/run-result.ts";
import type { Run } from "../../src/team/run.ts";
import { Team } from "../../src/team/team.ts";
import { cutsOf, tries } from "../long.ts";
import { answering, contents } from "../runtime/town.ts";
import { eventsOf, journalWith } from "../team/recorded.ts";
import { type Latency, shuffled, steady } from "./outside.ts";

const NAMES = ["Una", "Vic", "Wim", "Boss"] as const;
type Name = (typeof NAMES)[number];

/** A change of the team. One that is refused, such as the retirement of the last role, is no change. */
interface Change {
  readonly kind: "hire" | "retire";
  readonly name: Name;
}

/** The changes of the boss in its turns, one list for each. */
type Plan = readonly (readonly Change[])[];

interface Life {
  readonly plan: Plan;
  readonly begin: readonly Name[];
  readonly scheduler?: SchedulerOption;
  readonly latency?: Latency;
  /** Changes from outside, each when so many activations have ended. */
  readonly outside?: readonly (Change & { readonly after: number })[];
}

/** The refusals of a change that makes no sense, or that was made before the process died. */
const REFUSED: ReadonlySet<string> = new Set(["ROLE_DUPLICATE", "ROLE_UNKNOWN", "ROLES_NONE"]);

async function make(run: Run, { kind, name }: Change, role: Role): Promise<void> {
  try {
    await (kind === "hire" ? run.hire(role) : run.retire(name));
  } catch (error) {
    if (!(error instanceof TroupeError && REFUSED.has(error.code))) throw error;
  }
}

/** Lives a run from where its events end, in a fresh team. */
async function live(
  { plan, begin, scheduler = "rounds", latency = steady, outside = [] }: Life,
  kept: readonly RunEvent[] = [],
): Promise<{ readonly events: readonly RunEvent[]; readonly result: RunResult; readonly team: Team }> {
  const wait = async (): Promise<null> => {
    for (let turns = latency(); turns > 0; turns -= 1) await nextMacrotask();
    return null;
  };
  const now: { run?: Run } = {};
  const definitions = new Map<Name, Role>();
  const worker = (name: Name): Role =>
    answering(
      name,
      async (rc) => {
        // A prompt names the colleagues, so another team asks another question.
        await rc.step("look", { at: rc.introduction, heard: contents(rc.news) }, wait);
        return rc.message(`${name} did it`, { sendTo: "Boss" });
      },
      { watch: ["Boss"] },
    );
  const boss = answering("Boss", async (rc) => {
    const turn = Number(rc.state["turn"] ?? 0);
    rc.state["turn"] = turn + 1;
    const changes = plan[turn];
    if (changes === undefined) return undefined;
    for (const [nth, change] of changes.entries()) {
      await rc.step("change", { nth, ...change }, async () => {
        if (now.run !== undefined) await make(now.run, change, definitions.get(change.name) as Role);
        return wait();
      });
    }
    return [rc.message(`work ${turn}, ${rc.introduction}`), rc.message("for Una", { sendTo: "Una" })];
  });
  for (const name of NAMES) definitions.set(name, name === "Boss" ? boss : worker(name));
  const journal = await journalWith("r", kept);
  const roles = begin.map((name) => definitions.get(name) as Role);
  const team = new Team({ seed: "s", scheduler, description: "a shop", roles, reserve: definitions.values(), journal });
  const begun = team.run("idea", { id: "r" });
  now.run = begun;
  const made: Promise<void>[] = [];
  let ended = kept.filter(({ type }) => type === "act.ended").length;
  begun.on("act.ended", () => {
    ended += 1;
    for (const change of outside) if (change.after === ended) made.push(make(begun, change, definitions.get(change.name) as Role));
  });
  const result = await begun.result;
  await Promise.all(made);
  return { events: await eventsOf(journal, "r"), result, team };
}

async function replayed(team: Team): Promise<string> {
  const replay = team.replay("r");
  const events: RunEvent[] = [];
  for await (const event of replay) events.push(event);
  expect((await replay.result).error).toBeUndefined();
  return canonical(events);
}

/** The schedulers under which a run does not depend on how fast its roles are. */
const steadySchedulers: readonly SchedulerOption[] = [
  "rounds",
  "sequential",
  "shuffled",
  "single",
  "events",
  { name: "poisson", rate: 0.5 },
  { name: "staged", stages: [["Boss"], ["Una", "Vic"]] },
];

const change = fc.record({ kind: fc.constantFrom("hire", "retire"), name: fc.constantFrom(...NAMES) });
const plan = fc.array(fc.array(change, { maxLength: 3 }), { minLength: 1, maxLength: 3 });
const begin = fc.subarray(["Una", "Vic", "Wim"] as const).map((names): readonly Name[] => [...names, "Boss"]);

const told = ({ status, outputs, deadLetters, rounds }: RunResult): unknown => ({
  status,
  rounds,
  outputs: contents(outputs),
  dead: deadLetters.map(({ message, reason }) => [message.content, reason]),
});

test(
  "ScheduledRun.S6 a run whose team changes, cut off at any event, goes on to the same end, and replays",
  { tags: "numbers" },
  async () => {
    await fc.assert(
      fc.asyncProperty(plan, begin, fc.constantFrom(...steadySchedulers), async (changes, names, scheduler) => {
        const life: Life = { plan: changes, begin: names, scheduler };
        const uncut = await live(life);
        expect(uncut.result.status).toBe("finished");
        expect(await replayed(uncut.team)).toBe(canonical(uncut.events));
        for (const cut of cutsOf(uncut.events.length - 1)) {
          const { events, result, team } = await live({ ...life, latency: shuffled(cut) }, uncut.events.slice(0, cut));
          expect(canonical(events), `cut at ${cut}`).toBe(canonical(uncut.events));
          expect(told(result)).toEqual(told(uncut.result));
          if (cut % 7 === 0) expect(await replayed(team)).toBe(canonical(events));
        }
      }),
      { numRuns: tries(4, 80) },
    );
  },
);

test("a run whose team changes from outside at any moment replays, and so does what goes on after a cut", { tags: "numbers" }, async () => {
  const outside = fc.array(
    fc.record({ kind: fc.constantFrom("hire", "retire"), name: fc.constantFrom(...NAMES), after: fc.integer({ min: 1, max: 8 }) }),
    {
      minLength: 1,
      maxLength: 4,
    },
  );
  const scheduler = fc.constantFrom<SchedulerOption>(...steadySchedulers, "eager", "live");
  await fc.assert(
    fc.asyncProperty(
      plan,
      begin,
      outside,
      scheduler,
      fc.nat(),
      fc.double({ min: 0, max: 1, noNaN: true }),
      async (changes, names, more, by, seed, at) => {
        const life: Life = { plan: changes, begin: names, outside: more, scheduler: by, latency: shuffled(seed) };
        const uncut = await live(life);
        expect(uncut.result.status).toBe("finished");
        expect(await replayed(uncut.team)).toBe(canonical(uncut.events));
        const cut = 2 + Math.floor(at * (uncut.events.length - 2));
        const { events, result, team } = await live({ ...life, latency: shuffled(seed + 1) }, uncut.events.slice(0, cut));
        expect(result.status).toBe("finished");
        expect(await replayed(team)).toBe(canonical(events));
        const fork = team.fork("r", { id: "f", at: cut - 1 });
        expect((await fork.result).status).toBe("finished");
      },
    ),
    { numRuns: tries(8, 200) },
  );
});
