import type { ChatModel, ChatRequest, ChatResponse, ModelPrice, RunEvent } from "../../index.ts";
import { aFunction, aText, iterable, object, takes } from "../../kernel/argument.ts";
import { UsageError } from "../../kernel/errors.ts";
import { canonicalJson, type Json } from "../../kernel/json.ts";
import { checkGivenOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { isRecord } from "../../kernel/value-kind.ts";
import { valueText } from "../../kernel/value-text.ts";
import { policyModel } from "./policy-model.ts";

export type SurrogateAnswer = Pick<ChatResponse, "content" | "toolCalls" | "finishReason">;

/** Names the class of a request, as the model got it or the record has it. Requests of one class are taken for equal: choose what decides the answer. */
export type ClassOf = (request: Pick<ChatRequest, "messages"> & Partial<ChatRequest>) => string;

/** The number of times each answer was given in each class. Plain JSON, so that it can be kept in a file beside a study. */
export interface SurrogateFit {
  readonly classes: Readonly<Record<string, readonly { readonly answer: SurrogateAnswer; readonly times: number }[]>>;
}

/** Counts the answers of models in the logs of runs by the class of their requests. Failed tries are left out. */
export function fitSurrogate(events: Iterable<RunEvent>, classOf: ClassOf): SurrogateFit {
  takes("fitSurrogate", "events", events, iterable("events of runs"));
  takes("fitSurrogate", "classOf", classOf, aFunction);
  const asked = new Map<string, string>();
  const classes = new Map<string, Map<string, { answer: SurrogateAnswer; times: number }>>();
  for (const event of events) {
    takes("fitSurrogate", "an event", event, object("an event of a run", { type: aText }));
    if (event.type === "step.started" && event.kind === "model") asked.set(addressOf(event), classOf(requestIn(event.request)));
    if (event.type !== "step.ended" || !event.ok) continue;
    const name = asked.get(addressOf(event));
    const answer = name === undefined ? undefined : answerIn(event.value);
    if (name === undefined || answer === undefined) continue;
    const known = classes.get(name) ?? new Map<string, { answer: SurrogateAnswer; times: number }>();
    classes.set(name, known);
    const key = canonicalJson(answer);
    known.set(key, { answer, times: (known.get(key)?.times ?? 0) + 1 });
  }
  return { classes: Object.fromEntries([...classes].map(([name, answers]) => [name, [...answers.values()]])) };
}

function addressOf({ runId, act, key }: { readonly runId: string; readonly act: string; readonly key: string }): string {
  return JSON.stringify([runId, act, key]);
}

function requestIn(request: Json): Parameters<ClassOf>[0] {
  const read = isRecord(request) ? request : {};
  return { ...read, messages: Array.isArray(read["messages"]) ? (read["messages"] as ChatRequest["messages"]) : [] };
}

function answerIn(value: Json | undefined): SurrogateAnswer | undefined {
  if (!isRecord(value) || typeof value["content"] !== "string") return undefined;
  const { content, toolCalls = [], finishReason = "stop" } = value as unknown as Partial<ChatResponse>;
  return { content: content ?? "", toolCalls, finishReason };
}

export interface SurrogateOptions {
  readonly fit: SurrogateFit;
  readonly classOf: ClassOf;
  readonly seed: string | number;
  readonly id?: string;
  readonly price?: ModelPrice;
}

const aFit = object("a fit, as fitSurrogate makes it", { classes: object("answers by class") });
const surrogateOptions: Known<SurrogateOptions> = {
  fit: aFit,
  classOf: kinds.function,
  seed: kinds.seed,
  id: kinds.text,
  price: kinds.price,
};

/**
 * A model that gives the answers of a recorded one with their frequencies in the class of the request. It shows how a team behaves if its
 * model continues as recorded, not how the model would answer a new question. The draw depends on the seed, the whole request and the step.
 *
 * @throws UsageError from a call, `SURROGATE_UNKNOWN` for a class that the fit lacks
 */
export function surrogateModel(options: SurrogateOptions): ChatModel {
  checkGivenOptions("surrogateModel", options, surrogateOptions);
  const { fit, classOf, seed, id = `surrogate-${seed}`, price } = options;
  takes("surrogateModel", "fit", fit, aFit);
  takes("surrogateModel", "classOf", classOf, aFunction);
  takes("surrogateModel", "seed", seed, kinds.seed);
  return policyModel({
    id,
    seed,
    ...(price === undefined ? {} : { price }),
    answer: (request, random) => drawn(fit, classOf(request), random()),
  });
}

function drawn({ classes }: SurrogateFit, name: string, random: number): SurrogateAnswer {
  const answers = Object.hasOwn(classes, name) ? (classes[name] ?? []) : [];
  let left = random * answers.reduce((sum, { times }) => sum + times, 0);
  for (const { answer, times } of answers) {
    left -= times;
    if (left < 0) return answer;
  }
  const names = Object.keys(classes)
    .slice(0, 6)
    .map((one) => valueText(one));
  throw new UsageError(
    "SURROGATE_UNKNOWN",
    `Expected a request of a class that the surrogate was fitted with (${names.join(", ")}), got ${valueText(name)}. Fit it with more runs.`,
  );
}
