import { interruptionBy } from "../../kernel/abort.ts";
import { ContextClosedError, ControlError, type ErrorRecord, errorRecord, stepErrorFrom } from "../../kernel/errors.ts";
import { jsonCopy, jsonRoundTrip, type Json } from "../../kernel/json.ts";
import { throwIfEnded, type CancellationScope } from "../../kernel/cancellation.ts";
import type { Attempts, StepDoor, StepPort, StepSpec, StepTry } from "../../kernel/step.ts";
import type { StepTrace, UnrepeatedStep } from "../record/event.ts";
import { masked, maskedError } from "../record/masking.ts";
import type { OpenQuestion, SourcedStep, AnswerSource } from "./answer-source.ts";
import { Release } from "./release.ts";
import type { StepOutcome, StepRecord } from "../record/role-state.ts";
import { effectId, StepAddresses, stepId, type StepPlace, StepRequests } from "./step-requests.ts";
import { Tries, uncertain } from "./tries.ts";
import type { Mask } from "../../kernel/mask.ts";
import type { BudgetGate } from "./budget-gate.ts";
import type { RunLog } from "../record/run-log.ts";

/**
 * The steps of one activation, recorded. It owns the order of asking, the order of release, and the steps in flight.
 *
 * ActivationSteps.D1 (`StepAddresses.keyOf`) the occurrence of an address is counted at the call, before anything is awaited.
 * ActivationSteps.D2 (`Release.inOrder`) answers are released in the order asked, a macrotask apart, live and from the record alike; a step
 * inside another is released with its enclosing step.
 * ActivationSteps.D3 (`Tries.open`) `step.started` is durable before the effect starts.
 * ActivationSteps.D4 (`#controlIn`, `#asking`) control errors are sticky and never recorded.
 * ActivationSteps.D5 (`close`) afterwards no step starts; the steps in flight have ended, with the steps inside them.
 * ActivationSteps.D6 (`#handOut`) every caller gets its own copy: it cannot change the record.
 * ActivationSteps.D7 (`#live`) the answer of an effect is durable before it is released: a process that dies of handling it does not pay
 * for it again.
 */
export class ActivationSteps implements StepPort {
  readonly #parts: StepsParts;
  readonly #release: Release;
  readonly #inFlight = new Set<Promise<unknown>>();
  readonly #addresses = new StepAddresses();
  #requests: StepRequests | undefined;
  /** Places of the activation's own steps, in the order asked. */
  readonly #places = new Map<string, number>();
  readonly #unrepeated: UnrepeatedStep[] = [];
  /** Answers copied from inside a step of another run: the repeated effect of that step asks for them. */
  readonly #reused = new Map<string, StepOutcome>();
  #asked = 0;
  #phase: "open" | "closing" | "closed" = "open";
  #control: ControlError | undefined;
  #failedStep: string | undefined;
  #humansAsked = 0;

  constructor(parts: StepsParts) {
    this.#parts = parts;
    this.#release = new Release(parts.startedAt);
    if (parts.isOver) this.#phase = "closed";
  }

  /** Milliseconds: the time of the last released answer. */
  get now(): number {
    return this.#release.now;
  }

  /** The first interruption, if there was one. */
  get control(): ControlError | undefined {
    return this.#control;
  }

  /** True when a step of the activation failed or was cut off. A failure inside a step is handled by that step. */
  get failed(): boolean {
    return this.#failedStep !== undefined;
  }

  /** The name of the last such step. */
  get failedStep(): string | undefined {
    return this.#failedStep;
  }

