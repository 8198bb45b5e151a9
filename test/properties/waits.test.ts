import fc from "fast-check";
import { expect, test } from "vitest";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { defineAction } from "../../src/role/action.ts";
import type { ActionContext } from "../../src/role/context.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { fold } from "../../src/runtime/record/apply.ts";
import type { RunEvent, StepStarted } from "../../src/runtime/record/event.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { isWaitOver, openWaits } from "../../src/runtime/record/signals.ts";
import { Team } from "../../src/team/team.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import { tries } from "../long.ts";
import { simulatedProcesses } from "../simulated-processes.ts";
import { eventsOf } from "../team/recorded.ts";

const DAY = 86_400_000;
const SCHEDULERS = ["rounds", "eager", "sequential"] as const;

/** A wait for a signal, with its timeout in days if it has one, or a sleep of so many days. */
type Wait = { readonly name: "a" | "b"; readonly days: number | undefined } | { readonly name: ""; readonly days: number };

type Op =
  | { readonly do: "signal"; readonly name: "a" | "b"; readonly id: number }
  | { readonly do: "pass"; readonly days: number }
  | { readonly do: "turns"; readonly count: number }
  | { readonly do: "kill" };

async function waited(ctx: ActionContext, { name, days }: Wait): Promise<unknown> {
  if (name === "") return ctx.sleep(days * DAY);
  return ctx.waitFor(name, days === undefined ? {} : { timeout: days * DAY }).catch((error: { code: string }) => error.code);
}

function waiters(all: readonly (readonly Wait[])[]): Role[] {
  return all.map((waits, nth) =>
    defineRole({
      name: `R${nth}`,
      actions: [
        defineAction({
          name: `Wait${nth}`,
          run: async (ctx) => {
            const results: unknown[] = [];
            for (const wait of waits) results.push(await waited(ctx, wait));
            return JSON.stringify(results);
          },
        }),
      ],
    }),
  );
}

/** Lets a run live through the operations, in one process after the other, and lets the last one rest. */
async function lived(scheduler: (typeof SCHEDULERS)[number], waits: readonly (readonly Wait[])[], ops: readonly Op[]) {
  const journal = memoryJournal();
  const host = simulatedProcesses(journal);
  const begin = (now: number) => {
    const [process, clock] = [host.start(), simulatedClock(now)];
    const team = new Team({ seed: "s", scheduler, journal: process.journal, clock, roles: waiters(waits), poisonAfter: 1_000 });
    return { process, clock, team, run: team.run("go", { id: "r", wait: true }) };
  };
  const turns = async (count: number): Promise<void> => {
    for (let turn = 0; turn < count; turn += 1) await nextMacrotask();
  };
  let life = begin(0);
  for (const op of ops) {
    const { run, clock, process } = life;
    if (op.do === "signal") {
      // A finished run refuses it, and a killed process gives no receipt.
      const sent = run.signal(op.name, `${op.name}${op.id}`, { id: `${op.name}-${op.id}` }).catch(() => undefined);
      await Promise.race([sent, turns(op.id % 7)]);
    } else if (op.do === "pass") await Promise.race([clock.advance(op.days * DAY), turns(op.days * 3)]);
    else if (op.do === "turns") await turns(op.count);
    else {
      process.kill();
      life = begin(clock.now());
    }
  }
  life.process.kill();
  const last = begin(life.clock.now());
  await last.run.started;
  await turns(200);
  last.run.drain();
  await last.run.result;
  return { events: await eventsOf(journal, "r"), now: last.clock.now(), team: last.team };
}

function startsIn(events: readonly RunEvent[]): ReadonlyMap<string, StepStarted> {
  return new Map(events.flatMap((event) => (event.type === "step.started" ? [[`${event.act} ${event.key}`, event] as const] : [])));
}

const signalled = fc.record({
  name: fc.constantFrom("a" as const, "b" as const),
  days: fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined }),
});
const asleep = fc.record({ name: fc.constant("" as const), days: fc.integer({ min: 0, max: 9 }) });
const anyWaits = fc.array(fc.array(fc.oneof(signalled, asleep), { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 });
const anyOp: fc.Arbitrary<Op> = fc.oneof(
  fc.record({ do: fc.constant("signal" as const), name: fc.constantFrom("a" as const, "b" as const), id: fc.integer({ min: 0, max: 9 }) }),
  fc.record({ do: fc.constant("pass" as const), days: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ do: fc.constant("turns" as const), count: fc.integer({ min: 1, max: 30 }) }),
  fc.record({ do: fc.constant("kill" as const) }),
);

test("whatever comes when, each wait ends once, by a signal or after its time (Signals.G1)", { tags: "numbers" }, async () => {
  const property = fc.asyncProperty(fc.constantFrom(...SCHEDULERS), anyWaits, fc.array(anyOp, { maxLength: 25 }), async (...given) => {
    const { events, now, team } = await lived(...given);
    const starts = startsIn(events);
    const ends = events.flatMap((event) => (event.type === "step.ended" && event.retry !== true ? [event] : []));
    const names = ends.map(({ act, key }) => `${act} ${key}`);
    expect(new Set(names).size).toBe(names.length);
    const sent = events.flatMap((event) => (event.type === "message" && event.message.causeBy === "<signal>" ? [event.message] : []));
    const timeOf = (signal: string): number => sent.find(({ id }) => id === signal)?.timestamp ?? Infinity;
    const taken: Record<string, string[]> = { a: [], b: [] };
    for (const { act, key, value, at, byDeadline } of ends) {
      const { request, deadline = Infinity } = starts.get(`${act} ${key}`) ?? {};
      const { wait = "" } = request as { readonly wait?: string };
      if (byDeadline === true) expect([value, at >= deadline]).toEqual([null, true]);
      else taken[wait]?.push((value as { readonly signal: string }).signal);
      if (byDeadline !== true) expect(timeOf((value as { readonly signal: string }).signal)).toBeLessThanOrEqual(deadline);
    }
    expect(new Set(sent.map(({ id }) => id)).size).toBe(sent.length);
    for (const [name, ids] of Object.entries(taken)) {
      const came = sent.flatMap(({ id, metadata }) => (metadata["signal"] === name ? [id] : []));
      expect(new Set(ids)).toEqual(new Set(came.slice(0, ids.length)));
      expect(new Set(ids).size).toBe(ids.length);
    }
    const state = fold(events);
    expect(openWaits(state).filter((wait) => isWaitOver(state, wait, now))).toEqual([]);
    expect((await team.replay("r").result).error?.code).not.toBe("DIFFERENCE");
  });
  await fc.assert(property, { numRuns: tries(40, 1_500) });
});
