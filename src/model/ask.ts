import { defined } from "../kernel/value-kind.ts";
import type { z } from "zod";
import { eitherSignal } from "../kernel/abort.ts";
import { systemClock } from "../kernel/clock.ts";
import type { BudgetPool } from "../kernel/budget.ts";
import { ModelError, UsageError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { type AttemptOutcome, type Attempts, attemptsWith, type RecordedTry, type StepPort, type StepTry } from "../kernel/step.ts";
import { truncated } from "./attempt.ts";
import { loadRepair } from "./json-in-text.ts";
import { callModel, type CallPolicy } from "./call.ts";
import type { ChatMessage } from "./chat-message.ts";
import { addUsage, inOnePiece, type ChatModel, type ChatOptions, type ChatRequest, type ChatResponse } from "./chat-model.ts";
import { askOn, joined, MOST_CONTINUATIONS } from "./continuation.ts";
import { jitter } from "./retry.ts";
import { type OutputSchema, outputSchema } from "./json-schema.ts";
import { enforcedForm, inForm, type ReplyForm, wordsForm } from "./reply-form.ts";
import { handedHere, type Meter, presentMeter } from "./meter.ts";
import { askForValue, type WholeOrCut } from "./structured-output.ts";
import { withoutThoughts } from "./thoughts.ts";
import { bothOf, lastStreamed, type TextListener, streamedText } from "./streamed-text.ts";

export interface CallParts extends TextListener {
  readonly steps: StepPort;
  readonly model: ChatModel;
  /** None of it is part of the step's address. */
  readonly policy: CallPolicy;
  /** Stops only this question; the step's own signal always counts. */
  readonly signal?: AbortSignal | undefined;
  readonly meter?: CallMeter | undefined;
  /** Accept text cut by the length limit, even an empty one, as an answer with `finishReason` "length". Default: it is an error. */
  readonly takesCut?: boolean | undefined;
  /** As {@link StepSpec.aside}. */
  readonly aside?: boolean | undefined;
}

export interface AskInput extends CallParts {
  readonly messages: readonly ChatMessage[];
  readonly temperature?: number | undefined;
  /** Default: no limit, and 16,384 if a price is known. */
  readonly maxTokens?: number | undefined;
  readonly seed?: number | undefined;
  readonly stop?: readonly string[] | undefined;
  readonly extra?: Readonly<Record<string, Json>> | undefined;
}

/**
 * Returns a model's answer: its text, or with `schema` the value read from it.
 *
 * A reply that does not fit is repaired if possible, else requested again, twice at most, in steps that show the faults; listeners learn
 * that its text is void. A reply cut by its length limit is continued by further steps, unless the caller set the limit. With `schema` one
 * that stays cut is requested again in a shorter form.
 *
 * @throws OutputError `OUTPUT_INVALID`; UsageError `SCHEMA_UNSUPPORTED`; ModelError, ControlError: see {@link callModel}
 */
export async function askModel<S extends z.ZodType>(input: AskInput & { readonly schema: S }): Promise<z.infer<S>>;
export async function askModel(input: AskInput & { readonly schema?: undefined }): Promise<string>;
export async function askModel(input: AskInput & { readonly schema?: z.ZodType | undefined }): Promise<unknown> {
  if (input.schema === undefined) return wholeText(input);
  const { model, schema, messages, policy } = input;
  const output = outputSchema(schema);
  const streamed = lastStreamed(input, policy.logger);
  return askForValue({
    ...{ model: model.id, schema, messages },
    ask: (asked, isAgain) => longestReply(input, asked, streamed.listener, output, isAgain),
    misfit(issues) {
      streamed.takeBack();
      if (issues !== undefined) policy.logger?.warn(`${model.id}: a reply did not fit and is asked for again. ${issues}`);
    },
  });
}

async function wholeText(input: AskInput): Promise<string> {
  const { reply, isCut } = await longestReply(input, input.messages, input);
  if (isCut) throw truncated(input.model.id, undefined, reply);
  return withoutThoughts(reply.content) || reply.content;
}

/**
 * Asks for a reply, and for its rest while its length limit cuts it. The rest is asked for as text: a server that enforces a schema would
 * begin a new value.
 *
 * @returns `isCut` when the rest brings nothing new, is cut too often, or is not asked for
 */
async function longestReply(
  input: AskInput,
  messages: readonly ChatMessage[],
  listener: TextListener,
  output?: OutputSchema,
  isSchemaTold?: boolean,
): Promise<WholeOrCut> {
  const isLimited = input.maxTokens !== undefined;
  const takesCut = !isLimited || output !== undefined;
  const parts = { ...input, onDelta: listener.onDelta, onVoid: listener.onVoid, takesCut };
  let reply = await chatStep({ ...input, messages, schema: undefined }, parts, output, isSchemaTold);
  for (let n = 0; reply.finishReason === "length"; n++) {
    const soFar = reply.content.replace(/\s{100,}$/, "");
    if (isLimited || soFar.trim() === "" || n === MOST_CONTINUATIONS) return { reply, isCut: true };
    input.policy.logger?.warn(`${input.model.id}: a reply reached its length limit after ${soFar.length} characters and is continued.`);
    const rest = await chatStep({ ...input, messages: askOn(messages, soFar), schema: undefined }, parts);
    const content = joined(soFar, rest.content);
    if (rest.finishReason === "length" && content.length <= soFar.length) return { reply, isCut: true };
    reply = { ...rest, content, usage: addUsage(reply.usage ?? { inputTokens: 0, outputTokens: 0 }, rest.usage) };
  }
  return { reply, isCut: false };
}

/**
 * Makes one model call as one step: recorded under everything that determines its answer (model, messages, tools, schema, sampling). Its
 * transport (streamed or not, the reply format) is no part of its address. The step records the raw answer, so that a changed reader reads
 * old records.
 *
 * @throws UsageError `MESSAGES_EMPTY`, `OPTION_INVALID`; ModelError, ControlError: see {@link callModel}
 */
export async function chatStep(asked: Asked, parts: CallParts, output?: OutputSchema, isSchemaTold = false): Promise<ChatResponse> {
  const { policy, steps } = parts;
  const model = isStepped(parts.model) ? parts.model.bare : parts.model;
  if (asked.messages.length === 0) throw new UsageError("MESSAGES_EMPTY", `Expected at least one message for ${model.id}, got none.`);
  const request = requestOf(asked, model);
  const address = output === undefined ? { model: model.id, ...request } : { model: model.id, ...request, schema: output.json };
  let recorded: StepTry | undefined;
  const { meter, aside } = parts;
  const onRecorded = (by: RecordedTry): void => {
    recorded = by;
    meter?.recorded(by.cost);
  };
  const reply = await steps.step({ kind: "model", name: model.id, request: address, metered: true, aside, onRecorded }, (door) => {
    const signal = parts.signal === undefined ? (door.ending ?? door.signal) : eitherSignal(parts.signal, door.signal);
    const attempts = meter === undefined ? door.attempts : metered(door.attempts, meter);
    const deps = { ...policy, attempts, signal, onDelta: parts.onDelta, onVoid: parts.onVoid, takesCut: parts.takesCut };
    if (output === undefined) return callModel(model, request, deps);
    const call = (form: ReplyForm): Promise<ChatResponse> =>
      callModel(
        model,
        { ...request, messages: isSchemaTold ? request.messages : inForm(request.messages, form), schema: form.format },
        deps,
      );
    return call(enforcedForm(output)).catch((error: unknown) => {
      if (error instanceof ModelError && error.code === "MODEL_FORMAT_UNSUPPORTED") return call(wordsForm(output));
      throw error;
    });
  });
  const loading = loadRepair(reply.content, ...reply.toolCalls.map((call) => call.function.arguments));
  if (loading !== undefined) await loading;
  if (recorded !== undefined && reply.content !== "") streamedText(parts, policy.logger, recorded).send(reply.content);
  return reply;
}

type Asked = Pick<ChatRequest, "messages"> & { readonly [K in Exclude<keyof ChatRequest, "messages">]?: ChatRequest[K] | undefined };

/** The model's own extra fields are part of the address too. */
function requestOf(asked: Asked, model: ChatModel): ChatRequest {
  const { tools = [], toolChoice, schema, temperature, maxTokens, seed, stop, messages } = asked;
  const extra = { ...model.extra, ...asked.extra };
  const known = { tools: tools.length === 0 ? undefined : tools, toolChoice, schema, temperature, maxTokens, seed, stop };
  return { messages, ...defined({ ...known, extra: Object.keys(extra).length === 0 ? undefined : extra }) };
}

/** Called for every try of a live call, and once for an answer from a record. */
export interface CallMeter {
  /** @param hold micro-dollars; 0 if `isUnpriced` */
  opened(hold: number, isUnpriced: boolean): void;
  settled(outcome: AttemptOutcome): void;
  /** @param cost micro-dollars of all tries; undefined: unknown */
  recorded(cost: number | undefined): void;
}

function metered(attempts: Attempts, meter: CallMeter): Attempts {
  return attemptsWith(attempts, {
    async open(hold, o = {}) {
      await attempts.open(hold, o);
      meter.opened(hold, o.unpriced === true);
    },
    settle(outcome) {
      attempts.settle(outcome);
      meter.settled(outcome);
    },
  });
}

export interface SteppedChatOptions extends ChatOptions, TextListener {
  readonly meter?: CallMeter | undefined;
  readonly takesCut?: boolean | undefined;
  readonly aside?: boolean | undefined;
}

/** A model whose calls are recorded steps, with retries, limits and the budget. It does not stream, because a failed try takes its text back. */
export interface SteppedModel extends ChatModel {
  readonly streams: false;
  chat(request: ChatRequest, o: SteppedChatOptions): Promise<ChatResponse>;
  /** The same model with other steps, such as those inside an effect. */
  through(steps: StepPort): SteppedModel;
  /** The meter of its calls, for agents, flows and teams that get the model. @internal */
  readonly meter: Meter;
  /** @internal */
  readonly bare: ChatModel;
}

/** Its listener gets all text, besides that of the caller. */
export interface SteppedModelParts extends TextListener {
  readonly steps: StepPort;
  readonly policy: CallPolicy;
  readonly meter?: (() => CallMeter) | undefined;
}

/** A stepped model gets other steps instead, or its answers would be recorded twice. */
export function steppedModel(model: ChatModel, parts: SteppedModelParts): SteppedModel {
  if (isStepped(model)) return model.through(parts.steps);
  const { steps, policy } = parts;
  const chat: SteppedModel["chat"] = (request, o) =>
    chatStep(request, {
      ...{ model, steps, policy, signal: o.signal, takesCut: o.takesCut, aside: o.aside },
      ...{ meter: o.meter ?? parts.meter?.(), ...bothOf(parts, o) },
    });
  const stepped: SteppedModel = {
    id: model.id,
    ...defined({ price: model.price, maxOutputTokens: model.maxOutputTokens, takes: model.takes }),
    streams: false,
    chat,
    async *stream(request, o) {
      yield inOnePiece(await chat(request, o));
    },
    through: (other) => steppedModel(model, { ...parts, steps: other }),
    meter: { port: steps, policy },
    bare: model,
  };
  return stepped;
}

/** Returns the model that answers when a program calls it itself: inside an activation or a call of a tool its calls are steps of that. */
export function calledHere(model: ChatModel): ChatModel {
  const meter = presentMeter();
  if (meter === undefined) return model;
  const stepped = steppedModel(model, { steps: meter.port, policy: meter.policy ?? { clock: systemClock, random: jitter() } });
  return { ...stepped, chat: (request, o) => handedHere("model.chat", stepped.chat(request, o)) };
}

export function missingModel(who: string): never {
  throw new UsageError(
    "MODEL_MISSING",
    `${who} asks a model, but neither the role nor its environment has one. Give new Team({ model }) or defineRole({ model }).`,
  );
}

/** Returns the meter of an agent, a flow or an environment that begins now. None where its spending is part of the cost of the step around it. */
export function meterFor(model: ChatModel | undefined, pools: readonly (BudgetPool | undefined)[] = []): Meter | undefined {
  const meter = presentMeter() ?? (model !== undefined && isStepped(model) ? model.meter : undefined);
  return pools.some(isLent) ? undefined : meter;
}

function isLent(pool: BudgetPool | undefined): boolean {
  return pool !== undefined && (pool.accounts !== undefined || isLent(pool.parent));
}

export function isStepped(model: ChatModel): model is SteppedModel {
  return "through" in model && typeof model.through === "function";
}
