import { useSignal } from "@preact/signals";
import { useId, useRef } from "preact/hooks";
import type { Json, JsonObject } from "../../kernel/json.ts";
import { shownText } from "../../kernel/value-text.ts";
import type { PendingQuestion } from "../../runtime/record/questions.ts";
import { fieldFault, filledIn, type FormField, formFields, readField } from "../../tool/form-fields.ts";
import { checkAnswer, faultsText, type QuestionForm } from "../../tool/question-form.ts";
import { momentText } from "./amounts.ts";
import { Button, Form, TextField, TextView, useTask } from "./controls.tsx";
import type { OpenRun } from "./open-run.ts";
import type { RunActions } from "./run-source.ts";

interface QuestionsProps {
  readonly run: OpenRun;
  readonly actions: RunActions | undefined;
  readonly ask: () => void;
}

/** The questions of a run that wait, and those that were answered elsewhere while the page showed them. */
export function Questions({ run, actions, ask }: QuestionsProps) {
  const seen = useRef(new Map<string, PendingQuestion>());
  const settled = useSignal<ReadonlySet<string>>(new Set());
  const questions = run.standing.value?.questions ?? [];
  for (const question of questions) seen.current.set(question.id, question);
  const waiting = new Set(questions.map(({ id }) => id));
  const gone = [...seen.current.values()].filter(({ id }) => !waiting.has(id) && !settled.value.has(id));
  const settle = (id: string): void => {
    settled.value = new Set([...settled.value, id]);
  };
  return (
    <>
      {gone.map(({ id, role }) => (
        <div key={id} class="note frame small note-warn" role="status">
          <span>The question of {shownText(role, 60)} is closed: it was answered elsewhere, or the run went on without an answer.</span>
          <Button onClick={() => settle(id)}>Understood</Button>
        </div>
      ))}
      {questions.map((question) =>
        question.wait !== undefined ? (
          <div key={question.id} class="note frame small" role="status">
            {shownText(question.text, 300)}
            {question.deadline === undefined ? "" : `, until ${momentText(question.deadline)}`}.
          </div>
        ) : (
          <QuestionCard
            key={question.id}
            question={question}
            answer={
              actions &&
              (async (answer) => {
                await actions.answer(run.id, question.id, answer);
                settle(question.id);
                ask();
              })
            }
          />
        ),
      )}
    </>
  );
}

interface QuestionCardProps {
  readonly question: PendingQuestion;
  /** Undefined where it can only be read. Rejects with the server's words. */
  readonly answer: ((answer: Json) => Promise<void>) | undefined;
}

function QuestionCard({ question, answer }: QuestionCardProps) {
  const { role, text, to, deadline, form } = question;
  return (
    <section class="question frame stack" aria-label={`Question of ${shownText(role, 60)}`}>
      <h2>
        {shownText(role, 60)} asks{to === undefined ? "" : ` ${shownText(to, 60)}`}
      </h2>
      <TextView text={text} label="The question" />
      {deadline !== undefined && (
        <p class="small soft">
          {question.default === undefined ? "Open until" : "The default is taken at"} {momentText(deadline)}.
        </p>
      )}
      {answer === undefined ? (
        <p class="small soft">This page can only read. Answer with: troupe answer</p>
      ) : form?.kind === "choices" ? (
        <>
          <ChoicesForm form={form} question={question} answer={answer} />
          {form.args !== undefined && question.args !== undefined && (
            <ArgumentsForm schema={form.args} question={question} answer={answer} />
          )}
        </>
      ) : form?.kind === "fields" ? (
        <FieldsForm form={form} question={question} answer={answer} />
      ) : (
        <WordsForm question={question} answer={answer} />
      )}
    </section>
  );
}

interface AnswerProps {
  readonly question: PendingQuestion;
  readonly answer: (answer: Json) => Promise<void>;
}

function WordsForm({ question, answer }: AnswerProps) {
  const text = useSignal(typeof question.default === "string" ? question.default : "");
  const task = useTask();
  return (
    <Form task={task} submit={() => task.start(() => answer(text.value))} verb="Answer">
      <TextField name="Your answer" text={text} rows={3} />
    </Form>
  );
}

function ChoicesForm({ form, question, answer }: AnswerProps & { readonly form: Extract<QuestionForm, { readonly kind: "choices" }> }) {
  const { choices, words } = form;
  const name = useId();
  const chosen = useSignal<string | undefined>(typeof question.default === "string" ? question.default : undefined);
  const text = useSignal("");
  const missing = useSignal<string | undefined>(undefined);
  const task = useTask();
  const send = (): void => {
    const value = text.value.trim() === "" ? chosen.value : text.value;
    const check = value === undefined ? undefined : checkAnswer(form, value);
    missing.value = check === undefined ? "Choose an answer." : check.isRight ? undefined : faultsText(check.faults);
    if (check?.isRight === true) task.start(() => answer(check.value));
  };
  return (
    <Form aria-label={`Answer to ${shownText(question.role, 60)}`} task={task} fault={missing.value} submit={send} verb="Answer">
      <fieldset class="choices tight">
        <legend class="hidden">Answers</legend>
        {choices.map(({ value, label }) => (
          <label key={value} class="choice">
            <input
              type="radio"
              name={name}
              checked={chosen.value === value && text.value === ""}
              onChange={() => ((chosen.value = value), (text.value = ""))}
            />
            <span>{shownText(label ?? value, 300)}</span>
          </label>
        ))}
      </fieldset>
      {words !== undefined && <TextField name={`Or in words: ${shownText(words, 200)}`} text={text} />}
    </Form>
  );
}

