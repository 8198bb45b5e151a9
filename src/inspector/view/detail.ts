import type { ErrorRecord } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import { isRecord } from "../../kernel/value-kind.ts";
import type { ActEnded, RunEvent } from "../../runtime/record/event.ts";
import { activationAt, stepAt } from "./facts-at.ts";
import { endOf, type Fate } from "./lanes.ts";
import type { ActivationFact, SentFact, StepFact, WayFault } from "./run-facts.ts";
import type { RunTimeline } from "./run-timeline.ts";

/** The fate of a message at one recipient. */
export interface Hearer {
  readonly role: string;
  readonly fate: Fate;
  /** The event of that. */
  readonly seq: number;
  /** The activation that took it. */
  readonly taker: ActivationFact | undefined;
  /** The tick at which it arrives; undefined where it was not delayed. */
  readonly due: number | undefined;
  /** What the edges did with it; undefined for nothing. */
  readonly fault: WayFault | undefined;
}

/** A message with its sender, its recipients and what it answers. */
export interface MessageDetail {
  readonly kind: "message";
  readonly sent: SentFact;
  /** Undefined for a message from outside. */
  readonly by: ActivationFact | undefined;
  readonly hearers: readonly Hearer[];
  /** The messages it names as those it answers; undefined for one that the record does not have. */
  readonly parents: readonly { readonly id: string; readonly sent: SentFact | undefined }[];
}

/** An activation with what it took, did and said. */
export interface ActivationDetail {
  readonly kind: "activation";
  readonly activation: ActivationFact;
  readonly took: readonly SentFact[];
  readonly said: readonly SentFact[];
  readonly steps: readonly StepFact[];
  /** Changes of the role's state that took effect; undefined while it is open, and where it failed. */
  readonly changes: Pick<ActEnded, "memory" | "working" | "state" | "plan" | "joins" | "summary"> | undefined;
}

/** A call of a tool that a model asks for. Arguments that are no JSON stand as their text. */
export interface CallDetail {
  readonly name: string;
  readonly args: Json;
}

/** One message of a conversation with a model. */
export interface PromptPart {
  readonly role: string;
  readonly text: string;
  /** Calls of tools, where the model asks for some. */
  readonly calls: readonly CallDetail[];
}

/** One try of a step. */
export interface TryDetail {
  readonly try: number;
  readonly started: number;
  /** Milliseconds of the events. */
  readonly began: number;
  readonly ended: number | undefined;
  readonly ms: number | undefined;
  readonly ok: boolean | undefined;
  readonly error: ErrorRecord | undefined;
  /** Micro-dollars; null when the price is unknown, undefined while it has not ended. */
  readonly cost: number | null | undefined;
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
}

/** A step with its request, its tries and its answer. */
export interface StepDetail {
  readonly kind: "step";
  readonly step: StepFact;
  readonly activation: ActivationFact;
  /** The conversation of a model's request; empty for other steps. */
  readonly prompt: readonly PromptPart[];
  /** The request without the conversation. */
  readonly request: Json;
  readonly tries: readonly TryDetail[];
  /** The text of a model's answer, or of any answer that is a text. */
  readonly answerText: string | undefined;
  /** Calls of tools that a model's answer asks for. */
  readonly answerCalls: readonly CallDetail[];
  /** The whole recorded answer; undefined while there is none. */
  readonly answer: Json | undefined;
}

/** Returns a message as it was after an event, by its place in the table of messages. */
export function messageDetail(timeline: RunTimeline, place: number, shown: number = timeline.length - 1): MessageDetail | undefined {
  const { record } = timeline;
  const sent = record.sent[place];
  if (sent === undefined || sent.seq > shown) return undefined;
  const hearers = sent.ways.flatMap((nth): readonly Hearer[] => {
    const way = record.ways.at(nth);
    if (way === undefined) return [];
    const { fate, end } = endOf(way, shown);
    const isConsumed = way.consumed !== undefined && way.consumed <= shown;
    const taker = fate === "taken" ? record.activations[(isConsumed ? way.consumer : way.opener) ?? -1] : undefined;
    const { role, due, fault } = way;
    return [{ role, fate, seq: end, taker: taker && activationAt(timeline, taker, shown), due, fault }];
  });
  const parents = sent.message.parents.map((id) => ({ id, sent: record.sentWithId(id) }));
  return { kind: "message", sent, by: record.activations[sent.by ?? -1], hearers, parents };
}

