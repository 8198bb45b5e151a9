import { onAbort } from "../kernel/abort.ts";
import { type Clock, systemClock } from "../kernel/clock.ts";
import { AbortedError, UsageError } from "../kernel/errors.ts";
import { directSteps, type StepPort } from "../kernel/step.ts";
import type { CallPolicy } from "../model/call.ts";
import type { ChatModel, ChatRequest } from "../model/chat-model.ts";
import { steppedModel } from "../model/stepped-model.ts";
import type { AgentMemory } from "./agent-memory.ts";
import { checkBrainLimits, DEFAULT_MAX_STEPS } from "./brain-limits.ts";
import { type BrainEnd, BrainRun, type BrainRunParts } from "./brain-run.ts";
import { Compaction, type CompactionOptions } from "./compaction.ts";
import type { AgentEvent } from "./events.ts";
import type { LoopOptions } from "./loop-detector.ts";
import { ModelDesk } from "./model-desk.ts";
import type { Net } from "./net.ts";
import { react } from "./nets/react.ts";
import { jitter } from "./jitter.ts";
import { type CallRules, toolRunner } from "./tool-runner.ts";
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
  /** How models are called where no door does it: retries, limits, timeouts. */
  readonly calls?: Partial<CallPolicy>;
  /** When the same again counts as a loop; false: never. */
  readonly loops?: LoopOptions | false;
  /** When and how room is made for requests. */
  readonly compaction?: CompactionOptions;
}

/** What one run of a brain is given. */
export interface BrainRunOptions {
  readonly signal?: AbortSignal;
  /** Told of what happens. */
  readonly tell?: (event: AgentEvent) => void;
}

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
  #compaction: Compaction | undefined;

  /** @throws UsageError `AGENT_INVALID` for limits under which nothing could be done. */
  constructor(options: BrainOptions) {
    this.#options = options;
    this.net = options.net ?? react();
    this.maxSteps = stepLimit(options.maxSteps);
    checkBrainLimits(options);
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
    const { signal, begin } = this.#options.steps === undefined ? ownSignal(o.signal) : sharedSignal(o.signal);
    const { maxSteps, net } = this;
    const { toolChoice = "auto" } = this.#options;
    const mind = this.#mind(memory, signal, o.tell ?? (() => {}));
    return new BrainRun({ net, memory, mind, maxSteps, toolChoice, signal, tell: o.tell, begin });
  }

  #mind(memory: AgentMemory, signal: AbortSignal, tell: (event: AgentEvent) => void): WorkingMind {
    const { model, systemPrompt, toolChoice = "auto", nextStepPrompt, loops = {} } = this.#options;
    const clock = this.#options.clock ?? systemClock;
    const steps = this.#options.steps ?? directSteps(signal);
    const policy: CallPolicy = { random: jitter(), ...this.#options.calls, clock };
    this.#compaction ??= new Compaction(this.#options.compaction);
    const step = (): number => mind.step;
    const desk = new ModelDesk({ model, steps, policy, systemPrompt, memory, compaction: this.#compaction, signal, tell, step });
    const runCalls = toolRunner(this.#options, {
      memory,
      steps,
      clock,
      signal,
      tell,
      step,
      model: (door) => steppedModel(model, { steps: door, policy }),
    });
    const mind: WorkingMind = new WorkingMind({ signal, clock, memory, desk, runCalls, toolChoice, nextStepPrompt, loops, tell });
    return mind;
  }
}

/** The signal of one run, and how it begins: what that gives back is for when the run is over. */
type RunSignal = Pick<BrainRunParts, "signal" | "begin">;

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
