import type { SpanContext } from "@opentelemetry/api";
import type { ErrorRecord } from "../kernel/errors.ts";
import type { ActEnded, ActFailed, ActStarted, ForkPoint, RunEvent, StepEnded, StepStarted } from "../runtime/record/event.ts";
import { roleNameIn } from "../runtime/record/role-state.ts";
import { answerValues, dollars, failureOf, failureText, type SpanWords, stepForm, tokensOf } from "./otel-attributes.ts";
import { type Arrival, MessageOrigins } from "./otel-origins.ts";
import { GEN_AI, OPERATIONS, TROUPE } from "./otel-names.ts";
import type { MeasuredOperation, MeasureTarget, OpenSpan, SpanReference, SpanTarget, SpanValues } from "./span-target.ts";

/** Most links of one span: the default limit of OpenTelemetry. */
const MOST_LINKS = 128;

interface OpenStep {
  readonly span: OpenSpan;
  readonly started: StepStarted;
  readonly time: number;
}

interface OpenAct {
  readonly span: OpenSpan;
  readonly role: string;
  readonly time: number;
  /** The open tries of its steps, by key. */
  readonly steps: Map<string, OpenStep>;
  /** Micro-dollars. */
  cost: number;
}

/** An answer of a person to an activation that begins again. */
interface LateAnswer {
  readonly ended: StepEnded;
  /** Seconds. */
  readonly waited: number;
}

/** A part of a run: from its start or a resume to its next end. */
interface OpenLeg {
  readonly span: OpenSpan;
  readonly time: number;
  /** Micro-dollars. */
  cost: number;
}

/**
 * Turns the events of a run into spans. It owns the open spans, and what later spans refer to: the last try of each activation that goes on
 * later, the times of open questions, and the senders of waiting messages.
 *
 * RunSpans.T1 (`#endAct`, `finish`) every span that begins ends, at the latest when its part of the run ends; one that was cut off is marked as
 * unfinished.
 * RunSpans.T2 (`#at`) a span lies within its parent: times never go back.
 * RunSpans.T3 (`accept`) events that a fork copied from its parent make no spans, for they made them in the parent.
 * RunSpans.T4 (`#forget`) what it holds is bounded by open spans, roles, open questions and waiting messages, not by the length of the run.
 */
export class RunSpans {
  readonly #spans: SpanTarget;
  readonly #measures: MeasureTarget | undefined;
  readonly #words: SpanWords;
  readonly #origins = new MessageOrigins();
  readonly #acts = new Map<string, OpenAct>();
  /** By role: the activation that failed or was cut off, and goes on in a later span. */
  readonly #before = new Map<string, SpanContext>();
  /** When each unanswered question was asked first, by activation and key. */
  readonly #asked = new Map<string, number>();
  /** Answers that came while the run was not driven, by activation and key. */
  readonly #answered = new Map<string, LateAnswer>();
  #hasEnded = false;
  #leg: OpenLeg | undefined;
  #lastLeg: SpanContext | undefined;
  #team = "";
  #runId = "";
  #parent: ForkPoint | undefined;
  #now = 0;

  constructor(spans: SpanTarget, words: SpanWords, measures?: MeasureTarget) {
    this.#spans = spans;
    this.#words = words;
    this.#measures = measures;
  }

