import { createMessage, type MessageFields, type Role, type RunState, type StepOut } from "../../index.ts";
import { deepFreeze } from "../../kernel/json.ts";
import type { RandomStream } from "../../kernel/random.ts";
import type { ActEnded } from "../../runtime/record/event.ts";

/** True for the activation of a step role that draws nothing: done again, it would end in the same way. @param state before its end */
export function isFixed(role: Role | undefined, state: RunState, { role: name, take }: ActEnded): boolean {
  const held = state.roles.get(name);
  if (held === undefined || state.edges.length > 0 || (role?.step ?? role?.steps) === undefined) return false;
  let draws = 0;
  const draw = (): number => (draws += 1) / (draws + 1);
  const stream: RandomStream = Object.assign(draw, { split: () => stream });
  const say = <P>(content: string, fields: MessageFields<P> = {}) => createMessage<P>(content, fields);
  const out: StepOut = {
    ...{ name, round: state.round, tick: state.tick, random: draw, stream: () => stream, now: () => 0, say },
    after: (_delay, content, fields) => say(content, fields),
    arrivedAt: ({ id }) => held.arrivedAt(id),
  };
  try {
    const news = held.news(take);
    let own = deepFreeze(structuredClone(held.custom));
    if (role?.steps !== undefined) role.steps(own, news, out);
    else for (const message of news) own = deepFreeze((role?.step?.(own, message, out) ?? own) as typeof own);
    return draws === 0;
  } catch {
    // What it needs from its run is not here.
    return false;
  }
}
