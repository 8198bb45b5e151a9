import { interruptionBy } from "../../kernel/abort.ts";
import { type CancellationScope, throwIfEnded } from "../../kernel/cancellation.ts";
import { nextMacrotask } from "../../kernel/clock.ts";
import { AbortedError, ContextClosedError, ControlError, type ErrorRecord, errorRecord, stepErrorFrom } from "../../kernel/errors.ts";
import { jsonCopy, jsonRoundTrip, type Json, textHash } from "../../kernel/json.ts";
import { masked } from "../../kernel/mask.ts";
import { type Attempts, isUntimed, type RecordedTry, type StepDoor, type StepPort, type StepSpec } from "../../kernel/step.ts";
import { scopeInside } from "../../memory/memory-scope.ts";
import { meters, seedsOf } from "../../model/meter.ts";
import { stepAround } from "./around.ts";
import { BOARD_STEP } from "../board/board.ts";
import { decided } from "../board/decide.ts";
import type { StepTrace, UnrepeatedStep } from "../record/event.ts";
import { maskedError } from "../record/rewritten-event.ts";
import type { RetryState, StepOutcome, StepRecord, StepSpending } from "../record/role-state.ts";
import { knownIn, spentBefore, spentInside, spentThere } from "../record/apply-steps.ts";
import type { SourcedStep } from "./answer-source.ts";
import { bothProgress, progressOf } from "./tool-progress.ts";
import { ADDRESS_DIGITS, stepId, StepRequests, withoutAttempt, withShown } from "./step-requests.ts";
import type { TurnTools } from "../turn/commit.ts";
import type { RoleTurn } from "../turn/turn.ts";
import { type AskedStep, Tries } from "./tries.ts";

type Effect<T> = (door: StepDoor) => Promise<T>;

interface Siblings {
  readonly path: string;
  readonly parent: string | undefined;
  asked: number;
  readonly isOrdered: boolean;
  /** The steps around the run. */
  outer?: StepPort | undefined;
  /** Settles when all ordered answers asked for so far are released. Never rejects. */
  last?: Promise<unknown>;
  control?: ControlError;
}

type Position = Pick<AskedStep, "path" | "parent" | "asked"> & Pick<Siblings, "outer">;

/**
 * The recorded steps of one activation. It owns the order of asking, the order of release, the time of the last released answer, and the
 * steps in flight.
 *
 * A role asks for the steps that follow from one answer before the next answer is released, so their order does not depend on latency. As a
 * result, `Promise.race` between steps yields the first one asked; put racing work inside one enclosing step.
 *
 * ActivationSteps.D1 (`#keyOf`) an address is sha256 of kind, name, masked request, the path of enclosing steps and the origin; a key is an
 * address and its occurrence, which is counted at the call, before anything is awaited.
 * ActivationSteps.D2 (`#release`) an answer is released after all answers that were asked for before it, a macrotask apart, live and from
 * the record alike. A step inside another is released with its answer, except inside one that is `ordered`.
 * ActivationSteps.D3 (`Tries.open`) `step.started` is durable before the effect starts.
 * ActivationSteps.D4 (`#controlIn`, `#live`, `#isAlone`) control errors are sticky and never recorded. If an effect hides the control error of an inner
 * step, the outer step has no answer either. If only the caller's signal aborts an inner step, the abort is the recorded failure of that step.
 * ActivationSteps.D5 (`close`) after `close`, no step starts and no step is in flight.
 * ActivationSteps.D6 (`#handOut`) every caller gets its own copy, so it cannot change the record.
 * ActivationSteps.D7 (`#answer`) an answer is durable before it is released, so a process that dies while handling it does not pay twice.
 * ActivationSteps.D8 (`#decided`) a step of the board is decided and recorded at once, by the owner of the run, and belongs to this run alone.
 */
export class ActivationSteps implements StepPort {
  readonly #turn: RoleTurn;
  readonly #tools: TurnTools;
  readonly #act: string;
  readonly #scope: CancellationScope;
  /** The steps that the record had when this attempt began. */
  readonly #recorded: ReadonlyMap<string, StepRecord> | undefined;
  /** Earlier, failed attempts. */
  readonly #retry: RetryState;
  readonly #requests: StepRequests;
  readonly #own: Siblings = { path: "", parent: undefined, asked: 0, isOrdered: true };
  readonly #inFlight = new Set<Promise<unknown>>();
  readonly #occurrences = new Map<string, number>();
  /** Indices of the activation's own steps, in the order asked. */
  readonly #indices = new Map<string, number>();
  readonly #unrepeated: UnrepeatedStep[] = [];
  /** Answers of inner steps, copied from another run for the repeated effect of the outer step. */
  readonly #reused = new Map<string, StepOutcome>();
  #inside: ReadonlyMap<string, StepSpending> | undefined;
  #phase: "open" | "closing" | "closed" = "open";
  #untimed = 0;
  now: number;
  /** Team changes before the last released answer was recorded. */
  teamAt: number;
  /** Messages from outside before the last released answer was recorded; 0 before the first. */
  outsideAt = 0;
  control: ControlError | undefined;
  /** The name of the last own step that failed or was cut off. */
  failedStep: string | undefined;

