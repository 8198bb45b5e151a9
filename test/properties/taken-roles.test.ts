import fc from "fast-check";
import { expect, test } from "vitest";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { TroupeError } from "../../src/kernel/errors.ts";
import { defineAction } from "../../src/role/action.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { Team } from "../../src/team/team.ts";
import type { Run } from "../../src/team/run.ts";
import type { SchedulerOption } from "../../src/runtime/schedulers/scheduler.ts";
import { tries } from "../long.ts";
import { eventsOf, journalWith } from "../team/recorded.ts";
import { type Latency, shuffled } from "./outside.ts";

const NAMES = ["Una", "Vic"] as const;

/** A change of who plays a role, made when so many events of these types have been recorded. */
interface Change {
  readonly name: (typeof NAMES)[number];
  readonly back: boolean;
  readonly after: number;
}

const MOMENTS: ReadonlySet<RunEvent["type"]> = new Set(["act.ended", "step.started", "step.ended"]);

const REFUSED: ReadonlySet<string> = new Set(["ROLE_TAKEN", "ROLE_NOT_TAKEN"]);

/** Asks twice in a turn, once inside a step, and writes to the other until its turns are over. */
function partner(name: string, other: string, watch: readonly string[]): Role {
  const run = defineAction({
    name: `${name} speaks`,
    run: async (ctx) => {
      const turn = Number(ctx.state["turn"] ?? 0);
      ctx.state["turn"] = turn + 1;
      const said = await ctx.ask(`${name} ${turn}: ${ctx.text}`);
      const inner = await ctx.step("think", { turn }, (door) => door.ask(`why ${said}`));
      return turn < 3 ? ctx.message(`${said} ${inner} ${await ctx.ask(`and then ${turn}`)}`, { sendTo: other }) : undefined;
    },
  });
  return defineRole({ name, actions: [run], watch: [...watch] });
}

const roles = [partner("Una", "Vic", ["UserRequirement"]), partner("Vic", "Una", [])];

async function live(
  changes: readonly Change[],
  scheduler: SchedulerOption,
  latency: Latency,
  isThere: boolean,
  kept: readonly RunEvent[] = [],
) {
  const wait = async (): Promise<void> => {
    for (let turns = latency(); turns > 0; turns -= 1) await nextMacrotask();
  };
  const journal = await journalWith("r", kept);
  const model = scriptedModel(async () => (await wait(), "m"));
  const human = async (): Promise<string> => (await wait(), "p");
  const team = new Team({ seed: "s", scheduler, roles, model, journal, ...(isThere ? { human } : {}) });
  const made: Promise<void>[] = [];
  let moments = kept.filter(({ type }) => MOMENTS.has(type)).length;
  const change = async (run: Run): Promise<void> => {
    moments += 1;
    for (const { name, back, after } of changes) {
      if (after === moments) made.push((back ? run.giveBackRole(name) : run.takeRole(name, { by: "Cleo" })).catch(isRefused));
    }
  };
  let run = team.run("idea", { id: "r" });
  for (;;) {
    for (const type of MOMENTS) run.on(type, () => void change(run));
    const result = await run.result;
    await Promise.all(made);
    if (result.status !== "waiting") return { events: await eventsOf(journal, "r"), result, team };
    const [question] = result.questions;
    // A question that is open no longer is its model's.
    run = question === undefined ? team.resume("r") : await team.answer("r", question.id, "p").catch(() => team.resume("r"));
  }
}

function isRefused(error: unknown): void {
  if (!(error instanceof TroupeError && REFUSED.has(error.code))) throw error;
}

async function replayed(team: Team): Promise<string> {
  const replay = team.replay("r");
  const events: RunEvent[] = [];
  for await (const event of replay) events.push(event);
  expect((await replay.result).error).toBeUndefined();
  return canonical(events);
}

test(
  "a run whose roles are taken and given back at any moment ends, replays, goes on after a cut, and forks",
  { tags: "numbers" },
  async () => {
    const changes = fc.array(fc.record({ name: fc.constantFrom(...NAMES), back: fc.boolean(), after: fc.integer({ min: 1, max: 60 }) }), {
      minLength: 1,
      maxLength: 8,
    });
    const scheduler = fc.constantFrom<SchedulerOption>("rounds", "eager", "sequential", "live");
    await fc.assert(
      fc.asyncProperty(
        changes,
        scheduler,
        fc.boolean(),
        fc.nat(),
        fc.double({ min: 0, max: 1, noNaN: true }),
        async (when, by, isThere, seed, at) => {
          const uncut = await live(when, by, shuffled(seed), isThere);
          expect(uncut.result.status).toBe("finished");
          expect(await replayed(uncut.team)).toBe(canonical(uncut.events));
          const cut = 2 + Math.floor(at * (uncut.events.length - 2));
          const { events, result, team } = await live(when, by, shuffled(seed + 1), isThere, uncut.events.slice(0, cut));
          expect(result.status).toBe("finished");
          expect(await replayed(team)).toBe(canonical(events));
          const fork = await team.fork("r", { id: "f", at: cut - 1 }).result;
          expect(["finished", "waiting"]).toContain(fork.status);
        },
      ),
      { numRuns: tries(6, 200) },
    );
  },
);
