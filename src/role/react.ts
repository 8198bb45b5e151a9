import { type Action, assertSameAction, isAction } from "./action.ts";
import type { RoleContext } from "./context.ts";
import { UsageError } from "../kernel/errors.ts";
import { isThenable } from "../kernel/value-kind.ts";
import { valueText } from "../kernel/value-text.ts";
import type { Message } from "../message/message.ts";
import { act, replaceNews, messagesOf } from "./act.ts";
import { planAndAct } from "./planner.ts";
import { joinedInputs, type ReactionSpec, triggersOf } from "./reaction.ts";
import type { Role, Said } from "./role.ts";
import { isForReaction, roleSpec, type RoleSpec } from "./role-spec.ts";
import { renderForPrompt } from "../model/chat-message.ts";

export interface Overrides {
  readonly think: boolean;
  readonly act: boolean;
}

/** Runs the whole reaction to the news, by the role's mode. An overridden `think` decides in every mode but `plan_and_act` and `agent`. */
export function react<S>(role: Role<S>, rc: RoleContext<S>, overrides: Overrides): Said | Promise<Said> {
  // Every activation passes here: no further call.
  const spec = (rc.spec?.role as unknown) === role ? (rc.spec as RoleSpec) : specOf(role, rc);
  if (spec.mode === "agent") return reactAndWork(role, spec, rc, overrides);
  if (spec.mode === "plan_and_act") return planAndAct(role, rc, overrides.act);
  if (spec.reactions.length > 0 && spec.mode === "by_cause" && !overrides.think) return reactByCause(role, spec, rc, overrides);
  const only = spec.actions.length === 1 && !overrides.think ? spec.actions[0] : undefined;
  return only === undefined ? thinkAndAct(role, spec, rc) : actOnce(role, spec, rc, only);
}

/** Runs the reactions of an agent to their causes. The agent works on the other news. */
async function reactAndWork<S>(role: Role<S>, spec: RoleSpec, rc: RoleContext<S>, overrides: Overrides): Promise<Said> {
  const mode = await agentMode();
  if (spec.reactions.length === 0) return mode.reactAsAgent(role, spec, rc);
  const said = messagesOf(await reactByCause(role, spec, rc, overrides), rc.name);
  const rest = rc.news.filter(({ causeBy }) => !isForReaction(spec, causeBy));
  if (rest.length === 0) return said;
  return [...said, ...messagesOf(await mode.reactAsAgent(role, spec, rc, rest), rc.name)];
}

/** A context passed from one role to another has the spec of the first. */
function specOf<S>(role: Role<S>, { spec }: RoleContext<S>): RoleSpec {
  return (spec?.role as unknown) === role ? (spec as RoleSpec) : roleSpec(role as unknown as Role);
}

/** Runs the only action of a role once, unless an override chooses. */
function actOnce<S>(role: Role<S>, spec: RoleSpec, rc: RoleContext<S>, only: Action): Said | Promise<Said> {
  const loop = reactLoop(rc);
  if (loop.turn > 0 || spec.maxReactLoop < 1) return undefined;
  if (spec.join !== undefined && !takesInputs(spec.join, rc)) return undefined;
  const acted = role.act(rc, only);
  if (isThenable(acted)) {
    return Promise.resolve(acted).then((said) => {
      loop.turn += 1;
      return said ?? undefined;
    });
  }
  loop.turn += 1;
  return acted ?? undefined;
}

/** Runs the only action of a role on the newest message of each of its needs, in any order of arrival. */
function takesInputs<S>(join: ReactionSpec, rc: RoleContext<S>): boolean {
  const inputs = join.needs.flatMap((need) => rc.memory.newestBy(need) ?? []);
  if (inputs.length < join.needs.length) return false;
  const others = rc.news.filter(({ causeBy }) => !join.on.has(causeBy));
  const newer = joinedInputs(join, rc.memory, rc.joins.consumed(0));
  if (newer === undefined) return others.length > 0;
  rc.joins.consume(0, newer);
  replaceNews(rc.news, [...inputs, ...others]);
  return true;
}

function thinkAndAct<S>(role: Role<S>, spec: RoleSpec, rc: RoleContext<S>, last?: Said): Said | Promise<Said> {
  if (reactLoop(rc).turn >= spec.maxReactLoop) return last;
  return then(role.think(rc), (thought) => {
    const action = ownAction(spec, rc.name, thought);
    if (action === undefined) return last;
    return then(role.act(rc, action), (acted) => {
      afterAction(spec, rc, acted);
      return thinkAndAct(role, spec, rc, acted ?? last);
    });
  });
}