  /** Takes an event as past: it makes no spans, but later ones depend on it. */
  skip(event: RunEvent): void {
    this.#now = Math.max(this.#now, event.time);
    this.#note(event);
    if (event.type === "step.started" && event.kind === "human") this.#asked.set(questionOf(event), event.time);
    if (event.type === "step.ended" && !this.#answeredBetween(event)) this.#asked.delete(questionOf(event));
    if (event.type === "act.ended" || event.type === "act.failed") this.#forget(event.act, event.role);
    this.#origins.apply(event);
  }

  accept(event: RunEvent): void {
    this.#now = Math.max(this.#now, event.time);
    this.#runId = event.runId;
    this.#note(event);
    if (this.#parent !== undefined && event.seq <= this.#parent.at) return this.#origins.apply(event);
    this.#origins.apply(event, this.#take(event));
  }

  /**
   * Ends what is still open, as unfinished.
   *
   * @param isWhole the run has no end in its record, and is unfinished only where an activation is open
   */
  finish(isWhole = false): void {
    this.#endLeg({ [TROUPE.unfinished]: isWhole && this.#acts.size === 0 ? undefined : true });
  }

  #note(event: RunEvent): void {
    if (event.type === "run.started") {
      this.#team = event.team;
      this.#parent = event.parent;
    }
    if (event.type === "run.ended") this.#hasEnded = true;
    if (event.type === "run.resumed") this.#hasEnded = false;
  }

  /** Keeps the answer of a person that came while the run was not driven: its span comes in the next part of the run. */
  #answeredBetween(ended: StepEnded): boolean {
    const question = questionOf(ended);
    const asked = this.#asked.get(question);
    if (!this.#hasEnded || asked === undefined) return false;
    this.#asked.delete(question);
    this.#answered.set(question, { ended, waited: this.#since(asked) });
    return true;
  }

  /** @returns the span that sends the messages of the event */
  #take(event: RunEvent): SpanContext | undefined {
    switch (event.type) {
      case "run.started":
        this.#openLeg({});
        return undefined;
      case "act.started":
        this.#beginAct(event.act, event.role, this.#now, this.#origins.arrivals(event.role, event.take), event);
        return undefined;
      case "act.resumed":
        this.#act(event.act);
        return undefined;
      case "step.started":
        this.#beginStep(event);
        return undefined;
      case "step.ended":
        if (!this.#answeredBetween(event)) this.#endStep(event);
        return undefined;
      case "act.ended":
      case "act.failed":
        return this.#endAct(event);
      case "run.resumed":
        this.#resume(event);
        return undefined;
      case "run.ended":
        this.#runEnded(event);
        return undefined;
      default:
        return undefined;
    }
  }

  #resume({ forked }: Extract<RunEvent, { readonly type: "run.resumed" }>): void {
    this.#endLeg({ [TROUPE.unfinished]: true });
    this.#openLeg(forked === true ? {} : { [TROUPE.runResumed]: true });
  }

