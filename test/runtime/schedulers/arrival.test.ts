import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createMessage, defineRole, memoryJournal, type Message, retry, type Role, type RunEvent } from "../../../src/index.ts";
import { Environment } from "../../../src/runtime/environment.ts";
import type { EnvironmentOptions } from "../../../src/runtime/environment-options.ts";
import { silentLogger } from "../../../src/kernel/emit.ts";
import { apply, fold } from "../../../src/runtime/record/apply.ts";
import type { RunState } from "../../../src/runtime/record/run-state.ts";
import { restored, snapshotOf } from "../../../src/runtime/snapshot/snapshot.ts";
import type { SchedulerOption } from "../../../src/runtime/schedulers/scheduler.ts";

/*
 * The tick at which a message arrived, as a step role gets it, against the event after which the message is in the mailbox.
 */

const onFailure = retry(1, "skip");
const names = ["p0", "p1", "p2", "p3", "p4", "p5"];
const schedulers: readonly SchedulerOption[] = [
  ...(["rounds", "eager", "live", "sequential", "shuffled", "single", "events", "messages"] as const),
  { name: "poisson", rate: 1 },
  { name: "staged", stages: [["p0", "p1"], ["Person"]] },
];

/** Notes what it reads, and passes coins on, with `isSlow` some of them later. Now and then it fails, and reads the same once more. */
function person(kind: "step" | "steps", isSlow: boolean): Role {
  const failed = new Set<string>();
  const act = (seen: readonly string[], messages: readonly Message[], out: Parameters<NonNullable<Role["steps"]>>[2]) => {
    const draw = out.random();
    const key = `${out.name} ${messages.map(({ id }) => id).join()}`;
    if (draw > 0.9 && !failed.has(key)) {
      failed.add(key);
      throw new Error("breaks");
    }
    const sendTo = (): string => names[Math.floor(out.random() * names.length)] ?? "p0";
    if (isSlow && draw < 0.3) out.after(2.5, "coin", { sendTo: sendTo() });
    else for (let n = draw < 0.6 ? 1 : 2; n > 0; n -= 1) out.say("coin", { sendTo: sendTo() });
    return { seen: [...seen, ...messages.map((message) => `${message.id} ${out.arrivedAt(message)} ${out.tick}`)].slice(-60) };
  };
  const parts = { name: "Person", watch: [], state: z.object({ seen: z.array(z.string()).default([]) }) };
  if (kind === "step") return defineRole({ ...parts, onFailure, step: ({ seen }, message, out) => act(seen, [message], out) });
  return defineRole({ ...parts, onFailure, steps: ({ seen }, messages, out) => act(seen, messages, out) });
}

function town(kind: "step" | "steps", options: EnvironmentOptions, isSlow = true): Environment {
  const environment = new Environment({ seed: 9, clock: still, logger: silentLogger, ...options });
  const role = person(kind, isSlow);
  for (const name of names) environment.addRole(role, { name });
  environment.publishMessage(createMessage("go", { id: "go", sendTo: names, timestamp: 0 }));
  return environment;
}

const still = { now: () => 7, timer: () => () => {} };
const seenIn = (environment: Environment): readonly string[] =>
  names.flatMap((name) => ((environment.getRole(name)?.state["seen"] ?? []) as string[]).map((text) => `${name} ${text}`));

/** The ticks of the arrivals by role and message, and the last state. */
function arrivalsIn(events: readonly RunEvent[]): { readonly ticks: ReadonlyMap<string, number>; readonly state: RunState } {
  const ticks = new Map<string, number>();
  const state = fold([]);
  for (const event of events) {
    apply(state, event);
    for (const role of state.roles.values())
      for (const { id } of role.news()) if (!ticks.has(`${role.name} ${id}`)) ticks.set(`${role.name} ${id}`, state.tick);
  }
  return { ticks, state };
}

describe.each(["step", "steps"] as const)("the tick at which a message arrived, read by %s", (kind) => {
  it.each(schedulers.map((scheduler) => [typeof scheduler === "string" ? scheduler : scheduler.name, scheduler] as const))(
    "is that of the record under %s, also after a failure",
    async (_name, scheduler) => {
      const journal = memoryJournal();
      const environment = town(kind, { scheduler, journal, id: "r" });
      await environment.run({ rounds: 30 });
      const events: RunEvent[] = [];
      for await (const event of journal.read("r", 0)) events.push(event);
      const { ticks, state } = arrivalsIn(events);
      const seen = seenIn(environment);
      expect(seen.length).toBeGreaterThan(60);
      for (const text of seen) {
        const [name = "", id = "", arrived, tick] = text.split(" ");
        expect([text, Number(arrived)]).toEqual([text, ticks.get(`${name} ${id}`)]);
        expect(Number(arrived)).toBeLessThanOrEqual(Number(tick));
      }
      // A snapshot keeps the ticks of the mail that waits.
      const opened = restored("r", snapshotOf(state, events.at(-1)))?.state;
      for (const role of opened?.roles.values() ?? [])
        for (const { id } of role.news()) expect([id, role.arrivedAt(id)]).toEqual([id, ticks.get(`${role.name} ${id}`)]);
    },
  );

  it("is the same in rounds that nobody records", async () => {
    const worlds = [{ journal: memoryJournal(), id: "r" }, { memory: false }, { memory: false }] as const;
    const seen = await Promise.all(
      worlds.map(async (options, nth) => {
        const world = town(kind, options, false);
        // The last one is left and entered again after each round.
        for (let rounds = 0; rounds < 30; rounds += nth === 2 ? 1 : 30) await world.run({ rounds: nth === 2 ? 1 : 30 });
        return seenIn(world);
      }),
    );
    expect(seen[1]).toEqual(seen[0]);
    expect(seen[2]).toEqual(seen[0]);
  });
});

it("is refused for a message that the role does not read", async () => {
  const other = createMessage("other");
  const errors: unknown[] = [];
  for (const memory of [{}, { memory: false }] as const) {
    const environment = new Environment({ ...memory, logger: silentLogger });
    environment.addRole(defineRole({ name: "Ann", steps: (_state, _messages, out) => void out.arrivedAt(other) }));
    environment.publishMessage("go");
    errors.push((await environment.run()).error?.code);
  }
  expect(errors).toEqual(["MESSAGE_INVALID", "MESSAGE_INVALID"]);
});
