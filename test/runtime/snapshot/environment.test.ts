import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { UserRequirement } from "../../../src/message/address.ts";
import type { Json } from "../../../src/kernel/json.ts";
import { isRecord } from "../../../src/kernel/value-kind.ts";
import { defineRole, type Role } from "../../../src/role/role.ts";
import { delay, drop } from "../../../src/edges/index.ts";
import { Environment } from "../../../src/runtime/environment.ts";
import type { EnvironmentOptions, EnvironmentRunOptions } from "../../../src/runtime/environment-options.ts";
import { canonical } from "../../../src/runtime/record/canonical.ts";
import type { RunEvent } from "../../../src/runtime/record/event.ts";
import { tries } from "../../long.ts";
import { Outside, shuffled, stillClock } from "../../properties/outside.ts";
import { rolesOf, teamSketch } from "../../properties/random-team.ts";
import { codeOf } from "../../../src/testing/contracts/contract-kit.ts";
import { stateText } from "../state-text.ts";
import { answering } from "../town.ts";

const types: readonly RunEvent["type"][] = [
  ...(["run.started", "message", "act.started", "act.resumed", "step.started", "step.ended", "act.ended", "act.failed"] as const),
  ...(["round.ended", "clock.advanced", "role.hired", "role.retired", "run.resumed", "run.ended"] as const),
];

function eventsOf(environment: Environment, events: RunEvent[] = []): RunEvent[] {
  for (const type of types) environment.on(type, (event) => void events.push(event as RunEvent));
  return events;
}

/** Draws numbers, sends later, hears many at once, and has a state that grows. */
const walker = (name: string): Role =>
  defineRole({
    name,
    watch: [UserRequirement, "W0", "W1"],
    state: z.object({ met: z.array(z.string()).default([]) }),
    step({ met }, message, out) {
      const at = Math.floor(out.random() * 3);
      if (met.length < 6) out.say(`${name} at ${at} ${out.stream(`luck ${met.length}`)()}`, { sendTo: [`W${at}`] });
      if (at === 0 && met.length < 8) out.after(2, `${name} later`, { sendTo: ["W1"] });
      return { met: [...met, message.content] };
    },
  });

const sketches = fc.record({
  team: teamSketch,
  seed: fc.nat(),
  cut: fc.nat({ max: 4 }),
  mailbox: fc.constantFrom(undefined, { limit: 2, overflow: "drop-oldest" as const }),
  memory: fc.constantFrom(undefined, false as const),
  edges: fc.constantFrom([], [drop(0.2), delay(1, 3)]),
});

type World = typeof sketches extends fc.Arbitrary<infer T> ? T : never;

const rolesIn = ({ team }: World, outside: Outside): Role[] => [...rolesOf(team, outside, true), ...["W0", "W1", "W2"].map(walker)];

function begun(sketch: World, scheduler: "rounds" | "eager"): { readonly environment: Environment; readonly events: RunEvent[] } {
  const { seed, mailbox, memory, edges } = sketch;
  const outside = new Outside(shuffled(seed));
  const options: EnvironmentOptions = {
    ...{ seed, scheduler, concurrency: scheduler === "eager" ? 1 : 4, clock: stillClock, model: outside.model(), edges },
    ...(mailbox === undefined ? {} : { mailbox }),
    ...(memory === undefined ? {} : { memory }),
  };
  const environment = new Environment(options).addRoles(rolesIn(sketch, outside));
  const events = eventsOf(environment);
  environment.publishMessage("go");
  environment.publishMessage("walk");
  return { environment, events };
}

/** The bound of the first part of a run. */
function until(cut: number, scheduler: "rounds" | "eager", events: readonly RunEvent[]): EnvironmentRunOptions {
  if (scheduler === "rounds") return { rounds: cut };
  return { stopWhen: () => events.filter(({ type }) => type === "act.ended").length > cut };
}

describe("an environment that is restored from a snapshot", () => {
  test.each(["rounds", "eager"] as const)(
    "property: continues like one that was not restored, with %s",
    { tags: "numbers" },
    async (scheduler) => {
      await fc.assert(
        fc.asyncProperty(sketches, async (sketch) => {
          const whole = begun(sketch, scheduler);
          // It stops too: a message that is unread at a stop begins a turn.
          await whole.environment.run(until(sketch.cut, scheduler, whole.events));
          await whole.environment.run({ rounds: 30 });
          const { environment, events } = begun(sketch, scheduler);
          await environment.run(until(sketch.cut, scheduler, events));
          const snapshot = JSON.parse(JSON.stringify(await environment.snapshot())) as Json;
          const outside = new Outside(shuffled(sketch.seed + 1), events);
          const restored = await Environment.restore(snapshot, {
            ...{ roles: rolesIn(sketch, outside), clock: stillClock, model: outside.model() },
            ...{ concurrency: scheduler === "eager" ? 1 : 4, edges: sketch.edges },
          });
          expect(stateText(restored.state)).toBe(stateText(environment.state));
          eventsOf(restored, events);
          await restored.run({ rounds: 30 });
          expect(canonical(events)).toBe(canonical(whole.events));
          expect(stateText(restored.state)).toBe(stateText(whole.environment.state));
        }),
        { numRuns: tries(2, 400) },
      );
    },
  );

  test("has the roles by the names they were hired under, and records a new one", async () => {
    const pong = answering("Pong", (rc) => rc.message("ball", { sendTo: "<self>" }), { watch: [UserRequirement] });
    const world = new Environment({ seed: 1 }).addRole(pong, { name: "Paula" });
    world.publishMessage("go");
    await world.run({ rounds: 2 });
    const snapshot = await world.snapshot();
    const again = await Environment.restore(snapshot, { roles: [pong] });
    expect(again.roleNames).toEqual(["Paula"]);
    const events = eventsOf(again.addRole(pong, { name: "Peter" }));
    expect((await again.run({ rounds: 1 })).rounds).toBe(3);
    expect(events.filter(({ type }) => type === "run.started" || type === "role.hired")).toMatchObject([{ roles: [{ name: "Peter" }] }]);
    const changed = answering("Pong", () => undefined, { watch: [] });
    expect(await codeOf(() => Environment.restore(snapshot, { roles: [] }))).toBe("TEAM_CHANGED");
    expect(await codeOf(() => Environment.restore(snapshot, { roles: [changed] }))).toBe("TEAM_CHANGED");
  });

  test("is refused for what is no snapshot, is damaged, or was taken while a run was under way", async () => {
    const world = new Environment().addRole(answering("Ann", async () => undefined, { watch: [UserRequirement] }));
    const snapshot = await world.snapshot();
    if (!isRecord(snapshot)) throw new Error("no snapshot");
    const { state, ...rest } = snapshot;
    const damaged = { ...rest, state: `${JSON.stringify(state).slice(1, -9)}AAAAAAA=` };
    const wrong: unknown[] = [undefined, null, 3, [], {}, rest, damaged];
    const codes = wrong.map((one) => codeOf(() => Environment.restore(one as Json, { roles: [] })));
    expect(await Promise.all(codes)).toEqual([...wrong.map(() => "SNAPSHOT_INVALID")]);
    world.publishMessage("go");
    const running = world.run();
    expect(await codeOf(() => world.snapshot())).toBe("RUN_TWICE");
    await running;
  });
});
