import type { RoleContext } from "../action/context.ts";
import type { Message } from "../message/message.ts";
import { actWith } from "./act.ts";
import { planAndAct } from "./planner.ts";
import { reactLoop } from "./react-loop.ts";
import { joinedInputs, triggersOf } from "./reaction.ts";
import type { Role, Said } from "./role.ts";
import { roleSpec, type RoleSpec } from "./role-spec.ts";
import { messagesOf } from "./said.ts";

/** Which parts of its life a role has overridden. */
export interface Overrides {
  readonly think: boolean;
  readonly act: boolean;
}

/** The whole reaction to the news, by the role's mode. An overridden `think` decides in every mode but `plan_and_act`. */
export async function react<S>(role: Role<S>, rc: RoleContext<S>, overrides: Overrides): Promise<Said> {
  const spec = roleSpec(role as unknown as Role);
  if (spec.mode === "plan_and_act") return planAndAct(role, rc, overrides.act);
  if (spec.reactions.length > 0 && spec.mode === "by_cause" && !overrides.think) return reactByCause(role, spec, rc, overrides);
  return thinkAndAct(role, spec, rc);
}

async function thinkAndAct<S>(role: Role<S>, spec: RoleSpec, rc: RoleContext<S>): Promise<Said> {
  const loop = reactLoop(rc);
  let last: Said;
  while (loop.turn < spec.maxReactLoop) {
    const action = await role.think(rc);
    if (action === undefined) break;
    last = (await role.act(rc, action)) ?? last;
    loop.turn += 1;
  }
  return last;
}

async function reactByCause<S>(role: Role<S>, spec: RoleSpec, rc: RoleContext<S>, overrides: Overrides): Promise<Said> {
  const said: Message[] = [];
  for (const [index, reaction] of spec.reactions.entries()) {
    const triggers = triggersOf(reaction, rc.news);
    if (triggers.length === 0) continue;
    const inputs = joinedInputs(reaction, rc.memory, rc.joins.consumed(index));
    if (inputs === undefined) continue;
    if (reaction.needs.length > 0) rc.joins.consume(index, inputs);
    const work = overrides.act ? role.act(rc, reaction.action) : actWith(rc, reaction.action, { news: triggers });
    said.push(...messagesOf(await work, rc.name));
  }
  return said;
}
