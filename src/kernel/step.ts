import type { BudgetPool } from "./budget.ts";
import { freshStepKey } from "./id.ts";
import type { Json } from "./json.ts";
import type { Cancellation } from "./cancellation.ts";

/**
 * The door every side effect passes. A direct implementation just runs the effect; a recorded one writes it down under a
 * content address and answers it from the record next time.
 */
export interface StepPort {
  /**
   * Runs `effect`, or gives back its recorded result. The result is handed out as its JSON round trip.
   * Within one activation answers are released in the order asked.
   *
   * @throws StepError (or the ModelError, OutputError, WorkspaceError it was) when the effect failed, now or in the record.
   */
  step<T>(spec: StepSpec, effect: (door: StepDoor) => Promise<T>): Promise<T>;
}

/** A step: its kind, its name, and everything that decides its answer. */
export interface StepSpec {
  /** "model", "tool", "human", "file" ... : part of the address. */
  readonly kind: string;
  readonly name: string;
  /** Everything the answer depends on, and nothing else: no times, keys, run ids. Part of the address. */
  readonly request: unknown;
  /** True when an effect that may have happened can simply run again after a crash. Default true. */
  readonly idempotent?: boolean;
  /** The effect announces each try through `door.attempts` itself (models do). Default false: one try that holds nothing. */
  readonly metered?: boolean;
  /** Recorded, but run again on resume, replay and fork: for writes into a workspace. Default false. */
  readonly again?: boolean;
  /** Its answer depends on more than its request, as that of a read of files does: only its activation's own record answers it. Default false. */
  readonly fresh?: boolean;
  /** Called before the answer is handed out when the record gives it, so that the effect does not run. */
  readonly onRecorded?: ((given: StepTry) => void) | undefined;
}

/** A try of a step as `step.started` and `step.ended` name it. */
export interface StepTry {
  /** The activation; empty at a door that keeps no record. */
  readonly act: string;
  /** The step's key, unique within the activation. */
  readonly key: string;
  /** From 1. */
  readonly try: number;
}

/** The parts that an effect may use. */
export interface StepDoor extends StepPort {
  /** Names the step among all runs, the same after a resume and in a new attempt: use it as an idempotency key. */
  readonly key: string;
  /** `replay`: nothing outside a scratch place may change. */
  readonly mode: "live" | "replay";
  readonly signal: AbortSignal;
  /** The same cancellation without a signal. @internal */
  readonly ending?: Cancellation | undefined;
  readonly attempts: Attempts;
}

/** How an effect that may cost something announces each try before it starts and tells its cost after. Amounts are whole units the caller knows. */
export interface Attempts {
  /**
   * Reserves `hold` for the next try; waits while other reservations are open and it does not fit.
   *
   * @param o `unpriced`: nobody knows what it costs; it holds 0 then, and if its end is not told, its cost is unknown
   * @throws BudgetError when it does not fit and nothing is open.
   */
  open(hold: number, o?: { readonly unpriced?: boolean }): Promise<void>;
  /** Closes the try that is open with what it really cost. */
  settle(outcome: AttemptOutcome): void;
  /** The try opened last. A door that keeps no record has none. */
  readonly current?: StepTry | undefined;
  /** The budget that binds the effect, for what it starts: a run, an agent. What they spend of it is part of the step's cost. */
  readonly budget?: BudgetPool | undefined;
}

/** How a try ended. */
export interface AttemptOutcome {
  /** Undefined: unknown price. */
  readonly cost: number | undefined;
  /** Where the cost comes from: the provider's usage, the whole hold because no usage came, or nothing because the model never ran. */
  readonly basis: "usage" | "hold" | "none";
  readonly usage?: Json;
  /** Set when the try failed. */
  readonly error?: unknown;
}

/** A door that keeps no record: for agents and models used outside a run. */
export function directSteps(signal: AbortSignal, attempts: () => Attempts = () => free): StepPort {
  const step: StepPort["step"] = (_spec, effect) => effect({ key: freshStepKey(), mode: "live", signal, attempts: attempts(), step });
  return { step };
}

const opened = Promise.resolve();
const free: Attempts = { open: () => opened, settle: () => {} };
