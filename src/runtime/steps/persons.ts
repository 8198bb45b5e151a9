import { zodOf } from "../../model/standard-schema.ts";
import type { z } from "zod";
import { stopSignal, withTimeout } from "../../kernel/abort.ts";
import { OutputError, StepError, TimeoutError, TroupeError, UsageError, WaitingError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import type { RecordedTry, StepDoor, StepPort } from "../../kernel/step.ts";
import { defined, isRecord } from "../../kernel/value-kind.ts";
import type { ChatResponse } from "../../model/chat-model.ts";
import { thrownText, valueText } from "../../kernel/value-text.ts";
import { type AnyHumanAsk, fieldsForm, type Human, LAST_TIME, type ReadyQuestion, readyQuestion } from "../../role/human.ts";
import type { ReadyWait } from "../../role/wait.ts";
import type { RoleCard } from "../../role/context.ts";
import { questionIn } from "../record/questions.ts";
import { signalIn, signalsFor } from "../record/signals.ts";
import type { HumanPort, HumanQuestion } from "../../tool/approval.ts";
import type { Asker, AnswererParts } from "./answerer.ts";
import { checkAnswer, faultsText, type QuestionForm } from "../../tool/question-form.ts";
import { type ModelRequest, questionFor, replyOf } from "./taken-role.ts";

const MAX_TRIES = 3;

type Asked = Pick<StepDoor, "key" | "signal" | "deadline" | "attempts">;

/**
 * Asks persons for the roles of a run.
 *
 * Persons.H1 (`#fitting`) only an answer that fits the form is recorded; a question whose answers do not fit stays open.
 * Persons.H2 (`#answerInTime`) after the deadline no person is asked and no answer counts: the default is the answer; without a default the run
 * waits.
 * Persons.H3 (`#typed`) a question repeated because its answer did not fit the schema keeps the first deadline.
 * Persons.H4 (`answer`) an answer from outside counts only while the person is asked, and once; it ends the asking.
 * Persons.H5 (`wait`) a wait takes the oldest kept signal that fits; two waits under way take two.
 */
export class Persons {
  readonly #parts: Pick<AnswererParts, "human" | "clock" | "isPlayedByModel" | "takenBy" | "signals">;
  /** Takes the answer to each question that is being asked, by its id. */
  readonly #asked = new Map<string, (answer: Json) => void>();
  /** The waits that have taken a signal, by its id: their answers are recorded in a moment. */
  readonly #taken = new Map<string, string>();

  constructor(parts: AnswererParts) {
    this.#parts = parts;
  }

  human(steps: StepPort, asker: Asker): Human {
    return {
      ask: ((question: string, o?: AnyHumanAsk) => this.#ask(steps, asker, question, o)) as Human["ask"],
      answer: (question, signal) => {
        const asked = { key: question.id, signal, deadline: question.deadline, attempts: NO_ATTEMPTS };
        return this.#answerOf({ ...question, role: asker.role.name }, asked);
      },
    };
  }

  /** Answers a question in place of the person. Returns false for a question that is not being asked. @param answer fits its form */
  answer(questionId: string, answer: Json): boolean {
    const take = this.#asked.get(questionId);
    take?.(answer);
    return take !== undefined && this.#asked.delete(questionId);
  }

  /** Takes the signal that ends a wait. @param request as the run has recorded it, so a wait is over here when it is over for the run */
  take(request: Json, { until, id: wait }: { readonly until: number; readonly id: string }): Json | undefined {
    const fits = signalsFor(this.#parts.signals, { ...questionIn({ request }), deadline: until });
    const message = fits.find(({ id }) => (this.#taken.get(id) ?? wait) === wait);
    if (message === undefined) return undefined;
    this.#taken.set(message.id, wait);
    return { signal: message.id, value: signalIn(message)?.value ?? null };
  }

  /** Waits for a signal or for a time. Returns the signal; null when the time came first. @throws WaitingError while neither has come */
  async wait(steps: StepPort, { role: { name: role } }: Asker, { deadline, ...ready }: ReadyWait): Promise<Json> {
    const { form, shown } = recordedForm(ready.form);
    const spec = { kind: "human", name: "wait", request: { role, ...ready, form }, shown, deadline, metered: true };
    const answer: Json = await steps.step(spec, async ({ key, attempts, deadline: recorded, take }) => {
      const { clock } = this.#parts;
      const until = recorded ?? this.#deadline(deadline) ?? Infinity;
      // A wait that continues begins no further try until it is over.
      const isNew = attempts.current?.try === 0;
      if (isNew) await attempts.open(0);
      const taken = take?.(until);
      if (taken !== undefined) return taken;
      if (until > clock.now()) throw new WaitingError({ questionId: key, question: ready.question, role, wait: ready.wait });
      if (!isNew) await attempts.open(0);
      attempts.settle({ cost: 0, basis: "none", byDeadline: true });
      return null;
    });
    if (isRecord(answer)) this.#taken.delete(answer["signal"] as string);
    return answer;
  }

  async #ask(steps: StepPort, { role: card, teamAt }: Asker, question: string, o: AnyHumanAsk = {}): Promise<unknown> {
    const ready = readyQuestion(question, o);
    if (o.to !== undefined && this.#parts.isPlayedByModel(o.to, teamAt)) throw notAPerson(card.name, o.to);
    if (o.schema === undefined) return this.#step(steps, card, ready, o.deadline);
    return this.#typed(steps, card, ready, zodOf(o.schema) as z.ZodType, o.deadline);
  }

  /** Asks the person who plays a role the question for its model. */
  askPlayer(steps: StepPort, card: RoleCard, prompt: string, schema: z.ZodType | undefined): Promise<unknown> {
    if (schema === undefined) return this.#step(steps, card, { question: prompt }, undefined);
    return this.#typed(steps, card, { question: prompt, form: fieldsForm(schema) }, schema, undefined);
  }

  /** Asks the person who has taken a role what it asks its model. Undefined if the role is given back before the answer: it is recorded as null. */
  async reply(steps: StepPort, { name: role }: RoleCard, asked: ModelRequest, to: string | undefined): Promise<ChatResponse | undefined> {
    const { question: text, form: whole } = questionFor(asked);
    const { form, shown } = recordedForm(whole);
    const request = { role, question: text, form, ...defined({ to }) };
    const spec = { kind: "human", name: "ask", request, shown: { ...shown, player: true } };
    const answer: Json = await steps.step(spec, async (door) => {
      if (this.#parts.takenBy(role) === undefined) return null;
      return this.#answerOf({ id: door.key, text, role, ...defined({ to, form: whole }) }, door);
    });
    return answer === null ? undefined : replyOf(asked, answer);
  }

  /** Asks until the answer fits the schema, because the form does not have all rules of the schema. */
  async #typed(
    steps: StepPort,
    card: RoleCard,
    ready: ReadyQuestion,
    schema: z.ZodType,
    deadline: number | Date | undefined,
  ): Promise<unknown> {
    let [asked, answer, fault]: [ReadyQuestion, Json, string] = [ready, null, ""];
    let until = deadline;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      answer = await this.#step(steps, card, asked, until, (first) => (until = new Date(Math.min(first, LAST_TIME))));
      const parsed = schema.safeParse(answer);
      if (parsed.success) return parsed.data;
      fault = parsed.error.issues
        .map(({ path, message }) => [...(path.length === 0 ? [] : [path.join(".")]), message].join(": "))
        .join("; ");
      asked = { ...ready, question: withFault(ready.question, fault) };
    }
    throw new OutputError("OUTPUT_INVALID", `Expected the person asked by ${card.name} to answer what was asked, got: ${fault}`, {
      data: { text: typeof answer === "string" ? answer : JSON.stringify(answer) },
    });
  }

  /** @param counts called with the deadline of the step in milliseconds since 1970, if it has one */
  #step(
    steps: StepPort,
    card: RoleCard,
    ready: ReadyQuestion,
    deadline: number | Date | undefined,
    counts: (deadline: number) => void = () => {},
  ): Promise<Json> {
    const { form, shown } = recordedForm(ready.form);
    const request = { role: card.name, ...ready, form };
    const note = (until: number | undefined): void => (until === undefined ? undefined : counts(until));
    const onRecorded = (given: RecordedTry): void => note(given.deadline);
    return steps.step({ kind: "human", name: "ask", request, shown, deadline, onRecorded }, (door) => {
      const { question: text, ...more } = ready;
      const until = door.deadline ?? this.#deadline(deadline);
      note(until);
      return this.#answerOf({ id: door.key, text, role: card.name, ...more, deadline: until }, door);
    });
  }

  #deadline(deadline: number | Date | undefined): number | undefined {
    return typeof deadline === "number" ? this.#parts.clock.now() + deadline : deadline?.getTime();
  }

  async #answerOf(question: HumanQuestion, asked: Asked): Promise<Json> {
    const { signal, stop, end } = stopSignal(asked.signal);
    const outside = new Promise<Json>((resolve) => {
      this.#asked.set(question.id, (answer) => {
        resolve(answer);
        stop(`the question ${question.id} is answered from outside`);
      });
    });
    try {
      return await Promise.race([outside, this.#answerInTime(question, { ...asked, signal })]);
    } finally {
      this.#asked.delete(question.id);
      end();
    }
  }

  async #answerInTime(question: HumanQuestion, asked: Asked): Promise<Json> {
    const { deadline } = question;
    if (deadline === undefined) return this.#fitting(question, asked.signal);
    const { clock } = this.#parts;
    const left = deadline - clock.now();
    try {
      if (left > 0) return await withTimeout(clock, left, "a person", asked.signal, (signal) => this.#fitting(question, signal));
    } catch (error) {
      if (!(error instanceof TimeoutError) || clock.now() < deadline) throw error;
    }
    if (question.default === undefined) throw waitingFor(question);
    asked.attempts.settle({ cost: 0, basis: "none", byDeadline: true });
    return question.default;
  }

  async #fitting(question: HumanQuestion, signal: AbortSignal): Promise<Json> {
    const { human } = this.#parts;
    if (human === undefined) throw waitingFor(question);
    let asked = question;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const answer = await answered(human, asked, signal);
      if (question.form === undefined) return textOf(question, answer);
      const check = checkAnswer(question.form, answer);
      if (check.isRight) return check.value;
      asked = { ...question, text: withFault(question.text, faultsText(check.faults)) };
    }
    throw waitingFor(asked);
  }
}

