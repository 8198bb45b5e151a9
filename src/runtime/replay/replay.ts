import type { Clock } from "../../kernel/clock.ts";
import { DifferenceError, type ErrorRecord, errorRecord } from "../../kernel/errors.ts";
import { deepFreeze, type Json } from "../../kernel/json.ts";
import { roleNameIn, type StepRecord } from "../record/role-state.ts";
import { canonicalEnd } from "../record/canonical.ts";
import { roleOf, type RunState } from "../record/run-state.ts";
import type { ActEnded, ActFailed, HiredRole, RunEvent, RunEventBody, Sent, StepStarted } from "../record/event.ts";
import type { EdgeDecisions } from "../edges/edge-policy.ts";
import type { OpenQuestion, AnswerSource } from "../steps/answer-source.ts";
import type { RunLog } from "../record/run-log.ts";
import type { Engine } from "../engine.ts";
import type { DriveEnd, Driver, TurnEnd } from "../schedulers/drive.ts";

/** Failures with a cause outside the replayed code: time, and the death of the process. */
const OUTER_FAILURES: ReadonlySet<string> = new Set(["TimeoutError TIMEOUT", "StepError POISONED", "UsageError EDGE_FAILED"]);

/** A difference between a replay and its record. */
export interface ReplayDifference {
  /** `asked`: only now. `not asked`: only in the record. `ended`: with another end than in the record. */
  readonly kind: "asked" | "not asked" | "ended";
  /** `role#n~attempt` */
  readonly act: string;
  /** The name of the step; left out if no step differs. */
  readonly name?: string;
  /** The recorded value; null: none. */
  readonly recorded: Json;
  /** The present value; null: none. */
  readonly now: Json;
}

export interface ReplayParts {
  readonly record: AsyncIterable<RunEvent>;
  /** Sequence number of the last event shared with the run it was forked from. */
  readonly sharedTo?: number | undefined;
  /** Returns true for a recorded team that equals the present one. */
  readonly isOurs: (team: readonly HiredRole[]) => boolean;
  readonly log: () => RunLog;
}

/**
 * The scheduler of a replay. It copies messages from outside and the answers of steps; every activation runs again, in the recorded order of
 * ends, and must end as recorded. It owns the time of the replay, which is that of the record.
 *
 * Replay.P1 (`answer`) no effect happens: a step without a recorded answer is a difference.
 * Replay.P2 (`run`) an activation without a recorded end gets none.
 * Replay.P3 (`isOuter`) a recorded timeout is copied, because time is not replayed.
 * Replay.P4 (`run`) the events that a fork shares with its parent are copied: other roles may have produced them.
 * Replay.P5 (`run`) if the run was resumed with another team, the events of that team are copied.
 * Replay.P6 (`pass`, `isOuter`) edge faults are copied: the edge policies are not called again.
 */
export class Replay implements Driver, AnswerSource, EdgeDecisions {
  readonly #record: AsyncIterable<RunEvent>;
  readonly #log: () => RunLog;
  /** Sequence number of the last event shared with the run it was forked from. */
  readonly #sharedTo: number;
  readonly #isOurs: (team: readonly HiredRole[]) => boolean;
  /** Shared steps of activations open at the fork: the run itself may not have asked for them. */
  readonly #shared = new Map<string, Set<string>>();
  /** The recorded end of the activation that runs again now. */
  #current: ActEnded | ActFailed | undefined;
  #now = 0;

  constructor({ record, sharedTo = -1, isOurs, log }: ReplayParts) {
    this.#record = record;
    this.#isOurs = isOurs;
    this.#sharedTo = sharedTo;
    this.#log = log;
  }

