import type {
  ActEnded,
  ActFailed,
  ForkPoint,
  RoleRetired,
  RoleTaken,
  RunEvent,
  RunStatus,
  StepEnded,
  StepStarted,
  SettledTry,
} from "./event.ts";
import { isCount, isRecord } from "../../kernel/value-kind.ts";
import type { Journal, RunInfo } from "./journal.ts";
import { settledMore } from "./lost-tries.ts";
import { JournalError } from "../../kernel/errors.ts";
import type { Scope } from "../../kernel/scope.ts";
import { signalIn } from "./signals.ts";
import { isToPlayer } from "./questions.ts";
import { roleNameIn } from "./role-state.ts";
import type { PendingQuestion } from "./questions.ts";

/** The status of a run in a list. `running`, `paused`: this process drives it. `open`: its record has no end. `damaged`: it cannot be read. */
export type SummaryStatus = RunStatus | "running" | "paused" | "open" | "empty" | "damaged";

/** A run in a list, without its messages. */
export interface RunSummary {
  readonly id: string;
  readonly status: SummaryStatus;
  /** The beginning of the first message with content, at most 500 characters. */
  readonly idea: string;
  readonly team: string;
  readonly events: number;
  /** Milliseconds since 1970 of its first event, or of a fork's first own one. Null without events. */
  readonly started: number | null;
  /** Milliseconds of the end; left out while the run has none. */
  readonly ended?: number;
  /** Messages from outside that came after the end. Left out without any. */
  readonly told?: number;
  /** Milliseconds of the last event; null without one. */
  readonly moved: number | null;
  /** Micro-dollars of everything settled. */
  readonly cost: number;
  /** Calls without a known price. */
  readonly unpriced: number;
  /** Answers of models called in this run. */
  readonly calls: number;
  /** Input and output tokens of all calls. */
  readonly tokens: number;
  /** Names of the hired roles, in the order of hiring; at most 500. */
  readonly roles: readonly string[];
  /** Open questions to people. Only in the summary of one run. */
  readonly questions?: readonly PendingQuestion[];
  /** The run it was forked from. */
  readonly parent?: ForkPoint;
  /** The newest 20 failed activations, with at most 500 characters of their messages. Left out without any. */
  readonly failures?: readonly FailedActivation[];
  /** The scope: whose words the run has. */
  readonly scope?: Scope;
  /** Milliseconds since 1970 when all words of people in it were erased. */
  readonly erased?: number;
  readonly error?: { readonly code: string; readonly message: string };
}

/** A step without an answer, as far as sums and questions need it. */
type OpenStep = Pick<StepStarted, "act" | "key" | "kind" | "hold" | "unpriced" | "reused"> & {
  /** A try of it has begun and not ended. */
  readonly inFlight: boolean;
  readonly question?: StepStarted;
};

/** The summary of the first events of a run, with what the next events need, as plain JSON. {@link TallyFold} makes it. */
export interface RunTally {
  /** {@link TALLY_VERSION}. A tally of another version is made again from the events. */
  readonly v: number;
  readonly summary: RunSummary;
  readonly steps: readonly OpenStep[];
}

type SummaryDraft = { -readonly [K in keyof RunSummary]: RunSummary[K] };

/** The version of {@link RunTally}. Change it when the same events give another tally. */
const TALLY_VERSION = 4;

const MAX_IDEA = 500;
const MAX_ROLES = 500;
const MAX_FAILURES = 20;
const MAX_MESSAGE = 500;

/** Returns a tally that was kept as JSON; undefined for one of another run or version. */
export function keptTally(value: unknown, runId: string): RunTally | undefined {
  if (!isRecord(value) || value["v"] !== TALLY_VERSION || !Array.isArray(value["steps"])) return undefined;
  const { summary } = value;
  return isRecord(summary) && summary["id"] === runId && isCount(summary["events"]) ? (value as unknown as RunTally) : undefined;
}

export function askedIn({ steps }: RunTally): readonly StepStarted[] {
  return steps.flatMap(({ question }) => question ?? []);
}

/**
 * Folds the events of a run to its tally, which is much smaller than its state. It owns the open steps; its sums are those of `RunState`.
 *
 * TallyFold.A1 (`add`) events that were added before are skipped.
 * TallyFold.A2 (`#settleAtHold`) a try without a recorded end costs its hold from the next resume or try until it is settled.
 * TallyFold.A3 (`tally`) a fold from the tally of the first events gives the same result as a fold from the first event.
 * TallyFold.A4 (`#settle`) only steps without an answer are kept.
 */
