import type { z } from "zod";
import type { AskOptions, EffectDoor, RoleContext, StepOptions } from "../../role/context.ts";
import type { AnyHumanAsk, Human } from "../../role/human.ts";
import { type ReadyWait, readySleep, readyWait, signalledValue, type Until, type WaitForOptions } from "../../role/wait.ts";
import type { Json } from "../../kernel/json.ts";
import { UsageError } from "../../kernel/errors.ts";
import { type Hand, HandedOut } from "../../kernel/handed-out.ts";
import type { StepDoor, StepPort, StepSpec } from "../../kernel/step.ts";
import type { SteppedModel } from "../../model/ask.ts";
import { meters, presentMeter } from "../../model/meter.ts";
import type { ChatMessage } from "../../model/chat-message.ts";
import type { ChatModel } from "../../model/chat-model.ts";
import { Recollection } from "../../memory/recollection.ts";
import type { RoleSummary } from "../../memory/summary-levels.ts";
import type { RoleTurn } from "../turn/turn.ts";
import { type Asker, askName, handedHuman, stepName } from "./answerer.ts";

type AskingRole = Asker & Pick<RoleContext, "memory" | "news" | "logger" | "signal">;

/**
 * The steps of one activation as its role uses them: its model, recall, persons, and all other side effects. It owns the recollection and the
 * check for nested steps; `ActivationSteps` records and releases the answers.
 *
 * Asking.N1 (`#step`) an effect that starts a step through the outer context is refused: see `nestingOf`.
 */
export class Asking {
  readonly #turn: RoleTurn;
  readonly #asker: AskingRole;
  #nesting: ReturnType<typeof nestingOf> | undefined;
  #human: Human | undefined;
  #recollection: Recollection | undefined;
  #model: SteppedModel | undefined;
  #port: StepPort | undefined;
  #door: StepPort | undefined;

  constructor(turn: RoleTurn, asker: AskingRole) {
    this.#turn = turn;
    this.#asker = asker;
  }

