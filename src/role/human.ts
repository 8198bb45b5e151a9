import { type AnySchema, type InputOf, type ValueOf, zodOf } from "../model/standard-schema.ts";
import type { z } from "zod";
import { UsageError } from "../kernel/errors.ts";
import { type Json, jsonRoundTrip } from "../kernel/json.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { defined, isCount, isList, isRecord, isText } from "../kernel/value-kind.ts";
import { valueText } from "../kernel/value-text.ts";
import { inputJsonSchema } from "../model/json-schema.ts";
import type { HumanQuestion } from "../tool/approval.ts";
import { type Choice, fieldOrder } from "../tool/form-fields.ts";
import { checkAnswer, faultsText, type QuestionForm } from "../tool/question-form.ts";

/** Options of every question to a person. */
export interface HumanAskOptions<T = string> {
  /** The suggested answer, which counts when the deadline passes. Default: none. */
  readonly default?: T;
  /**
   * Milliseconds from the moment the question is first asked, or a point in time. When it passes without an answer, the default is recorded as
   * the answer; without a default the run ends as `waiting`. A run that ended as `waiting` takes the default when it is resumed after the
   * deadline. Default: none.
   */
  readonly deadline?: number | Date;
  /** The person to ask, or a role that a person plays. A role that a model plays is refused. Default: anyone. */
  readonly to?: string;
}

/** The answers of a list of choices. */
export type ChosenOf<C extends readonly (string | Choice)[]> = C[number] extends infer One
  ? One extends string
    ? One
    : One extends { readonly value: infer Value }
      ? Value
      : never
  : never;

/** A person who can answer questions. */
export interface Human {
  /**
   * Asks and waits for the answer, which is recorded like a model's. An answer that does not fit the form is refused, and the question stays open.
   *
   * - without a form: the answer is a string
   * - `choices`: the answer is one of these strings, or the `value` of one of these choices; with `words`, which names their purpose, any other string
   * - `schema`: the answer is a value of this schema. A rule without a JSON Schema form, such as a `refine`, is checked when the answer comes;
   *   if it fails, the question is asked again, three times in all
   *
   * @throws WaitingError when no person is available: the run ends with status `waiting`
   * @throws UsageError `QUESTION_INVALID`; `OPTION_UNKNOWN`; `SCHEMA_UNSUPPORTED` for a schema without a JSON form
   * @throws OutputError `OUTPUT_INVALID` when three answers fit the form but not the schema
   */
  ask(question: string, o?: HumanAskOptions & { readonly schema?: undefined; readonly choices?: undefined }): Promise<string>;
  ask<const C extends readonly (string | Choice)[]>(
    question: string,
    o: HumanAskOptions<NoInfer<ChosenOf<C>>> & { readonly choices: C; readonly words?: undefined },
  ): Promise<ChosenOf<C>>;
  ask(question: string, o: HumanAskOptions & { readonly choices: readonly (string | Choice)[]; readonly words: string }): Promise<string>;
  ask<T extends AnySchema>(question: string, o: HumanAskOptions<InputOf<T>> & { readonly schema: T }): Promise<ValueOf<T>>;
  /** Asks a question recorded by a step of kind `human` with this id. @internal */
  answer(question: Omit<HumanQuestion, "role">, signal: AbortSignal): Promise<Json>;
}

export interface AnyHumanAsk extends HumanAskOptions<unknown> {
  readonly schema?: AnySchema | undefined;
  readonly choices?: readonly (string | Choice)[] | undefined;
  readonly words?: string | undefined;
}

const humanAskOptions: Known<AnyHumanAsk> = {
  default: kinds.checked,
  deadline: kinds.checked,
  to: kinds.text,
  schema: kinds.schema,
  choices: kinds.checked,
  words: kinds.text,
};

export interface ReadyQuestion {
  readonly question: string;
  readonly form?: QuestionForm;
  readonly default?: Json;
  readonly to?: string;
}

const MAX_CHOICES = 200;
const MAX_TEXT = 2_000;
const MAX_FORM = 100_000;
export const LAST_TIME = 8.64e15;

