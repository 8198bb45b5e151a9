import type { Clock } from "../../kernel/clock.ts";
import { DifferenceError, type ErrorRecord, errorRecord } from "../../kernel/errors.ts";
import { deepFreeze, type Json } from "../../kernel/json.ts";
import { roleNameIn, type StepRecord } from "../record/role-state.ts";
import { canonicalEnd } from "../record/canonical.ts";
import { roleOf, type RunState } from "../record/run-state.ts";
import type { ActEnded, ActFailed, HiredRole, RunEvent, RunEventBody, StepStarted } from "../record/event.ts";
import type { AskedAgain, OpenQuestion, AnswerSource } from "../steps/answer-source.ts";
import type { RunLog } from "../record/run-log.ts";
import type { DriveEnd, Driver, DriverHost, TurnEnd } from "../schedulers/drive.ts";

/** Failures that come from outside of what is replayed: time, and the death of the process. */
const OUTER_FAILURES: ReadonlySet<string> = new Set(["TimeoutError TIMEOUT", "StepError POISONED"]);

/** What a replay found that is not as it was. */
export interface ReplayDifference {
  /** `asked`: now, but not then. `not asked`: then, but not now. `ended`: otherwise than then. */
  readonly kind: "asked" | "not asked" | "ended";
  /** `role#n~attempt` */
  readonly act: string;
  /** Of the step; left out where no step differs. */
  readonly name?: string;
  /** What the record has; null: nothing. */
  readonly recorded: Json;
  /** What came now; null: nothing. */
  readonly now: Json;
}

/** What a replay is made of. */
export interface ReplayParts {
  /** Of one run, without its start. */
  readonly record: AsyncIterable<RunEvent>;
  /** Sequence number of the last event that it shares with the run it was forked from. */
  readonly sharedTo?: number | undefined;
  /** Whether a team of the record is the one that lives now. */
  readonly isOurs: (team: readonly HiredRole[]) => boolean;
  readonly log: () => RunLog;
}

/**
 * The regime of a replay: it follows a record, event by event. What came from outside and what steps answered is taken over as it is;
 * every activation lives again, in the order in which they had ended, and must end as it had. It owns the time of the replay, which is
 * that of the record.
 *
 * P1 no effect happens: a step without a recorded answer is a difference. P2 what had no end in the record gets none. P3 what ran out of
 * time then is taken over as it is, for time is not replayed. P4 so is what a fork shares with its parent: other roles may have lived it,
 * and its messages may have been changed. P5 and so is what another team lived, where the run was forced to go on with another one.
 */
export class Replay implements Driver, AnswerSource {
  readonly #record: AsyncIterable<RunEvent>;
  readonly #log: () => RunLog;
  /** The last event that the run shares with the one it was forked from. */
  readonly #sharedTo: number;
  readonly #isOurs: (team: readonly HiredRole[]) => boolean;
  /** Steps that are shared, of activations that were open there: the run itself may not have asked for them. */
  readonly #shared = new Map<string, Set<string>>();
  /** The end, in the record, of the activation that lives again now. */
  #living: ActEnded | ActFailed | undefined;
  #now = 0;

  constructor({ record, sharedTo = -1, isOurs, log }: ReplayParts) {
    this.#record = record;
    this.#isOurs = isOurs;
    this.#sharedTo = sharedTo;
    this.#log = log;
  }

