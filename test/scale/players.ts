import { z } from "zod";
import { type Action, defineAction } from "../../src/role/action.ts";
import { Environment } from "../../src/runtime/environment.ts";
import type { EnvironmentOptions } from "../../src/runtime/environment-options.ts";
import { createMessage } from "../../src/message/message.ts";
import { defineRole, type Role } from "../../src/role/role.ts";

const PLENTY = 1_000_000_000;

/** Two who pass a count on to each other until it is `n`. */
export function players(
  n: number,
  options: EnvironmentOptions = {},
  kind: (name: string, other: string, n: number) => Role = player,
): Environment {
  return new Environment({ seed: "scale", scheduler: "eager", ...options }).addRoles([kind("One", "Other", n), kind("Other", "One", n)]);
}

/** The same, of a role that is a plain function. It counts its hits. */
export function stepper(name: string, other: string, n: number): Role {
  return defineRole({
    name,
    watch: [],
    state: z.object({ hits: z.number().default(0) }),
    step(state, { content }, out) {
      if (Number(content) < n) out.say(String(Number(content) + 1), { sendTo: other });
      return { hits: state.hits + 1 };
    },
  });
}

/** The same, of a full role. */
export function player(name: string, other: string, n: number): Role {
  const hit = defineAction({
    name: `Hit${name}`,
    run: ({ message, text }) => (Number(text) >= n ? undefined : message(String(Number(text) + 1), { sendTo: other })),
  });
  return defineRole({ name, watch: [], actions: [hit] });
}

/** Lets them play to the end, and gives the hops there were, where messages are kept. */
export async function played(environment: Environment): Promise<number> {
  environment.publishMessage(createMessage("0", { sendTo: "One" }));
  const { status, messages } = await environment.run({ rounds: PLENTY });
  if (status !== "finished") throw new Error(`Expected a run that finishes, got ${status}.`);
  return messages.length - 1;
}

export const say: Action = defineAction({ name: "Say", run: () => "go" });
const other = defineAction({ name: "Other", run: () => "go" });

/** So many who hear what is said, or nothing of it, and one who says it. */
export function audience({ listeners = 0, deaf = 0 }: { readonly listeners?: number; readonly deaf?: number }): Environment {
  const hear = defineAction({ name: "Hear", run: () => undefined });
  const listener = defineRole({ name: "Listener", profile: "", watch: [say], actions: [hear] });
  const busy = defineRole({ name: "Busy", profile: "", watch: [other], actions: [hear] });
  const environment = new Environment({ seed: "scale" }).addRole(defineRole({ name: "Speaker", actions: [say] }));
  for (let place = 0; place < deaf; place += 1) environment.addRole(busy, { name: `D${place}` });
  for (let place = 0; place < listeners; place += 1) environment.addRole(listener, { name: `L${place}` });
  return environment;
}