/** The arguments of a call, which a person may change before they allow it. */
function ArgumentsForm({ schema, question, answer }: AnswerProps & { readonly schema: JsonObject }) {
  const form: Fields = { kind: "fields", schema };
  const isOpen = useSignal(false);
  return (
    <details class="arguments" onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}>
      <summary>Change the arguments</summary>
      {isOpen.value && (
        <FieldsForm
          form={form}
          question={{ ...question, default: question.args as Json }}
          answer={(args) => answer({ args })}
          verb="Allow with these arguments"
        />
      )}
    </details>
  );
}

type Fields = Extract<QuestionForm, { readonly kind: "fields" }>;

function FieldsForm({ form, question, answer, verb = "Answer" }: AnswerProps & { readonly form: Fields; readonly verb?: string }) {
  const { schema, order } = form;
  const fields = formFields(schema, order);
  const typed = useSignal<readonly string[]>(fields.map((field) => firstText(field, question.default)));
  const faults = useSignal<readonly (string | undefined)[]>([]);
  const whole = useSignal<string | undefined>(undefined);
  const task = useTask();
  const send = (): void => {
    const read = fields.map((field, index) => [field, valueOf(field, typed.value[index] ?? "")] as const);
    faults.value = read.map(([field, value]) => (value === undefined ? undefined : fieldFault(field, value)));
    const check = checkAnswer(form, filledIn(read));
    whole.value = check.isRight || faults.value.some((fault) => fault !== undefined) ? undefined : faultsText(check.faults);
    if (check.isRight && faults.value.every((fault) => fault === undefined)) task.start(() => answer(check.value));
  };
  return (
    <Form
      class="form frame stack form-fields"
      aria-label={`${verb} to ${shownText(question.role, 60)}`}
      noValidate
      task={task}
      fault={whole.value}
      submit={send}
      verb={verb}
    >
      {fields.map((field, index) => (
        <FieldInput
          key={field.name}
          field={field}
          text={typed.value[index] ?? ""}
          fault={faults.value[index]}
          onText={(text) => (typed.value = typed.value.with(index, text))}
        />
      ))}
    </Form>
  );
}

function valueOf(field: FormField, text: string): Json | undefined {
  return text.trim() === "" && !field.takesNull && !field.isRequired ? undefined : readField(field, text);
}

function firstText(field: FormField, byDefault: Json | undefined): string {
  let value: unknown = byDefault;
  for (const name of field.path) value = (value as { readonly [name: string]: unknown } | undefined)?.[name];
  const shown = value ?? field.default;
  if (shown === undefined || shown === null) return "";
  if (Array.isArray(shown) && field.kind === "list") return shown.join("\n");
  return typeof shown === "string" ? shown : JSON.stringify(shown);
}

interface FieldInputProps {
  readonly field: FormField;
  readonly text: string;
  readonly fault: string | undefined;
  readonly onText: (text: string) => void;
}

function FieldInput({ field, text, fault, onText }: FieldInputProps) {
  const id = useId();
  const label = field.name === "" ? "Your answer" : field.name;
  const described = `${id}-wanted${fault === undefined ? "" : ` ${id}-fault`}`;
  const shared = {
    id,
    class: "field-input",
    "aria-describedby": described,
    "aria-invalid": fault !== undefined,
    "aria-required": field.isRequired,
    value: text,
  } as const;
  return (
    <div class="field tight">
      <label class="strong" for={id}>
        {shownText(label, 200)}
        {!field.isRequired && <span class="soft"> (may be left out)</span>}
      </label>
      {control(field, shared, onText)}
      <p id={`${id}-wanted`} class="small soft">
        {field.description === undefined ? "" : `${shownText(field.description, 500)} `}
        {`Wanted: ${shownText(field.wanted, 500)}.`}
      </p>
      {fault !== undefined && (
        <p id={`${id}-fault`} class="small bad" role="alert">
          {fault}
        </p>
      )}
    </div>
  );
}

type Shared = Readonly<Record<"id" | "class" | "value", string>>;

function control({ kind, choices, isRequired }: FormField, shared: Shared, onText: (text: string) => void) {
  const listen = { onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) => onText(currentTarget.value) };
  switch (kind) {
    case "choice":
    case "yes-no":
      return (
        <select {...shared} {...listen}>
          <option value="">{isRequired ? "Choose" : "Leave out"}</option>
          {(kind === "choice"
            ? (choices ?? []).map((choice) => (typeof choice === "string" ? choice : JSON.stringify(choice)))
            : ["yes", "no"]
          ).map((value) => (
            <option key={value} value={value}>
              {shownText(value, 200)}
            </option>
          ))}
        </select>
      );
    case "list":
    case "json":
      return <textarea {...shared} {...listen} rows={4} placeholder={kind === "list" ? "One entry on each line" : "JSON"} />;
    case "whole":
    case "number":
      return <input {...shared} {...listen} type="text" inputMode={kind === "whole" ? "numeric" : "decimal"} />;
    case "text":
      return <textarea {...shared} {...listen} rows={1} />;
  }
}
