import type { Json } from "../../kernel/json.ts";
import { isRecord } from "../../kernel/value-kind.ts";
import { endOf } from "./lanes.ts";
import { type ActivationFact, addSpent, NOTHING_SPENT, type StepFact } from "./run-facts.ts";
import { spentIn } from "./run-record.ts";
import type { RunTimeline } from "./run-timeline.ts";

export type Recipient = NonNullable<ReturnType<typeof messageDetail>>["recipients"][number];
export type StepDetail = NonNullable<ReturnType<typeof stepDetail>>;
export type TryDetail = StepDetail["tries"][number];
export type PromptPart = ReturnType<typeof promptPart>;
export type CallDetail = PromptPart["calls"][number];

export function messageDetail(timeline: RunTimeline, index: number, shown: number = timeline.length - 1) {
  const { record } = timeline;
  const sent = record.sent[index];
  if (sent === undefined || sent.seq > shown) return undefined;
  const recipients = sent.deliveries.flatMap((nth) => {
    const delivery = record.deliveries.at(nth);
    if (delivery === undefined) return [];
    const { fate, end } = endOf(delivery, shown);
    const isConsumed = delivery.consumed !== undefined && delivery.consumed <= shown;
    const taker = fate === "taken" ? record.activations[(isConsumed ? delivery.consumer : delivery.opener) ?? -1] : undefined;
    const { role, due, fault } = delivery;
    return [{ role, fate, seq: end, taker: taker && activationAt(timeline, taker, shown), due, fault }];
  });
  const parents = sent.message.parents.map((id) => ({ id, sent: record.sentWithId(id) }));
  return { sent, by: record.activations[sent.by ?? -1], recipients, parents };
}

export function activationDetail(timeline: RunTimeline, index: number, shown: number = timeline.length - 1) {
  const { record } = timeline;
  const activation = record.activations[index];
  if (activation === undefined || activation.from > shown) return undefined;
  const isOver = activation.until !== undefined && activation.until <= shown;
  const end = isOver ? timeline.event(activation.until ?? -1) : undefined;
  return {
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

/** Returns a step with its request, tries and answer as it was after an event. `request` leaves out a conversation, which is the prompt. */
export function stepDetail(timeline: RunTimeline, index: number, shown: number = timeline.length - 1) {
  const step = timeline.record.steps[index];
  if (step === undefined) return undefined;
  const events = step.seqs.filter((seq) => seq <= shown).map((seq) => timeline.event(seq));
  const starts = events.filter((event) => event?.type === "step.started");
  const ends = events.filter((event) => event?.type === "step.ended");
  // `cost` is in micro-dollars: null for an unknown price, undefined while the try has not ended.
  const tries = starts.map(({ seq, try: nth, time }, at) => {
    const isLast = !starts.slice(at + 1).some((later) => later.try === nth);
    const end = isLast ? ends.findLast((one) => one.try === nth && one.seq > seq) : undefined;
    return { try: nth, started: seq, ms: end && end.time - time, ok: end?.ok, error: end?.error, cost: end?.cost };
  });
  const request: Json = starts.at(-1)?.request ?? null;
  const answer: Json | undefined = ends.findLast(({ retry }) => retry !== true)?.value;
  const { messages, ...rest } = isRecord(request) ? (request as { readonly [key: string]: Json }) : {};
  const isPrompt = step.kind === "model" && Array.isArray(messages);
  return {
    step: stepAt(timeline, step, shown),
    prompt: isPrompt ? messages.map(promptPart) : [],
    request: isPrompt ? rest : request,
    tries,
    answerText: answerText(answer),
    answerCalls: step.kind === "model" && isRecord(answer) ? callsIn(answer["toolCalls"]) : [],
    answer,
  };
}

function promptPart(message: unknown) {
  const { role, content, toolCalls } = isRecord(message) ? message : {};
  return {
    role: typeof role === "string" ? role : "",
    text: typeof content === "string" ? content : content === undefined || content === null ? "" : JSON.stringify(content, null, 2),
    calls: callsIn(toolCalls),
  };
}

function callsIn(toolCalls: unknown) {
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

export function stepAt(timeline: RunTimeline, step: StepFact, shown: number): StepFact {
  if ((step.seqs.at(-1) ?? 0) <= shown) return step;
  const seqs = step.seqs.filter((seq) => seq <= shown);
  const sums = { ...NOTHING_SPENT, tries: 0 };
  for (const event of seqs.map((seq) => timeline.event(seq))) {
    if (event?.type === "step.started") sums.tries += 1;
    if (event?.type === "step.ended") addSpent(sums, spentIn(event));
  }
  return { ...step, seqs, ...sums, ok: undefined };
}

export function activationAt(timeline: RunTimeline, fact: ActivationFact, shown: number): ActivationFact {
  const isPresent = shown >= timeline.length - 1;
  if (isPresent || (fact.until !== undefined && fact.until <= shown)) return fact;
  const sums = { ...NOTHING_SPENT, retries: 0 };
  const steps: number[] = [];
  for (const index of fact.steps) {
    const whole = timeline.record.steps[index];
    if (whole === undefined || (whole.seqs[0] ?? Infinity) > shown) continue;
    const step = stepAt(timeline, whole, shown);
    steps.push(index);
    addSpent(sums, step);
    sums.retries += step.tries - 1;
  }
  return { ...fact, ...sums, steps, end: "open", until: undefined, ended: undefined, error: undefined, said: [] };
}