export class TallyFold {
  readonly #steps = new Map<string, OpenStep>();
  readonly #roles: Set<string>;
  readonly #failures: FailedActivations;
  readonly #summary: SummaryDraft;

  /** @param from the tally of the first events; without it the fold begins with the first event */
  constructor(runId: string, from?: RunTally) {
    const none = { idea: "", team: "", events: 0, started: null, moved: null, cost: 0, unpriced: 0, calls: 0, tokens: 0, roles: [] };
    this.#summary = from === undefined ? { id: runId, status: "empty", ...none } : { ...from.summary };
    this.#roles = new Set(this.#summary.roles);
    this.#failures = new Map((this.#summary.failures ?? []).map((failed) => [nameIn(failed.act), failed]));
    for (const step of from?.steps ?? []) this.#steps.set(nameOf(step), step);
  }

  get next(): number {
    return this.#summary.events;
  }

  get #isAtRest(): boolean {
    return this.#summary.status !== "open" && this.#summary.status !== "empty";
  }

  get tally(): RunTally {
    const { failures: _before, ...summary } = this.#summary;
    const failures = this.#failures.size === 0 ? {} : { failures: [...this.#failures.values()] };
    return { v: TALLY_VERSION, summary: { ...summary, roles: [...this.#roles], ...failures }, steps: [...this.#steps.values()] };
  }

  add(event: RunEvent): void {
    const draft = this.#summary;
    if (event.seq < draft.events) return;
    draft.events = event.seq + 1;
    draft.started ??= event.time;
    draft.moved = event.time;
    this.#change(event, draft);
  }

  #change(event: RunEvent, draft: SummaryDraft): void {
    switch (event.type) {
      case "run.started":
        draft.team = event.team;
        if (event.parent !== undefined) draft.parent = event.parent;
        if (event.scope !== undefined) draft.scope = event.scope;
        this.#hire(event.roles);
        return goesOn(draft);
      case "message":
        if (this.#isAtRest && signalIn(event.message) === undefined) draft.told = (draft.told ?? 0) + 1;
        if (draft.idea === "") draft.idea = event.message.content.slice(0, MAX_IDEA);
        return;
      case "step.started":
        return this.#open(event);
      case "step.ended":
        return this.#settle(event);
      case "act.ended":
      case "act.failed":
        this.#end(event);
        for (const [name, { act }] of this.#steps) if (act === event.act) this.#steps.delete(name);
        return;
      case "role.hired":
        return this.#hire(event.roles);
      case "role.retired":
      case "role.taken":
        return this.#leave(event);
      case "run.resumed":
        this.#hire(event.roles ?? []);
        for (const step of this.#steps.values()) this.#settleAtHold(step);
        if (event.forked === true) Object.assign(draft, { calls: 0, started: event.time });
        return goesOn(draft);
      case "run.settled":
        for (const { act, key } of event.settles) {
          const step = this.#steps.get(nameOf({ act, key }));
          if (step !== undefined) this.#settleAtHold(step);
        }
        return this.#correct(event.settles);
      case "run.ended":
        draft.status = event.status;
        draft.ended = event.time;
        if (event.error === undefined) delete draft.error;
        else draft.error = { code: event.error.code, message: event.error.message };
        return;
      case "run.erased":
        if (event.partly === true) return;
        draft.erased = event.time;
        return this.#steps.clear();
      default:
    }
  }

  #leave(event: RoleRetired | RoleTaken): void {
    const isRetired = event.type === "role.retired";
    if (isRetired) this.#roles.delete(event.role);
    for (const [name, step] of this.#steps) {
      const isLeft = isRetired ? event.keeps === 0 : event.back === true && isToPlayer(step.question ?? {});
      if (!isLeft || roleNameIn(step.act) !== event.role) continue;
      this.#settleAtHold(step);
      this.#steps.delete(name);
    }
  }

  #end(event: ActEnded | ActFailed): void {
    noteEnd(this.#failures, event.type === "act.ended" ? event : shortened(event));
    const [oldest] = this.#failures.keys();
    if (this.#failures.size > MAX_FAILURES && oldest !== undefined) this.#failures.delete(oldest);
  }

  #hire(roles: readonly { readonly name: string }[]): void {
    for (const { name } of roles) if (this.#roles.size < MAX_ROLES) this.#roles.add(name);
  }

  #open(started: StepStarted): void {
    const { act, key, kind, hold, unpriced, reused } = started;
    const before = this.#steps.get(nameOf(started));
    if (before !== undefined) this.#settleAtHold(before);
    this.#steps.set(nameOf(started), {
      ...{ act, key, kind, hold, inFlight: true },
      ...(unpriced === undefined ? {} : { unpriced }),
      ...(reused === undefined ? {} : { reused }),
      ...(kind === "human" ? { question: started } : {}),
    });
  }

  #settle(ended: StepEnded): void {
    const { retry, cost, basis, usage, settles } = ended;
    this.#correct(settles);
    const name = nameOf(ended);
    const step = this.#steps.get(name);
    if (step === undefined) return;
    if (step.inFlight) {
      if (cost !== null) this.#summary.cost += cost;
      else if (basis !== "none") this.#summary.unpriced += 1;
      const { inputTokens = 0, outputTokens = 0 } = (usage ?? {}) as { readonly inputTokens?: number; readonly outputTokens?: number };
      this.#summary.tokens += inputTokens + outputTokens;
    }
    if (retry === true) {
      this.#steps.set(name, { ...step, inFlight: false });
      return;
    }
    this.#steps.delete(name);
    if (step.kind === "model" && step.reused === undefined) this.#summary.calls += 1;
  }

  #correct(settles: readonly SettledTry[] | undefined): void {
    const { known, unpriced } = settledMore(settles);
    this.#summary.cost += known;
    this.#summary.unpriced += unpriced;
  }

  #settleAtHold(step: OpenStep): void {
    if (!step.inFlight) return;
    this.#steps.set(nameOf(step), { ...step, inFlight: false });
    if (step.unpriced === true) this.#summary.unpriced += 1;
    else this.#summary.cost += step.hold;
  }
}