/** Continues with a value at once, and with a promise when it resolves. */
function then<T, R>(value: T | PromiseLike<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return isThenable(value) ? Promise.resolve(value).then(next) : next(value);
}

function afterAction<S>(spec: RoleSpec, rc: RoleContext<S>, said: Said): void {
  reactLoop(rc).turn += 1;
  if (spec.mode !== "by_order" || said === undefined || said === null) return;
  const messages = messagesOf(said, rc.name);
  if (messages.length > 0) replaceNews(rc.news, messages);
}

/** Only the role's own actions were checked when it was hired. */
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

/** @param from the index of the first reaction to run, and the messages of those before it */
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
    const work = overrides.act ? role.act(rc, reaction.action) : act(rc, reaction.action, { news: triggers });
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

/** The state of one activation's loop of thinking and acting. */
export interface ReactLoop {
  turn: number;
  /** Index of the last action in the role's list; -1 before the first. */
  index: number;
}

function reactLoop<S>(rc: RoleContext<S>): ReactLoop {
  return (rc.loop ??= { turn: 0, index: -1 });
}

const HISTORY_IN_PROMPT = 50;

export function think<S>(role: Role<S>, rc: RoleContext<S>): Action | undefined | Promise<Action | undefined> {
  const spec = specOf(role, rc);
  const loop = reactLoop(rc);
  if (spec.actions.length === 0) return undefined;
  if (spec.actions.length === 1) return loop.turn === 0 ? spec.actions[0] : undefined;
  if (spec.mode === "by_order") return spec.actions[loop.turn];
  return chosenByModel(spec, rc, loop);
}

/** -1 ends the loop, and so does a second answer that is no index of an action. */
async function chosenByModel<S>(spec: RoleSpec, rc: RoleContext<S>, loop: ReactLoop): Promise<Action | undefined> {
  const prompt = choicePrompt(spec, rc, loop.index);
  let index = parseChoice(await rc.ask(prompt, { recall: false }), spec.actions.length);
  if (index === undefined) {
    const again = `${prompt}\n\nYour last answer was no such number. ${answerRule(spec)}`;
    index = parseChoice(await rc.ask(again, { recall: false }), spec.actions.length);
  }
  if (index === undefined) rc.logger.warn(`${rc.name} could not choose an action: the model gave no number twice. It stops here.`);
  if (index === undefined || index === -1) return undefined;
  loop.index = index;
  return spec.actions[index];
}

/** Returns the index of an action, or -1 for the end; undefined for an answer without either. */
export function parseChoice(reply: string, actions: number): number | undefined {
  const index = Number(/-?\d+/.exec(reply)?.[0]);
  return index >= -1 && index < actions ? index : undefined;
}

function choicePrompt<S>(spec: RoleSpec, rc: RoleContext<S>, previous: number): string {
  const history = rc.memory.get(HISTORY_IN_PROMPT).map(renderForPrompt).join("\n\n");
  const actions = spec.actions.map(
    (action, index) => `${index}. ${action.name}${action.description === "" ? "" : `: ${action.description}`}`,
  );
  return [
    `Here is the conversation so far:\n===\n${history}\n===`,
    `Your last action: ${previous === -1 ? "none yet" : `${previous}. ${spec.actions[previous]?.name ?? ""}`}`,
    `Choose what to do next:\n${actions.join("\n")}`,
    answerRule(spec),
  ].join("\n\n");
}

function answerRule(spec: RoleSpec): string {
  return `Answer with one number from 0 to ${spec.actions.length - 1} and nothing else, or with -1 when the work is done.`;
}

type AgentMode = typeof import("./agent-mode.ts");

let loaded: Promise<AgentMode> | undefined;

/**
 * Loads mode `agent` for the first role that uses it, because it is a quarter of the code of a company and most companies do not use it. An
 * environment waits for the code before it runs, so that no activation is delayed.
 */
export function agentMode(): Promise<AgentMode> {
  return (loaded ??= import("./agent-mode.ts").catch((error: unknown) => {
    // A failed load may succeed the next time.
    loaded = undefined;
    throw error;
  }));
}
