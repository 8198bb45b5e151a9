import { abortReason, untilAborted } from "../kernel/abort.ts";
import { ContextClosedError, ControlError, errorRecord, stepErrorFrom } from "../kernel/errors.ts";
import { canonicalJson, contentHash, type Json } from "../kernel/json.ts";
import type { Lifetime } from "../kernel/lifetime.ts";
import type { Mask } from "../kernel/mask.ts";
import type { StepDoor, StepPort, StepSpec } from "../kernel/step.ts";
import type { BudgetGate } from "./budget-gate.ts";
import { Release } from "./release.ts";
import type { RunLog } from "./run-log.ts";
import type { StepOutcome, StepRecord } from "./run-state.ts";
import { Tries } from "./tries.ts";

/** How many hexadecimal digits of the sha256 an address keeps: 128 bits. */
const ADDRESS_DIGITS = 32;

/** What the steps of one activation are made with. */
export interface StepsParts {
  readonly act: string;
  readonly log: RunLog;
  readonly gate: BudgetGate;
  readonly mask: Mask;
  readonly now: () => number;
  readonly lifetime: Lifetime;
  /** Records the start of the activation; called before its first step is recorded. */
  readonly begin: () => void;
  /** What the journal has of this activation. */
  readonly recorded: ReadonlyMap<string, StepRecord> | undefined;
  /** Good answers of the failed attempt before. */
  readonly carried: ReadonlyMap<string, StepOutcome>;
  /** `now()` until the first answer. */
  readonly startedAt: number;
}

/**
 * The recorded door of one activation. It owns the order of asking, the order of release, and what is in flight.
 *
 * D1 an address is sha256 of kind, name, masked request and the path of enclosing steps; its occurrence is counted at the call,
 * before anything is awaited. D2 answers are released in the order asked, a macrotask apart, live and from the record alike; what
 * is asked inside a step is released by that step. D3 `step.started` is durable before the effect starts. D4 control errors are
 * sticky and never recorded. D5 after `close` nothing is asked any more, and what was in flight has been awaited.
 */
export class ActivationSteps implements StepPort {
  readonly #parts: StepsParts;
  readonly #release: Release;
  readonly #inFlight = new Set<Promise<unknown>>();
  readonly #occurrences = new Map<string, number>();
  #asked = 0;
  #closed = false;
  #control: ControlError | undefined;
  #failed = false;
  #humansAsked = 0;

  constructor(parts: StepsParts) {
    this.#parts = parts;
    this.#release = new Release(parts.startedAt);
  }

  /** Milliseconds: the time of the last released answer. */
  get now(): number {
    return this.#release.now;
  }

  /** The interruption that came, if one came. */
  get control(): ControlError | undefined {
    return this.#control;
  }

  /** Whether some step failed. */
  get failed(): boolean {
    return this.#failed;
  }

  /** Whether a person is being asked. */
  get waitsForHuman(): boolean {
    return this.#humansAsked > 0;
  }

  step<T>(spec: StepSpec, effect: (door: StepDoor) => Promise<T>): Promise<T> {
    const refusal = this.#refusal(spec);
    if (refusal !== undefined) return Promise.reject(refusal);
    const asked = this.#asked;
    this.#asked += 1;
    const answer = this.#answer(spec, effect, { path: "", parent: undefined, asked });
    const released = this.#track(this.#release.inOrder(answer)).then((outcome) => this.#handOut<T>(outcome));
    // A step nobody awaits is recorded all the same; its failure must not end the process.
    released.catch(() => {});
    return released;
  }

