import type { ForkPoint, RunEvent, RunStatus, StepEnded, StepStarted } from "./event.ts";
import { roleNameIn } from "./role-state.ts";
import type { PendingQuestion } from "./questions.ts";

/**
 * The status of a run in a list. `running` and `paused`: a process that serves the list drives it. `open`: its record has no end, because another
 * process drives it or its process died. `empty`: it has no events. `damaged`: its record cannot be read.
 */
export type SummaryStatus = RunStatus | "running" | "paused" | "open" | "empty" | "damaged";

/** A run in a list: what its record says, without its messages. */
export interface RunSummary {
  readonly id: string;
  readonly status: SummaryStatus;
  /** The beginning of the first message, at most 500 characters. */
  readonly idea: string;
  /** The name of the team. */
  readonly team: string;
  /** The number of events. */
  readonly events: number;
  /** Milliseconds since 1970 of the first event; null without one. */
  readonly started: number | null;
  /** Milliseconds of the end; left out while the run has none. */
  readonly ended?: number;
  /** Milliseconds of the last event; null without one. */
  readonly moved: number | null;
  /** Micro-dollars of everything settled. */
  readonly cost: number;
  /** The number of calls without a known price. */
  readonly unpriced: number;
  /** Answers of models that were called in this run. */
  readonly calls: number;
  /** Input and output tokens of all calls. */
  readonly tokens: number;
  /** Names, in the order of hiring. */
  readonly roles: readonly string[];
  /** Questions to people that wait for an answer. Only in the summary of one run. */
  readonly questions?: readonly PendingQuestion[];
  /** The run it was forked from, and the last shared event. */
  readonly parent?: ForkPoint;
  /** The code and the message of the error that ended it. */
  readonly error?: { readonly code: string; readonly message: string };
}

/** Characters of an idea in a summary. */
const LONGEST_IDEA = 500;

interface KnownStep {
  readonly started: StepStarted;
  inFlight: boolean;
  isAnswered: boolean;
}

/**
 * The summary of a run, event by event. It is much smaller than the state of the run, so a program can keep thousands. It owns the open steps; its
 * sums are those of `RunState`.
 *
 * RunTally.A1 (`add`) events that were added before are skipped, so a reader may repeat some.
 * RunTally.A2 (`#settle`) a try without a recorded end costs its hold once the run is resumed or the step is tried again.
 */
export class RunTally {
  readonly #id: string;
  readonly #steps = new Map<string, KnownStep>();
  readonly #roles = new Set<string>();
  #next = 0;
  #status: RunStatus | "open" | "empty" = "empty";
  #idea: string | undefined;
  #team = "";
  #started: number | null = null;
  #moved: number | null = null;
  #ended: number | undefined;
  #cost = 0;
  #unpriced = 0;
  #calls = 0;
  #tokens = 0;
  #parent: ForkPoint | undefined;
  #error: RunSummary["error"];

  constructor(id: string) {
    this.#id = id;
  }

  /** The sequence number of the next event. */
  get next(): number {
    return this.#next;
  }

  /** The steps that ask a person and have no answer. */
  get asked(): readonly StepStarted[] {
    return [...this.#steps.values()]
      .filter(({ started, isAnswered }) => started.kind === "human" && !isAnswered)
      .map(({ started }) => started);
  }

  get summary(): RunSummary {
    return {
      id: this.#id,
      status: this.#status,
      idea: this.#idea ?? "",
      team: this.#team,
      events: this.#next,
      started: this.#started,
      moved: this.#moved,
      cost: this.#cost,
      unpriced: this.#unpriced,
      calls: this.#calls,
      tokens: this.#tokens,
      roles: [...this.#roles],
      ...(this.#ended === undefined ? {} : { ended: this.#ended }),
      ...(this.#parent === undefined ? {} : { parent: this.#parent }),
      ...(this.#error === undefined ? {} : { error: this.#error }),
    };
  }

  add(event: RunEvent): void {
    if (event.seq < this.#next) return;
    this.#next = event.seq + 1;
    this.#started ??= event.time;
    this.#moved = event.time;
    this.#change(event);
  }

  #change(event: RunEvent): void {
    switch (event.type) {
      case "run.started":
        this.#team = event.team;
        this.#parent = event.parent;
        for (const { name } of event.roles) this.#roles.add(name);
        return this.#goesOn();
      case "message":
        this.#idea ??= event.message.content.slice(0, LONGEST_IDEA);
        return;
      case "step.started":
        return this.#open(event);
      case "step.ended":
        return this.#settle(event);
      case "act.ended":
      case "act.failed":
        for (const [key, { started }] of this.#steps) if (started.act === event.act) this.#steps.delete(key);
        return;
      case "role.hired":
        for (const { name } of event.roles) this.#roles.add(name);
        return;
      case "role.retired":
        // Its activation was given up: an answer can no longer come.
        for (const [key, step] of this.#steps) {
          if (event.keeps > 0 || roleNameIn(step.started.act) !== event.role) continue;
          this.#settleAtHold(step);
          this.#steps.delete(key);
        }
        return;
      case "run.resumed":
        for (const { name } of event.roles ?? []) this.#roles.add(name);
        for (const step of this.#steps.values()) this.#settleAtHold(step);
        if (event.forked === true) this.#calls = 0;
        return this.#goesOn();
      case "run.ended":
        this.#status = event.status;
        this.#ended = event.time;
        this.#error = event.error && { code: event.error.code, message: event.error.message };
        return;
      default:
    }
  }

  #goesOn(): void {
    this.#status = "open";
    this.#ended = undefined;
    this.#error = undefined;
  }

  #open(started: StepStarted): void {
    const key = `${started.act} ${started.key}`;
    const before = this.#steps.get(key);
    if (before !== undefined) this.#settleAtHold(before);
    this.#steps.set(key, { started, inFlight: true, isAnswered: false });
  }

  #settle({ act, key, retry, cost, basis, usage }: StepEnded): void {
    const step = this.#steps.get(`${act} ${key}`);
    if (step === undefined) return;
    if (step.inFlight) {
      if (cost !== null) this.#cost += cost;
      else if (basis !== "none") this.#unpriced += 1;
      const { inputTokens = 0, outputTokens = 0 } = (usage ?? {}) as { readonly inputTokens?: number; readonly outputTokens?: number };
      this.#tokens += inputTokens + outputTokens;
    }
    step.inFlight = false;
    if (retry === true) return;
    step.isAnswered = true;
    if (step.started.kind === "model" && step.started.reused === undefined) this.#calls += 1;
  }

  #settleAtHold(step: KnownStep): void {
    if (!step.inFlight) return;
    step.inFlight = false;
    if (step.started.unpriced === true) this.#unpriced += 1;
    else this.#cost += step.started.hold;
  }
}
