import { unboundedPool } from "../../model/budget-pool.ts";
import type { z } from "zod";
import type { AskOptions, EffectDoor, RoleCard } from "../../role/context.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/emit.ts";
import { type Random, randomStream } from "../../kernel/random.ts";
import type { StepDoor, StepPort, StepSpec } from "../../kernel/step.ts";
import { askModel, missingModel, type SteppedModel, steppedModel } from "../../model/ask.ts";
import { type CallPolicy, type CallTuning, policyWithin } from "../../model/call.ts";
import type { ChatMessage } from "../../model/chat-message.ts";
import type { ChatModel } from "../../model/chat-model.ts";
import { type LimitOptions, type ModelLimits, sharedLimits } from "../../model/limits.ts";
import type { ModelPrice, PriceTable } from "../../model/price.ts";
import { bothOf, type DeltaInfo, type TextListener } from "../../model/streamed-text.ts";
import type { RoleSpec } from "../../role/role-spec.ts";
import type { Tell } from "../observers.ts";
import type { HumanPort } from "../../tool/approval.ts";
import type { Hand } from "../../kernel/handed-out.ts";
import { valueText } from "../../kernel/value-text.ts";
import type { AnyHumanAsk, Human } from "../../role/human.ts";
import { type AskingRole, Persons } from "./persons.ts";

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
  readonly company: { readonly description: string; colleagues(teamAt: number): readonly string[] };
  /** True for the name of a role that no person plays, and that was hired after that many changes of the team. */
  readonly isPlayedByModel: (name: string, teamAt: number) => boolean;
  readonly tell: Tell;
}

/** A role with the text that introduces it to its model. */
export interface Introduced {
  readonly introduction: string;
}

interface ActivationQuestion {
  readonly steps: StepPort;
  readonly spec: RoleSpec;
  readonly card: RoleCard;
  readonly asker: Introduced;
  readonly prompt: string;
  readonly options: AskOptions & { readonly schema?: z.ZodType };
  readonly remembered?: readonly ChatMessage[];
}

/** Asks the model of a role, or the person who plays it. It owns the limits that are given as options, shared by all its calls. */
export class Answerer {
  readonly #parts: AnswererParts;
  readonly #policy: CallPolicy;
  policy: CallPolicy;
  #persons: Persons | undefined;

