import { Action, type ChatModel, type MicroUsd, priceOf, type PriceTable } from "../../src/index.ts";
import type { RoleDescription } from "../../src/inspector/index.ts";
import type { Worker } from "./crew-graph.ts";
import { declaredTraits } from "./declared-action.ts";

/** A number of calls, or the reason why they are not bounded. */
export type CallBound = number | string;

/** The most that a role can do in one run. */
export interface RoleBound {
  readonly name: string;
  readonly activations: number;
  /** Undefined where only the budget bounds them. */
  readonly calls: number | undefined;
  readonly unbounded?: string;
  /** Micro-dollars; undefined where the calls are not bounded, or the price is not known. */
  readonly cost: MicroUsd | undefined;
}

const CALLS_OF_TYPED = 3;
const CALLS_OF_PLAN = 3 * CALLS_OF_TYPED;
/** The limit of a model that has none. */
const OUTPUT_TOKENS = 16_384;

/** @param starts the workers of the role, and how often each can start */
export function roleCalls(role: RoleDescription, starts: readonly (readonly [worker: Worker, activations: number])[]): CallBound {
  if (role.mode === "step") return 0;
  if (!role.isPlain) return `code of ${role.name} decides how often it asks`;
  let sum = 0;
  for (const [worker, activations] of starts) {
    const bound = activations === 0 ? 0 : callsOfStart(role, worker);
    if (typeof bound === "string") return bound;
    sum += bound * activations;
  }
  return sum;
}

function callsOfStart({ mode, maxReactLoop, name }: RoleDescription, { id, actions }: Worker): CallBound {
  if (mode === "agent" && id === name) return (maxReactLoop ?? 0) + (actions[0]?.output === undefined ? 0 : CALLS_OF_TYPED);
  const code = actions.find((action) => !isQuestion(action));
  if (code !== undefined) return `code of ${code.name} decides how often it asks`;
  const calls = actions.map((action) => declaredTraits(action)?.calls ?? (action.output === undefined ? 1 : CALLS_OF_TYPED));
  const dearest = Math.max(0, ...calls);
  const sum = calls.reduce((total, one) => total + one, 0);
  switch (mode) {
    case "agent":
    case "by_cause":
      return sum;
    case "by_order":
      return Math.min(sum, (maxReactLoop ?? actions.length) * dearest);
    case "plan_and_act":
      if (maxReactLoop !== undefined) return CALLS_OF_PLAN + maxReactLoop * dearest;
      return `the model of ${name} decides how many tasks its plan has; give it a number of steps`;
    default:
      // A single action simply runs; else the model chooses each one, by a question of its own.
      return actions.length < 2 ? sum : (maxReactLoop ?? 0) * (1 + dearest);
  }
}

export function isQuestion(action: Action): boolean {
  return declaredTraits(action) !== undefined || action.run === Action.prototype.run;
}

export function costOfCalls(
  calls: number,
  model: Pick<ChatModel, "id" | "price" | "maxOutputTokens">,
  prices: PriceTable,
  inputTokens: number,
): MicroUsd | undefined {
  const price = priceOf(model, prices);
  if (price === undefined) return undefined;
  const output = model.maxOutputTokens ?? price.maxOutput ?? OUTPUT_TOKENS;
  const { longPrompt } = price;
  const tier = longPrompt !== undefined && inputTokens > longPrompt.over ? longPrompt : price;
  // A dollar for a million tokens is a micro-dollar for one.
  return Math.ceil(calls * (inputTokens * tier.input + output * tier.output)) as MicroUsd;
}

/** The calls and the cost of all roles, undefined where they are not bounded. A budget bounds the cost too. */
export function crewCost(roles: readonly RoleBound[], budget: MicroUsd | undefined) {
  const sum = (of: "calls" | "cost"): number | undefined =>
    roles.reduce<number | undefined>((total, { [of]: own }) => (total === undefined || own === undefined ? undefined : total + own), 0);
  const cost = Math.min(sum("cost") ?? Infinity, budget ?? Infinity);
  return { calls: sum("calls"), cost: cost === Infinity ? undefined : (cost as MicroUsd) };
}
