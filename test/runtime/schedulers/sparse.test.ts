import { expect, it } from "vitest";
import { createMessage, defineRole } from "../../../src/index.ts";
import { Environment } from "../../../src/runtime/environment.ts";
import { ReadyRoles } from "../../../src/runtime/record/ready-roles.ts";
import type { RoleState } from "../../../src/runtime/record/role-state.ts";
import type { SchedulerOption } from "../../../src/runtime/schedulers/scheduler.ts";

/*
 * The work of a scheduler for one activation, counted in roles that it looks at, where few of many roles have mail.
 */

const counter = { looks: 0 };

function* counted<T>(items: Iterable<T>): SetIterator<T> {
  for (const item of items) {
    counter.looks += 1;
    yield item;
  }
}

class CountedRoles extends Map<string, RoleState> {
  override values(): MapIterator<RoleState> {
    return counted(super.values());
  }

  override [Symbol.iterator](): MapIterator<[string, RoleState]> {
    return counted(super.entries());
  }
}

class CountedReady extends ReadyRoles {
  override [Symbol.iterator](): SetIterator<RoleState> {
    return counted(super.values());
  }
}

const HOPS = 400;

/** Returns how many roles are looked at while two messages hop from role to role. */
async function looks(size: number, scheduler: SchedulerOption): Promise<number> {
  const environment = new Environment({ seed: 3, scheduler, memory: false });
  const hop = defineRole({
    name: "Hop",
    watch: [],
    step: (_state, _message, out) => void out.say("on", { sendTo: `p${Math.floor(out.random() * size)}` }),
  });
  for (let n = 0; n < size; n += 1) environment.addRole(hop, { name: `p${n}` });
  environment.publishMessage(createMessage("on", { sendTo: ["p0", `p${size - 1}`] }));
  const ready = new CountedReady();
  for (const role of environment.state.ready) ready.add(role);
  Object.assign(environment.state, { roles: new CountedRoles(environment.state.roles), ready });
  counter.looks = 0;
  await environment.run({ rounds: 1_000_000, stopWhen: ({ delivered }) => delivered >= HOPS });
  return counter.looks;
}

it.each(["sequential", "single", { name: "poisson", rate: 1 }, "events"] as const)(
  "%o looks at as many roles among many as among few",
  async (scheduler) => {
    const [few, many] = [await looks(50, scheduler), await looks(2_000, scheduler)];
    expect(many).toBeLessThan(few + HOPS);
  },
);
