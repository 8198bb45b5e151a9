import { fold, type Observed, type RunEvent } from "../../index.ts";
import { aFunction, aNumber, aText, having, iterable, object, takes, numberWith } from "../../kernel/argument.ts";
import { contentHash, type Json } from "../../kernel/json.ts";
import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { apply } from "../../runtime/record/apply.ts";
import {
  type ActEnded,
  type Detector,
  type MakeDetector,
  FAILURE_MODES,
  type FailureFinding,
  type Found,
  ignoredMessage,
  lostRequest,
  noTermination,
  openPlan,
  pingPong,
  type SeenRun,
  type Sent,
  stepRepetition,
  type UsedStep,
} from "./detectors.ts";
import { EVENT_TYPES } from "../../runtime/record/event.ts";

export interface FailureOptions {
  /** The judged roles. `models`: those that have asked a model, because a function that repeats itself does what its code says. Default `models`. */
  readonly roles?: "models" | "all";
  /** The number of equal events that make a repetition, 2 or more. Default 3. */
  readonly repeats?: number;
}

const failureOptions: Known<FailureOptions> = {
  roles: kinds.oneOf("models", "all"),
  repeats: numberWith("a whole number from 2", (value) => Number.isInteger(value) && value >= 2),
};
const DETECTORS: readonly MakeDetector[] = [stepRepetition, pingPong, noTermination, lostRequest, ignoredMessage, openPlan];
type EventOf<T extends RunEvent["type"]> = Extract<RunEvent, { readonly type: T }>;
const anEvent = object("an event of a run", { type: aText, runId: aText, seq: aNumber });

/**
 * Finds failures of coordination in the events of one run, event by event: those of Cemri et al. 2025 that a log shows without a judge.
 *
 * FailureWatch.F1 (`add`) the findings depend on the events alone. FailureWatch.F2 (`isJudged`) a role is judged from its first call of a
 * model on.
 */
export class FailureWatch {
  readonly #state = fold([]);
  readonly #detectors: readonly Detector[];
  readonly #run: SeenRun;
  readonly #asking = new Set<string>();
  /** Requests of steps without an answer, by activation and key. */
  readonly #requests = new Map<string, EventOf<"step.started">>();
  readonly #steps = new Map<string, UsedStep[]>();

  constructor(options: FailureOptions = {}) {
    checkKnownOptions("FailureWatch", options, failureOptions);
    const { roles = "models", repeats = 3 } = options;
    this.#detectors = DETECTORS.map((make) => make(repeats));
    const isJudged = (role: string): boolean => role !== "" && (roles === "all" || this.#asking.has(role));
    this.#run = { state: this.#state, isJudged };
  }

  /** Returns what the next event shows. @throws JournalError `JOURNAL_GAP` for an event that is not the next one */
  add(event: RunEvent): readonly FailureFinding[] {
    takes("FailureWatch.add", "event", event, anEvent);
    const { type, seq } = event;
    if (type === "step.started") this.#stepStarted(event);
    if (type === "step.ended") this.#stepEnded(event);
    const taken = type === "act.ended" ? (this.#state.roles.get(event.role)?.news(event.take) ?? []) : [];
    apply(this.#state, event);
    const steps = type === "act.ended" || type === "act.failed" ? this.#stepsOf(event) : [];
    const sent: readonly Sent[] = type === "message" ? [event] : type === "act.ended" ? event.said : [];
    const run = this.#run;
    const found = this.#detectors.flatMap((detector): readonly Found[] => [
      ...((type === "act.ended" ? detector.acted?.({ event, taken, steps }, run) : undefined) ?? []),
      ...sent.flatMap((one) => detector.sent?.(one, run) ?? []),
      ...this.#state.justDropped.flatMap(({ message, role }) => detector.dropped?.(message, role.name, run) ?? []),
      ...((type === "run.ended" ? detector.ended?.(event, run) : undefined) ?? []),
    ]);
    return found.map((one) => ({ ...one, mode: FAILURE_MODES[one.failure], seq }));
  }

  #stepStarted(event: EventOf<"step.started">): void {
    if (event.kind === "model") this.#asking.add(event.act.slice(0, event.act.lastIndexOf("#")));
    if (event.kind === "model" || event.kind === "tool") this.#requests.set(`${event.act} ${event.key}`, event);
  }

  #stepEnded({ act, key, retry, value, error }: EventOf<"step.ended">): void {
    const asked = this.#requests.get(`${act} ${key}`);
    if (asked === undefined || retry === true) return;
    this.#requests.delete(`${act} ${key}`);
    const { kind, name, request } = asked;
    const answer: Json = value ?? [error?.code ?? "", error?.message ?? ""];
    const steps = this.#steps.get(act) ?? [];
    steps.push({
      kind: kind === "model" ? "model" : "tool",
      name,
      signature: contentHash([name, request, kind === "model" ? plainAnswer(answer) : answer]),
    });
    this.#steps.set(act, steps);
  }

  #stepsOf({ act }: ActEnded | EventOf<"act.failed">): readonly UsedStep[] {
    const steps = this.#steps.get(act) ?? [];
    this.#steps.delete(act);
    return steps;
  }
}

/** Returns an answer of a model without the ids that a provider gives to its calls of tools: they are new each time. */
function plainAnswer(answer: Json): Json {
  return JSON.parse(JSON.stringify(answer, (name, value: Json) => (name === "id" || name === "usage" ? undefined : value))) as Json;
}

/** Returns the failures in the events of a run: see {@link FailureWatch}. @throws JournalError for events that do not follow each other */
export function failuresIn(events: Iterable<RunEvent>, options: FailureOptions = {}): readonly FailureFinding[] {
  takes("failuresIn", "events", events, iterable("events of a run"));
  const watch = new FailureWatch(options);
  const found: FailureFinding[] = [];
  for (const event of events) found.push(...watch.add(event));
  return found;
}

/** A source that can be followed: a run of a team, or an environment. */
export interface FailureSource {
  on<T extends Observed["type"]>(type: T, listener: (observed: Extract<Observed, { readonly type: T }>) => void): () => void;
}

/** Reports failures while a run is under way: see {@link FailureWatch}. Call it before the run starts. The returned function ends the watch. */
export function watchFailures(source: FailureSource, tell: (finding: FailureFinding) => void, options: FailureOptions = {}): () => void {
  takes("watchFailures", "source", source, having("a run or an environment", "on"));
  takes("watchFailures", "tell", tell, aFunction);
  const watch = new FailureWatch(options);
  const follow = (event: RunEvent): void => watch.add(event).forEach((finding) => tell(finding));
  const ends = EVENT_TYPES.map((type) => source.on(type, follow));
  return () => ends.forEach((end) => end());
}
