import { aText, listOf, object, orNothing, type Shape, takes } from "../kernel/argument.ts";
import { type Json, type JsonObject, parsedJson } from "../kernel/json.ts";
import { isList, isRecord, isText } from "../kernel/value-kind.ts";
import { listed, shownText, valueText } from "../kernel/value-text.ts";
import { type AnswerFault, answerFaults } from "./answer-faults.ts";
import { type Choice, choiceNamed, fieldOf, readField } from "./form-fields.ts";

/* Nothing here needs Node or zod: a page in a browser checks an answer with the same code as the run does. */

/**
 * The form of a question to a person: plain JSON, recorded in the request of the step (`request.form` of a `step.started` event of kind
 * `human`), and shown in `RunResult.questions`.
 *
 * - `choices`: the answer is the value of one choice. With `words`, any other text is an answer too, and `words` says what for, such as
 * `say what is different`. With `args`, a JSON Schema, `{ args }` with a value of that schema is an answer too: the question is whether a
 * tool may be called, and the answer allows the call with these arguments.
 * - `fields`: the answer is a value of this JSON Schema. `formFields` lists its fields for a screen, in the order of `order`: a record
 * sorts the members of an object, so the schema alone does not keep it.
 */
export type QuestionForm =
  | { readonly kind: "choices"; readonly choices: readonly Choice[]; readonly words?: string; readonly args?: JsonObject }
  | { readonly kind: "fields"; readonly schema: JsonObject; readonly order?: readonly string[] };

/** The answer as it is recorded, or what is wrong with it. */
export type AnswerCheck =
  | { readonly isRight: true; readonly value: Json }
  | { readonly isRight: false; readonly faults: readonly AnswerFault[] };

/** Characters of an answer, as text or as JSON. */
const LONGEST_ANSWER = 1_000_000;

const NAMED_CHOICES = 20;

/**
 * Checks an answer. A string is read as a person types it: the value, the label or the number of a choice; JSON, or for a form of a single
 * field its plain value, such as `yes` or `3`. Unknown members are refused. The work is bounded, also for hostile forms. Never throws for
 * plain JSON.
 *
 * @param form undefined for a question that takes any text
 */
export function checkAnswer(form: QuestionForm | undefined, answer: unknown): AnswerCheck {
  takes("checkAnswer", "the form", form, orNothing(aForm));
  const length = typeof answer === "string" ? answer.length : jsonLength(answer);
  if (length === undefined) return wrong(`Expected an answer that JSON can carry, got ${valueText(answer)}.`);
  if (length > LONGEST_ANSWER) return wrong(`Expected an answer of at most ${LONGEST_ANSWER} characters, got ${length}.`);
  if (form === undefined) return typeof answer === "string" ? right(answer) : wrong(`Expected a text, got ${valueText(answer)}.`);
  if (form.kind === "choices") return checkChoice(form, answer);
  return checkFields(form.schema, answer as Json);
}

/** `age: Expected a whole number, got "old".` @throws UsageError `ARGUMENT_INVALID` */
export function faultsText(faults: readonly AnswerFault[]): string {
  takes("faultsText", "the faults", faults, listOf(aFault));
  return faults.map(({ path, text }) => (path === "" ? text : `${shownText(path)}: ${text}`)).join(" ");
}

const aFault: Shape = object("a fault of an answer", { path: aText, text: aText });
const aForm: Shape = { says: "a form of a question: choices, or a schema of fields", fits: isQuestionForm };

type ChoicesForm = Extract<QuestionForm, { readonly kind: "choices" }>;

function checkChoice({ choices, words, args }: ChoicesForm, answer: unknown): AnswerCheck {
  const changed = args === undefined ? undefined : changedArgs(answer);
  if (args !== undefined && changed !== undefined) return checkArgs(changed, args);
  const chosen = typeof answer === "string" ? choiceNamed(choices, answer, words === undefined) : undefined;
  if (chosen !== undefined) return right(chosen.value);
  if (words !== undefined && typeof answer === "string" && answer.trim() !== "") return right(answer);
  const values = choices.map(({ value }) => shownText(JSON.stringify(value)));
  const other = words === undefined ? "" : `, or words (${shownText(words)})`;
  const others = args === undefined ? "" : ", or { args } with an object of arguments";
  return wrong(`Expected one of ${listed(values, NAMED_CHOICES)}${others}${other}, got ${shownText(valueText(answer))}.`);
}

/** Also where the answer is typed as JSON. */
export function changedArgs(answer: unknown): JsonObject | undefined {
  const given = typeof answer === "string" && answer.trimStart().startsWith("{") ? parsedJson(answer) : answer;
  if (!isRecord(given) || Object.keys(given).join() !== "args") return undefined;
  return isRecord(given["args"]) ? (given["args"] as JsonObject) : undefined;
}

function checkArgs(args: JsonObject, schema: JsonObject): AnswerCheck {
  const faults = answerFaults(args, schema).map(({ path, text }) => ({ path: path === "" ? "args" : `args.${path}`, text }));
  return faults.length === 0 ? right({ args }) : { isRight: false, faults };
}

function checkFields(schema: JsonObject, answer: Json): AnswerCheck {
  const value = typeof answer === "string" ? readField(fieldOf(schema), answer) : answer;
  const faults = answerFaults(value, schema);
  return faults.length === 0 ? right(value) : { isRight: false, faults };
}

function right(value: Json): AnswerCheck {
  return { isRight: true, value };
}

function wrong(text: string): AnswerCheck {
  return { isRight: false, faults: [{ path: "", text }] };
}

function jsonLength(value: unknown): number | undefined {
  try {
    return JSON.stringify(value)?.length;
  } catch {
    return undefined;
  }
}

function isOrder(order: unknown): boolean {
  return order === undefined || (isList(order) && order.every(isText));
}

/** A foreign journal may hold anything. */
export function isQuestionForm(value: unknown): value is QuestionForm {
  if (!isRecord(value)) return false;
  if (value["kind"] === "fields") return isRecord(value["schema"]) && isOrder(value["order"]);
  const { choices, words, args } = value;
  const isChoice = (choice: unknown): boolean =>
    isRecord(choice) && typeof choice["value"] === "string" && (choice["label"] === undefined || typeof choice["label"] === "string");
  const isWords = words === undefined || typeof words === "string";
  return value["kind"] === "choices" && isList(choices) && choices.every(isChoice) && isWords && (args === undefined || isRecord(args));
}