/** The order of the fields is not part of the address of a question. */
function recordedForm(form: QuestionForm | undefined): { readonly form?: QuestionForm; readonly shown?: { readonly order: Json } } {
  if (form?.kind !== "fields" || form.order === undefined) return form === undefined ? {} : { form };
  const { order, ...rest } = form;
  return { form: rest, shown: { order } };
}

const NO_ATTEMPTS: StepDoor["attempts"] = { open: () => Promise.resolve(), settle: () => {} };

function withFault(question: string, fault: string): string {
  return `${question}\n\nYour answer did not fit: ${fault}`;
}

function waitingFor({ id, text, role }: HumanQuestion): WaitingError {
  return new WaitingError({ questionId: id, question: text, role });
}

function notAPerson(asker: string, to: string): UsageError {
  return new UsageError(
    "QUESTION_INVALID",
    `Expected human.ask of ${asker} to name a person or a role that a person plays, got ${to}, which a model plays. Send it a message.`,
  );
}

function textOf({ role }: HumanQuestion, answer: unknown): string {
  if (typeof answer === "string") return answer;
  throw new StepError(
    "ANSWER_INVALID",
    `Expected the person asked by ${role} to answer with a string, got ${valueText(answer)}. Let the human port return a string.`,
  );
}

/** @throws StepError `HUMAN_FAILED` when asking fails. An error of this package is rethrown unchanged. */
async function answered(human: HumanPort, question: HumanQuestion, signal: AbortSignal): Promise<unknown> {
  try {
    return await human(question, { signal });
  } catch (error) {
    if (TroupeError.isInstance(error)) throw error;
    const said = thrownText(error);
    throw new StepError(
      "HUMAN_FAILED",
      `Expected the person asked by ${question.role} to answer, but asking failed: ${said}${/[.!?]$/.test(said) ? "" : "."} Repair the human port and resume the run.`,
      { cause: error },
    );
  }
}
