import { formatCost, formatUsd } from "../../model/money.ts";
import type { ModelPrice } from "../../model/price.ts";
import type { ResultReport, TestsReport } from "../report.ts";
import { shellWord } from "../shell-word.ts";
import type { Style } from "./style.ts";
import { LONGEST_QUESTION, column, counted, elapsed, plural, shown, wrapped } from "./text.ts";

/** Failing tests that are named. */
const SHOWN_FAILURES = 3;

/** What a summary tells besides the report. */
export interface SummaryFacts {
  readonly style: Style;
  /** The project's folder as the user would type it. */
  readonly folder: string;
  /** Names the run. */
  readonly run: string;
  /** Most rounds. */
  readonly roundLimit: number;
  /** Micro-dollars; undefined when nothing binds. */
  readonly budget: number | undefined;
  readonly modelId: string;
  /** Dollars for a million tokens in and out, of a script. */
  readonly price: ModelPrice | undefined;
  /** Milliseconds. */
  readonly age: number;
  /** Cells of a line; Infinity where nothing is broken into lines. */
  readonly width: number;
  /** Warnings nobody saw. */
  readonly warnings: number;
}

/** The result for a person: what became of the run, where the project is, what it cost, and what to do next. */
export function summaryLines(report: ResultReport, facts: SummaryFacts): readonly string[] {
  const rows: (readonly [label: string, text: string])[] = [
    ["Project", `${shown(facts.folder)}${report.files.length === 0 ? " (no files)" : ` (${plural(report.files.length, "file")})`}`],
    ...(report.by === "agent" ? [] : [["Tests", testsText(report, facts.style)] as const]),
    ...deniedRow(report, facts.style),
    ...commitRow(report),
    ["Cost", costText(report, facts)],
    [
      "Tokens",
      `${counted(report.usage.inputTokens)} in, ${counted(report.usage.outputTokens)} out${report.usage.estimated ? " (some counted from characters)" : ""}`,
    ],
    ...modelRow(report),
    report.by === "agent" ? ["Time", elapsed(facts.age)] : ["Rounds", `${report.rounds} of ${facts.roundLimit}, in ${elapsed(facts.age)}`],
    ["Run", shown(facts.run)],
    ...forkRow(report),
    ...lookRows(report, facts.folder),
    ...goOnRows(report),
  ];
  const labels = Math.max(...rows.map(([label]) => label.length));
  const told = rows.flatMap(([label, text]) =>
    wrapped(`  ${facts.style.faint(column(label, labels + 1))} ${text}`, facts.width, labels + 4),
  );
  return [...wrapped(headline(report, facts), facts.width), "", ...answerLines(report), ...told, ...closing(report, facts)];
}

/** Which calls were not allowed: the answer may not say so. */
function deniedRow({ denied = [] }: ResultReport, style: Style): readonly (readonly [string, string])[] {
  if (denied.length === 0) return [];
  const names = [...new Set(denied.map(({ tool }) => shown(tool, 60)))].join(", ");
  return [["Denied", style.warn(`${plural(denied.length, "call")} not made: ${names}`)]];
}

function commitRow({ commit }: ResultReport): readonly (readonly [string, string])[] {
  if (commit === undefined) return [];
  const made = commit.id === undefined ? "" : `${commit.id.slice(0, 10)} (${plural(commit.files, "file")})`;
  return [["Commit", [made, shown(commit.note, 300)].filter((part) => part !== "").join("; ")]];
}

/** What an agent came to, in its own lines. */
function answerLines({ answer }: ResultReport): readonly string[] {
  if (answer === undefined) return [];
  return [
    ...answer
      .trimEnd()
      .split("\n")
      .map((line) => shown(line, Infinity)),
    "",
  ];
}

function headline({ status, tests, error, files, cost }: ResultReport, { style, roundLimit, budget = 0 }: SummaryFacts): string {
  const kept = files.length === 0 ? "Nothing was written yet." : "What was written is kept.";
  switch (status) {
    case "finished":
      return tests?.tests === "failed" ? style.bad("The project is written, but its tests fail.") : style.good("Done.");
    case "rounds":
      return style.warn(
        `Stopped after ${plural(roundLimit, "round")}, before the company was through. ${kept} Give it more with --rounds.`,
      );
    case "budget":
      return style.warn(`${budgetText(cost.known, budget)} ${kept} Raise it with --budget.`);
    case "waiting":
      return style.warn(`A person must answer first. ${kept}`);
    case "stopped":
      return style.warn(`${error === undefined ? "Stopped." : shown(error.message)} ${kept}`);
    case "failed":
      return style.bad(`Failed. ${kept}`);
  }
}

