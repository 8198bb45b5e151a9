import { unboundedPool } from "../../model/budget-pool.ts";
import type { z } from "zod";
import type { AskOptions, EffectDoor, RoleCard, RoleContext } from "../../role/context.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/emit.ts";
import { type Random, randomStream } from "../../kernel/random.ts";
import type { StepDoor, StepPort, StepSpec } from "../../kernel/step.ts";
import { askModel, missingModel, type SteppedModel, steppedModel } from "../../model/ask.ts";
import { type CallPolicy, type CallTuning, policyWithin } from "../../model/call.ts";
import type { ChatMessage } from "../../model/chat-message.ts";
import type { ChatModel } from "../../model/chat-model.ts";
import type { FilesOf } from "../../model/file-parts.ts";
import { type LimitOptions, type ModelLimits, sharedLimits } from "../../model/limits.ts";
import type { PriceTable } from "../../model/price.ts";
import { bothOf, type DeltaInfo, type TextListener } from "../../model/streamed-text.ts";
import type { RoleSpec } from "../../role/role-spec.ts";
import type { Tell } from "../observers.ts";
import type { playerOf, RunState } from "../record/run-state.ts";
import type { HumanPort } from "../../tool/approval.ts";
import type { Hand } from "../../kernel/handed-out.ts";
import { valueText } from "../../kernel/value-text.ts";
import type { AnyHumanAsk, Human } from "../../role/human.ts";
import { Persons } from "./persons.ts";
import type { ModelRequest } from "./taken-role.ts";

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
  /** The signals that no wait has taken. */
  readonly signals: RunState["signals"];
  /** The person who has taken a role, as of so many team changes; undefined if nobody has. Default: now. */
  readonly takenBy: (name: string, teamAt?: number) => ReturnType<typeof playerOf>;
  /** True if no person plays the role, and the team has it after `teamAt` team changes. */
  readonly isPlayedByModel: (name: string, teamAt: number) => boolean;
  readonly tell: Tell;
  readonly files: FilesOf;
}

export interface Asker extends Pick<RoleContext, "role" | "introduction"> {
  readonly spec: RoleSpec;
  readonly teamAt: number;
}

interface ActivationQuestion {
  readonly steps: StepPort;
  readonly asker: Asker;
  readonly prompt: string;
  readonly options: AskOptions & { readonly schema?: z.ZodType };
  readonly remembered?: readonly ChatMessage[];
}

/** Asks the model of a role, or the person who plays it. It owns the limits given as options, which all its calls share. */
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
      files: parts.files,
      // Observed values are frozen, and the price may be an object of the program.
      onPrice: (model, price) => parts.tell("model.priced")?.({ type: "model.priced", model, price: structuredClone(price ?? null) }),
    };
  }

  /** @param above the policy of the enclosing run from now on, if there is one */
  worksWithin(above: CallPolicy | undefined): void {
    this.policy = policyWithin(above, this.#policy);
  }

  /** Returns the steps of a role: while a person has taken it, that person is asked in place of its models. */
  played(steps: StepPort, asker: Asker): StepPort {
    const step: StepPort["step"] = (spec, effect) => {
      const taken = spec.kind === "model" && spec.aside !== true ? this.#parts.takenBy(asker.role.name, asker.teamAt) : undefined;
      if (taken === undefined) return steps.step(spec, effect);
      const reply = this.persons.reply(steps, asker.role, spec.request as ModelRequest, taken.by);
      return reply.then((given) => (given as Awaited<ReturnType<typeof effect>> | undefined) ?? steps.step(spec, effect));
    };
    return { step };
  }

  async ask({ steps: given, asker, prompt, options, remembered = [] }: ActivationQuestion): Promise<unknown> {
    const { spec, role, introduction } = asker;
    const { system, images, temperature, maxTokens, schema } = options;
    const steps = this.played(given, asker);
    if (spec.role.human) return this.persons.askPlayer(steps, role, prompt, schema);
    const messages: readonly ChatMessage[] = [
      { role: "system", content: system === undefined ? introduction : `${introduction}\n\n${system}` },
      ...remembered,
      { role: "user", content: prompt, ...(images === undefined ? {} : { images }) },
    ];
    const model = this.#modelOf(asker, options.model);
    const input = { steps, model, messages, policy: this.policy, ...this.#listening(role, options), temperature, maxTokens };
    return schema === undefined ? askModel(input) : askModel({ ...input, schema });
  }

  /** The given model, else the role's, else the team's, as steps. @param isQuiet observers do not get its text @throws UsageError `MODEL_MISSING` */
  model(steps: StepPort, asker: Asker, given: ChatModel | undefined, isQuiet: boolean): SteppedModel {
    const listener = isQuiet ? {} : this.#listening(asker.role, {});
    return steppedModel(this.#modelOf(asker, given), { steps, policy: this.policy, ...listener });
  }

  #modelOf({ spec, role: { name } }: Asker, given?: ChatModel): ChatModel {
    const { model, models } = this.#parts;
    const own = models !== undefined && Object.hasOwn(models, name) ? models[name] : spec.role.model;
    return given ?? own ?? model ?? missingModel(name);
  }

  get persons(): Persons {
    return (this.#persons ??= new Persons(this.#parts));
  }

  /** Returns the port for the effect of a step. @param door a port without tracked promises */
  effectDoor(door: StepDoor, hand: Hand, asker: Asker): EffectDoor {
    const ask = (prompt: string, options: ActivationQuestion["options"] = {}): Promise<unknown> =>
      hand(askName(prompt), this.ask({ steps: door, asker, prompt, options }));
    const human = handedHuman(this.persons.human(door, asker), hand);
    const { key, mode, signal, ending, attempts } = door;
    const step: StepPort["step"] = (inner, effect) => hand(stepName(inner), door.step(inner, effect));
    return { key, mode, signal, ending, attempts, step, human, budget: attempts.budget ?? unboundedPool(), ask: ask as EffectDoor["ask"] };
  }

  /**
   * Returns the system prompt of a role. It changes only with the team, so that providers cache it and forks do not pay again.
   * @param teamAt the number of team changes that the role knows
   */
  introduction(card: RoleCard, teamAt: number): string {
    const { description, colleagues } = this.#parts.company;
    const self = card.description === "" ? describe(card) : card.description;
    if (description === "") return self;
    const others = colleagues(teamAt).filter((name) => name !== card.name);
    return `${self} You are in ${description}${others.length === 0 ? "" : ` with the roles ${others.join(", ")}`}.`;
  }

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