  /** Refuses new steps and waits for those in flight. */
  async close(): Promise<void> {
    this.#closed = true;
    while (this.#inFlight.size > 0) await Promise.allSettled(this.#inFlight);
  }

  #refusal(spec: StepSpec): Error | undefined {
    if (this.#closed) return new ContextClosedError(this.#parts.act, `step ${spec.name}`);
    const { signal } = this.#parts.lifetime;
    if (this.#control === undefined && signal.aborted) this.#control = abortReason(signal);
    return this.#control;
  }

  #track<T>(work: Promise<T>): Promise<T> {
    this.#inFlight.add(work);
    const done = (): void => void this.#inFlight.delete(work);
    work.then(done, done);
    return work;
  }

  #handOut<T>(outcome: StepOutcome): T {
    if (outcome.ok) return outcome.value as T;
    throw stepErrorFrom(outcome.error ?? errorRecord(undefined));
  }

  async #answer<T>(spec: StepSpec, effect: (door: StepDoor) => Promise<T>, at: Place): Promise<StepOutcome> {
    const request = JSON.parse(this.#parts.mask(canonicalJson(spec.request ?? null))) as Json;
    const key = this.#keyOf(spec, request, at.path);
    const known = this.#parts.recorded?.get(key)?.outcome ?? this.#parts.carried.get(key);
    if (known === undefined) return this.#live(spec, request, key, at, effect);
    if (spec.again === true) await this.#runAgain(key, effect);
    if (!known.ok) this.#failed = true;
    return known;
  }

  #keyOf(spec: StepSpec, request: Json, path: string): string {
    const address = contentHash([spec.kind, spec.name, request, path]).slice(0, ADDRESS_DIGITS);
    const occurrence = this.#occurrences.get(address) ?? 0;
    this.#occurrences.set(address, occurrence + 1);
    return `${address}.${occurrence}`;
  }

  async #live<T>(spec: StepSpec, request: Json, key: string, at: Place, effect: (door: StepDoor) => Promise<T>): Promise<StepOutcome> {
    const { act, log, gate, lifetime, begin } = this.#parts;
    const { signal } = lifetime;
    begin();
    const tries = new Tries({ act, key, spec, request, asked: at.asked, parent: at.parent, log, gate, signal, now: this.#parts.now });
    const humans = spec.kind === "human" ? 1 : 0;
    this.#humansAsked += humans;
    try {
      if (spec.metered !== true) await tries.open(0);
      const value = await untilAborted(effect(this.#door(key, at, tries)), signal);
      return tries.succeed(JSON.parse(this.#parts.mask(canonicalJson(value ?? null))) as Json);
    } catch (error) {
      const control = error instanceof ControlError ? error : signal.aborted ? abortReason(signal) : this.#control;
      if (control !== undefined) {
        this.#control ??= control;
        tries.interrupt();
        throw control;
      }
      this.#failed = true;
      const record = JSON.parse(this.#parts.mask(canonicalJson(errorRecord(error)))) as ReturnType<typeof errorRecord>;
      return tries.fail(record);
    } finally {
      this.#humansAsked -= humans;
    }
  }

  /** The effect of a recorded write, repeated. Its failure is a failure of this activation, not of the record. */
  async #runAgain<T>(key: string, effect: (door: StepDoor) => Promise<T>): Promise<void> {
    const attempts = { open: () => Promise.resolve(), settle: () => {} };
    await untilAborted(effect(this.#door(key, { path: key, parent: key, asked: 0 }, attempts)), this.#parts.lifetime.signal);
  }

  #door(key: string, at: Place, attempts: StepDoor["attempts"]): StepDoor {
    let asked = 0;
    const path = at.path === "" ? key : `${at.path}/${key}`;
    return {
      key,
      signal: this.#parts.lifetime.signal,
      attempts,
      step: async (spec, effect) => {
        const refusal = this.#refusal(spec);
        if (refusal !== undefined) throw refusal;
        const place: Place = { path, parent: key, asked };
        asked += 1;
        return this.#handOut(await this.#track(this.#answer(spec, effect, place)));
      },
    };
  }
}

/** Where a step stands: the path of enclosing steps, the nearest of them, and its place among its siblings. */
interface Place {
  readonly path: string;
  readonly parent: string | undefined;
  readonly asked: number;
}