  /** Returns a clock with the time of the record and the timers of `clock`. */
  clock(clock: Clock): Clock {
    return { now: () => this.#now, timer: (ms, fire) => clock.timer(ms, fire) };
  }

  /** @throws DifferenceError always: an effect without a recorded answer must not happen. */
  answer(question: OpenQuestion): undefined {
    throw asked(question, this.#log().state);
  }

  askAgain(recorded: StepStarted, index: number, nth: number): void {
    const order = this.#current?.asked;
    const isShared = this.#shared.get(recorded.act)?.has(recorded.key) === true;
    const isAsThen = order === undefined ? isShared || recorded.asked === index : order[nth] === recorded.key;
    if (!isAsThen) throw misplaced(recorded, order === undefined ? index : (order[nth] ?? ""), this.#log().state);
  }

  unrepeated(act: string, key: string): ErrorRecord | undefined {
    return this.#current?.act === act ? this.#current.unrepeated?.find((step) => step.key === key)?.error : undefined;
  }

  pass(said: readonly Sent[]): readonly Sent[] {
    const then = this.#current?.type === "act.ended" ? this.#current.said : [];
    return said.map((sent, nth) => {
      const faults = then[nth]?.faults;
      return faults === undefined ? sent : { ...sent, faults };
    });
  }

  notAsked(act: string, unasked: readonly StepRecord[], failure: unknown): DifferenceError | undefined {
    const missed = unasked.find(({ started }) => this.#mustAsk(started));
    return missed && differenceOfMissed(act, missed, failure);
  }

  #mustAsk({ act, key }: StepStarted): boolean {
    const order = this.#current?.asked;
    return order === undefined ? this.#shared.get(act)?.has(key) !== true : order.includes(key);
  }

  async run(host: Engine): Promise<DriveEnd> {
    for await (const read of this.#record) {
      const event = deepFreeze(read);
      if (host.scope.ended !== undefined) return "interrupted";
      this.#now = event.time;
      const isShared = event.seq <= this.#sharedTo;
      if (isShared) this.#share(event);
      const { state } = this.#log();
      const isLived = isEnd(event) && !isShared && !isOuter(event, state) && this.#isOurs(state.team);
      if (!isLived) this.#log().record(bodyOf(event));
      else if ((await this.#liveAgain(event, host)) === "suspended") return "interrupted";
    }
    return "idle";
  }

  #share(event: RunEvent): void {
    if (event.type === "act.started") this.#shared.set(event.act, new Set());
    else if (event.type === "step.started") this.#shared.get(event.act)?.add(event.key);
    else if (isEnd(event)) this.#shared.delete(event.act);
  }

  async #liveAgain(event: ActEnded | ActFailed, host: Engine): Promise<TurnEnd> {
    const log = this.#log();
    if (log.state.roles.get(event.role)?.open === undefined) log.record(beginningOf(event, log.state, this.#now));
    this.#current = event;
    const end = await host.turn(roleOf(log.state, event.role));
    const now = log.latest;
    if (end !== "suspended" && now !== undefined && isEnd(now) && canonicalEnd(now) !== canonicalEnd(event)) throw ended(event, now);
    return end;
  }
}

function differenceOfMissed(act: string, { started }: StepRecord, failure: unknown): DifferenceError {
  const { name, request } = started;
  const why = failure === undefined ? "" : `, but fails: ${errorRecord(failure).message}`;
  return differenceOf(
    `${act} asked for "${name}" in its record, but not in this replay${why}`,
    { kind: "not asked", act, name, recorded: request, now: null },
    failure,
  );
}

function asked({ act, name, request, asked: index, in: parent }: OpenQuestion, state: RunState): DifferenceError {
  const then = stepsOf(act, state).find((started) => started.asked === index && started.in === parent);
  const text =
    then === undefined ? `${act} asks for "${name}" now, and did not then` : `${act} asks "${name}" otherwise than "${then.name}" then`;
  return differenceOf(text, { kind: "asked", act, name, recorded: then?.request ?? null, now: request });
}

/** @param wanted the key, or the index in the order of asking, of the recorded step */
function misplaced({ act, name, request }: StepStarted, wanted: string | number, state: RunState): DifferenceError {
  const steps = stepsOf(act, state).filter((started) => started.in === undefined);
  const then = steps.find((started) => (typeof wanted === "string" ? started.key : started.asked) === wanted);
  const text = `${act} asks for "${name}", but its record has ${then === undefined ? "no step" : `"${then.name}"`} at this position: its steps come in another order`;
  return differenceOf(text, { kind: "asked", act, name, recorded: then?.request ?? null, now: request });
}

function stepsOf(act: string, state: RunState): readonly StepStarted[] {
  return [...(state.roles.get(roleNameIn(act))?.open?.steps.values() ?? [])].map(({ started }) => started);
}

function ended(then: ActEnded | ActFailed, now: ActEnded | ActFailed): DifferenceError {
  const text = `${then.act} does not end as it did`;
  const plain = (event: ActEnded | ActFailed): Json => JSON.parse(canonicalEnd(event)) as Json;
  return differenceOf(text, { kind: "ended", act: then.act, recorded: plain(then), now: plain(now) });
}

function differenceOf(text: string, data: ReplayDifference, cause?: unknown): DifferenceError {
  const advice = "The code, a prompt or the team is not what it was: replay it with those it was made with, or fork it.";
  return new DifferenceError("DIFFERENCE", `Expected the run to repeat its record, but ${text}. ${advice}`, { data, cause });
}

function isEnd<E extends RunEventBody>(event: E): event is E & (ActEnded | ActFailed) {
  return event.type === "act.ended" || event.type === "act.failed";
}

/** A late step is recorded, and read back as another error of the same code. Copies by edges in a failed attempt are not recorded. */
function isOuter(event: ActEnded | ActFailed, { edges }: RunState): boolean {
  if (event.type !== "act.failed") return false;
  const { name, code } = event.error;
  return OUTER_FAILURES.has(`${name} ${code}`) || (edges.length > 0 && name === "QueueFullError");
}

/** Creates the start of an activation without steps, which a live run does not record. */
function beginningOf({ act, role, take, at, teamAt }: ActEnded | ActFailed, state: RunState, now: number): RunEventBody {
  const known = state.roles.get(role);
  const attempt = (known?.retry.failures ?? 0) + 1;
  const team = teamAt === undefined ? {} : { teamAt };
  return { type: "act.started", act, role, n: known?.n ?? 0, attempt, take, at: at ?? now, ...team };
}

function bodyOf({ v: _v, runId: _runId, seq: _seq, time: _time, ...body }: RunEvent): RunEventBody {
  return body;
}
