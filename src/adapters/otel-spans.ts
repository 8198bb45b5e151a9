import type { Attributes, SpanContext } from "@opentelemetry/api";
import type { ErrorRecord } from "../kernel/errors.ts";
import type { ActEnded, ActFailed, ForkPoint, RunEvent, StepEnded, StepStarted } from "../runtime/record/event.ts";
import { roleNameIn } from "../runtime/record/role-state.ts";
import { answerValues, dollars, failureOf, failureText, type SpanContent, stepForm, tokensOf } from "./otel-attributes.ts";
import { type Arrival, MessageOrigins } from "./otel-origins.ts";

/** Attributes of a span or a measurement by name. Undefined ones are left out of a span; a measurement has none. */
export type SpanValues = Readonly<Attributes>;

export interface OpenSpan {
  readonly context: SpanContext | undefined;
  set(values: SpanValues): void;
  fail(type: string, text: string | undefined): void;
  end(time: number): void;
}

export interface SpanBeginning {
  readonly name: string;
  readonly isClient: boolean;
  readonly time: number;
  readonly parent: OpenSpan | undefined;
  readonly values: SpanValues;
  readonly links: readonly { readonly context: SpanContext; readonly values: SpanValues }[];
}

export interface SpanTarget {
  begin(beginning: SpanBeginning): OpenSpan;
}

export interface MeasureTarget {
  took(operation: MeasuredOperation, seconds: number, values: SpanValues): void;
  used(operation: "chat" | "embeddings", tokens: UsedTokens, values: SpanValues): void;
}

/** Tokens of a call of a model. `cached` is a part of `input`. */
export interface UsedTokens {
  readonly input: number;
  readonly output: number;
  readonly cached: number | undefined;
}

export type MeasuredOperation = "chat" | "embeddings" | "execute_tool" | "invoke_agent" | "invoke_workflow";

/** Limit on the links of one span: the default of OpenTelemetry. */
const MAX_LINKS = 128;

interface OpenPart {
  readonly span: OpenSpan;
  readonly time: number;
  cost: number;
}

interface OpenStep extends OpenPart {
  readonly started: StepStarted;
}

interface OpenAct extends OpenPart {
  readonly role: string;
  readonly steps: Map<string, OpenStep>;
}

interface LateAnswer {
  readonly ended: StepEnded;
  readonly waited: number;
}

/**
 * Turns the events of a run into spans, for live and recorded runs. It owns the open spans, and what later spans refer to. A leg is a part of a run
 * from its start or a resume to its next end. RunSpans.T1 (`#endAct`, `finish`) every span ends, at the latest with its leg; one that was cut off is
 * marked as unfinished. RunSpans.T2 (`#now`) a span lies within its parent: times never go back. RunSpans.T3 (`accept`) events that a fork copied
 * from its parent make no spans. RunSpans.T4 (`#forget`) what it holds is bounded by open spans, roles, open questions and waiting messages.
 */
export class RunSpans {
  readonly #spans: SpanTarget;
  readonly #measures: MeasureTarget | undefined;
  readonly #content: SpanContent;
  readonly #origins = new MessageOrigins();
  readonly #acts = new Map<string, OpenAct>();
  readonly #before = new Map<string, SpanContext>();
  readonly #asked = new Map<string, number>();
  readonly #answered = new Map<string, LateAnswer>();
  #hasEnded = false;
  #leg: OpenPart | undefined;
  #lastLeg: SpanContext | undefined;
  #team = "";
  #runId = "";
  #parent: ForkPoint | undefined;
  #now = 0;

  constructor(spans: SpanTarget, content: SpanContent, measures?: MeasureTarget) {
    this.#spans = spans;
    this.#content = content;
    this.#measures = measures;
  }

  /** Takes an event as past: it makes no spans, but later ones depend on it. */
  skip(event: RunEvent): void {
    this.#note(event);
    if (event.type === "step.started" && event.kind === "human") this.#asked.set(questionOf(event), event.time);
    if (event.type === "step.ended" && !this.#answeredBetween(event)) this.#asked.delete(questionOf(event));
    if (event.type === "act.ended" || event.type === "act.failed") this.#forget(event.act, event.role);
    this.#origins.apply(event);
  }

  accept(event: RunEvent): void {
    this.#note(event);
    const isCopied = this.#parent !== undefined && event.seq <= this.#parent.at;
    this.#origins.apply(event, isCopied ? undefined : this.#take(event));
  }

  /** Ends what is still open, as unfinished. @param isWhole the run has no end in its record: only an open activation is unfinished */
  finish(isWhole = false): void {
    this.#endLeg({ "troupe.unfinished": isWhole && this.#acts.size === 0 ? undefined : true });
  }

  #note(event: RunEvent): void {
    this.#now = Math.max(this.#now, event.time);
    this.#runId = event.runId;
    if (event.type === "run.started") {
      this.#team = event.team;
      this.#parent = event.parent;
    }
    if (event.type === "run.ended") this.#hasEnded = true;
    if (event.type === "run.resumed") this.#hasEnded = false;
  }