  step<T>(spec: StepSpec, effect: (door: StepDoor) => Promise<T>): Promise<T> {
    const refusal = this.#phase === "open" ? this.#interruption() : this.#late(spec);
    if (refusal !== undefined) return neverUnhandled(Promise.reject(refusal));
    const asked = this.#asked;
    this.#asked += 1;
    const answer = this.#answer(spec, effect, { path: "", parent: undefined, asked });
    return neverUnhandled(this.#track(this.#release.inOrder(answer)).then((outcome) => this.#handOut<T>(outcome)));
  }

  /** Refuses new steps and waits for those in flight. */
  async close(): Promise<void> {
    this.#phase = "closing";
    while (this.#inFlight.size > 0) await Promise.allSettled(this.#inFlight);
    this.#phase = "closed";
  }

  /** Recorded steps of the activation itself that it did not ask for. */
  get unasked(): readonly StepRecord[] {
    const records = [...(this.#parts.recorded ?? [])];
    return records.filter(([key, { started }]) => started.in === undefined && !this.#places.has(key)).map(([, record]) => record);
  }

  /** The part of this attempt that the record of its steps does not show. */
  get life(): StepTrace {
    const records = [...(this.#parts.recorded ?? [])];
    const isAsRecorded = records.every(([key, { started }]) => started.in !== undefined || this.#places.get(key) === started.asked);
    return {
      ...(isAsRecorded ? {} : { asked: [...this.#places.keys()] }),
      ...(this.#unrepeated.length === 0 ? {} : { unrepeated: [...this.#unrepeated] }),
    };
  }

  #late(spec: StepSpec): ContextClosedError {
    return new ContextClosedError(this.#parts.act, `step ${spec.name}`);
  }

  #interruption(): ControlError | undefined {
    const { ended } = this.#parts.scope;
    if (ended !== undefined) this.#control ??= interruptionBy(ended.reason);
    return this.#control;
  }

  #track<T>(work: Promise<T>): Promise<T> {
    this.#inFlight.add(work);
    const done = (): void => void this.#inFlight.delete(work);
    work.then(done, done);
    return work;
  }

  #handOut<T>(outcome: StepOutcome): T {
    if (outcome.ok) return jsonCopy(outcome.value) as T;
    throw stepErrorFrom(outcome.error ?? errorRecord(undefined));
  }

  /** Rejects, and never throws. */
  #answer<T>(spec: StepSpec, effect: Effect<T>, at: StepPlace): Promise<StepOutcome> {
    try {
      return this.#answerTo(spec, effect, at);
    } catch (error) {
      return Promise.reject(error as Error);
    }
  }

  #answerTo<T>(spec: StepSpec, effect: Effect<T>, at: StepPlace): Promise<StepOutcome> {
    this.#requests ??= new StepRequests(this.#parts.mask);
    const request = this.#requests.of(spec.request);
    const key = this.#addresses.keyOf(spec, request.text, at.path);
    const recorded = this.#parts.recorded?.get(key);
    if (at.parent === undefined) this.#takePlace(key, at.asked, recorded);
    const known = recorded?.outcome ?? this.#reused.get(key) ?? this.#parts.carried.get(key);
    if (known === undefined) return this.#unrecorded(spec, request.value, key, at, effect);
    return this.#given(known, spec, { act: this.#parts.act, key, try: recorded?.started.try ?? 1 }, at, effect);
  }

  #takePlace(key: string, asked: number, recorded: StepRecord | undefined): void {
    const nth = this.#places.size;
    this.#places.set(key, asked);
    if (recorded !== undefined) this.#asking(() => this.#parts.past.askAgain({ recorded: recorded.started, asked, nth }));
  }

  /** Returns a known answer. An effect on this machine is repeated, wherever the answer came from. */
  async #given<T>(known: StepOutcome, spec: StepSpec, by: StepTry, at: StepPlace, effect: Effect<T>): Promise<StepOutcome> {
    if (!known.ok) this.#fails(at, spec.name);
    else if (spec.again === true) await this.#runAgain(spec, by.key, at, effect);
    spec.onRecorded?.(by);
    return known;
  }

  #unrecorded<T>(spec: StepSpec, request: Json, key: string, at: StepPlace, effect: Effect<T>): Promise<StepOutcome> {
    const { act, role } = this.#parts;
    const question: OpenQuestion = {
      role,
      act,
      key,
      kind: spec.kind,
      name: spec.name,
      request,
      asked: at.asked,
      in: at.parent,
      isFresh: spec.fresh === true,
    };
    const past = this.#asking(() => this.#parts.past.answer(question));
    if (past === undefined) return this.#live(spec, request, key, at, effect);
    this.#parts.begin();
    const tries = this.#tries(spec, request, key, at);
    tries.reuse(past, () => this.#reuse(past.within));
    return this.#given(past.outcome, spec, tries.current, at, effect);
  }

  /** Records steps of another run that were asked inside a reused one; a resumed fork has some of them already. */
  #reuse(steps: readonly SourcedStep[]): void {
    for (const step of steps) {
      const { key, asked, in: parent, request, kind, name } = step.started;
      if (this.#parts.recorded?.get(key)?.outcome !== undefined) continue;
      const tries = this.#tries({ kind, name, request }, request, key, { path: "", parent, asked });
      tries.reuse(step, () => this.#reuse(step.within));
      this.#reused.set(key, step.outcome);
    }
  }

  /** Calls the answer source, and keeps its interruption (ActivationSteps.D4). */
  #asking<T>(ask: () => T): T {
    try {
      return ask();
    } catch (error) {
      if (error instanceof ControlError) this.#control ??= error;
      throw error;
    }
  }

  #tries(spec: StepSpec, request: Json, key: string, at: StepPlace): Tries {
    const { act, log, gate, scope, now, mask, recorded } = this.#parts;
    const before = recorded?.get(key);
    const tried = { tried: before?.started.try ?? 0, paid: this.#paid(key) };
    return new Tries({ act, key, spec, request, asked: at.asked, parent: at.parent, ...tried, log, gate, scope, now, mask });
  }

  /** Recorded micro-dollars of a step, with those of failed attempts. */
  #paid(key: string): number {
    return (this.#parts.paid.get(key) ?? 0) + (this.#parts.recorded?.get(key)?.paid ?? 0);
  }

  /** Returns the recorded and released form of a value: through JSON, without secrets. */
  #asRecorded(value: unknown): Json {
    return masked(this.#parts.mask, jsonRoundTrip<unknown>(value ?? null) as Json);
  }

  async #live<T>(spec: StepSpec, request: Json, key: string, at: StepPlace, effect: Effect<T>): Promise<StepOutcome> {
    const outcome = await this.#happen(spec, request, key, at, effect);
    if (!this.#parts.log.isDurable) await this.#parts.log.durable();
    return outcome;
  }

  async #happen<T>(spec: StepSpec, request: Json, key: string, at: StepPlace, effect: Effect<T>): Promise<StepOutcome> {
    const { scope, begin, mask } = this.#parts;
    begin();
    const before = this.#parts.recorded?.get(key)?.started;
    const tries = this.#tries(spec, request, key, at);
    const isQuestion = spec.kind === "human";
    if (isQuestion) this.#countPersons(1);
    try {
      if (before !== undefined && spec.idempotent === false) throw uncertain(spec.name);
      if (spec.metered !== true) await tries.open(0);
      throwIfEnded(scope);
      const { runId, act } = this.#parts;
      const name = isQuestion ? stepId(runId, act, key) : effectId(runId, act, key);
      const value = await scope.until(effect(this.#door(name, key, at, tries)));
      return tries.succeed(this.#asRecorded(value));
    } catch (error) {
      this.#fails(at, spec.name);
      const control = this.#controlIn(error);
      if (control === undefined) return tries.fail(maskedError(mask, error));
      tries.interrupt();
      throw control;
    } finally {
      if (isQuestion) this.#countPersons(-1);
    }
  }

  /**
   * A step inside another is not asked for again when the outer one is answered from the record, so its failure must not count there
   * either.
   */
  #fails(at: StepPlace, name: string): void {
    if (at.parent === undefined) this.#failedStep = name;
  }

  /** Returns the interruption behind an error. The first one is kept (ActivationSteps.D4). */
  #controlIn(error: unknown): ControlError | undefined {
    this.#control ??= error instanceof ControlError ? error : this.#interruption();
    return this.#control;
  }

  #countPersons(more: 1 | -1): void {
    this.#humansAsked += more;
    if (this.#humansAsked === Math.max(0, more)) this.#parts.waitsForPerson(more === 1);
  }

  /** Repeats the effect of a recorded write. Its failure is a failure of this activation, not of the record. */
  async #runAgain<T>(spec: StepSpec, key: string, at: StepPlace, effect: Effect<T>): Promise<void> {
    const failedThen = this.#parts.past.unrepeated(this.#parts.act, key);
    if (failedThen !== undefined) throw this.#notAgain(spec.name, key, at, failedThen);
    const { scope, gate } = this.#parts;
    const attempts: Attempts = { open: () => Promise.resolve(), settle: () => {}, budget: gate.lend(this.#paid(key)) };
    try {
      throwIfEnded(scope);
      const name = effectId(this.#parts.runId, this.#parts.act, key);
      await scope.until(effect(this.#door(name, key, at, attempts)));
    } catch (error) {
      const control = this.#controlIn(error);
      if (control === undefined) throw this.#notAgain(spec.name, key, at, maskedError(this.#parts.mask, error));
      this.#fails(at, spec.name);
      throw control;
    }
  }

  /** A replay must fail at the same place, so the failure is recorded with the end of the activation. */
  #notAgain(name: string, key: string, at: StepPlace, error: ErrorRecord): Error {
    this.#fails(at, name);
    this.#unrepeated.push({ key, error });
    return stepErrorFrom(error);
  }

  /** @param name identifies the step among all runs */
  #door(name: string, key: string, at: StepPlace, attempts: StepDoor["attempts"]): StepDoor {
    let asked = 0;
    const { mode, scope: ending } = this.#parts;
    const path = at.path === "" ? key : `${at.path}/${key}`;
    const step: StepDoor["step"] = (inner, innerEffect) => {
      const refusal = this.#phase === "closed" ? this.#late(inner) : this.#interruption();
      if (refusal !== undefined) return neverUnhandled(Promise.reject(refusal));
      const place: StepPlace = { path, parent: key, asked };
      asked += 1;
      return neverUnhandled(this.#track(this.#answer(inner, innerEffect, place)).then((outcome) => this.#handOut(outcome)));
    };
    return { key: name, mode, signal: ending.signal, ending, attempts, step };
  }
}

/** Keeps an unawaited rejection from ending the process. */
function neverUnhandled<T>(work: Promise<T>): Promise<T> {
  work.catch(() => {});
  return work;
}

type Effect<T> = (door: StepDoor) => Promise<T>;

/** The parts of the steps of one activation. */
export interface StepsParts {
  readonly act: string;
  readonly log: RunLog;
  readonly gate: BudgetGate;
  readonly mask: Mask;
  readonly now: () => number;
  readonly scope: CancellationScope;
  /** Records the start of the activation; called before its first step is recorded. */
  readonly begin: () => void;
  /** Called when the first question to a person begins, and when the last one has ended. */
  readonly waitsForPerson: (isAsked: boolean) => void;
  /** The recorded steps of this activation. */
  readonly recorded: ReadonlyMap<string, StepRecord> | undefined;
  /** Good answers of the failed attempt before. */
  readonly carried: ReadonlyMap<string, StepOutcome>;
  /** Micro-dollars that the steps of failed attempts cost, by key. */
  readonly paid: ReadonlyMap<string, number>;
  /** Another source of answers. */
  readonly past: AnswerSource;
  readonly runId: string;
  readonly role: string;
  /** The target of repeated writes: the real world, or the scratch directory of a replay. */
  readonly mode: StepDoor["mode"];
  /** The value of `now()` until the first answer. */
  readonly startedAt: number;
  /** True when the activation ended before it asked for its steps. */
  readonly isOver: boolean;
}
