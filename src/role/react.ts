import { type Action, assertSameAction, isAction } from "./action.ts";
import type { RoleContext } from "./context.ts";
import { UsageError } from "../kernel/errors.ts";
import { isThenable } from "../kernel/value-kind.ts";
import { valueText } from "../kernel/value-text.ts";
import type { Message } from "../message/message.ts";
import { actWith } from "./act.ts";
import { agentMode } from "./late-agent.ts";
import { planAndAct } from "./planner.ts";
import { type ReactLoop, reactLoop } from "./react-loop.ts";
import { joinedInputs, type ReactionSpec, triggersOf } from "./reaction.ts";
import type { Role, Said } from "./role.ts";
import { roleSpec, type RoleSpec } from "./role-spec.ts";
import { messagesOf } from "./said.ts";

/** Which parts of its life a role has overridden. */
export interface Overrides {
  readonly think: boolean;
  readonly act: boolean;
}

/** The whole reaction to the news, by the role's mode. An overridden `think` decides in every mode but `plan_and_act` and `agent`. */
export function react<S>(role: Role<S>, rc: RoleContext<S>, overrides: Overrides): Said | Promise<Said> {
  const spec = roleSpec(role as unknown as Role);
  if (spec.mode === "agent") return agentMode().then(({ reactAsAgent }) => reactAsAgent(role, spec, rc));
  if (spec.mode === "plan_and_act") return planAndAct(role, rc, overrides.act);
  if (spec.reactions.length > 0 && spec.mode === "by_cause" && !overrides.think) return reactByCause(role, spec, rc, overrides);
  const only = spec.actions.length === 1 && !overrides.think ? spec.actions[0] : undefined;
  return only === undefined ? thinkAndAct(role, spec, rc) : actOnce(role, spec, rc, only);
}

/** Where there is one action and nobody else thinks, it is run, once, and there is nothing to think about. */
function actOnce<S>(role: Role<S>, spec: RoleSpec, rc: RoleContext<S>, only: Action): Said | Promise<Said> {
  const loop = reactLoop(rc);
  if (loop.turn > 0 || spec.maxReactLoop < 1) return undefined;
  const acted = role.act(rc, only);
  if (isThenable(acted)) return Promise.resolve(acted).then((said) => oneTurn(loop, said));
  return oneTurn(loop, acted);
}

function oneTurn(loop: ReactLoop, said: Said): Said {
  loop.turn += 1;
  return said ?? undefined;
}

/** As far as nothing waits; what has to be waited for is gone on with by {@link thinkAndActOn}. */
function thinkAndAct<S>(role: Role<S>, spec: RoleSpec, rc: RoleContext<S>): Said | Promise<Said> {
  const loop = reactLoop(rc);
  let last: Said;
  while (loop.turn < spec.maxReactLoop) {
    const thought = role.think(rc);
    if (isThenable(thought)) return thinkAndActOn(role, spec, rc, { thought, last });
    const action = ownAction(spec, rc.name, thought);
    if (action === undefined) break;
    const acted = role.act(rc, action);
    if (isThenable(acted)) return thinkAndActOn(role, spec, rc, { acted, last });
    last = acted ?? last;
    passOn(spec, rc, loop, acted);
  }
  return last;
}

/** What is waited for, and what was said before. */
type Half<S> = { readonly last: Said } & (
  | { readonly thought: ReturnType<Role<S>["think"]> }
  | { readonly acted: ReturnType<Role<S>["act"]> }
);

async function thinkAndActOn<S>(role: Role<S>, spec: RoleSpec, rc: RoleContext<S>, half: Half<S>): Promise<Said> {
  const loop = reactLoop(rc);
  let { last } = half;
  if ("acted" in half) {
    const acted = await half.acted;
    last = acted ?? last;
    passOn(spec, rc, loop, acted);
  }
  let thought = "thought" in half ? half.thought : undefined;
  while (loop.turn < spec.maxReactLoop) {
    const action = ownAction(spec, rc.name, await (thought ?? role.think(rc)));
    thought = undefined;
    if (action === undefined) break;
    const acted = await role.act(rc, action);
    last = acted ?? last;
    passOn(spec, rc, loop, acted);
  }
  return last;
}

/** An action is done. In mode `by_order` the next one works on what it said; where it said nothing, on what it worked on itself. */
function passOn<S>(spec: RoleSpec, rc: RoleContext<S>, loop: ReactLoop, said: Said): void {
  loop.turn += 1;
  if (spec.mode !== "by_order" || said === undefined || said === null) return;
  const messages = messagesOf(said, rc.name);
  if (messages.length > 0) loop.handed = { news: rc.news, messages };
}

/**
 * What a role chose to do: nothing, or one of its own actions, for only those were looked at when it was hired.
 *
 * @throws UsageError `THINK_RESULT`; `ACTION_DUPLICATE` for another action of the name of one of its own
 */
function ownAction(spec: RoleSpec, name: string, chosen: unknown): Action | undefined {
  if (chosen === undefined || chosen === null) return undefined;
  const own = isAction(chosen) ? spec.actions.find((action) => action.name === chosen.name) : undefined;
  if (isAction(chosen) && own !== undefined) {
    assertSameAction(own, chosen);
    return chosen;
  }
  const names = spec.actions.map((action) => action.name).join(", ");
  throw new UsageError(
    "THINK_RESULT",
    `Expected think of role ${name} to choose one of its actions (${names === "" ? "it has none" : names}) or nothing, ` +
      `got ${isAction(chosen) ? chosen.name : valueText(chosen)}. Give the role all actions it may choose: actions: [...].`,
  );
}

/** @param from the place of the first reaction that is looked at, and what those before it said */
function reactByCause<S>(
  role: Role<S>,
  spec: RoleSpec,
  rc: RoleContext<S>,
  overrides: Overrides,
  from: { readonly index: number; readonly said: readonly Message[] } = START,
): Said | Promise<Said> {
  const said = [...from.said];
  for (let index = from.index; index < spec.reactions.length; index += 1) {
    const reaction = spec.reactions[index] as ReactionSpec;
    const triggers = triggersOf(reaction, rc.news);
    if (triggers.length === 0) continue;
    if (reaction.needs.length > 0) {
      const inputs = joinedInputs(reaction, rc.memory, rc.joins.consumed(index));
      if (inputs === undefined) continue;
      rc.joins.consume(index, inputs);
    }
    const work = overrides.act ? role.act(rc, reaction.action) : actWith(rc, reaction.action, { news: triggers });
    if (isThenable(work)) {
      const next = index + 1;
      return Promise.resolve(work).then((came) =>
        reactByCause(role, spec, rc, overrides, { index: next, said: [...said, ...messagesOf(came, rc.name)] }),
      );
    }
    said.push(...messagesOf(work, rc.name));
  }
  return said;
}

const START = { index: 0, said: [] } as const;