  #runEnded({ status, error }: Extract<RunEvent, { readonly type: "run.ended" }>): void {
    const leg = this.#openedLeg;
    if (status === "failed") this.#fail(leg.span, error);
    this.#endLeg({ [TROUPE.runStatus]: status });
  }

  get #openedLeg(): OpenLeg {
    return this.#leg ?? this.#openLeg({});
  }

  #openLeg(values: SpanValues): OpenLeg {
    const links = this.#lastLeg === undefined ? [] : [{ context: this.#lastLeg, values: { [TROUPE.link]: "earlier part" } }];
    const span = this.#spans.begin({
      name: this.#team === "" ? OPERATIONS.invokeWorkflow : `${OPERATIONS.invokeWorkflow} ${this.#team}`,
      isClient: false,
      time: this.#now,
      parent: undefined,
      links,
      values: {
        [GEN_AI.operationName]: OPERATIONS.invokeWorkflow,
        [GEN_AI.conversationId]: this.#runId,
        [GEN_AI.agentName]: this.#team === "" ? undefined : this.#team,
        [TROUPE.runForkedFrom]: this.#parent?.runId,
        ...values,
      },
    });
    this.#leg = { span, time: this.#now, cost: 0 };
    return this.#leg;
  }

  /** Ends the present part of the run, and everything open in it. */
  #endLeg(values: SpanValues): void {
    const leg = this.#leg;
    if (leg === undefined) return;
    for (const [act, open] of this.#acts) this.#cutAct(act, open);
    leg.span.set({ ...values, [TROUPE.costUsd]: costValue(leg.cost) });
    leg.span.end(this.#now);
    this.#took(OPERATIONS.invokeWorkflow, this.#since(leg.time), { [GEN_AI.agentName]: this.#team });
    this.#lastLeg = leg.span.context;
    this.#leg = undefined;
  }

  /** The open span of an activation. One that began in an earlier part of the run begins again. */
  #act(act: string): OpenAct {
    const open = this.#acts.get(act);
    if (open !== undefined) return open;
    const role = roleNameIn(act);
    return this.#beginAct(act, role, this.#now, this.#origins.taken(role), undefined);
  }

  #beginAct(act: string, role: string, time: number, arrivals: readonly Arrival[], started: ActStarted | undefined): OpenAct {
    const before = this.#before.get(role);
    const earlier = before === undefined ? [] : [{ context: before, values: { [TROUPE.link]: "earlier try" } }];
    const span = this.#spans.begin({
      name: `${OPERATIONS.invokeAgent} ${role}`,
      isClient: false,
      time,
      parent: this.#openedLeg.span,
      links: [...earlier, ...linksOf(arrivals)].slice(0, MOST_LINKS),
      values: {
        [GEN_AI.operationName]: OPERATIONS.invokeAgent,
        [GEN_AI.agentName]: role,
        [GEN_AI.conversationId]: this.#runId,
        [TROUPE.act]: act,
        [TROUPE.actAttempt]: started?.attempt,
        [TROUPE.actMessages]: arrivals.length,
        [TROUPE.actCauses]: [...new Set(arrivals.map(({ message }) => message.causeBy))].slice(0, MOST_LINKS),
      },
    });
    const open: OpenAct = { span, role, time, steps: new Map(), cost: 0 };
    this.#acts.set(act, open);
    for (const [question, late] of this.#answered) if (late.ended.act === act) this.#answerLate(open, question, late);
    return open;
  }

  #endAct(event: ActEnded | ActFailed): SpanContext | undefined {
    const { act, role, take, at = this.#now } = event;
    const began = Math.min(Math.max(at, this.#openedLeg.time), this.#now);
    const open = this.#acts.get(act) ?? this.#beginAct(act, role, began, this.#origins.arrivals(role, take), undefined);
    for (const key of open.steps.keys()) this.#cutStep(open, key);
    const { span } = open;
    if (event.type === "act.ended") span.set({ [TROUPE.actSent]: event.said.length });
    else {
      span.set({ [TROUPE.actThen]: event.then });
      this.#fail(span, event.error);
    }
    this.#closeAct(act, open);
    this.#forget(act, role);
    if (event.type === "act.failed" && event.then !== "dead" && span.context !== undefined) this.#before.set(role, span.context);
    const failure = event.type === "act.failed" ? { [GEN_AI.errorType]: event.error.code } : {};
    this.#took(OPERATIONS.invokeAgent, this.#since(open.time), { [GEN_AI.agentName]: role, ...failure });
    return span.context;
  }

  /** Ends an activation that goes on in a later part of the run, or never. */
  #cutAct(act: string, open: OpenAct): void {
    for (const key of open.steps.keys()) this.#cutStep(open, key);
    open.span.set({ [TROUPE.unfinished]: true });
    this.#closeAct(act, open);
    if (open.span.context !== undefined) this.#before.set(open.role, open.span.context);
  }

  #closeAct(act: string, { span, cost }: OpenAct): void {
    span.set({ [TROUPE.costUsd]: costValue(cost) });
    span.end(this.#now);
    this.#acts.delete(act);
  }

  #forget(act: string, role: string): void {
    this.#before.delete(role);
    for (const known of [this.#asked, this.#answered])
      for (const question of known.keys()) if (question.startsWith(`${act} `)) known.delete(question);
  }

  #beginStep(started: StepStarted): void {
    const open = this.#act(started.act);
    // A try that a crash cut off has no end of its own.
    this.#cutStep(open, started.key);
    this.#openStep(open, started);
  }

  #openStep(open: OpenAct, started: StepStarted): OpenStep {
    const { name, isClient, values } = stepForm(started, { runId: this.#runId, role: open.role }, this.#words);
    const parent = (started.in === undefined ? undefined : open.steps.get(started.in)?.span) ?? open.span;
    const span = this.#spans.begin({ name, isClient, time: this.#now, parent, links: [], values });
    const step = { span, started, time: this.#now };
    open.steps.set(started.key, step);
    if (started.kind === "human" && !this.#asked.has(questionOf(started))) this.#asked.set(questionOf(started), this.#now);
    return step;
  }

  #endStep(ended: StepEnded): void {
    const open = this.#act(ended.act);
    const step = open.steps.get(ended.key);
    if (step === undefined) return this.#endEarlierStep(open, ended);
    for (const [key, { started }] of open.steps) if (started.in === ended.key) this.#cutStep(open, key);
    const { span, started, time } = step;
    const { kind } = started;
    const failure = failureOf(kind, ended);
    const isCut = !ended.ok && ended.error === undefined;
    span.set({ ...answerValues(kind, ended, this.#words), [TROUPE.unfinished]: isCut ? true : undefined, ...this.#waited(started) });
    if (failure !== undefined) span.fail(failure, ended.error === undefined ? undefined : failureText(ended.error, this.#words));
    span.end(this.#now);
    open.steps.delete(ended.key);
    this.#spend(open, ended.cost);
    if (started.reused === undefined) this.#measure(started, ended, this.#since(time), failure);
  }

  /** Ends a try that began in an earlier part of the run: its span has ended there. An answer of a person has one here too. */
  #endEarlierStep(open: OpenAct, ended: StepEnded): void {
    const question = questionOf(ended);
    const asked = this.#asked.get(question);
    if (asked === undefined) this.#spend(open, ended.cost);
    else this.#answerLate(open, question, { ended, waited: this.#since(asked) });
  }

  #answerLate(open: OpenAct, question: string, { ended, waited }: LateAnswer): void {
    this.#answered.delete(question);
    const place = { act: ended.act, key: ended.key, asked: 0, try: ended.try, hold: 0, request: null };
    const { span } = this.#openStep(open, { type: "step.started", kind: "human", name: "answered later", ...place });
    this.#asked.delete(question);
    span.set({ [TROUPE.waitedSeconds]: waited });
    this.#endStep(ended);
  }

  #waited(started: StepStarted): SpanValues {
    const asked = this.#asked.get(questionOf(started));
    if (asked === undefined) return {};
    this.#asked.delete(questionOf(started));
    return { [TROUPE.waitedSeconds]: this.#since(asked) };
  }

  #cutStep(open: OpenAct, key: string): void {
    const step = open.steps.get(key);
    if (step === undefined) return;
    open.steps.delete(key);
    for (const [inner, { started }] of open.steps) if (started.in === key) this.#cutStep(open, inner);
    step.span.set({ [TROUPE.unfinished]: true });
    step.span.end(this.#now);
  }

  #spend(open: OpenAct, cost: number | null): void {
    open.cost += cost ?? 0;
    this.#openedLeg.cost += cost ?? 0;
  }

  #measure({ kind, name }: StepStarted, ended: StepEnded, seconds: number, failure: string | undefined): void {
    const failed = failure === undefined ? {} : { [GEN_AI.errorType]: failure };
    if (kind === "tool") return this.#took(OPERATIONS.executeTool, seconds, { [GEN_AI.toolName]: name, ...failed });
    if (kind !== "model" && kind !== "embedding") return;
    const operation = kind === "model" ? OPERATIONS.chat : OPERATIONS.embeddings;
    const values = { [GEN_AI.providerName]: this.#words.provider, [GEN_AI.requestModel]: name };
    this.#took(operation, seconds, { ...values, ...failed });
    const tokens = tokensOf(ended);
    if (tokens !== undefined) this.#measures?.used(operation, tokens, { [GEN_AI.operationName]: operation, ...values });
  }

  #took(operation: MeasuredOperation, seconds: number, values: SpanValues): void {
    this.#measures?.took(operation, seconds, { [GEN_AI.operationName]: operation, ...values });
  }

  #fail(span: OpenSpan, error: ErrorRecord | undefined): void {
    span.fail(error?.code ?? "_OTHER", error === undefined ? undefined : failureText(error, this.#words));
  }

  #since(time: number): number {
    return (this.#now - time) / 1_000;
  }
}

function questionOf({ act, key }: Pick<StepStarted, "act" | "key">): string {
  return `${act} ${key}`;
}

function costValue(micro: number): number | undefined {
  return micro === 0 ? undefined : dollars(micro);
}

function linksOf(arrivals: readonly Arrival[]): readonly SpanReference[] {
  return arrivals.flatMap(({ message, sender }) =>
    sender === undefined
      ? []
      : [
          {
            context: sender,
            values: { [TROUPE.messageId]: message.id, [TROUPE.messageCause]: message.causeBy, [TROUPE.messageFrom]: message.sentFrom },
          },
        ],
  );
}
