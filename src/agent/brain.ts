import { checkGivenOptions, checkKnownOptions, type Known } from "../kernel/known-options.ts";
import type { z } from "zod";
import { onAbort } from "../kernel/abort.ts";
import { type Clock, systemClock } from "../kernel/clock.ts";
import { AbortedError, UsageError } from "../kernel/errors.ts";
import type { BudgetPool } from "../kernel/budget.ts";
import { freshStepKey } from "../kernel/id.ts";
import { endingOf } from "../kernel/lifetime.ts";
import { directSteps, type StepPort } from "../kernel/step.ts";
import { budgetPool, isBudgetPool } from "../model/budget-pool.ts";
import type { CallPolicy } from "../model/call.ts";
import type { ChatModel, ChatRequest } from "../model/chat-model.ts";
import { allLimits, type LimitOptions, type ModelLimits, sharedLimits } from "../model/limits.ts";
import type { MicroUsd } from "../model/money.ts";
import { PoolSpender } from "../model/spender.ts";
import { steppedModel } from "../model/stepped-model.ts";
import type { AgentMemory } from "./agent-memory.ts";
import type { Tool } from "../tool/tool.ts";
import { checkBrainLimits } from "./brain-options.ts";
import { DEFAULT_MAX_STEPS } from "./lifecycle.ts";
import { type BrainEnd, BrainRun, type BrainRunParts } from "./brain-run.ts";
import { closeTools } from "./closed-tools.ts";
import { Compaction, type CompactionOptions } from "./compaction.ts";
import type { AgentEvent } from "./events.ts";
import type { LoopOptions } from "./loop-detector.ts";
import { ModelDesk } from "./model-client.ts";
import type { Net } from "./net.ts";
import { react } from "./nets/react.ts";
import { jitter } from "./jitter.ts";
import { RunTally } from "./run-tally.ts";
import { callRules, type CallRules, toolRunner } from "./tool-runner.ts";
import { WorkingMind } from "./working-mind.ts";

/** What a brain is made of. */
export interface BrainOptions extends CallRules {
  readonly model: ChatModel;
  /** How it thinks. Default {@link react}. */
  readonly net?: Net;
  /** Default 30. */
  readonly maxSteps?: number;
  /** Default "auto". */
  readonly toolChoice?: NonNullable<ChatRequest["toolChoice"]>;
  /** Said first in every request. */
  readonly systemPrompt?: string;
  /** Said last in every request in which it decides what to do; never stored. */
  readonly nextStepPrompt?: string;
  /** The door that effects pass: a role's. Default: none, and then calls of models get retries and limits of their own. */
  readonly steps?: StepPort;
  readonly clock?: Clock;
  /**
   * Most that all runs may spend together, in micro-dollars: see `usd`. Or a pool that others share: `budgetPool(usd(5))` of `troupe/limits`, or
   * the `budget` of a step. A model without a known price is refused then, unless `calls: { requirePrice: false }`. Not with `steps`: what
   * passes a role's door is bound by the budget of its run. Default: no bound.
   */
  readonly budget?: MicroUsd | BudgetPool;
  /** Tokens of requests and replies together, after which one run makes no further call. The last call may pass it. Default: no limit. */
  readonly tokenLimit?: number;
  /**
   * Bounds on model calls where no door makes them. Options hold for all runs together; `modelLimits(...)` of `troupe/limits` holds for
   * everybody who has the same object. Default: none.
   */
  readonly limits?: LimitOptions | ModelLimits;
  /** How models are called where no door does it: retries, limits, timeouts. */
  readonly calls?: Partial<CallPolicy>;
  /**
   * What the answer shall be as a value: it is read from the answer's text, and else the model is asked for it once the work is done, and once
   * more when its reply does not fit. Default: the answer is text alone.
   */
  readonly output?: z.ZodType;
  /** When the same again counts as a loop; false: never. */
  readonly loops?: LoopOptions | false;
  /** When and how room is made for requests. */
  readonly compaction?: CompactionOptions;
}

/** Their names. @internal */
export const brainOptions: Known<BrainOptions> = {
  ...callRules,
  model: true,
  output: true,
  net: true,
  maxSteps: true,
  toolChoice: true,
  systemPrompt: true,
  nextStepPrompt: true,
  steps: true,
  clock: true,
  calls: true,
  budget: true,
  tokenLimit: true,
  limits: true,
  loops: true,
  compaction: true,
};

/** What one run of a brain is given. */
export interface BrainRunOptions {
  readonly signal?: AbortSignal;
  /** Told of what happens. */
  readonly tell?: (event: AgentEvent) => void;
}

const brainRunOptions: Known<BrainRunOptions> = { signal: true, tell: true };

/**
 * Runs a net over a memory: it decides which state comes next, counts steps, streams what is said, and stops. It holds nothing of a run:
 * one brain may think over many memories at once.
 *
 * B1 after `maxSteps` steps no further one begins; finishing on the last one is finishing. B2 a memory that is done is not worked on.
 * B3 no state runs on the run's time after the signal has aborted: what it still waits for is left to itself.
 */
export class Brain {
  readonly net: Net;
  readonly maxSteps: number;
  readonly #options: BrainOptions;
  readonly #pool: BudgetPool | undefined;
  readonly #limits: ModelLimits | undefined;
  #compaction: Compaction | undefined;
  /** Models that are known to take no pictures. */
  readonly #blind = new WeakSet<ChatModel>();

