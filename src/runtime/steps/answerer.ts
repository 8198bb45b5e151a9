import { budgetPool } from "../../model/budget-pool.ts";
import type { MicroUsd } from "../../model/money.ts";
import type { z } from "zod";
import type { AskOptions, EffectDoor, Human, RoleCard } from "../../role/context.ts";
import type { Clock } from "../../kernel/clock.ts";
import { OutputError, WaitingError, StepError, TroupeError } from "../../kernel/errors.ts";
import type { Logger } from "../../kernel/emit.ts";
import { lazily } from "../../kernel/lazily.ts";
import { randomStream } from "../../kernel/random.ts";
import type { StepDoor, StepPort } from "../../kernel/step.ts";
import { askModel, missingModel, type SteppedModel, steppedModel } from "../../model/ask.ts";
import type { CallPolicy } from "../../model/call.ts";
import type { ChatMessage } from "../../model/chat-message.ts";
import type { ChatModel } from "../../model/chat-model.ts";
import { outputSchema } from "../../model/json-schema.ts";
import { type LimitOptions, type ModelLimits, sharedLimits } from "../../model/limits.ts";
import type { PriceTable } from "../../model/price.ts";
import { bothOf, type TextListener } from "../../model/told-text.ts";
import type { RoleSpec } from "../../role/role-spec.ts";
import type { Tell } from "../observers.ts";
import type { HumanPort, HumanQuestion } from "../../tool/approval.ts";
import { thrownText, valueText } from "../../kernel/value-text.ts";

/** The shared parts of the answers to all roles. */
export interface AnswererParts {
  readonly model?: ChatModel;
  readonly human?: HumanPort;
  readonly prices?: PriceTable;
  readonly limits?: LimitOptions | ModelLimits;
  readonly requirePrice: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly seed: string;
  readonly company: { readonly description: string; colleagues(): readonly string[] };
  readonly tell: Tell;
}

/** One question of one role. */
export interface Question {
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
  readonly #policy: CallPolicy;

  constructor(parts: AnswererParts) {
    this.#parts = parts;
    const { clock, prices, requirePrice, logger } = parts;
    const limits = sharedLimits(parts.limits);
    const stream = lazily(() => randomStream(parts.seed, "retry"));
    this.#policy = { clock, random: () => stream()(), limits, prices, requirePrice, logger };
  }

  /** @throws UsageError `MODEL_MISSING` when a model is needed and none is set. */
  async ask(question: Question): Promise<unknown> {
    const { spec, options, card, steps } = question;
    if (spec.role.human) return this.#askPerson(question);
    const model = options.model ?? spec.role.model ?? this.#parts.model ?? missingModel(card.name);
    const messages = this.#messages(question);
    const { temperature, maxTokens, schema } = options;
    const input = {
      steps,
      model,
      messages,
      policy: this.#policy,
      ...bothOf(options, this.#teller(card)),
      ...(temperature === undefined ? {} : { temperature }),
      ...(maxTokens === undefined ? {} : { maxTokens }),
    };
    return schema === undefined ? askModel(input) : askModel({ ...input, schema });
  }

  /** Returns the role's own model, or the team's, with its calls recorded as steps. @throws UsageError `MODEL_MISSING` */
  model(steps: StepPort, { role }: RoleSpec, card: RoleCard): SteppedModel {
    const model = role.model ?? this.#parts.model ?? missingModel(card.name);
    return steppedModel(model, { steps, policy: this.#policy, ...this.#teller(card) });
  }

  /** Returns a model whose text is not sent to listeners: the one given, else as {@link model}. @throws UsageError `MODEL_MISSING` */
  quietModel(steps: StepPort, { role }: RoleSpec, card: RoleCard, given: ChatModel | undefined): SteppedModel {
    return steppedModel(given ?? role.model ?? this.#parts.model ?? missingModel(card.name), { steps, policy: this.#policy });
  }

  /** The policy of model calls. */
  get policy(): CallPolicy {
    return this.#policy;
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
    const ask = (prompt: string, options: Question["options"] = {}): Promise<unknown> =>
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

  /** Returns the text that introduces a role and its colleagues. */
  introduction(card: RoleCard): string {
    const { description, colleagues } = this.#parts.company;
    const others = description === "" ? [] : colleagues().filter((name) => name !== card.name);
    return introduction(card, { description, colleagues: others });
  }

  /** For time limits only. */
  get clock(): Clock {
    return this.#parts.clock;
  }

  async #askPerson({ steps, card, prompt, options: { schema } }: Question): Promise<unknown> {
    // A person's schema is checked like a model's, so that both refuse the same ones.
    if (schema !== undefined) outputSchema(schema);
    const answer = await this.askHuman(steps, card, prompt);
    if (schema === undefined) return answer;
    const parsed = schema.safeParse(parsedJson(answer));
    if (parsed.success) return parsed.data;
    const second = await this.askHuman(steps, card, `${prompt}\n\nYour answer did not fit: ${parsed.error.message}\nAnswer in JSON.`);
    const again = schema.safeParse(parsedJson(second));
    if (again.success) return again.data;
    throw new OutputError("OUTPUT_INVALID", `Expected ${card.name}, played by a person, to answer what was asked: ${again.error.message}`, {
      data: { text: second },
    });
  }

  #messages({ card, prompt, options, remembered = [] }: Question): readonly ChatMessage[] {
    const intro = this.introduction(card);
    const system = options.system === undefined ? intro : `${intro}\n\n${options.system}`;
    const user: ChatMessage = { role: "user", content: prompt, ...(options.images === undefined ? {} : { images: options.images }) };
    return [{ role: "system", content: system }, ...remembered, user];
  }

  /** Returns a listener that sends a model's text to the observers of the run. */
  #teller({ name: role }: RoleCard): TextListener {
    const [delta, taken] = [this.#parts.tell("model.delta"), this.#parts.tell("model.void")];
    if (delta === undefined && taken === undefined) return nobody;
    return {
      onDelta: (text, info) => delta?.({ type: "model.delta", role, ...info, text }),
      onVoid: taken && ((info) => taken({ type: "model.void", role, ...info })),
    };
  }
}

const nobody: TextListener = {};

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
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

/**
 * Returns the system prompt that introduces a role: its description unchanged, else its name, profile, goal and constraints (MetaGPT's
 * prefix). Nothing in it changes from call to call, so providers can cache it and forks do not pay for it again.
 */
function introduction(card: RoleCard, company: { readonly description: string; readonly colleagues: readonly string[] }): string {
  const self = card.description === "" ? describe(card) : card.description;
  if (company.description === "") return self;
  const others = company.colleagues.length === 0 ? "" : ` with the roles ${company.colleagues.join(", ")}`;
  return `${self} You are in ${company.description}${others}.`;
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