  /** Keeps the answer of a person that came while the run was not driven: its span is in the next leg. */
  #answeredBetween(ended: StepEnded): boolean {
    const question = questionOf(ended);
    const asked = this.#asked.get(question);
    if (!this.#hasEnded || asked === undefined) return false;
    this.#asked.delete(question);
    this.#answered.set(question, { ended, waited: this.#since(asked) });
    return true;
  }

  #take(event: RunEvent): SpanContext | undefined {
    switch (event.type) {
      case "run.started":
        this.#openLeg({});
        break;
      case "act.started":
        this.#beginAct(event.act, event.role, this.#now, event.take, event.attempt);
        break;
      case "act.resumed":
        this.#act(event.act);
        break;
      case "step.started": {
        const open = this.#act(event.act);
        // A try that a crash cut off has no end of its own.
        this.#cutStep(open, event.key);
        this.#openStep(open, event);
        break;
      }
      case "step.ended":
        if (!this.#answeredBetween(event)) this.#endStep(event);
        break;
      case "act.ended":
      case "act.failed":
        return this.#endAct(event);
      case "run.resumed":
        this.#endLeg({ "troupe.unfinished": true });
        this.#openLeg(event.forked === true ? {} : { "troupe.run.resumed": true });
        break;
      case "run.ended": {
        const { span } = this.#openedLeg;
        if (event.status === "failed") this.#fail(span, event.error);
        this.#endLeg({ "troupe.run.status": event.status });
        break;
      }
      default:
    }
    return undefined;
  }