  /** @throws UsageError `AGENT_INVALID` for limits under which nothing could be done. */
  constructor(options: BrainOptions) {
    checkGivenOptions("new Brain", options, brainOptions);
    this.#options = options;
    this.net = options.net ?? react();
    this.maxSteps = stepLimit(options.maxSteps);
    checkBrainLimits(options);
    const { budget, limits, calls, name = "agent" } = options;
    this.#pool = budget === undefined || isBudgetPool(budget) ? budget : budgetPool(budget, { name: `budget of ${name}` });
    this.#limits = allLimits(sharedLimits(limits), calls?.limits);
  }

  /**
   * Works until the memory is done or the steps are used up, and streams what is said. Goes on with work that the memory holds.
   *
   * @throws ControlError when the signal aborts. @throws ModelError, OutputError, and what a state of the net throws.
   */
  run(memory: AgentMemory, o: BrainRunOptions = {}): AsyncGenerator<string, BrainEnd, void> {
    return this.begin(memory, o).pieces;
  }

  /** The same with the sum of what was used, to be asked at any time. */
  begin(memory: AgentMemory, o: BrainRunOptions = {}): BrainRun {
    checkKnownOptions("run of a brain", o, brainRunOptions);
    const { signal, begin } = this.#options.steps === undefined ? ownSignal(o.signal) : sharedSignal(o.signal);
    const { maxSteps, net } = this;
    const { toolChoice = "auto", output } = this.#options;
    const opened = new Set<Tool>();
    const spender = this.#pool && new PoolSpender(this.#pool, `agent ${freshStepKey()}`);
    const mind = this.#mind(memory, signal, o.tell ?? (() => {}), opened, spender);
    const { clock = systemClock } = this.#options;
    const close = (): Promise<void> => closeTools(opened, { session: memory, clock, warn: (code, text) => mind.warn(code, text) });
    return new BrainRun({
      net,
      memory,
      mind,
      maxSteps,
      output,
      toolChoice,
      signal,
      tell: o.tell,
      begin: spendingBy(spender, begin),
      close,
    });
  }

  #mind(
    memory: AgentMemory,
    signal: AbortSignal,
    tell: (event: AgentEvent) => void,
    opened: Set<Tool>,
    spender?: PoolSpender,
  ): WorkingMind {
    const { model, systemPrompt, toolChoice = "auto", nextStepPrompt, loops = {} } = this.#options;
    const clock = this.#options.clock ?? systemClock;
    const steps = this.#options.steps ?? directSteps(signal, spender && (() => spender.attempts(endingOf(signal))));
    const requirePrice = spender !== undefined && this.#pool?.isBinding !== false;
    const policy: CallPolicy = { random: jitter(), requirePrice, ...this.#options.calls, clock, limits: this.#limits };
    const tally = new RunTally(this.#options.tokenLimit);
    this.#compaction ??= new Compaction(this.#options.compaction);
    const step = (): number => mind.step;
    const told = { memory, signal, tell, step };
    const desk = new ModelDesk({ model, steps, policy, systemPrompt, compaction: this.#compaction, blind: this.#blind, tally, ...told });
    const runCalls = toolRunner(this.#options, {
      ...told,
      steps,
      clock,
      opened: (tool) => opened.add(tool),
      model: (door) => steppedModel(model, { steps: door, policy, meter: () => tally.begin(model.id) }),
    });
    const mind: WorkingMind = new WorkingMind({ signal, clock, memory, desk, runCalls, toolChoice, nextStepPrompt, loops, tell });
    return mind;
  }
}

/** The signal of one run, and how it begins: what that gives back is for when the run is over. */
type RunSignal = Pick<BrainRunParts, "signal" | "begin">;

/** The same, and what is spent is counted when the run is over. */
function spendingBy(spender: PoolSpender | undefined, begin: RunSignal["begin"]): RunSignal["begin"] {
  if (spender === undefined) return begin;
  return () => {
    const over = begin();
    return () => {
      over();
      spender.close();
    };
  };
}

/** Why the signal of a run aborts that nobody stopped. */
const OVER = new AbortedError("the run of the agent is over");

/** What has its own door ends with the run. */
function ownSignal(outer: AbortSignal | undefined): RunSignal {
  const end = new AbortController();
  const begin = (): (() => void) => {
    if (outer?.aborted === true) end.abort(outer.reason);
    const letGo = outer === undefined ? undefined : onAbort(outer, () => end.abort(outer.reason));
    return () => {
      letGo?.();
      end.abort(OVER);
    };
  };
  return { signal: end.signal, begin };
}

/** What a role's door waits for is the role's, and is suspended with it. */
function sharedSignal(outer: AbortSignal | undefined): RunSignal {
  return { signal: AbortSignal.any(outer === undefined ? [] : [outer]), begin: () => () => {} };
}

/** @throws UsageError `AGENT_INVALID` */
export function stepLimit(maxSteps: number = DEFAULT_MAX_STEPS): number {
  if (Number.isSafeInteger(maxSteps) && maxSteps >= 1) return maxSteps;
  throw new UsageError(
    "AGENT_INVALID",
    `Expected maxSteps to be a whole number of 1 or more, got ${maxSteps}. Leave it out for ${DEFAULT_MAX_STEPS}.`,
  );
}
