import { createInterface } from "node:readline/promises";
import { abortReason, throwIfAborted } from "../kernel/abort.ts";
import { AbortedError, UsageError, WaitingError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { isRecord } from "../kernel/value-kind.ts";
import { formatUsd } from "../model/money.ts";
import type { HumanPort, HumanQuestion } from "../tool/approval.ts";
import { fieldFault, filledIn, type FormField, formFields, readField } from "../tool/form-fields.ts";
import { checkAnswer, faultsText, type QuestionForm } from "../tool/question-form.ts";
import { canAsk, type Host, type Interruptions } from "./host.ts";
import {
  answersText,
  callLines,
  changesFiles,
  explanation,
  isPermission,
  type PermissionQuestion,
  type ReadFile,
  typedAnswer,
  wholeCall,
} from "./permission.ts";
import { labelledLines, linesOf, MAX_QUESTION, shown, type Style } from "./screen/text.ts";
import { choiceLines, deadlineText, fieldLines } from "./screen/question.ts";
import type { Session } from "./session.ts";
import type { Worker } from "./settings.ts";

/** Undefined when the input ended without a line (Ctrl-D). To be called only where {@link canAsk} is true. */
export async function promptLine(
  host: Host,
  interruptions: Interruptions,
  question: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const stop = signal === undefined ? interruptions.signal : AbortSignal.any([interruptions.signal, signal]);
  if (stop.aborted) throw abortReason(stop);
  const lines = createInterface({ input: host.stdin, output: host.stderr, terminal: true, historySize: 0 });
  // In raw mode Ctrl-C is a key like any other.
  lines.on("SIGINT", () => interruptions.raise("SIGINT"));
  try {
    const answer = await new Promise<string | undefined>((resolve, reject) => {
      lines.on("close", () => resolve(undefined));
      lines.question(question, { signal: stop }).then(resolve, reject);
    });
    if (answer === undefined) host.stderr.write("\n");
    return answer;
  } catch (error) {
    throw stop.aborted ? abortReason(stop) : error;
  } finally {
    lines.close();
  }
}

/** Without a terminal a question ends the run with status `waiting`, except for tools that are allowed. */
export function humanPort(
  session: Session,
  { read, allowed }: { readonly read: ReadFile; readonly allowed: readonly string[] },
): HumanPort | undefined {
  const isTerminal = canAsk(session.host);
  if (!isTerminal && allowed.length === 0) return undefined;
  let last: Promise<unknown> = Promise.resolve();
  return (question, { signal }) => {
    if (question.tool !== undefined && allowed.includes(question.tool)) return "always";
    if (!isTerminal) throw waiting(question);
    const answer = last.then(() => {
      // It may have been answered from elsewhere while another one was asked.
      throwIfAborted(signal);
      return isPermission(question) ? askPermission(session, question, read, signal) : askPerson(session, question, signal);
    });
    last = answer.catch(() => undefined);
    return answer;
  };
}

function waiting({ id, text, role }: HumanQuestion): WaitingError {
  return new WaitingError({ questionId: id, question: text, role });
}

export function askPerson(session: Session, question: HumanQuestion, signal: AbortSignal): Promise<Json> {
  const { screen, host } = session;
  const { role, text, to, form } = question;
  return screen.aside(async () => {
    const lines = text.split("\n").map((line) => `  ${shown(line, MAX_QUESTION)}`);
    const until = deadlineText(question, host.clock.now());
    const asked = `${shown(role)} asks ${to === undefined ? "you" : shown(to, 60)}:`;
    screen.print([screen.style.strong(asked), ...lines, ...(until === undefined ? [] : [screen.style.faint(`  ${until}`)])], 2);
    if (form !== undefined) return fillIn({ ...question, form }, terminalOf(session, question, signal));
    const answer = await answerTo(session, question, signal);
    return answer.trim() === "" && question.default !== undefined ? question.default : answer;
  });
}

function askPermission(session: Session, question: PermissionQuestion, read: ReadFile, signal: AbortSignal): Promise<Json> {
  const { screen } = session;
  return screen.aside(async () => {
    screen.print([screen.style.strong(`${shown(question.role, 60)} asks to use ${shown(question.tool, 60)}:`), ...callLines(question)], 4);
    const isChange = await changesFiles(question, read);
    for (;;) {
      screen.print([screen.style.faint(answersText(question, isChange))], 2);
      const typed = typedAnswer(await answerTo(session, question, signal));
      if (typed.kind === "answer") return typed.text;
      if (typed.kind === "change") return { args: await changedCall(session, question, signal) };
      if (typed.kind === "explain") screen.print(explanation(question, isChange), 13);
      if (typed.kind === "show") screen.print(await wholeCall(question, read, screen.style), 4);
    }
  });
}

function changedCall(session: Session, question: PermissionQuestion, signal: AbortSignal): Promise<Json> {
  const { form, args } = question;
  const schema = (form?.kind === "choices" ? form.args : undefined) ?? { type: "object" };
  return fillIn({ ...question, form: { kind: "fields", schema }, default: args }, terminalOf(session, question, signal));
}

function terminalOf(session: Session, question: HumanQuestion, signal: AbortSignal): FormTerminal {
  const { screen } = session;
  return { style: screen.style, print: (lines) => screen.print(lines, 4), read: () => answerTo(session, question, signal) };
}

async function answerTo({ host, interruptions, screen }: Session, question: HumanQuestion, signal: AbortSignal): Promise<string> {
  try {
    const answer = await promptLine(host, interruptions, "> ", signal);
    if (answer === undefined) throw waiting(question);
    return answer;
  } catch (error) {
    if (signal.aborted && !interruptions.signal.aborted) {
      const { deadline = Infinity } = question;
      const now = host.clock.now();
      const why = deadline <= now ? deadlineText(question, now) : "It was answered elsewhere, or is not asked any more.";
      screen.print(["", screen.style.warn(`  ${why ?? ""}`)], 2);
    }
    throw error;
  }
}

export async function agrees({ host, screen, interruptions }: Session, question: string): Promise<boolean> {
  return isYes(await screen.aside(() => promptLine(host, interruptions, `${question} [y/N] `)), false);
}

function isYes(answer: string | undefined, byDefault: boolean): boolean {
  if (answer === undefined) return false;
  const word = answer.trim().toLowerCase();
  return word === "" ? byDefault : word === "y" || word === "yes";
}

export interface PaidRun {
  readonly idea: string;
  readonly by?: Worker;
  readonly model: string;
  /** Micro-dollars; undefined when nothing binds. */
  readonly budget: number | undefined;
  readonly bounds: string;
  readonly folder: string;
  readonly tests: string;
}

const IDEA = 300;

export async function confirmPaidRun(session: Session, run: PaidRun): Promise<void> {
  const { host, screen, interruptions } = session;
  if (!canAsk(host)) return;
  const isAgent = run.by === "agent";
  const rows: readonly (readonly [string, string])[] = [
    [isAgent ? "Task" : "Idea", shown(run.idea, IDEA)],
    ["Model", shown(run.model)],
    ["Cap", `${run.budget === undefined ? "none: the price is not known" : formatUsd(run.budget)}, ${run.bounds}`],
    ["Folder", shown(run.folder)],
    [isAgent ? "Tools" : "Tests", shown(run.tests)],
  ];
  screen.print([screen.style.strong("This asks a model and may cost money:")]);
  screen.print(labelledLines(rows, { style: screen.style, width: screen.width, labels: 7, margin: 2 }));
  const answer = await screen.aside(() => promptLine(host, interruptions, "Start? [Y/n] "));
  if (!isYes(answer, true)) throw new AbortedError("it was not confirmed, and nothing was started");
}

export async function confirmRemoval(session: Session, question: string, isAgreed: boolean): Promise<void> {
  if (isAgreed) return;
  if (!canAsk(session.host)) {
    throw new UsageError("UNCONFIRMED", `Expected a yes to: ${question} No one can be asked here, so say --yes.`);
  }
  if (!(await agrees(session, question))) throw new AbortedError("it was not confirmed, and nothing was changed");
}

interface FormTerminal {
  readonly style: Style;
  readonly print: (lines: readonly string[]) => void;
  readonly read: () => Promise<string>;
}

function fillIn(question: HumanQuestion & { readonly form: QuestionForm }, terminal: FormTerminal): Promise<Json> {
  const { form } = question;
  return form.kind === "choices" ? chosen(form, question, terminal) : filled(form, question, terminal);
}

type Choices = Extract<QuestionForm, { readonly kind: "choices" }>;

async function chosen(form: Choices, { default: byDefault }: HumanQuestion, { style, print, read }: FormTerminal): Promise<Json> {
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
