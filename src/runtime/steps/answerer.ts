import { budgetPool } from "../../model/budget-pool.ts";
import type { MicroUsd } from "../../model/money.ts";
import type { z } from "zod";
import type { AskOptions, EffectDoor, Human, RoleCard } from "../../role/context.ts";
import type { Clock } from "../../kernel/clock.ts";
import { OutputError, WaitingError, StepError, TroupeError } from "../../kernel/errors.ts";
import type { Logger } from "../../kernel/emit.ts";
import { parsedJson } from "../../kernel/json.ts";
import { type Random, randomStream } from "../../kernel/random.ts";
import type { StepDoor, StepPort } from "../../kernel/step.ts";
import { askModel, missingModel, type SteppedModel, steppedModel } from "../../model/ask.ts";
import type { CallPolicy, CallTuning } from "../../model/call.ts";
import type { ChatMessage } from "../../model/chat-message.ts";
import type { ChatModel } from "../../model/chat-model.ts";
import { outputSchema } from "../../model/json-schema.ts";
import { type LimitOptions, type ModelLimits, sharedLimits } from "../../model/limits.ts";
import type { PriceTable } from "../../model/price.ts";
import { bothOf, type TextListener } from "../../model/streamed-text.ts";
import type { RoleSpec } from "../../role/role-spec.ts";
import type { Tell } from "../observers.ts";
import type { HumanPort, HumanQuestion } from "../../tool/approval.ts";
import { thrownText, valueText } from "../../kernel/value-text.ts";

/** The shared parts of the answers to all roles. */
export interface AnswererParts {
  readonly model?: ChatModel;
  readonly models?: Readonly<Record<string, ChatModel>>;
  readonly human?: HumanPort;
  readonly prices?: PriceTable;
  readonly limits?: LimitOptions | ModelLimits;
  readonly calls?: CallTuning;
  readonly requirePrice: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly seed: string;
  readonly company: { readonly description: string; colleagues(): readonly string[] };
  readonly tell: Tell;
}

/** One question of one role. */
export interface ActivationQuestion {
  readonly steps: StepPort;
  readonly spec: RoleSpec;
  readonly card: RoleCard;
  readonly prompt: string;
  readonly options: AskOptions & { readonly schema?: z.ZodType };
  /** The remembered messages for it. */
  readonly remembered?: readonly ChatMessage[];
}

/**
 * Asks the model of a role, or the person who plays it. It owns the limits that are given as options: one object, shared by all its calls.
 */
export class Answerer {
  readonly #parts: AnswererParts;
  /** The policy of model calls. */
  readonly policy: CallPolicy;

  constructor(parts: AnswererParts) {
    this.#parts = parts;
    const { clock, prices, requirePrice, logger } = parts;
    const limits = sharedLimits(parts.limits);
    let stream: Random | undefined;
    this.policy = {
      ...parts.calls,
      clock,
      random: () => (stream ??= randomStream(parts.seed, "retry"))(),
      limits,
      prices,
      requirePrice,
      logger,
    };
  }