  get human(): Human {
    if (this.#human !== undefined) return this.#human;
    const { steps, tools } = this.#turn;
    const person = tools.answerer.persons.human(steps, this.#asker);
    const { allowedTools } = tools.log.state;
    const human: Human = {
      ask: (async (question: string, o?: AnyHumanAsk) => {
        this.#nesting?.assertOutside("human.ask");
        return person.ask(question, o as never);
      }) as Human["ask"],
      // A person has allowed the tool for the whole run.
      answer: async (question, signal) =>
        question.tool !== undefined && allowedTools.has(question.tool) ? "always" : person.answer(question, signal),
    };
    return (this.#human = handedHuman(human, (what, work) => this.#turn.hand(what, work)));
  }

  sleep(until: Until): Promise<void> {
    this.#nesting?.assertOutside("sleep");
    return this.#turn.hand(
      "sleep",
      this.#wait(readySleep(this.#asker.role.name, until)).then(() => undefined),
    );
  }

  waitFor(wait: string, o: WaitForOptions): Promise<unknown> {
    this.#nesting?.assertOutside("waitFor");
    const { name } = this.#asker.role;
    const ready = readyWait(name, wait, o);
    const { deadline } = ready;
    const ms = deadline instanceof Date ? deadline.getTime() - this.#turn.now : (deadline ?? 0);
    const value = this.#wait(ready).then((answer) => signalledValue(name, answer, { wait, schema: o.schema, ms }));
    return this.#turn.hand(`waitFor(${JSON.stringify(wait)})`, value);
  }

  #wait(ready: ReadyWait): Promise<Json> {
    const { steps, tools } = this.#turn;
    return tools.answerer.persons.wait(steps, this.#asker, ready);
  }

  get model(): SteppedModel {
    return (this.#model ??= this.modelOf(undefined));
  }

  /** Returns a model, by default the role's, with its calls recorded as steps. */
  modelOf(given: ChatModel | undefined): SteppedModel {
    const model = this.#turn.tools.answerer.model(this.port, this.#asker, given, false);
    return { ...model, chat: (request, o) => this.#turn.hand("model.chat", model.chat(request, o)) };
  }

  /** The steps for use by the library: their promises are not tracked. */
  get port(): StepPort {
    return (this.#port ??= { step: (spec, effect) => this.#step(spec, effect) });
  }

  get steps(): StepPort {
    return (this.#door ??= { step: (spec, effect) => this.#turn.hand(stepName(spec), this.#step(spec, effect)) });
  }

  get newSummary(): RoleSummary | undefined {
    return this.#recollection?.newSummary;
  }

  ask(prompt: string, options: AskOptions & { readonly schema?: z.ZodType }): Promise<unknown> {
    this.#nesting?.assertOutside("ask");
    const { answerer } = this.#turn.tools;
    const question = { steps: this.#turn.steps, asker: this.#asker, prompt, options };
    const recollection = this.#asker.spec.role.human ? undefined : this.#remembering();
    const answer =
      options.recall === false || recollection === undefined
        ? answerer.ask(question)
        : recollection.recall(options.recall).then((remembered) => answerer.ask({ ...question, remembered }));
    return this.#turn.hand(askName(prompt), answer);
  }

  step<T>(name: string, request: unknown, effect: (door: EffectDoor) => Promise<T>, o: StepOptions): Promise<T> {
    const { answerer } = this.#turn.tools;
    const given: StepSpec = { kind: "step", name, request, ...o };
    const work = this.#step(given, (_door, hand, bare) => effect(answerer.effectDoor(bare, hand, this.#asker)));
    return this.#turn.hand(stepName(given), work);
  }

  recall(about: string | undefined): Promise<readonly ChatMessage[]> {
    this.#nesting?.assertOutside("recall");
    return this.#turn.hand("recall", this.#remembering()?.recall(about) ?? Promise.resolve([]));
  }

  #step<T>(spec: StepSpec, effect: HandingEffect<T>): Promise<T> {
    this.#nesting?.assertOutside("step");
    const nesting = (this.#nesting ??= nestingOf(this.#turn.started.act));
    const { steps, tools } = this.#turn;
    return tools.answerer
      .played(steps, this.#asker)
      .step(spec, (door) => nesting.begin(() => awaitingAll(stepName(spec), door, effect, (what) => this.#turn.warnOfLost(what))));
  }

  #remembering(): Recollection | undefined {
    const { steps, role: state, tools, definition } = this.#turn;
    const { answerer, host } = tools;
    const asker = this.#asker;
    const remembered = definition.remembers === "longer" ? host.memoryOf(state.name) : undefined;
    if (remembered === undefined) return undefined;
    return (this.#recollection ??= new Recollection({
      ...remembered,
      role: state.name,
      memory: asker.memory,
      news: () => asker.news,
      summary: state.summary,
      steps,
      model: (given) => answerer.model(steps, asker, given, true),
      policy: answerer.policy,
      longest: asker.spec.role.timeout / 2,
      logger: asker.logger,
      signal: asker.signal,
    }));
  }
}

/** @param bare the same port for the library, without tracked promises */
type HandingEffect<T> = (door: StepDoor, hand: Hand, bare: StepDoor) => Promise<T>;

/** Runs an effect. It fails if work that it started and did not await fails. */
async function awaitingAll<T>(whose: string, door: StepDoor, effect: HandingEffect<T>, lost: (what: string) => void): Promise<T> {
  let handed: HandedOut | undefined;
  const hand: Hand = (what, work) => (handed ??= new HandedOut()).hand(what, work);
  const given: StepDoor = { ...door, step: (spec, inner) => hand(stepName(spec), door.step(spec, inner)) };
  const value = await meters.run({ ...presentMeter(), port: door, hand }, () => effect(given, hand, door));
  if (handed === undefined) return value;
  // A race inside a step has its result without the losers.
  handed.close({ isRace: true, lost });
  await handed.settled("unused");
  const failure = handed.failure(whose);
  if (failure !== undefined) throw failure;
  return value;
}

/**
 * Detects an effect that starts a step through the outer context. It owns the flag that an effect is beginning.
 *
 * Nesting.N1 (`assertOutside`) such a step is refused: it and the effect's own step would wait for each other.
 * Nesting.N2 (`begin`) only a step started before the effect first waits is detected; a later one ends by the activation's time limit.
 */
function nestingOf(act: string) {
  let isBeginning = false;
  const isDoors = (method: string): boolean => method !== "recall" && method !== "sleep" && method !== "waitFor";
  return {
    begin<T>(effect: () => T): T {
      const wasBeginning = isBeginning;
      isBeginning = true;
      try {
        return effect();
      } finally {
        isBeginning = wasBeginning;
      }
    },
    assertOutside(method: "ask" | "human.ask" | "recall" | "step" | "sleep" | "waitFor"): void {
      if (!isBeginning) return;
      throw new UsageError(
        "STEP_NESTED",
        `Expected the effect of a step of ${act} to use the step port passed to it, got ${method} of the outer context: ` +
          `it would wait for its own step forever. ${isDoors(method) ? `Write (door) => door.${method}(...).` : `Call ${method} before the step.`}`,
      );
    },
  };
}
