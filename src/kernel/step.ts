import type { BudgetPool } from "./budget.ts";
import { freshStepKey } from "./id.ts";
import type { Json } from "./json.ts";
import type { Cancellation } from "./cancellation.ts";

/**
 * The interface of every side effect. One implementation runs the effect; one records it under a content address and answers it from the
 * record next time.
 */
export interface StepPort {
  /** Runs `effect`, or returns its recorded result. @throws StepError (or the original ModelError, OutputError, WorkspaceError) */
  step<T>(spec: StepSpec, effect: (door: StepDoor) => Promise<T>): Promise<T>;
}

export interface StepSpec {
  /** "model", "tool", "human", "file" ...: part of the address. */
  readonly kind: string;
  readonly name: string;
  /** Everything that determines the answer, and nothing else: no times, keys, run ids. Part of the address. */
  readonly request: unknown;
  /** Recorded beside the request, for readers. No part of the address. */
  readonly shown?: { readonly [key: string]: Json } | undefined;
  /** False when an effect that may have happened must not run again after a crash. Default true. */
  readonly idempotent?: boolean;
  /** True when the effect announces each try through `door.attempts` itself (models do). Default false: one try that holds nothing. */
  readonly metered?: boolean;
  /** Recorded, but run again on resume, replay and fork: for writes into a workspace. Default false. */
  readonly again?: boolean;
  /** Its answer depends on more than its request, such as a read of files: only its activation's own record answers it. Default false. */
  readonly fresh?: boolean;
  /** Its name in the run inside this one that asks for it: part of its address. @internal */
  readonly origin?: string;
  /** A question to a model about what was said, such as a summary: a person who plays the role is not asked it. */
  readonly aside?: boolean | undefined;
  /** The steps inside it are released in the order asked. Default false: each as soon as it has its answer. */
  readonly ordered?: boolean;
  /** For a question to a person: milliseconds from its first try, or a point in time. No part of the address. */
  readonly deadline?: number | Date | undefined;
  /** Called before an answer from the record is released. */
  readonly onRecorded?: ((given: RecordedTry) => void) | undefined;
}

/** Their time does not count where the work around them is limited: a person takes any time, and a model's calls have their own limits. */
export function isUntimed({ kind }: Pick<StepSpec, "kind">): boolean {
  return kind === "human" || kind === "model";
}

/** A try of a step, as `step.started` and `step.ended` identify it. */
export interface StepTry {
  /** Empty for steps without a record. */
  readonly act: string;
  /** Unique within the activation. */
  readonly key: string;
  /** From 1. */
  readonly try: number;
}

export interface RecordedTry extends StepTry {
  readonly deadline?: number | undefined;
  /** Micro-dollars of all tries, and of the steps inside where its effect does not happen again. Undefined: unknown price. */
  readonly cost: number | undefined;
  /** Tokens, in the same way. */
  readonly usage?: Json | undefined;
}

/** The parts that an effect may use. */
export interface StepDoor extends StepPort {
  /** Identifies the step among all runs, also after a resume and in a new attempt: an idempotency key. */
  readonly key: string;
  readonly mode: "live" | "replay";
  readonly signal: AbortSignal;
  /** @internal */
  readonly ending?: Cancellation | undefined;
  readonly attempts: Attempts;
  /** Milliseconds since 1970. */
  readonly deadline?: number | undefined;
  /** Takes the signal that ends a wait of this step, as the outermost record has them. @internal */
  readonly take?: ((until: number) => Json | undefined) | undefined;
  /** Reports the progress of a call of a tool. @internal */
  readonly progress?: ((text: string) => void) | undefined;
}

/** Announces each try of an effect before it starts, and records its cost after. Amounts are whole units of the caller. */
export interface Attempts {
  /** Reserves `hold` for the next try; waits while other reservations are open and it does not fit. @throws BudgetError */
  open(hold: number, o?: OpenedTry): Promise<void>;
  settle(outcome: AttemptOutcome): void;
  /** Undefined for steps without a record. */
  readonly current?: StepTry | undefined;
  /** The idempotency key of the try opened last: the same after a resume, and for a retry after a failure that the receiver did not answer. */
  readonly key?: string | undefined;
  /** Does the effect of the try opened last, here or where the port of effects has it done. @throws the error of the effect */
  run?<T>(effect: () => Promise<T>, o?: TriedEffect): Promise<T>;
  /** The budget of the effect, for a run or an agent that it starts. Their spending is part of the step's cost. */
  readonly budget?: BudgetPool | undefined;
}

/** Announces and settles each try in another way. @param lend returns their budget. Default: that of the attempts */
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

export interface OpenedTry {
  /** The cost is unknown: it holds 0, and without a reported end its cost stays unknown. */
  readonly unpriced?: boolean;
  /** The receiver drops a request whose idempotency key it has seen: a try that a crash cut off costs nothing once it is repeated. */
  readonly dropsRepeats?: boolean;
  /** The model that is asked, where it is one of several that a step may ask. */
  readonly model?: string | undefined;
}

export interface TriedEffect {
  readonly request?: unknown;
  readonly ending?: Cancellation;
}

export interface AttemptOutcome {
  readonly cost: number | undefined;
  /** The source of the cost: the provider's usage, the whole hold because no usage came, or none because the model never ran. */
  readonly basis: "usage" | "hold" | "none";
  readonly usage?: Json;
  readonly error?: unknown;
  readonly byDeadline?: true;
}

/** Steps without a record, for agents and models outside a run. */
export function directSteps(signal: AbortSignal, attempts: () => Attempts = () => free): StepPort {
  const step: StepPort["step"] = (_spec, effect) => effect({ key: freshStepKey(), mode: "live", signal, attempts: attempts(), step });
  return { step };
}

const opened = Promise.resolve();
const free: Attempts = { open: () => opened, settle: () => {} };