  /** Tells the time of the record, and waits by `clock`. */
  clock(clock: Clock): Clock {
    return { now: () => this.#now, timer: (ms, fire) => clock.timer(ms, fire) };
  }

  /** @throws DifferenceError always: what the record does not answer must not happen. */
  answer(question: OpenQuestion): undefined {
    throw asked(question, this.#log().state);
  }

  startOf(): undefined {
    return undefined;
  }

  askAgain({ recorded, asked: place, nth }: AskedAgain): void {
    const order = this.#living?.asked;
    const isShared = this.#shared.get(recorded.act)?.has(recorded.key) === true;
    const isAsThen = order === undefined ? isShared || recorded.asked === place : order[nth] === recorded.key;
    if (!isAsThen) throw misplaced(recorded, order === undefined ? place : (order[nth] ?? ""), this.#log().state);
  }

  unrepeated(act: string, key: string): ErrorRecord | undefined {
    return this.#living?.act === act ? this.#living.unrepeated?.find((step) => step.key === key)?.error : undefined;
  }

  notAsked(act: string, unasked: readonly StepRecord[], failure: unknown): DifferenceError | undefined {
    const missed = unasked.find(({ started }) => this.#mustAsk(started));
    return missed && differenceOfMissed(act, missed, failure);
  }

  #mustAsk({ act, key }: StepStarted): boolean {
    const order = this.#living?.asked;
    return order === undefined ? this.#shared.get(act)?.has(key) !== true : order.includes(key);
  }

  async run(host: DriverHost): Promise<DriveEnd> {
    for await (const read of this.#record) {
      const event = deepFreeze(read);
      if (host.scope.ended !== undefined) return "interrupted";
      this.#now = event.time;
      const isShared = event.seq <= this.#sharedTo;
      if (isShared) this.#share(event);
      const isLived = isEnd(event) && !isShared && !isOuter(event) && this.#isOurs(this.#log().state.team);
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

  async #liveAgain(event: ActEnded | ActFailed, host: DriverHost): Promise<TurnEnd> {
    const log = this.#log();
    if (log.state.roles.get(event.role)?.open === undefined) log.record(beginningOf(event, log.state, this.#now));
    this.#living = event;
    const end = await host.turn(roleOf(log.state, event.role));
    const now = log.latest;
    if (end !== "suspended" && now !== undefined && isEnd(now) && canonicalEnd(now) !== canonicalEnd(event)) throw ended(event, now);
    return end;
  }
}

/** What an activation asked then and did not ask now, because of an error perhaps. */
function differenceOfMissed(act: string, { started }: StepRecord, failure: unknown): DifferenceError {
  const { name, request } = started;
  const why = failure === undefined ? "" : `, but fails: ${errorRecord(failure).message}`;
  return differenceOf(
    `${act} asked for "${name}" then, and does not now${why}`,
    { kind: "not asked", act, name, recorded: request, now: null },
    failure,
  );
}

function asked({ act, name, request, asked: place, in: parent }: OpenQuestion, state: RunState): DifferenceError {
  const then = stepsOf(act, state).find((started) => started.asked === place && started.in === parent);
  const text =
    then === undefined ? `${act} asks for "${name}" now, and did not then` : `${act} asks "${name}" otherwise than "${then.name}" then`;
  return differenceOf(text, { kind: "asked", act, name, recorded: then?.request ?? null, now: request });
}

/** @param wanted the key, or the place in the order of asking, of the step that was asked for there */
function misplaced({ act, name, request }: StepStarted, wanted: string | number, state: RunState): DifferenceError {
  const steps = stepsOf(act, state).filter((started) => started.in === undefined);
  const then = steps.find((started) => (typeof wanted === "string" ? started.key : started.asked) === wanted);
  const text = `${act} asks for "${name}" where it asked for ${then === undefined ? "nothing" : `"${then.name}"`} then: its steps come in another order`;
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

/** A step that was late is none of them: that is recorded, and comes back as another error of the same code. */
function isOuter(event: ActEnded | ActFailed): boolean {
  return event.type === "act.failed" && OUTER_FAILURES.has(`${event.error.name} ${event.error.code}`);
}

/** Live, an activation without steps has no beginning in the record; a replay needs to know what it consumed and when. */
function beginningOf({ act, role, take, at }: ActEnded | ActFailed, state: RunState, now: number): RunEventBody {
  const known = state.roles.get(role);
  const attempt = (known?.retry.failures ?? 0) + 1;
  return { type: "act.started", act, role, n: known?.n ?? 0, attempt, take, at: at ?? now };
}

function bodyOf({ v: _v, runId: _runId, seq: _seq, time: _time, ...body }: RunEvent): RunEventBody {
  return body;
}
