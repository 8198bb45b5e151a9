import { abortReason, abortWith, throwIfAborted, untilAborted } from "../kernel/abort.ts";
import { listOf, aText, takes } from "../kernel/argument.ts";
import { type Clock, systemClock } from "../kernel/clock.ts";
import { type EffectCall, type EffectEnd, type EffectPort, isUncertain, localEffects, uncertain } from "../kernel/effect.ts";
import { type ErrorRecord, errorRecord, JournalError, MovedError, StepError, TimeoutError, UsageError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { valueText } from "../kernel/value-text.ts";
import { addUsage, type Usage } from "../model/chat-model.ts";
import type { RunEvent } from "../runtime/record/event.ts";
import { aJournal, type Journal } from "../runtime/record/journal.ts";
import { growthOf } from "./growth.ts";
import { aRunDriver, type RunDriver } from "../team/run-driver.ts";
import { effectIdea, effectTeamName } from "./effect-team.ts";

/** Options of {@link remoteEffects}. */
export interface RemoteEffectsOptions {
  readonly driver: RunDriver;
  /** The journal of the workers that do the effects. */
  readonly journal: Journal;
  /** Names of effects that are done elsewhere: kind and name of the step, as "tool:render". All others are done here. */
  readonly effects: readonly string[];
  /** Milliseconds until the end of an effect, after which it is cancelled. Default 3,600,000. */
  readonly limit?: number;
  readonly clock?: Clock;
}

const remoteEffectsOptions: Known<RemoteEffectsOptions> = {
  driver: kinds.runDriver,
  journal: kinds.journal,
  effects: kinds.texts,
  limit: kinds.milliseconds,
  clock: kinds.clock,
};

const LIMIT = 3_600_000;
/** Milliseconds that the queue gets to cancel an effect. */
const CANCEL_LIMIT = 2_000;

/**
 * Lets workers do the effects of steps: each effect is a run of its own, of the team that {@link effectTeam} makes, in the same journal and the
 * same queue. So its tries, its cost and the deaths of its workers are recorded there, and the next owner of the run that asked finds it by its
 * key. Its cost is charged to that run when the answer comes; no budget bounds it before, so give the team of the effect one. It has the scope
 * of the run that asked. A step fails with `EFFECT_UNANSWERED` where the effect ended without an answer, with `EFFECT_TOO_LONG` for a long request.
 *
 * @throws UsageError `ARGUMENT_INVALID`, `OPTION_INVALID`, `OPTION_UNKNOWN`
 */
export function remoteEffects(options: RemoteEffectsOptions): EffectPort {
  checkGivenOptions("remoteEffects", options, remoteEffectsOptions);
  const { driver, journal, effects, limit = LIMIT, clock = systemClock } = options;
  takes("remoteEffects", "driver", driver, aRunDriver);
  takes("remoteEffects", "journal", journal, aJournal);
  takes("remoteEffects", "effects", effects, listOf(aText));
  if (!(limit > 0)) throw new UsageError("OPTION_INVALID", `Expected limit to be milliseconds above 0, got ${valueText(limit)}.`);
  return new RemoteEffects({ driver, journal, effects, limit, clock });
}

/**
 * Effects as runs of their own.
 *
 * RemoteEffects.E1 (`#begin`) each key has one run, created before its job is queued. If the run exists, the effect is not begun again. If it
 * does not, and the effect must not be repeated, the result is STEP_UNCERTAIN.
 * RemoteEffects.E2 (`#failure`) an effect is cancelled when the run that asked is stopped or late, and continues when that run has moved.
 * RemoteEffects.E3 (`#end`) a recorded answer is taken, whichever process asked for it.
 * RemoteEffects.E4 (`#failure`) an effect that must not happen twice, and that may have been queued, is uncertain without its answer.
 */
class RemoteEffects implements EffectPort {
  readonly #parts: Required<RemoteEffectsOptions>;
  readonly #names: ReadonlySet<string>;

  constructor(parts: Required<RemoteEffectsOptions>) {
    this.#parts = parts;
    this.#names = new Set(parts.effects);
  }

  async run(call: EffectCall, effect: () => Promise<unknown>): Promise<EffectEnd> {
    if (!this.#names.has(nameOf(call))) return localEffects.run(call, effect);
    const { clock, limit } = this.#parts;
    const runId = `effect-${call.key}`;
    const idea = effectIdea(call);
    const late = new AbortController();
    const cancelTimer = clock.timer(limit, () => late.abort(new TimeoutError(`the effect "${call.name}"`, limit)));
    const letGo = abortWith(late, call.signal);
    const { signal } = late;
    try {
      throwIfAborted(signal);
      const since = await this.#begin(runId, call, idea);
      return await this.#end(runId, since, signal);
    } catch (error) {
      throw await this.#failure(error, runId, call, signal);
    } finally {
      letGo();
      cancelTimer();
    }
  }

  /** Queues an effect unless it has its answer. @returns the number of events before its end counts */
  async #begin(runId: string, call: EffectCall, idea: string): Promise<number> {
    const { driver, journal } = this.#parts;
    const known = await eventsFrom(journal, runId, 0);
    if (call.began && !call.idempotent && known === undefined) throw uncertain(call.name);
    // The caller has not asked before, so this record belongs to a removed run with the same id.
    const isOlder = known !== undefined && !call.began;
    if (isOlder) await journal.remove(runId);
    if (isOlder || known === undefined) await journal.create(runId);
    const events = isOlder ? [] : (known ?? []);
    if (endOf(events)?.isFinal === true) return 0;
    const { scope } = call;
    await driver.submit({ runId, team: effectTeamName(nameOf(call)), idea, ...(scope && { scope }), events: events.length });
    return events.length;
  }

  async #end(runId: string, since: number, signal: AbortSignal): Promise<EffectEnd> {
    const { journal, clock } = this.#parts;
    const events: RunEvent[] = [];
    for await (const _ of growthOf(journal, runId, { clock, signal })) {
      // One after the other: the number of arguments of a call is limited.
      for (const event of (await eventsFrom(journal, runId, events.length)) ?? []) events.push(event);
      const end = endOf(events);
      if (end !== undefined && (end.isFinal || events.length > since)) return end;
    }
    throwIfAborted(signal);
    throw unanswered("its run was removed");
  }

  async #failure(error: unknown, runId: string, { name, idempotent, signal: asked }: EffectCall, signal: AbortSignal): Promise<unknown> {
    const reason: unknown = signal.aborted ? signal.reason : error;
    if (signal.aborted && !(reason instanceof MovedError)) await this.#cancel(runId);
    if (asked.aborted) return abortReason(asked);
    return idempotent || isUncertain(reason) ? reason : uncertain(name, reason);
  }

  /** A stopped run does not wait for a queue that cannot be reached. */
  async #cancel(runId: string): Promise<void> {
    const { driver, clock } = this.#parts;
    const late = new AbortController();
    const cancelTimer = clock.timer(CANCEL_LIMIT, () => late.abort());
    await untilAborted(driver.cancel(runId), late.signal).catch(() => undefined);
    cancelTimer();
  }
}