  /** @param isOver true if the activation ended before it asked for a step */
  constructor(turn: RoleTurn, isOver: boolean) {
    const { tools, started, role } = turn;
    this.#turn = turn;
    this.#tools = tools;
    this.#act = started.act;
    this.#scope = turn.scope;
    this.#recorded = role.open?.steps;
    this.#retry = role.retry;
    this.#requests = new StepRequests(tools.mask);
    this.#own.outer = tools.outer;
    this.now = started.at;
    this.teamAt = started.teamAt;
    if (isOver) this.#phase = "closed";
  }

  /** Recorded own steps that the activation did not ask for. */
  get unasked(): readonly StepRecord[] {
    const records = [...(this.#recorded?.values() ?? [])];
    return records.filter(({ started }) => started.in === undefined && !this.#indices.has(started.key));
  }

  get life(): StepTrace {
    const records = [...(this.#recorded?.values() ?? [])];
    const isAsRecorded = records.every(({ started }) => started.in !== undefined || this.#indices.get(started.key) === started.asked);
    return {
      ...(isAsRecorded ? {} : { asked: [...this.#indices.keys()] }),
      ...(this.#unrepeated.length === 0 ? {} : { unrepeated: [...this.#unrepeated] }),
    };
  }

  async close(): Promise<void> {
    this.#phase = "closing";
    while (this.#inFlight.size > 0) await Promise.allSettled(this.#inFlight);
    this.#phase = "closed";
  }

  step<T>(spec: StepSpec, effect: Effect<T>): Promise<T> {
    return this.#ask(spec, effect, this.#own);
  }

  #ask<T>(spec: StepSpec, effect: Effect<T>, siblings: Siblings): Promise<T> {
    const isOwn = siblings === this.#own;
    const isOpen = isOwn ? this.#phase === "open" : this.#phase !== "closed";
    const refusal = isOpen ? this.#interruption() : new ContextClosedError(this.#act, `step ${spec.name}`);
    let given: Promise<T>;
    if (refusal !== undefined) {
      if (refusal instanceof ControlError) siblings.control ??= refusal;
      given = Promise.reject(refusal);
    } else {
      const { path, parent, asked, outer } = siblings;
      siblings.asked += 1;
      let answer = this.#answer(spec, effect, { path, parent, asked, outer });
      answer.catch((error: unknown) => {
        if (error instanceof ControlError) siblings.control ??= error;
      });
      if (siblings.isOrdered) {
        answer = this.#release(answer, siblings.last, isOwn);
        // Before the answer is given to the role: the next answer takes its macrotask before a step that follows from this one does.
        siblings.last = answer.catch(() => {});
      }
      given = this.#handOut(answer);
    }
    given.catch(() => {});
    return given;
  }

  async #answer<T>(spec: StepSpec, effect: Effect<T>, position: Position): Promise<StepOutcome> {
    const { past, log } = this.#tools;
    const { value: asked, text } = this.#requests.of(spec.request);
    const key = this.#keyOf(spec, text, position.path);
    const request = spec.shown === undefined ? asked : withShown(asked, this.#requests.of(spec.shown).value);
    const step: AskedStep = { ...position, spec, request, key };
    const recorded = this.#recorded?.get(key);
    const isOwn = position.parent === undefined;
    const nth = this.#indices.size;
    if (isOwn) this.#indices.set(key, position.asked);
    try {
      if (isOwn && recorded !== undefined) past?.askAgain?.(recorded.started, position.asked, nth);
      let known = recorded?.outcome ?? this.#reused.get(key) ?? this.#retry.carry.get(key);
      let by = { act: this.#act, key, try: recorded?.started.try ?? 1 };
      if (known === undefined) {
        const tries = this.#triesOf(step);
        known = this.#sourced(step, tries);
        if (known === undefined) {
          const outcome = spec.kind === BOARD_STEP ? this.#decided(step, tries) : await this.#live(step, position.outer, tries, effect);
          if (!log.isDurable) await log.durable();
          return outcome;
        }
        by = tries.current;
      }
      if (!known.ok) this.#fails(step);
      else if (spec.again === true) await this.#runAgain(step, effect);
      spec.onRecorded?.({ ...by, deadline: recorded?.started.deadline, ...this.#spent(step, known) });
      return known;
    } catch (error) {
      if (error instanceof ControlError) this.control ??= error;
      throw error;
    }
  }

  #keyOf({ kind, name, origin }: StepSpec, request: string, path: string): string {
    const where = JSON.stringify(origin === undefined ? [path] : [path, origin]);
    const asked = `[${JSON.stringify(kind)},${JSON.stringify(name)},${request},${where.slice(1)}`;
    const address = textHash(asked).slice(0, ADDRESS_DIGITS);
    const occurrence = this.#occurrences.get(address) ?? 0;
    this.#occurrences.set(address, occurrence + 1);
    return `${address}.${occurrence}`;
  }

  async #live<T>(step: AskedStep, outer: StepPort | undefined, tries: Tries, effect: Effect<T>): Promise<StepOutcome> {
    const { mask, clock, log } = this.#tools;
    const scope = this.#scope;
    const { spec } = step;
    this.#turn.recordStart();
    const untimed = isUntimed(spec);
    const progress = progressOf(this.#turn, step);
    if (untimed) this.#countUntimed(1);
    try {
      if (spec.metered !== true) await tries.open(0);
      throwIfEnded(scope);
      const inside = siblingsIn(step);
      const happen = (by: StepDoor): Promise<T> =>
        spec.metered === true ? this.#within(step, by, effect) : tries.run(() => this.#within(step, by, effect));
      const door = { ...this.#door(step, inside, tries, tries.deadline), progress: progress?.say };
      const happenAround = ({ key, mode, attempts, deadline, take, step: ask, progress: above }: StepDoor): Promise<T> => {
        inside.outer = { step: ask };
        return happen({ ...door, key, mode, attempts, deadline, take, progress: bothProgress(door.progress, above) });
      };
      const inner = { turn: this.#turn, tries, control: () => this.control };
      const value = await scope.until(outer === undefined ? happen(door) : stepAround(outer, step, inner, happenAround));
      if (inside.control !== undefined) throw inside.control;
      // A live answer equals the one read from the journal.
      const clean = masked(mask, jsonRoundTrip<unknown>(value) as Json);
      return tries.answer({ ok: true, value: clean, error: undefined, at: clock.now(), ...knownIn(log.state) });
    } catch (error) {
      this.#fails(step);
      const control = this.#isAlone(step, error) ? undefined : this.#controlIn(error);
      if (control === undefined)
        return tries.answer({ ok: false, value: null, error: maskedError(mask, error), at: clock.now(), ...knownIn(log.state) });
      tries.interrupt();
      throw control;
    } finally {
      progress?.end();
      if (untimed) this.#countUntimed(-1);
    }
  }

  /** Nothing else is recorded between the decision and its record, so the decision holds. */
  #decided({ request }: AskedStep, tries: Tries): StepOutcome {
    const { clock, log } = this.#tools;
    throwIfEnded(this.#scope);
    this.#turn.recordStart();
    const value = decided(log.state.board, this.#turn.role.name, request);
    return tries.answer({ ok: true, value, error: undefined, at: clock.now(), ...knownIn(log.state) });
  }

  #door({ key, spec, request }: AskedStep, inside: Siblings, attempts: Attempts, deadline?: number): StepDoor {
    const { mode, host, answerer } = this.#tools;
    // An effect has the same id in each attempt of the activation.
    const id = stepId(host.runId, spec.kind === "human" ? this.#act : withoutAttempt(this.#act), key);
    return {
      key: id,
      mode,
      signal: this.#scope.signal,
      ending: this.#scope,
      attempts,
      ...(deadline === undefined ? {} : { deadline }),
      ...(spec.kind === "human" && { take: (until: number) => answerer.persons.take(request, { until, id }) }),
      step: (inner, innerEffect) => this.#ask(inner, innerEffect, inside),
    };
  }

  /** Work that an effect starts is part of its step. */
  #within<T>({ key }: AskedStep, door: StepDoor, effect: Effect<T>): Promise<T> {
    const { answerer, pools, log } = this.#tools;
    const nextSeed = seedsOf(log.state.seed, withoutAttempt(this.#act), key);
    return meters.run({ port: door, policy: answerer.policy, pools, nextSeed, scope: scopeInside(log.state) }, () => effect(door));
  }

  /** Resolves with the answer once it has come and all answers asked for earlier are released. */
  async #release(answer: Promise<StepOutcome>, before: Promise<unknown> | undefined, isOwn: boolean): Promise<StepOutcome> {
    answer.catch(() => {});
    if (before !== undefined) await before;
    const outcome = await answer;
    await nextMacrotask();
    if (!isOwn) return outcome;
    this.now = Math.max(this.now, outcome.at);
    this.teamAt = Math.max(this.teamAt, outcome.teamAt);
    this.outsideAt = Math.max(this.outsideAt, outcome.outsideAt);
    return outcome;
  }

  async #handOut<T>(answer: Promise<StepOutcome>): Promise<T> {
    this.#inFlight.add(answer);
    try {
      const outcome = await answer;
      if (outcome.ok) return jsonCopy(outcome.value) as T;
      throw stepErrorFrom(outcome.error ?? errorRecord(undefined));
    } finally {
      this.#inFlight.delete(answer);
    }
  }

  /** Repeats a recorded write. Its failure is one of this activation, not of the record. */
  async #runAgain<T>(step: AskedStep, effect: Effect<T>): Promise<void> {
    const { past, mask } = this.#tools;
    const scope = this.#scope;
    const failedThen = past?.unrepeated?.(this.#act, step.key);
    if (failedThen !== undefined) throw this.#notAgain(step, failedThen);
    const { budget } = this.#triesOf(step);
    const inside = siblingsIn(step);
    try {
      throwIfEnded(scope);
      await scope.until(this.#within(step, this.#door(step, inside, { open: () => Promise.resolve(), settle: () => {}, budget }), effect));
      if (inside.control !== undefined) throw inside.control;
    } catch (error) {
      const control = this.#controlIn(error);
      if (control === undefined) throw this.#notAgain(step, maskedError(mask, error));
      this.#fails(step);
      throw control;
    }
  }

  /** Recorded with the end of the activation, so that a replay fails at the same step. */
  #notAgain(step: AskedStep, error: ErrorRecord): Error {
    this.#fails(step);
    this.#unrepeated.push({ key: step.key, error });
    return stepErrorFrom(error);
  }

  /** Records the answer of another run, if there is one, as the answer of the step. */
  #sourced({ spec, request, key, asked, parent }: AskedStep, tries: Tries): StepOutcome | undefined {
    const { past, log } = this.#tools;
    const { kind, name, fresh = false } = spec;
    const sourced = past?.answer({
      role: this.#turn.role.name,
      act: this.#act,
      key,
      kind,
      name,
      request,
      asked,
      in: parent,
      isFresh: fresh || kind === BOARD_STEP,
    });
    if (sourced === undefined) return undefined;
    this.#turn.recordStart();
    tries.reuse(sourced, () => this.#reuse(sourced.within));
    return { ...sourced.outcome, saved: sourced.saved, inside: spentThere(sourced.within), ...knownIn(log.state) };
  }

  /** A resumed fork already has some of them. */
  #reuse(steps: readonly SourcedStep[]): void {
    for (const step of steps) {
      const { key, asked, in: parent, request, kind, name } = step.started;
      if (this.#recorded?.get(key)?.outcome !== undefined) continue;
      const tries = this.#triesOf({ spec: { kind, name, request }, request, key, path: "", parent, asked });
      tries.reuse(step, () => this.#reuse(step.within));
      this.#reused.set(key, { ...step.outcome, saved: step.saved, inside: spentThere(step.within) });
    }
  }

  /** Spending of a known step. If its effect is repeated, its inner steps report their own spending. */
  #spent({ key, spec }: AskedStep, known: StepOutcome): Pick<RecordedTry, "cost" | "usage"> {
    const record = this.#recorded?.get(key);
    const paid = record?.paid ?? this.#retry.paid.get(key) ?? 0;
    const inside = known.inside ?? (this.#recorded && (this.#inside ??= spentInside(this.#recorded)).get(key));
    const { cost, usage } = spentBefore(spec.kind, known, { paid, inside: spec.again === true ? undefined : inside });
    return { cost: cost === 0 && record?.started.unpriced === true ? undefined : cost, ...(usage && { usage: { ...usage } }) };
  }

  #triesOf(step: AskedStep): Tries {
    return new Tries(this.#turn, step, this.#recorded?.get(step.key), this.#retry.paid.get(step.key) ?? 0);
  }

  /** If the record answers the outer step, its inner steps are not asked for again. */
  #fails({ parent, spec }: AskedStep): void {
    if (parent === undefined) this.failedStep = spec.name;
  }

  /** True if only the caller's signal aborted an inner step: the abort is then the recorded failure of that step. */
  #isAlone({ parent }: AskedStep, error: unknown): boolean {
    return parent !== undefined && error instanceof AbortedError && this.#interruption() === undefined;
  }

  #interruption(): ControlError | undefined {
    const { ended } = this.#scope;
    if (ended !== undefined) this.control ??= interruptionBy(ended.reason);
    return this.control;
  }

  #controlIn(error: unknown): ControlError | undefined {
    this.control ??= error instanceof ControlError ? error : this.#interruption();
    return this.control;
  }

  #countUntimed(more: 1 | -1): void {
    this.#untimed += more;
    if (this.#untimed === Math.max(0, more)) this.#turn.holdTime(more === 1);
  }
}

function siblingsIn({ key, path, spec }: AskedStep): Siblings {
  return { path: path === "" ? key : `${path}/${key}`, parent: key, asked: 0, isOrdered: spec.ordered === true };
}
