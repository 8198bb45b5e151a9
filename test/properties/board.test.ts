import fc from "fast-check";
import { expect, test } from "vitest";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { defineAction } from "../../src/role/action.ts";
import type { RoleContext } from "../../src/role/context.ts";
import { retry } from "../../src/role/failure-policy.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { apply } from "../../src/runtime/record/apply.ts";
import type { BoardTask } from "../../src/runtime/board/board.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { RunState } from "../../src/runtime/record/run-state.ts";
import { Team } from "../../src/team/team.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import { board } from "../../src/tools/board.ts";
import { notes } from "../../src/tools/notes.ts";
import { tries } from "../long.ts";
import { simulatedProcesses } from "../simulated-processes.ts";
import { eventsOf } from "../team/recorded.ts";

const SCHEDULERS = ["rounds", "eager", "sequential"] as const;
const IDS = ["t1", "t2", "t3", "t4"];

const tasks = board();
const pad = notes();

/** What a role does next. `fail` fails the attempt, and `wait` lets others act. */
const anyDeed = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("add" as const), id: fc.constantFrom(...IDS), needs: fc.subarray(IDS, { maxLength: 1 }) }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("claim" as const), id: fc.option(fc.constantFrom(...IDS), { nil: undefined }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom("done" as const, "giveBack" as const, "block" as const, "reopen" as const),
      id: fc.constantFrom(...IDS),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("write" as const), version: fc.integer({ min: 0, max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("wait" as const, "fail" as const) }) },
);
type Deed = typeof anyDeed extends fc.Arbitrary<infer T> ? T : never;

async function happened(ctx: RoleContext, deed: Deed): Promise<unknown> {
  const at = tasks.at(ctx);
  switch (deed.do) {
    case "add":
      return at.add({ id: deed.id, title: ctx.name, needs: deed.needs });
    case "claim":
      return at.claim(deed.id);
    case "write":
      return pad.at(ctx).write("n", ctx.name, deed.version);
    case "wait":
      return ctx.step("wait", {}, async () => nextMacrotask().then(() => null));
    case "fail":
      throw new Error("failed");
    case "done":
      return at.done(deed.id);
    default:
      return at[deed.do](deed.id, "because");
  }
}

function roles(all: readonly (readonly Deed[])[]): Role[] {
  return all.map((deeds, nth) =>
    defineRole({
      name: `R${nth}`,
      onFailure: retry(1, "skip"),
      actions: [
        defineAction({
          name: `Act${nth}`,
          run: async (ctx) => {
            const answers: unknown[] = [];
            for (const deed of deeds) answers.push(await happened(ctx, deed));
            return JSON.stringify(answers);
          },
        }),
      ],
    }),
  );
}

/** Lets a run live, and kills its process after so many turns of the event loop, time after time. */
async function lived(scheduler: (typeof SCHEDULERS)[number], deeds: readonly (readonly Deed[])[], kills: readonly number[]) {
  const journal = memoryJournal();
  const host = simulatedProcesses(journal);
  const begin = () => {
    const process = host.start();
    const team = new Team({
      seed: "s",
      scheduler,
      journal: process.journal,
      clock: simulatedClock(0),
      roles: roles(deeds),
      poisonAfter: 1_000,
    });
    return { process, team, run: team.run("go", { id: "r" }) };
  };
  for (const turns of kills) {
    const { process } = begin();
    for (let turn = 0; turn < turns; turn += 1) await nextMacrotask();
    process.kill();
  }
  const { team, run } = begin();
  await run.result;
  return { events: await eventsOf(journal, "r"), team };
}

/** Follows each task through the record, and returns the last state. */
function followed(events: readonly RunEvent[]): RunState {
  const state = new RunState("");
  const names = new Set<string>();
  for (const event of events) {
    const before = new Map<string, BoardTask>([...state.board.tasks()].map((task) => [task.id, task]));
    apply(state, event);
    for (const [id, was] of before) {
      const now = state.board.task(id);
      expect(now).toBeDefined();
      // One that is done stays as it is, and an owner only follows an open task.
      if (was.state.kind === "done") expect(now).toEqual(was);
      if (was.owner !== undefined && now?.owner !== was.owner) expect(now?.owner).toBeUndefined();
      if (now?.state.kind === "done" && was.state.kind !== "done") expect([was.state.kind, was.owner]).toEqual(["claimed", now.owner]);
    }
    if (event.type !== "step.ended" || event.retry === true) continue;
    expect(names.has(`${event.act} ${event.key}`)).toBe(false);
    names.add(`${event.act} ${event.key}`);
    const { changed, tasks: [moved] = [] } = (event.value ?? {}) as { readonly changed?: boolean; readonly tasks?: readonly BoardTask[] };
    // Whoever hears that a task is claimed or done is its owner.
    if (changed === true && moved?.owner !== undefined) expect(moved.owner).toBe(event.act.split("#")[0]);
  }
  return state;
}

test(
  "whatever roles do, fail and die, no task is lost, done twice or owned by two (Board.B1, Board.B2, Board.B3)",
  { tags: ["numbers", "kill"] },
  async () => {
    const anyDeeds = fc.array(fc.array(anyDeed, { minLength: 1, maxLength: 8 }), { minLength: 2, maxLength: 4 });
    const anyKills = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 6 });
    const property = fc.asyncProperty(fc.constantFrom(...SCHEDULERS), anyDeeds, anyKills, async (...given) => {
      const { events, team } = await lived(...given);
      const { board: last, failures } = followed(events);
      const gone = [...failures.values()].map(({ role }) => role);
      // Each role acts once, so one that failed owns nothing.
      for (const name of last.owners) expect(gone).not.toContain(name);
      for (const task of last.ready()) expect([task.state.kind, task.owner, last.unmet(task)]).toEqual(["open", undefined, []]);
      const free = [...last.tasks("open")].filter(
        (task) => task.owner === undefined && task.needs.every((need) => last.task(need)?.state.kind === "done"),
      );
      expect(last.readyCount).toBe(free.length);
      expect((await team.replay("r").result).error).toBeUndefined();
    });
    await fc.assert(property, { numRuns: tries(40, 1_500) });
  },
);