  /** @throws UsageError `MODEL_MISSING` when a model is needed and none is set. */
  async ask(question: ActivationQuestion): Promise<unknown> {
    const { spec, options, card, steps, prompt, remembered = [] } = question;
    if (spec.role.human) return this.#askPerson(question);
    const { system, images, temperature, maxTokens, schema } = options;
    const introduction = this.introduction(card);
    const messages: readonly ChatMessage[] = [
      { role: "system", content: system === undefined ? introduction : `${introduction}\n\n${system}` },
      ...remembered,
      { role: "user", content: prompt, ...(images === undefined ? {} : { images }) },
    ];
    const model = this.#modelOf(spec, card, options.model);
    const input = { steps, model, messages, policy: this.policy, ...this.#listening(card, options), temperature, maxTokens };
    return schema === undefined ? askModel(input) : askModel({ ...input, schema });
  }

  /** Returns the role's own model, or the team's, with its calls recorded as steps. @throws UsageError `MODEL_MISSING` */
  model(steps: StepPort, spec: RoleSpec, card: RoleCard): SteppedModel {
    return steppedModel(this.#modelOf(spec, card), { steps, policy: this.policy, ...this.#listening(card, {}) });
  }

  /** Returns a model whose text is not sent to listeners: the one given, else as {@link model}. @throws UsageError `MODEL_MISSING` */
  quietModel(steps: StepPort, spec: RoleSpec, card: RoleCard, given: ChatModel | undefined): SteppedModel {
    return steppedModel(this.#modelOf(spec, card, given), { steps, policy: this.policy });
  }

  #modelOf({ role }: RoleSpec, card: RoleCard, given?: ChatModel): ChatModel {
    const { model, models } = this.#parts;
    const own = models !== undefined && Object.hasOwn(models, card.name) ? models[card.name] : role.model;
    return given ?? own ?? model ?? missingModel(card.name);
  }

  /** Asks a person; without one the run waits. */
  askHuman(steps: StepPort, card: RoleCard, question: string): Promise<string> {
    return steps.step({ kind: "human", name: "ask", request: { role: card.name, question } }, (door) =>
      this.#answerOf({ id: door.key, text: question, role: card.name }, door.signal),
    );
  }

  /** Returns a role's access to a person through recorded steps. */
  human(steps: StepPort, card: RoleCard): Human {
    return {
      ask: (question) => this.askHuman(steps, card, question),
      answer: (question, signal) => this.#answerOf({ ...question, role: card.name }, signal),
    };
  }

  /** Returns the door of the effect of a step. */
  effectDoor(door: StepDoor, spec: RoleSpec, card: RoleCard): EffectDoor {
    const ask = (prompt: string, options: ActivationQuestion["options"] = {}): Promise<unknown> =>
      this.ask({ steps: door, spec, card, prompt, options });
    const { key, mode, signal, ending, attempts, step } = door;
    const budget = attempts.budget ?? budgetPool(Number.MAX_SAFE_INTEGER as MicroUsd);
    return { key, mode, signal, ending, attempts, step, budget, ask: ask as EffectDoor["ask"], human: this.human(door, card) };
  }

  async #answerOf(question: HumanQuestion, signal: AbortSignal): Promise<string> {
    const { human } = this.#parts;
    if (human === undefined) throw new WaitingError({ questionId: question.id, question: question.text, role: question.role });
    return answerOf(human, question, signal);
  }

  /**
   * Returns the system prompt that introduces a role: its description unchanged, else its name, profile, goal and constraints (MetaGPT's
   * prefix), and its colleagues. Nothing in it changes from call to call, so providers can cache it and forks do not pay for it again.
   */
  introduction(card: RoleCard): string {
    const { description, colleagues } = this.#parts.company;
    const self = card.description === "" ? describe(card) : card.description;
    if (description === "") return self;
    const others = colleagues().filter((name) => name !== card.name);
    return `${self} You are in ${description}${others.length === 0 ? "" : ` with the roles ${others.join(", ")}`}.`;
  }

  /** For time limits only. */
  get clock(): Clock {
    return this.#parts.clock;
  }

  async #askPerson({ steps, card, prompt, options: { schema } }: ActivationQuestion): Promise<unknown> {
    // A person's schema is checked like a model's, so that both refuse the same ones.
    if (schema !== undefined) outputSchema(schema);
    const answer = await this.askHuman(steps, card, prompt);
    if (schema === undefined) return answer;
    const parsed = schema.safeParse(valueIn(answer));
    if (parsed.success) return parsed.data;
    const second = await this.askHuman(steps, card, `${prompt}\n\nYour answer did not fit: ${parsed.error.message}\nAnswer in JSON.`);
    const again = schema.safeParse(valueIn(second));
    if (again.success) return again.data;
    throw new OutputError("OUTPUT_INVALID", `Expected ${card.name}, played by a person, to answer what was asked: ${again.error.message}`, {
      data: { text: second },
    });
  }

  /** Returns a listener that also sends a model's text to the observers of the run. */
  #listening({ name: role }: RoleCard, own: TextListener): TextListener {
    const [delta, taken] = [this.#parts.tell("model.delta"), this.#parts.tell("model.void")];
    if (delta === undefined && taken === undefined) return { onDelta: own.onDelta, onVoid: own.onVoid };
    return bothOf(own, {
      onDelta: (text, info) => delta?.({ type: "model.delta", role, ...info, text }),
      onVoid: taken && ((info) => taken({ type: "model.void", role, ...info })),
    });
  }
}

/** Returns the value of an answer: its JSON, or the text itself. */
function valueIn(answer: string): unknown {
  const json = parsedJson(answer);
  return json === undefined ? answer : json;
}

/**
 * Asks a person and accepts only a text as the answer.
 *
 * @throws StepError `ANSWER_INVALID` for an answer that is no text; `HUMAN_FAILED` when asking fails. An error of this package is rethrown
 * unchanged.
 */
async function answerOf(human: HumanPort, question: HumanQuestion, signal: AbortSignal): Promise<string> {
  const answer: unknown = await asked(human, question, signal);
  if (typeof answer === "string") return answer;
  throw new StepError(
    "ANSWER_INVALID",
    `Expected the person asked by ${question.role} to answer with a text, got ${valueText(answer)}. Let the human port return a string.`,
  );
}

async function asked(human: HumanPort, question: HumanQuestion, signal: AbortSignal): Promise<unknown> {
  try {
    return await human(question, { signal });
  } catch (error) {
    if (TroupeError.isInstance(error)) throw error;
    const said = thrownText(error);
    throw new StepError(
      "HUMAN_FAILED",
      `Expected the person asked by ${question.role} to answer, but asking failed: ${said}${/[.!?]$/.test(said) ? "" : "."} Mend the human port and resume the run.`,
      { cause: error },
    );
  }
}

function describe(card: RoleCard): string {
  const trade = card.profile === "" ? `You are ${card.name}` : `You are ${article(card.profile)} ${card.profile}, named ${card.name}`;
  const goal = card.goal === "" ? "." : `, and your goal is: ${card.goal}.`;
  const constraints = card.constraints === "" ? "" : ` Keep to these constraints: ${card.constraints}.`;
  return `${trade}${goal}${constraints}`;
}

function article(noun: string): string {
  return /^[aeiou]/i.test(noun) ? "an" : "a";
}