/** Returns an activation as it was after an event, by its place in the table of activations. */
export function activationDetail(timeline: RunTimeline, place: number, shown: number = timeline.length - 1): ActivationDetail | undefined {
  const { record } = timeline;
  const activation = record.activations[place];
  if (activation === undefined || activation.from > shown) return undefined;
  const isOver = activation.until !== undefined && activation.until <= shown;
  const end = isOver ? timeline.event(activation.until ?? -1) : undefined;
  return {
    kind: "activation",
    activation: activationAt(timeline, activation, shown),
    took: activation.took.flatMap((one) => record.sent[one] ?? []),
    said: isOver ? activation.said.flatMap((one) => record.sent[one] ?? []) : [],
    steps: activation.steps
      .flatMap((one) => record.steps[one] ?? [])
      .filter(({ seqs }) => (seqs[0] ?? Infinity) <= shown)
      .map((step) => stepAt(timeline, step, shown)),
    changes: end?.type === "act.ended" ? end : undefined,
  };
}

/** Returns a step as it was after an event, by its place in the table of steps. */
export function stepDetail(timeline: RunTimeline, place: number, shown: number = timeline.length - 1): StepDetail | undefined {
  const step = timeline.record.steps[place];
  const activation = timeline.record.activations[step?.activation ?? -1];
  if (step === undefined || activation === undefined) return undefined;
  const events = step.seqs.filter((seq) => seq <= shown).flatMap((seq) => timeline.event(seq) ?? []);
  const tries: TryDetail[] = [];
  let request: Json = null;
  let answer: Json | undefined;
  for (const event of events) {
    if (event.type === "step.started") {
      request = event.request;
      tries.push(tryOf(event));
    }
    if (event.type !== "step.ended") continue;
    const nth = tries.findLastIndex((one) => one.try === event.try);
    const begun = tries[nth];
    if (begun !== undefined) tries[nth] = endedTry(begun, event);
    if (event.retry !== true) answer = event.value;
  }
  const { messages, ...rest } = isRecord(request) ? (request as { readonly [key: string]: Json }) : {};
  const isPrompt = step.kind === "model" && Array.isArray(messages);
  return {
    kind: "step",
    step: stepAt(timeline, step, shown),
    activation: activationAt(timeline, activation, shown),
    prompt: isPrompt ? messages.map(promptPart) : [],
    request: isPrompt ? rest : request,
    tries,
    answerText: answerText(answer),
    answerCalls: step.kind === "model" && isRecord(answer) ? callsIn(answer["toolCalls"]) : [],
    answer,
  };
}

type EventOf<T extends RunEvent["type"]> = Extract<RunEvent, { readonly type: T }>;

function tryOf({ try: nth, seq, time }: EventOf<"step.started">): TryDetail {
  const none = { ended: undefined, ms: undefined, ok: undefined, error: undefined, cost: undefined };
  return { try: nth, started: seq, began: time, ...none, inputTokens: undefined, outputTokens: undefined };
}

function endedTry(begun: TryDetail, { time, ok, error, cost, usage }: EventOf<"step.ended">): TryDetail {
  const tokens = isRecord(usage) ? usage : {};
  return {
    ...begun,
    ended: time,
    ms: time - begun.began,
    ok,
    error,
    cost,
    inputTokens: countIn(tokens["inputTokens"]),
    outputTokens: countIn(tokens["outputTokens"]),
  };
}

function countIn(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function promptPart(message: unknown): PromptPart {
  const { role, content, toolCalls } = isRecord(message) ? message : {};
  return {
    role: typeof role === "string" ? role : "",
    text: typeof content === "string" ? content : content === undefined || content === null ? "" : JSON.stringify(content, null, 2),
    calls: callsIn(toolCalls),
  };
}

function callsIn(toolCalls: unknown): readonly CallDetail[] {
  const calls: readonly unknown[] = Array.isArray(toolCalls) ? toolCalls : [];
  return calls.filter(isRecord).map((call) => {
    const { name, arguments: args } = isRecord(call["function"]) ? call["function"] : {};
    return { name: typeof name === "string" ? name : "", args: typeof args === "string" ? readArguments(args) : null };
  });
}

function readArguments(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function answerText(answer: Json | undefined): string | undefined {
  if (typeof answer === "string") return answer;
  const { content } = isRecord(answer) ? answer : {};
  return typeof content === "string" ? content : undefined;
}
