import { aText, object, takes } from "../kernel/argument.ts";
import { stopSignal } from "../kernel/abort.ts";
import { guardResult } from "../kernel/run-handle.ts";
import { checkGivenOptions, checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import type { Clock } from "../kernel/clock.ts";
import { defined } from "../kernel/value-kind.ts";
import { UsageError } from "../kernel/errors.ts";
import type { StepPort } from "../kernel/step.ts";
import { type TaskFields, taskOf } from "./task.ts";
import { callPolicy, type CallPolicy, checkTuning } from "../model/call.ts";
import type { ChatModel } from "../model/chat-model.ts";
import type { Agent } from "./agent.ts";
import { EventLog } from "./events.ts";
import { FlowRunner } from "./flow-runner.ts";
import { type FlowEvent, flowEventKinds, type FlowResult, flowResultMembers } from "./flow-plan.ts";

/** An agent does one step at a time in one conversation; a function makes an agent for each step. */
export type FlowExecutor = Agent | (() => Agent);

/** Options of a flow. */
export interface PlanningFlowOptions {
  /** Plans and sums up. */
  readonly model: ChatModel;
  /** By the type of their steps, in any case of letters. The first one does all other steps. */
  readonly executors: Readonly<Record<string, FlowExecutor>>;
  /** Default: the model plans them. */
  readonly tasks?: readonly TaskFields[];
  /** Tries of one step before a new plan. Default 2. */
  readonly tries?: number;
  /** Default 2. */
  readonly replans?: number;
  /** Steps that run at the same time. Default 4. */
  readonly concurrency?: number;
  /** Steps of one plan. Default 20. */
  readonly maxSteps?: number;
  /** A role's `ctx.steps`. Give the executors the same. */
  readonly steps?: StepPort;
  readonly clock?: Clock;
  readonly calls?: Partial<CallPolicy>;
}

const planningFlowOptions: Known<PlanningFlowOptions> = {
  model: kinds.model,
  executors: kinds.record(kinds.either(kinds.function, kinds.having("an agent", "run"))),
  tasks: kinds.list(kinds.object),
  ...kinds.each(kinds.checked, "tries", "replans", "concurrency", "maxSteps"),
  steps: kinds.steps,
  clock: kinds.clock,
  calls: kinds.options(callPolicy),
};

type FlowLimits = Required<Pick<PlanningFlowOptions, "tries" | "replans" | "concurrency" | "maxSteps">>;

const DEFAULTS: FlowLimits = { tries: 2, replans: 2, concurrency: 4, maxSteps: 20 };

export type FlowParts = ReturnType<typeof flowParts>;

function flowParts(options: PlanningFlowOptions) {
  checkGivenOptions("new PlanningFlow", options, planningFlowOptions);
  takes("new PlanningFlow", "executors", options.executors, object("agents by their names"));
  const { tries, replans, concurrency, maxSteps } = options;
  const limits = { ...DEFAULTS, ...defined({ tries, replans, concurrency, maxSteps }) };
  const names = Object.keys(options.executors);
  const executors = new Map(Object.entries(options.executors).map(([type, executor]) => [type.toLowerCase(), executor]));
  const [first] = executors.values();
  if (first === undefined) throw invalid("at least one executor", "none");
  if (executors.size < names.length) throw invalid("executors of different names, upper and lower case aside", names.join(", "));
  for (const [name, limit] of Object.entries(limits)) {
    const least = name === "replans" ? 0 : 1;
    if (!Number.isSafeInteger(limit) || limit < least) throw invalid(`${name} to be a whole number of ${least} or more`, String(limit));
  }
  checkTuning({ retry: options.calls?.retry, timeouts: options.calls?.timeouts });
  for (const task of options.tasks ?? []) taskOf(task);
  return { options, limits, executors, first };
}

function invalid(expected: string, got: string): UsageError {
  return new UsageError("FLOW_INVALID", `Expected ${expected}, got ${got}.`);
}

/** A run of a flow. */
export interface FlowRun extends AsyncIterable<FlowEvent> {
  /** Never rejects. */
  readonly result: Promise<FlowResult>;
  stop(reason?: string): void;
}

/**
 * Reaches a goal by a plan: steps that depend on each other, each done by the agent of its type, with the results it needs. Independent
 * steps run at the same time. A step that fails is tried again; then the rest gets a new plan; then the step is blocked with all that
 * depends on it.
 * @example
 * import { Agent, PlanningFlow } from "troupe/agents";
 * import { scriptedModel } from "troupe/testing";
 *
 * const plan = JSON.stringify({ steps: [{ id: "facts", instruction: "collect facts on bridges", type: "research" }] });
 * const flow = new PlanningFlow({
 *   model: scriptedModel([plan]),
 *   executors: { research: new Agent({ name: "Ria", model: scriptedModel(["They lead over rivers."]) }) },
 * });
 * console.log((await flow.run("What are bridges?").result).answer); // They lead over rivers.
 */
export class PlanningFlow {
  readonly #parts: FlowParts;

  /** @throws UsageError `FLOW_INVALID` */
  constructor(options: PlanningFlowOptions) {
    this.#parts = flowParts(options);
  }

  /** Concurrent runs are possible if the executors allow them. */
  run(goal: string, o: { readonly signal?: AbortSignal } = {}): FlowRun {
    takes("run of a flow", "goal", goal, aText);
    checkKnownOptions("run of a flow", o, { signal: kinds.signal });
    const log = new EventLog<FlowEvent>(flowEventKinds);
    const { signal, stop, end } = stopSignal(o.signal);
    const result = new FlowRunner(this.#parts, goal, signal, log).result().finally(end);
    return guardResult({ result, stop, [Symbol.asyncIterator]: () => log.read() }, "flow.run(goal)", flowResultMembers);
  }
}
