import type { Json } from "../kernel/json.ts";
import { isRecord } from "../kernel/value-kind.ts";
import type { HumanQuestion } from "../tool/approval.ts";
import { fieldFault, filledIn, type FormField, formFields, readField } from "../tool/form-fields.ts";
import { checkAnswer, faultsText, type QuestionForm } from "../tool/question-form.ts";
import { choiceLines, fieldLines } from "./screen/question.ts";
import { linesOf, shown, type Style } from "./screen/text.ts";

export interface FormTerminal {
  readonly style: Style;
  readonly print: (lines: readonly string[]) => void;
  readonly read: () => Promise<string>;
}

export type FormQuestion = HumanQuestion & { readonly form: QuestionForm };

/** Asks for the fields of a form one by one, each until it fits, and returns the answer. An empty line takes the default. */
export function fillIn(question: FormQuestion, terminal: FormTerminal): Promise<Json> {
  const { form } = question;
  return form.kind === "choices" ? chosen({ ...question, form }, terminal) : filled(form, question, terminal);
}

type Choices = Extract<QuestionForm, { readonly kind: "choices" }>;

async function chosen(question: HumanQuestion & { readonly form: Choices }, { style, print, read }: FormTerminal): Promise<Json> {
  const { form, default: byDefault } = question;
  print(choiceLines(form, byDefault, style));
  for (;;) {
    const line = await read();
    if (line.trim() === "" && byDefault !== undefined) return byDefault;
    // The numbers are on the screen, so a number is meant as one here also where other words are taken.
    const numbered = /^\d{1,4}$/.test(line.trim()) ? form.choices[Number(line) - 1]?.value : undefined;
    const isValue = form.choices.some(({ value }) => value === line.trim());
    const check = checkAnswer(form, isValue ? line.trim() : (numbered ?? line));
    if (check.isRight) return check.value;
    print(faultLines(faultsText(check.faults), style));
  }
}

type Fields = Extract<QuestionForm, { readonly kind: "fields" }>;

async function filled(form: Fields, { default: byDefault }: HumanQuestion, terminal: FormTerminal): Promise<Json> {
  for (;;) {
    const values: [FormField, Json | undefined][] = [];
    for (const field of formFields(form.schema, form.order)) {
      const offered = valueAt(byDefault, field.path) ?? field.default;
      values.push([field, await fieldValue({ ...field, ...(offered === undefined ? {} : { default: offered }) }, terminal)]);
    }
    // A rule may concern several fields.
    const check = checkAnswer(form, filledIn(values));
    if (check.isRight) return check.value;
    terminal.print(faultLines(faultsText(check.faults), terminal.style));
  }
}

async function fieldValue(field: FormField, { style, print, read }: FormTerminal): Promise<Json | undefined> {
  print(fieldLines(field, style));
  for (;;) {
    const text = field.kind === "list" ? await typedLines(read) : await read();
    const value = text.trim() === "" ? emptyValue(field) : readField(field, text);
    if (value === undefined && !field.isRequired) return undefined;
    const fault = value === undefined ? `Expected ${field.wanted}, got nothing.` : fieldFault(field, value);
    if (fault === undefined) return value;
    print(faultLines(fault, style));
  }
}

async function typedLines(read: FormTerminal["read"]): Promise<string> {
  const lines: string[] = [];
  for (let line = await read(); line.trim() !== ""; line = await read()) lines.push(line);
  return lines.join("\n");
}

function emptyValue({ default: byDefault, takesNull, kind, isRequired }: FormField): Json | undefined {
  if (byDefault !== undefined) return byDefault;
  if (!isRequired) return undefined;
  return takesNull ? null : kind === "list" ? [] : undefined;
}

function valueAt(value: Json | undefined, path: readonly string[]): Json | undefined {
  let found: unknown = value;
  for (const name of path) found = isRecord(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  return found as Json | undefined;
}

function faultLines(fault: string, style: Style): readonly string[] {
  return linesOf(fault).map((line) => style.warn(`  ${shown(line)}`));
}
