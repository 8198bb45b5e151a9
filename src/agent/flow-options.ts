import { object, takes } from "../kernel/argument.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import type { Clock } from "../kernel/clock.ts";
import { UsageError } from "../kernel/errors.ts";
import type { StepPort } from "../kernel/step.ts";
import type { TaskFields } from "./task.ts";
import type { CallPolicy } from "../model/call.ts";
import type { ChatModel } from "../model/chat-model.ts";
import type { Agent } from "./agent.ts";

/** Who does steps of one type: an agent, which does one at a time and remembers them all, or a maker of a new one for each. */
export type FlowExecutor = Agent | (() => Agent);

/** What a flow is made of. */
export interface PlanningFlowOptions {
  /** Plans and sums up. */
  readonly model: ChatModel;
  /** By the type of steps they do; upper and lower case are the same. The first one does what has no type, or one that nobody has. */
  readonly executors: Readonly<Record<string, FlowExecutor>>;
  /** Tasks to begin with, instead of asking the model for them. */
  readonly tasks?: readonly TaskFields[];
  /** Tries of one step before another plan is made. Default 2. */
  readonly tries?: number;
  /** Other plans, when steps could not be done. Default 2. */
  readonly replans?: number;
  /** Steps under way at once. Default 4. */
  readonly concurrency?: number;
  /** Steps of one plan. Default 20. */
  readonly maxSteps?: number;
  /** The door that effects pass: a role's. Give the executors the same. */
  readonly steps?: StepPort;
  readonly clock?: Clock;
  readonly calls?: Partial<CallPolicy>;
}

const planningFlowOptions: Known<PlanningFlowOptions> = {
  model: true,
  executors: true,
  tasks: true,
  tries: true,
  replans: true,
  concurrency: true,
  maxSteps: true,
  steps: true,
  clock: true,
  calls: true,
};

/** What bounds a flow. */
type FlowLimits = Required<Pick<PlanningFlowOptions, "tries" | "replans" | "concurrency" | "maxSteps">>;

const DEFAULTS: FlowLimits = { tries: 2, replans: 2, concurrency: 4, maxSteps: 20 };

/** A flow's options, checked and filled in. */
export interface FlowParts {
  readonly options: PlanningFlowOptions;
  readonly limits: FlowLimits;
  /** By name in lower case. */
  readonly executors: ReadonlyMap<string, FlowExecutor>;
  /** Does what nobody else does. */
  readonly first: FlowExecutor;
}

/** @throws UsageError `FLOW_INVALID` without executors, with two of one name, or for limits under which nothing could be done. */
export function flowParts(options: PlanningFlowOptions): FlowParts {
  checkGivenOptions("new PlanningFlow", options, planningFlowOptions);
  takes("new PlanningFlow", "executors", options.executors, object("agents by their names"));
  const limits = { ...DEFAULTS, ...definedOf(options) };
  const names = Object.keys(options.executors);
  const executors = new Map(Object.entries(options.executors).map(([type, executor]) => [type.toLowerCase(), executor]));
  const [first] = executors.values();
  if (first === undefined) throw invalid("at least one executor", "none");
  if (executors.size < names.length) throw invalid("executors of different names, upper and lower case aside", names.join(", "));
  for (const [name, limit] of Object.entries(limits)) {
    const least = name === "replans" ? 0 : 1;
    if (!Number.isSafeInteger(limit) || limit < least) throw invalid(`${name} to be a whole number of ${least} or more`, String(limit));
  }
  return { options, limits, executors, first };
}

function definedOf(options: PlanningFlowOptions): Partial<FlowLimits> {
  const { tries, replans, concurrency, maxSteps } = options;
  return Object.fromEntries(Object.entries({ tries, replans, concurrency, maxSteps }).filter(([, value]) => value !== undefined));
}

function invalid(expected: string, got: string): UsageError {
  return new UsageError("FLOW_INVALID", `Expected ${expected}, got ${got}.`);
}