function shortened({ error, ...failed }: ActFailed): ActFailed {
  return { ...failed, error: { ...error, message: error.message.slice(0, MAX_MESSAGE) } };
}

function nameOf({ act, key }: { readonly act: string; readonly key: string }): string {
  return `${act} ${key}`;
}

function goesOn(draft: SummaryDraft): void {
  draft.status = "open";
  delete draft.ended;
  delete draft.told;
  delete draft.error;
}

/** Returns the tally of a run: the one that the journal keeps, with the events that came after it. @throws JournalError of `read` */
export async function readTally(journal: Pick<Journal, "read">, { runId, events, tally }: RunInfo): Promise<RunTally> {
  if (tally !== undefined && tally.summary.events >= events) return tally;
  const fold = new TallyFold(runId, tally);
  if (events > 0) for await (const event of journal.read(runId, fold.next)) fold.add(event);
  return fold.tally;
}

/** Returns the summary of a run in a list. A record that cannot be read has the status `damaged`. */
export async function listedSummary(journal: Pick<Journal, "read">, info: RunInfo): Promise<RunSummary> {
  try {
    return (await readTally(journal, info)).summary;
  } catch (error) {
    if (!(error instanceof JournalError)) throw error;
    return { ...new TallyFold(info.runId, info.tally).tally.summary, events: info.events, status: "damaged" };
  }
}

/** An activation that failed and changed nothing. The run may have continued: see the failure policies. */
export interface FailedActivation {
  readonly role: string;
  /** `role#n~attempt`: the name of its last attempt. */
  readonly act: string;
  /** The number of its last attempt, from 1. */
  readonly attempt: number;
  /** The code of the error of the last attempt. */
  readonly code: string;
  readonly message: string;
}

/** The failed activations by their names without the attempt. */
export type FailedActivations = Map<string, FailedActivation>;

/** Adds the end of an activation. A failure that is retried at once does not count yet; a later success removes the failure. */
export function noteEnd(failures: FailedActivations, event: ActEnded | ActFailed): void {
  if (event.type === "act.ended") {
    if (failures.size > 0) failures.delete(nameIn(event.act));
    return;
  }
  const { act, role, error, then } = event;
  if (then !== "dead" && then !== "stop") return;
  failures.set(nameIn(act), { role, act, attempt: attemptIn(act), code: error.code, message: error.message });
}

function nameIn(act: string): string {
  return act.slice(0, act.lastIndexOf("~"));
}

function attemptIn(act: string): number {
  return Number(act.slice(act.lastIndexOf("~") + 1));
}