/** A server that answers more than it was asked for may bill more than was reserved. */
function budgetText(spent: number, budget: number): string {
  return spent > budget
    ? `Stopped, for more than the budget of ${formatUsd(budget)} is spent.`
    : `Stopped before the budget of ${formatUsd(budget)} would be passed.`;
}

function testsText({ tests }: ResultReport, style: Style): string {
  if (tests === null) return "not run: the company did not come that far";
  const hint = tests.hint === undefined ? "" : `. ${shown(tests.hint, 600)}`;
  switch (tests.tests) {
    case "passed":
      return style.good(`${counted(tests.passed)} passed`);
    case "failed":
      return style.bad(`${counted(tests.failed)} of ${counted(tests.total)} failed${failuresText(tests)}`);
    case "not run":
      return style.warn(`not run${hint}`);
    case "none":
      return style.warn(`there are none${hint}`);
  }
}

/** The first of those that failed, by name. */
function failuresText({ failures = [] }: TestsReport): string {
  if (failures.length === 0) return "";
  const names = failures.slice(0, SHOWN_FAILURES).map(({ name }) => shown(name, 100));
  return `: ${names.join("; ")}${failures.length > names.length ? " ..." : ""}`;
}

function costText({ cost, isScripted }: ResultReport, { modelId, price }: SummaryFacts): string {
  const rate = price === undefined ? "" : ` at $${price.input} in and $${price.output} out for a million tokens`;
  if (isScripted) return `nothing, for the replies are a script; a model${rate} would have cost ${cost.text}`;
  const unknown = cost.unpriced === 0 ? "" : ` (the price of ${shown(modelId, 60)} is not known: --price in,out)`;
  if (cost.worstCase === 0) return `${cost.text}${unknown}`;
  const unsure = cost.worstCase === cost.known ? "all of it" : `${formatUsd(cost.worstCase)} of it`;
  return `${cost.text}${unknown} at most: ${unsure} is for calls that did not end and are counted in full`;
}

/** What each model cost, where there were several. */
function modelRow({ byModel, isScripted }: ResultReport): readonly (readonly [string, string])[] {
  const models = Object.entries(byModel);
  if (isScripted || models.length < 2) return [];
  return [["Models", models.map(([id, { cost }]) => `${shown(id, 60)} ${formatCost(cost)}`).join("; ")]];
}

/** What was taken from another run. */
function forkRow({ fork }: ResultReport): readonly (readonly [string, string])[] {
  if (fork === undefined) return [];
  const { parent, reused, reusedCalls, paid, saved } = fork;
  const counts = `${plural(reused, "answer")} reused (${reusedCalls} of models), ${plural(paid, "model call")} made, ${formatUsd(saved)} saved`;
  return [["Fork", `of ${shown(parent.runId)} at event ${parent.at}: ${counts}`]];
}

/** What waits for somebody, and how the run goes on. */
function goOnRows({ questions, goOn }: ResultReport): readonly (readonly [string, string])[] {
  const asked = questions.flatMap(({ role, text, answer }): (readonly [string, string])[] => [
    ["Asks", `${shown(role, 60)}: ${shown(text, LONGEST_QUESTION)}`],
    ["Answer", shown(answer)],
  ]);
  return goOn === undefined ? asked : [...asked, ["Go on", shown(goOn)]];
}

/** How to look at the project and run its tests, as far as its files tell. */
function lookRows({ files }: ResultReport, folder: string): (readonly [string, string])[] {
  const steps: (readonly [string, string])[] = [];
  const at = shellWord(folder);
  const page = ["index.html", "public/index.html", "src/index.html"].find((path) => files.includes(path));
  const readme = files.find((path) => /^readme(\.md|\.txt)?$/i.test(path));
  if (page !== undefined) steps.push(["Open", `${shown(folder)}/${page}`]);
  if (readme !== undefined) steps.push(["Read", `${shown(folder)}/${readme}`]);
  if (files.some((path) => /\.test\.[cm]?js$/.test(path))) steps.push(["Test", `cd ${at} && node --test`]);
  return steps;
}

function closing({ deadLetters }: ResultReport, { style, warnings }: SummaryFacts): readonly string[] {
  const notes = [
    ...(deadLetters === 0 ? [] : [`${plural(deadLetters, "message")} reached nobody`]),
    ...(warnings === 0 ? [] : [`${plural(warnings, "warning")} not shown; see them with --verbose`]),
  ];
  return notes.length === 0 ? [] : ["", style.faint(`  ${notes.join("; ")}.`)];
}
