import type { Json } from "../../kernel/json.ts";
import type { PendingQuestion } from "../../runtime/record/questions.ts";
import { type FormField, formFields } from "../../tool/form-fields.ts";
import type { QuestionForm } from "../../tool/question-form.ts";
import { elapsed, type Fact, linesOf, MAX_QUESTION, momentText, shown, shownLine, type Style } from "./text.ts";

const NAME = 80;
const VALUE = 200;
const HINT = 400;

type Choices = Extract<QuestionForm, { readonly kind: "choices" }>;

export function choiceLines({ choices, words }: Choices, byDefault: Json | undefined, style: Style): readonly string[] {
  const digits = String(choices.length).length;
  const numbered = choices.map(({ value, label }, nth) => {
    const line = label === undefined ? shown(value, HINT) : `${shown(label, HINT)} ${style.faint(`(${shown(value, VALUE)})`)}`;
    return `  ${String(nth + 1).padStart(digits)}  ${line}`;
  });
  const other = words === undefined ? [] : [style.faint(`  Or in your own words: ${shown(words, HINT)}.`)];
  return [...numbered, ...other, ...enterLine(byDefault, style)];
}

export function fieldLines(field: FormField, style: Style): readonly string[] {
  const { name, wanted, description = "", choices = [], kind, isRequired, default: byDefault } = field;
  const hint = kind === "choice" ? "" : ` ${style.faint(`(${shown(wantedText(field, wanted), HINT)})`)}`;
  const title =
    name === "" ? style.faint(`  Type ${shown(wantedText(field, wanted), HINT)}.`) : `  ${style.strong(shown(name, NAME))}${hint}`;
  const numbered = choices.map((choice, nth) => `    ${nth + 1}  ${shown(plain(choice), VALUE)}`);
  const empty = byDefault !== undefined ? enterLine(byDefault, style) : isRequired ? [] : [style.faint("    Enter leaves it out.")];
  return [
    ...(kind === "choice" && name === "" ? [] : [title]),
    ...linesOf(description).map((line) => `    ${shown(line, HINT)}`),
    ...numbered,
    ...empty,
  ];
}

function wantedText({ kind }: FormField, wanted: string): string {
  if (kind === "list") return `${wanted}, one on each line, then an empty line`;
  return kind === "json" ? `${wanted}, as JSON on one line` : wanted;
}

function enterLine(byDefault: Json | undefined, style: Style): readonly string[] {
  return byDefault === undefined ? [] : [style.faint(`    Enter takes ${shown(plain(byDefault), VALUE)}.`)];
}

function plain(value: Json): string {
  return typeof value === "string" && value !== "" ? value : JSON.stringify(value);
}

export function deadlineText(
  { deadline, default: byDefault }: { readonly deadline?: number | undefined; readonly default?: Json | undefined },
  now: number,
): string | undefined {
  if (deadline === undefined) return undefined;
  const then = byDefault === undefined ? "the run waits" : `the answer is ${shown(plain(byDefault), VALUE)}`;
  return deadline <= now ? `The time to answer is over: ${then}.` : `Answer within ${elapsed(deadline - now)}; after that ${then}.`;
}

export interface AskedQuestion extends PendingQuestion {
  readonly answer: string | undefined;
}

export function questionRows(questions: readonly AskedQuestion[]): readonly Fact[] {
  return questions.flatMap((question): readonly Fact[] => {
    const { role, text, to, deadline, answer, default: byDefault } = question;
    const then = byDefault === undefined || question.wait !== undefined ? "" : `; then the answer is ${shown(plain(byDefault), VALUE)}`;
    const [first = "", ...lines] = linesOf(text.slice(0, MAX_QUESTION));
    const asker = to === undefined ? shown(role, 60) : `${shown(role, 60)}, of ${shown(to, 60)}`;
    return [
      question.wait === undefined ? ["Asks", `${asker}: ${shownLine(first)}`] : ["Waits", shownLine(first)],
      ...lines.map((line): Fact => ["", shownLine(line)]),
      ["Until", deadline === undefined ? undefined : `${momentText(deadline)} UTC${then}`],
      [question.wait === undefined ? "Answer" : "Signal", answer && shown(answer)],
      ...(answer === undefined || answer === "" ? [] : formRows(question)),
    ];
  });
}

function formRows({ tool, form, default: byDefault, wait }: PendingQuestion): readonly Fact[] {
  const offered = byDefault === undefined || wait !== undefined ? [] : [["", `default: ${shown(plain(byDefault), VALUE)}`] as const];
  if (tool !== undefined)
    return [["", `in place of ... yes, no, always (${shown(tool, 60)}, for the rest of this run), {"args": {...}}, or what to do instead`]];
  if (form === undefined) return offered;
  if (form.kind === "choices") {
    const values = form.choices.map(({ value }) => shown(value, NAME)).join(", ");
    return [
      ["", `in place of ... ${shown(values, HINT)}${form.words === undefined ? "" : `, or words: ${shown(form.words, HINT)}`}`],
      ...offered,
    ];
  }
  const fields = formFields(form.schema, form.order);
  const [only] = fields;
  if (only !== undefined && only.name === "") return [["", `in place of ... ${shown(only.wanted, HINT)}`], ...offered];
  const rows = fields.map(({ name, wanted, isRequired }): Fact => [
    "",
    `  ${shown(name, NAME)}: ${shown(wanted, HINT)}${isRequired ? "" : " (may be left out)"}`,
  ]);
  return [["", "in place of ... JSON with these members; without an answer it asks for them one by one:"], ...rows, ...offered];
}
