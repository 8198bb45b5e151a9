import type { BudgetPool } from "./budget.ts";
import { freshStepKey } from "./id.ts";
import type { Json } from "./json.ts";
import type { Cancellation } from "./cancellation.ts";

/**
 * The interface that every side effect passes through. A direct implementation runs the effect; a recorded one records it under a content
 * address and answers it from the record next time.
 */
export interface StepPort {
  /**
   * Runs `effect`, or returns its recorded result. The result is its JSON round trip. Within one activation answers are released in the
   * order asked.
   *
   * @throws StepError (or the original ModelError, OutputError, WorkspaceError) when the effect failed, now or in the record.
   */
  step<T>(spec: StepSpec, effect: (door: StepDoor) => Promise<T>): Promise<T>;
}

/** A step: its kind, its name, and everything that determines its answer. */
export interface StepSpec {
  /** "model", "tool", "human", "file" ... : part of the address. */
  readonly kind: string;
  readonly name: string;
  /** Everything that determines the answer, and nothing else: no times, keys, run ids. Part of the address. */
  readonly request: unknown;
  /** Recorded beside the request, for those who show it; the answer does not depend on it. No part of the address. */
  readonly shown?: { readonly [key: string]: Json } | undefined;
  /** True when an effect that may have happened can run again after a crash. Default true. */
  readonly idempotent?: boolean;
  /** True when the effect announces each try through `door.attempts` itself (models do). Default false: one try that holds nothing. */
  readonly metered?: boolean;
  /** Recorded, but run again on resume, replay and fork: for writes into a workspace. Default false. */
  readonly again?: boolean;
  /** Its answer depends on more than its request, as that of a read of files does: only its activation's own record answers it. Default false. */
  readonly fresh?: boolean;
  /** Its name in the run inside this one that asks for it: part of its address, so that such a run which goes on finds its own answers. @internal */
  readonly origin?: string;
  /** The steps inside it are released in the order asked, as those of an activation are. Default false: each as soon as it has its answer. */
  readonly ordered?: boolean;
  /** For a question to a person: milliseconds from its first try, or a point in time, at which it ends. No part of the address. */
  readonly deadline?: number | Date | undefined;
  /** Called before the answer is released when it comes from the record, so that the effect does not run. */
  readonly onRecorded?: ((given: RecordedTry) => void) | undefined;
}

/**
 * True for steps whose time does not count where the time of the work around them is limited: a person takes as long as they like, and a model's
 * calls have limits of their own.
 */
export function isUntimed({ kind }: Pick<StepSpec, "kind">): boolean {
  return kind === "human" || kind === "model";
}

/** A try of a step, as `step.started` and `step.ended` identify it. */
export interface StepTry {
  /** The activation; empty for steps without a record. */
  readonly act: string;
  /** The step's key, unique within the activation. */
  readonly key: string;
  /** From 1. */
  readonly try: number;
}

/** The try of a recorded answer. */
export interface RecordedTry extends StepTry {
  /** Milliseconds since 1970: the deadline of the step, where it has one. */
  readonly deadline?: number | undefined;
  /**
   * Micro-dollars that the step had cost, with its failed tries, and with the steps inside it where its effect does not happen again. Undefined:
   * its price was unknown.
   */
  readonly cost: number | undefined;
  /** Tokens of the answers of models, in the same way. Undefined: of none. */
  readonly usage?: Json | undefined;
}

/** The parts that an effect may use. */
export interface StepDoor extends StepPort {
  /** Identifies the step among all runs, the same after a resume and in a new attempt: use it as an idempotency key. */
  readonly key: string;
  /** `replay`: only a scratch directory may change. */
  readonly mode: "live" | "replay";
  readonly signal: AbortSignal;
  /** The cancellation behind `signal`. @internal */
  readonly ending?: Cancellation | undefined;
  readonly attempts: Attempts;
  /** Milliseconds since 1970: the recorded deadline of the step, where it has one. */
  readonly deadline?: number | undefined;
  /** Tells those who observe the run how far a call of a tool is. @internal */
  readonly progress?: ((text: string) => void) | undefined;
}

/**
 * Announces each try of an effect that may cost something before it starts, and records its cost after. Amounts are whole units of the
 * caller.
 */
export interface Attempts {
  /**
   * Reserves `hold` for the next try; waits while other reservations are open and it does not fit.
   *
   * @throws BudgetError when it does not fit and nothing is open.
   */
  open(hold: number, o?: OpenedTry): Promise<void>;
  /** Closes the open try with its actual cost. */
  settle(outcome: AttemptOutcome): void;
  /** The try opened last. Undefined for steps without a record. */
  readonly current?: StepTry | undefined;
  /**
   * The idempotency key of the try opened last: the same after a resume, and for a retry after a failure that the receiver did not answer.
   * Undefined for steps without a record.
   */
  readonly key?: string | undefined;
  /**
   * Does the effect of the try opened last: in this process, or where the port of effects has it done. Undefined for steps without a record,
   * whose effects are done here.
   *
   * @throws the error of the effect
   */
  run?<T>(effect: () => Promise<T>, o?: TriedEffect): Promise<T>;
  /** The budget that bounds the effect, for a run or an agent that it starts. Their spending is part of the step's cost. */
  readonly budget?: BudgetPool | undefined;
}

/** Returns attempts that announce and settle each try in another way. @param lend returns their budget. Default: that of the attempts */
export function attemptsWith(attempts: Attempts, other: Pick<Attempts, "open" | "settle">, lend?: () => Attempts["budget"]): Attempts {
  return {
    ...other,
    get current() {
      return attempts.current;
    },
    get key() {
      return attempts.key;
    },
    get budget() {
      return lend === undefined ? attempts.budget : lend();
    },
    run: (effect, o) => attempts.run?.(effect, o) ?? effect(),
  };
}

/** A try as it begins. */
export interface OpenedTry {
  /** The cost is unknown; then it holds 0, and without a reported end its cost stays unknown. */
  readonly unpriced?: boolean;
  /** The receiver drops a request whose idempotency key it has seen: a try that a crash cut off costs nothing once it is repeated. */
  readonly dropsRepeats?: boolean;
}

/** An effect that differs from that of its step. */
export interface TriedEffect {
  /** The request of this try. Default: that of the step. */
  readonly request?: unknown;
  /** Stops this try. Default: the signal of the step. */
  readonly ending?: Cancellation;
}

/** The outcome of a try. */
export interface AttemptOutcome {
  /** Undefined: unknown price. */
  readonly cost: number | undefined;
  /** The source of the cost: the provider's usage, the whole hold because no usage came, or none because the model never ran. */
  readonly basis: "usage" | "hold" | "none";
  readonly usage?: Json;
  /** Set when the try failed. */
  readonly error?: unknown;
  /** The deadline of the step passed, and its answer is a default. */
  readonly byDeadline?: true;
}

/** Returns steps without a record: for agents and models used outside a run. */
export function directSteps(signal: AbortSignal, attempts: () => Attempts = () => free): StepPort {
  const step: StepPort["step"] = (_spec, effect) => effect({ key: freshStepKey(), mode: "live", signal, attempts: attempts(), step });
  return { step };
}

const opened = Promise.resolve();
const free: Attempts = { open: () => opened, settle: () => {} };