export function readyQuestion(question: string, o: AnyHumanAsk = {}): ReadyQuestion {
  checkKnownOptions("human.ask", o, humanAskOptions);
  const { to, schema } = o;
  if (!isText(question)) throw invalid("a question as text", question);
  if (to !== undefined && (!isText(to) || to.trim() === "" || to.length > MAX_TEXT))
    throw invalid("the name of a person or a role in `to`", to);
  checkDeadline(o.deadline);
  const form = formOf(o);
  const byDefault = o.default === undefined ? undefined : defaultOf(form, o.default, zodOf(schema) as z.ZodType | undefined);
  return { question, ...defined({ form, default: byDefault, to }) };
}

const forms = new WeakMap<z.ZodType, QuestionForm>();

export function fieldsForm(schema: z.ZodType): QuestionForm {
  const known = forms.get(schema);
  if (known !== undefined) return known;
  const fields = inputJsonSchema(schema);
  const form: QuestionForm = { kind: "fields", schema: fields, order: fieldOrder(fields) };
  checkSize(form);
  forms.set(schema, form);
  return form;
}

function formOf({ schema, choices, words }: AnyHumanAsk): QuestionForm | undefined {
  if (schema !== undefined && choices !== undefined) throw invalid("either choices or a schema", "both");
  if (words !== undefined && choices === undefined) throw invalid("choices beside `words`", "none");
  if (schema !== undefined) return fieldsForm(zodOf(schema) as z.ZodType);
  if (choices === undefined) return undefined;
  if (!isList(choices) || choices.length === 0 || choices.length > MAX_CHOICES) throw invalid(`1 to ${MAX_CHOICES} choices`, choices);
  if (words !== undefined && !isWords(words)) throw invalid("a text in `words` that says what other words are for", words);
  const listed = choices.map(choiceOf);
  const doubled = listed.find(({ value }, nth) => listed.findIndex((other) => other.value === value) !== nth);
  if (doubled !== undefined) throw invalid("choices that differ", doubled.value);
  const form: QuestionForm = { kind: "choices", choices: listed, ...defined({ words }) };
  checkSize(form);
  return form;
}

const choiceMembers: Known<Choice> = { value: kinds.checked, label: kinds.checked };

function choiceOf(given: unknown): Choice {
  if (isRecord(given)) checkKnownOptions("a choice", given, choiceMembers);
  const { value, label } = isRecord(given) ? given : { value: given, label: undefined };
  if (!isWords(value) || (label !== undefined && !isWords(label)))
    throw invalid(`choices that are texts of at most ${MAX_TEXT} characters or { value, label }`, given);
  return { value, ...defined({ label }) };
}

function isWords(value: unknown): value is string {
  return isText(value) && value.trim() !== "" && value.length <= MAX_TEXT;
}

function checkSize(form: QuestionForm): void {
  const size = JSON.stringify(form).length;
  if (size > MAX_FORM) throw invalid(`a form of at most ${MAX_FORM} characters of JSON`, `${size}`);
}

function checkDeadline(deadline: unknown): void {
  if (deadline === undefined || (isCount(deadline) && deadline <= LAST_TIME)) return;
  if (deadline instanceof Date && !Number.isNaN(deadline.getTime())) return;
  throw invalid("a deadline in whole milliseconds from now, or a Date", deadline instanceof Date ? "an invalid Date" : deadline);
}

function defaultOf(form: QuestionForm | undefined, given: unknown, schema: z.ZodType | undefined): Json {
  const check = checkAnswer(form, given);
  if (!check.isRight) throw invalid(`a default that fits the form (${faultsText(check.faults)})`, given);
  const parsed = schema?.safeParse(check.value);
  if (parsed?.success === false) throw invalid(`a default that fits the schema (${parsed.error.message})`, given);
  return jsonRoundTrip(check.value);
}

function invalid(expected: string, got: unknown): UsageError {
  return new UsageError("QUESTION_INVALID", `Expected human.ask to get ${expected}, got ${valueText(got)}.`);
}