  constructor(parts: AnswererParts) {
    this.#parts = parts;
    const { clock, prices, requirePrice, logger } = parts;
    const limits = sharedLimits(parts.limits);
    let stream: Random | undefined;
    this.policy = this.#policy = {
      ...parts.calls,
      clock,
      random: () => (stream ??= randomStream(parts.seed, "retry"))(),
      limits,
      prices,
      requirePrice,
      logger,
      onPrice: (model, price) => this.#tellPrice(model, price),
    };
  }

  /** @param above the policy of the run that this one is part of from now on; undefined: of none */
  worksWithin(above: CallPolicy | undefined): void {
    this.policy = policyWithin(above, this.#policy);
  }

  /** Observed values are frozen, and the price may be an object of the program. */
  #tellPrice(model: string, price: ModelPrice | undefined): void {
    this.#parts.tell("model.priced")?.({ type: "model.priced", model, price: price === undefined ? null : structuredClone(price) });
  }

  /** @throws UsageError `MODEL_MISSING` */
  async ask(question: ActivationQuestion): Promise<unknown> {
    const { spec, options, card, asker, steps, prompt, remembered = [] } = question;
    if (spec.role.human) return this.persons.askPlayer(steps, card, prompt, options.schema);
    const { system, images, temperature, maxTokens, schema } = options;
    const { introduction } = asker;
    const messages: readonly ChatMessage[] = [
      { role: "system", content: system === undefined ? introduction : `${introduction}\n\n${system}` },
      ...remembered,
      { role: "user", content: prompt, ...(images === undefined ? {} : { images }) },
    ];
    const model = this.#modelOf(spec, card, options.model);
    const input = { steps, model, messages, policy: this.policy, ...this.#listening(card, options), temperature, maxTokens };
    return schema === undefined ? askModel(input) : askModel({ ...input, schema });
  }

  /**
   * Returns a model with its calls recorded as steps: the one given, else the role's own, or the team's.
   *
   * @param isQuiet its text is not sent to the observers of the run
   * @throws UsageError `MODEL_MISSING`
   */
  model(steps: StepPort, spec: RoleSpec, card: RoleCard, given: ChatModel | undefined, isQuiet: boolean): SteppedModel {
    return steppedModel(this.#modelOf(spec, card, given), { steps, policy: this.policy, ...(isQuiet ? {} : this.#listening(card, {})) });
  }

  #modelOf({ role }: RoleSpec, card: RoleCard, given?: ChatModel): ChatModel {
    const { model, models } = this.#parts;
    const own = models !== undefined && Object.hasOwn(models, card.name) ? models[card.name] : role.model;
    return given ?? own ?? model ?? missingModel(card.name);
  }

  get persons(): Persons {
    const { human, clock, isPlayedByModel } = this.#parts;
    return (this.#persons ??= new Persons({ human, clock, isPlayedByModel }));
  }

  /** Returns the door of the effect of a step. @param door its promises are not handed out */
  effectDoor(door: StepDoor, hand: Hand, spec: RoleSpec, card: RoleCard, asker: Introduced & AskingRole): EffectDoor {
    const ask = (prompt: string, options: ActivationQuestion["options"] = {}): Promise<unknown> =>
      hand(askName(prompt), this.ask({ steps: door, spec, card, asker, prompt, options }));
    const person = this.persons.human(door, asker);
    const { key, mode, signal, ending, attempts } = door;
    const step: StepPort["step"] = (inner, effect) => hand(stepName(inner), door.step(inner, effect));
    const budget = attempts.budget ?? unboundedPool();
    return { key, mode, signal, ending, attempts, step, budget, ask: ask as EffectDoor["ask"], human: handedHuman(person, hand) };
  }

  /**
   * Returns the system prompt that introduces a role: its description, else its name, profile, goal and constraints, and its colleagues. It
   * changes only with the team, so providers can cache it and forks do not pay for it again.
   *
   * @param teamAt the number of changes of the team that the role knows of
   */
  introduction(card: RoleCard, teamAt: number): string {
    const { description, colleagues } = this.#parts.company;
    const self = card.description === "" ? describe(card) : card.description;
    if (description === "") return self;
    const others = colleagues(teamAt).filter((name) => name !== card.name);
    return `${self} You are in ${description}${others.length === 0 ? "" : ` with the roles ${others.join(", ")}`}.`;
  }

  /** For time limits only. */
  get clock(): Clock {
    return this.#parts.clock;
  }

  /** Returns a listener that also sends a model's text to the observers of the run. */
  #listening({ name: role }: RoleCard, own: TextListener): TextListener {
    const [delta, taken] = [this.#parts.tell("model.delta"), this.#parts.tell("model.void")];
    if (delta === undefined && taken === undefined) return { onDelta: own.onDelta, onVoid: own.onVoid };
    const sent = new WeakMap<DeltaInfo, number>();
    return bothOf(own, {
      onDelta: (text, info) => {
        const at = sent.get(info) ?? 0;
        sent.set(info, at + text.length);
        delta?.({ type: "model.delta", role, ...info, at, text });
      },
      onVoid: taken && ((info) => taken({ type: "model.void", role, ...info })),
    });
  }
}

export function stepName({ name }: StepSpec): string {
  return `step ${JSON.stringify(name)}`;
}

export function askName(prompt: string): string {
  return `ask(${valueText(prompt)})`;
}

export function handedHuman(human: Human, hand: Hand): Human {
  return {
    ask: ((question: string, o?: AnyHumanAsk) => hand("human.ask", human.ask(question, o as never))) as Human["ask"],
    answer: (question, signal) => hand("human.answer", human.answer(question, signal)),
  };
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