function nameOf({ kind, name }: Pick<EffectCall, "kind" | "name">): string {
  return `${kind}:${name}`;
}

async function eventsFrom(journal: Journal, runId: string, from: number): Promise<readonly RunEvent[] | undefined> {
  const events: RunEvent[] = [];
  try {
    for await (const event of journal.read(runId, from)) events.push(event);
  } catch (error) {
    if (error instanceof JournalError && error.code === "RUN_UNKNOWN") return undefined;
    throw error;
  }
  return events;
}

interface RecordedEnd extends EffectEnd {
  /** False where its run may still give an answer when it continues. */
  readonly isFinal: boolean;
}

function endOf(events: readonly RunEvent[]): RecordedEnd | undefined {
  const last = events.at(-1);
  const ends = events.flatMap((event) => (event.type === "step.ended" ? [event] : []));
  const inside = new Set(events.flatMap((event) => (event.type === "step.started" && event.in !== undefined ? [event.key] : [])));
  const answer = ends.findLast(({ key, retry }) => retry !== true && !inside.has(key));
  const isFinal = answer !== undefined && (answer.ok || answer.error?.retryable !== true);
  if (!isFinal && last?.type !== "run.ended") return undefined;
  const cost = ends.reduce((sum, end) => sum + (end.cost ?? 0), 0);
  const usages = ends.flatMap(({ usage }) => (usage === undefined ? [] : [usage as unknown as Usage]));
  const spent = {
    ...(cost === 0 ? {} : { cost }),
    ...(usages.length === 0 ? {} : { usage: { ...usages.reduce(addUsage, { inputTokens: 0, outputTokens: 0 }) } as Json }),
  };
  if (answer?.ok === true) return { answer: { ok: true, value: answer.value ?? null }, ...spent, isFinal };
  const reported: ErrorRecord | undefined = answer?.error ?? (last?.type === "run.ended" ? last.error : undefined);
  const error = reported ?? errorRecord(unanswered(last?.type === "run.ended" ? `its run ended with status ${last.status}` : "it failed"));
  return { answer: { ok: false, error }, ...spent, isFinal };
}

function unanswered(why: string): StepError {
  return new StepError(
    "EFFECT_UNANSWERED",
    `Expected an answer of the effect, but ${why}. Look at its run in the journal, then resume the run.`,
  );
}
