import { Action, type ChatModel, type MicroUsd, priceOf, type PriceTable } from "../../src/index.ts";
import type { RoleDescription } from "../../src/inspector/index.ts";
import type { Worker } from "./crew-graph.ts";
import { declaredTraits } from "./declared-action.ts";

export type CallBound = { readonly kind: "calls"; readonly calls: number } | { readonly kind: "unbounded"; readonly why: string };

export interface Starts {
  readonly worker: Worker;
  readonly activations: number;
}

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

export interface CostOptions {
  readonly prices: PriceTable;
  readonly inputTokens: number;
}

const CALLS_OF_TYPED = 3;
const CALLS_OF_PLAN = 3 * CALLS_OF_TYPED;
/** The limit of a model that has none. */
const OUTPUT_TOKENS = 16_384;

export function roleCalls(role: RoleDescription, starts: readonly Starts[]): CallBound {
  if (role.mode === "step") return { kind: "calls", calls: 0 };
  if (!role.isPlain) return { kind: "unbounded", why: `code of ${role.name} decides how often it asks` };
  const all = starts.map(({ worker, activations }) => timesOf(callsOfStart(role, worker), activations));
  return (
    all.find(({ kind }) => kind === "unbounded") ?? {
      kind: "calls",
      calls: all.reduce((sum, one) => sum + (one.kind === "calls" ? one.calls : 0), 0),
    }
  );
}

function timesOf(bound: CallBound, times: number): CallBound {
  if (times === 0) return { kind: "calls", calls: 0 };
  return bound.kind === "unbounded" ? bound : { kind: "calls", calls: bound.calls * times };
}

function callsOfStart(role: RoleDescription, { actions }: Worker): CallBound {
  const { mode, maxReactLoop, name } = role;
  if (mode === "agent") {
    const typed = actions[0]?.output === undefined ? 0 : CALLS_OF_TYPED;
    return { kind: "calls", calls: (maxReactLoop ?? 0) + typed };
  }
  const each = actions.map(callsOfAction);
  const code = each.find(({ kind }) => kind === "unbounded");
  if (code !== undefined) return code;
  const calls = each.map((one) => (one.kind === "calls" ? one.calls : 0));
  const dearest = Math.max(0, ...calls);
  const sum = calls.reduce((total, one) => total + one, 0);
  switch (mode) {
    case "by_cause":
      return { kind: "calls", calls: sum };
    case "by_order":
      return { kind: "calls", calls: Math.min(sum, (maxReactLoop ?? actions.length) * dearest) };
    case "plan_and_act":
      if (maxReactLoop === undefined)
        return { kind: "unbounded", why: `the model of ${name} decides how many tasks its plan has; give it a number of steps` };
      return { kind: "calls", calls: CALLS_OF_PLAN + maxReactLoop * dearest };
    default:
      // A single action simply runs; else the model chooses each one, by a question of its own.
      return { kind: "calls", calls: actions.length < 2 ? sum : (maxReactLoop ?? 0) * (1 + dearest) };
  }
}

export function isQuestion(action: Action): boolean {
  return declaredTraits(action) !== undefined || action.run === Action.prototype.run;
}

function callsOfAction(action: Action): CallBound {
  if (!isQuestion(action)) return { kind: "unbounded", why: `code of ${action.name} decides how often it asks` };
  return { kind: "calls", calls: action.output === undefined ? 1 : CALLS_OF_TYPED };
}

export function costOfCalls(
  calls: number,
  model: Pick<ChatModel, "id" | "price" | "maxOutputTokens">,
  { prices, inputTokens }: CostOptions,
): MicroUsd | undefined {
  const price = priceOf(model, prices);
  if (price === undefined) return undefined;
  const output = model.maxOutputTokens ?? price.maxOutput ?? OUTPUT_TOKENS;
  const { longPrompt } = price;
  const tier = longPrompt !== undefined && inputTokens > longPrompt.over ? longPrompt : price;
  // A dollar for a million tokens is a micro-dollar for one.
  return Math.ceil(calls * (inputTokens * tier.input + output * tier.output)) as MicroUsd;
}

export function crewCost(
  roles: readonly RoleBound[],
  budget: MicroUsd | undefined,
): { readonly calls: number | undefined; readonly cost: MicroUsd | undefined } {
  const sum = (of: (role: RoleBound) => number | undefined): number | undefined =>
    roles.reduce<number | undefined>(
      (total, role) => (total === undefined || of(role) === undefined ? undefined : total + (of(role) ?? 0)),
      0,
    );
  const cost = sum(({ cost: own }) => own);
  const most = Math.min(cost ?? Infinity, budget ?? Infinity);
  return { calls: sum(({ calls }) => calls), cost: most === Infinity ? undefined : (most as MicroUsd) };
}
