import { createHook } from "node:async_hooks";
import { afterEach, describe, expect, test, vi } from "vitest";
import { defineAction } from "../../src/role/action.ts";
import type { RoleContext } from "../../src/role/context.ts";
import { ContextClosedError } from "../../src/kernel/errors.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { createMessage } from "../../src/message/message.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { answering, contents, listener, town } from "./town.ts";

const REGIMES = ["eager", "rounds"] as const;

/** Two that pass a count on to each other until it is reached; each acts at once, or after a wait. */
function players(hops: number, waits = false): Role[] {
  const player = (name: string, other: string): Role => {
    const hit = defineAction({
      name: `Hit${name}`,
      run: ({ message, text }) => {
        const said = Number(text) < hops ? message(String(Number(text) + 1), { sendTo: other }) : undefined;
        return waits ? Promise.resolve(said) : said;
      },
    });
    return defineRole({ name, watch: [], actions: [hit] });
  };
  return [player("One", "Other"), player("Other", "One")];
}

async function played(hops: number, scheduler: (typeof REGIMES)[number], waits = false): Promise<{ timers: number; said: string[] }> {
  let timers = 0;
  const timer: typeof systemClock.timer = (ms, fire) => {
    timers += 1;
    return systemClock.timer(ms, fire);
  };
  const environment = town(players(hops, waits), { scheduler, clock: { now: () => systemClock.now(), timer } });
  environment.publishMessage(createMessage("0", { sendTo: "One" }));
  const result = await environment.run({ rounds: 1_000_000 });
  expect(result.status).toBe("finished");
  return { timers, said: contents(environment.history) };
}

async function promisesOf(work: () => Promise<unknown>): Promise<number> {
  let promises = 0;
  const hook = createHook({ init: (_id, type) => void (promises += type === "PROMISE" ? 1 : 0) }).enable();
  try {
    await work();
  } finally {
    hook.disable();
  }
  return promises;
}

describe.each(REGIMES)("TU3 under %s, an activation that is over at once", (scheduler) => {
  afterEach(() => vi.unstubAllGlobals());

  test("says the same as one that waits, in the same order", async () => {
    const atOnce = await played(300, scheduler);
    expect(atOnce.said).toEqual(Array.from({ length: 301 }, (_, count) => String(count)));
    expect((await played(300, scheduler, true)).said).toEqual(atOnce.said);
  });

  test("RoleTurn.T2 sets no timer, and one that waits does", async () => {
    expect((await played(20, scheduler)).timers).toBe(0);
    expect((await played(20, scheduler, true)).timers).toBe(21);
  });

  test("Outbox.O3 has a closed door afterwards, also where it never used it", async () => {
    let kept: RoleContext | undefined;
    const environment = town([answering("Ann", (rc) => void (kept = rc)), listener("Bob")], { scheduler });
    environment.publishMessage("go");
    await environment.run();
    let happened = false;
    const late = kept?.step("late", {}, async () => (happened = true));
    await expect(late).rejects.toBeInstanceOf(ContextClosedError);
    expect(happened).toBe(false);
  });
});

test("ScheduledRun.S4 a hop that waits for nothing makes no promise of its own", { tags: ["numbers", "long"] }, async () => {
  await played(200, "eager");
  const few = await promisesOf(() => played(200, "eager"));
  const many = await promisesOf(() => played(2_200, "eager"));
  // A breath every so many turns is all that is waited for.
  expect(many - few).toBeLessThan(2_000 / 10);
  expect(many - few).toBeGreaterThan(0);
});