  get #openedLeg(): OpenPart {
    return this.#leg ?? this.#openLeg({});
  }

  #openLeg(values: SpanValues): OpenPart {
    const team = this.#team === "" ? undefined : this.#team;
    const links = this.#lastLeg === undefined ? [] : [{ context: this.#lastLeg, values: { "troupe.link": "earlier part" } }];
    const span = this.#spans.begin({
      name: team === undefined ? "invoke_workflow" : `invoke_workflow ${team}`,
      ...{ isClient: false, time: this.#now, parent: undefined, links },
      values: {
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.conversation.id": this.#runId,
        "gen_ai.agent.name": team,
        "troupe.run.forked_from": this.#parent?.runId,
        ...values,
      },
    });
    this.#leg = { span, time: this.#now, cost: 0 };
    return this.#leg;
  }

  #endLeg(values: SpanValues): void {
    const leg = this.#leg;
    if (leg === undefined) return;
    for (const [act, open] of this.#acts) {
      open.span.set({ "troupe.unfinished": true });
      this.#closeAct(act, open);
      this.#continues(open);
    }
    leg.span.set(values);
    this.#close(leg);
    this.#took("invoke_workflow", this.#since(leg.time), { "gen_ai.agent.name": this.#team });
    this.#lastLeg = leg.span.context;
    this.#leg = undefined;
  }

  #close({ span, cost }: OpenPart): void {
    span.set({ "troupe.cost.usd": cost === 0 ? undefined : dollars(cost) });
    span.end(this.#now);
  }

  /** The open span of an activation. One that began in an earlier leg begins again. */
  #act(act: string): OpenAct {
    return this.#acts.get(act) ?? this.#beginAct(act, roleNameIn(act), this.#now, undefined, undefined);
  }

  #beginAct(act: string, role: string, time: number, take: number | undefined, attempt: number | undefined): OpenAct {
    const arrivals = this.#origins.arrivals(role, take);
    const before = this.#before.get(role);
    const earlier = before === undefined ? [] : [{ context: before, values: { "troupe.link": "earlier try" } }];
    const span = this.#spans.begin({
      name: `invoke_agent ${role}`,
      ...{ isClient: false, time, parent: this.#openedLeg.span, links: [...earlier, ...arrivals.flatMap(linkOf)].slice(0, MAX_LINKS) },
      values: {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": role,
        "gen_ai.conversation.id": this.#runId,
        "troupe.act": act,
        "troupe.act.attempt": attempt,
        "troupe.act.messages": arrivals.length,
        "troupe.act.causes": [...new Set(arrivals.map(({ message }) => message.causeBy))].slice(0, MAX_LINKS),
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
    const open = this.#acts.get(act) ?? this.#beginAct(act, role, began, take, undefined);
    const { span } = open;
    if (event.type === "act.ended") span.set({ "troupe.act.sent": event.said.length });
    else {
      span.set({ "troupe.act.then": event.then });
      this.#fail(span, event.error);
    }
    this.#closeAct(act, open);
    this.#forget(act, role);
    if (event.type === "act.failed" && event.then !== "dead") this.#continues(open);
    const failure = event.type === "act.failed" ? { "error.type": event.error.code } : {};
    this.#took("invoke_agent", this.#since(open.time), { "gen_ai.agent.name": role, ...failure });
    return span.context;
  }

  #continues({ role, span }: OpenAct): void {
    if (span.context !== undefined) this.#before.set(role, span.context);
  }

  #closeAct(act: string, open: OpenAct): void {
    for (const key of open.steps.keys()) this.#cutStep(open, key);
    this.#close(open);
    this.#acts.delete(act);
  }

  #forget(act: string, role: string): void {
    this.#before.delete(role);
    for (const known of [this.#asked, this.#answered])
      for (const question of known.keys()) if (question.startsWith(`${act} `)) known.delete(question);
  }

  #openStep(open: OpenAct, started: StepStarted): OpenSpan {
    const form = stepForm(started, { runId: this.#runId, role: open.role }, this.#content);
    const parent = (started.in === undefined ? undefined : open.steps.get(started.in)?.span) ?? open.span;
    const span = this.#spans.begin({ ...form, time: this.#now, parent, links: [] });
    open.steps.set(started.key, { span, started, time: this.#now, cost: 0 });
    const question = questionOf(started);
    if (started.kind === "human" && !this.#asked.has(question)) this.#asked.set(question, this.#now);
    return span;
  }

  #endStep(ended: StepEnded): void {
    const open = this.#act(ended.act);
    const step = open.steps.get(ended.key);
    const question = questionOf(ended);
    const asked = this.#asked.get(question);
    // Its try began in an earlier leg, where its span has ended. An answer of a person has a span here too.
    if (step === undefined && asked !== undefined) return this.#answerLate(open, question, { ended, waited: this.#since(asked) });
    open.cost += ended.cost ?? 0;
    this.#openedLeg.cost += ended.cost ?? 0;
    if (step === undefined) return;
    for (const [key, { started }] of open.steps) if (started.in === ended.key) this.#cutStep(open, key);
    const { span, started, time } = step;
    const failure = failureOf(started.kind, ended);
    const isCut = !ended.ok && ended.error === undefined;
    this.#asked.delete(question);
    const waited = asked === undefined ? {} : { "troupe.waited.seconds": this.#since(asked) };
    span.set({ ...answerValues(started.kind, ended, this.#content), "troupe.unfinished": isCut ? true : undefined, ...waited });
    if (failure !== undefined) span.fail(failure, failureText(ended.error, this.#content));
    span.end(this.#now);
    open.steps.delete(ended.key);
    if (started.reused === undefined) this.#measure(started, ended, this.#since(time), failure);
  }

  #answerLate(open: OpenAct, question: string, { ended, waited }: LateAnswer): void {
    this.#answered.delete(question);
    const step = { act: ended.act, key: ended.key, asked: 0, try: ended.try, hold: 0, request: null };
    const span = this.#openStep(open, { type: "step.started", kind: "human", name: "answered later", ...step });
    this.#asked.delete(question);
    span.set({ "troupe.waited.seconds": waited });
    this.#endStep(ended);
  }

  #cutStep(open: OpenAct, key: string): void {
    const step = open.steps.get(key);
    if (step === undefined) return;
    open.steps.delete(key);
    for (const [inner, { started }] of open.steps) if (started.in === key) this.#cutStep(open, inner);
    step.span.set({ "troupe.unfinished": true });
    step.span.end(this.#now);
  }

  #measure({ kind, name }: StepStarted, ended: StepEnded, seconds: number, failure: string | undefined): void {
    const failed = failure === undefined ? {} : { "error.type": failure };
    if (kind === "tool") return this.#took("execute_tool", seconds, { "gen_ai.tool.name": name, ...failed });
    if (kind !== "model" && kind !== "embedding") return;
    const operation = kind === "model" ? "chat" : "embeddings";
    const values = { "gen_ai.provider.name": this.#content.provider, "gen_ai.request.model": name };
    this.#took(operation, seconds, { ...values, ...failed });
    const tokens = tokensOf(ended);
    if (tokens !== undefined) this.#measures?.used(operation, tokens, { "gen_ai.operation.name": operation, ...values });
  }

  #took(operation: MeasuredOperation, seconds: number, values: SpanValues): void {
    this.#measures?.took(operation, seconds, { "gen_ai.operation.name": operation, ...values });
  }

  #fail(span: OpenSpan, error: ErrorRecord | undefined): void {
    span.fail(error?.code ?? "_OTHER", failureText(error, this.#content));
  }

  #since(time: number): number {
    return (this.#now - time) / 1_000;
  }
}

function questionOf({ act, key }: Pick<StepStarted, "act" | "key">): string {
  return `${act} ${key}`;
}

function linkOf({ message: { id, causeBy, sentFrom }, sender }: Arrival): SpanBeginning["links"] {
  const values = { "troupe.message.id": id, "troupe.message.cause": causeBy, "troupe.message.from": sentFrom };
  return sender === undefined ? [] : [{ context: sender, values }];
}
