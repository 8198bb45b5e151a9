import { basename } from "node:path";
import type { ChatModel } from "../../model/chat-model.ts";
import { formatCost, formatUsd } from "../../model/money.ts";
import type { ModelPrice } from "../../model/price.ts";
import { requestDifference, requestDifferenceText } from "../../runtime/replay/difference.ts";
import type { RunResult } from "../../runtime/run-result.ts";
import { deliveryRows, type TestsReport, unprovenText } from "../delivery.ts";
import type { ResultReport } from "../report.ts";
import { resultStyle, type Session } from "../session.ts";
import {
  counted,
  elapsed,
  type Fact,
  labelledLines,
  plural,
  shellWord,
  shown,
  type Style,
  type TextStyle,
  tokensText,
  wrapped,
} from "./text.ts";
import { keepWarnings, type Unseen, warningLines } from "../kept-warnings.ts";
import { questionRows } from "./question.ts";

const SHOWN_FAILURES = 3;

export interface SummaryFacts extends TextStyle {
  readonly folder: string;
  readonly run: string;
  readonly roundLimit: number;
  /** Micro-dollars; undefined when nothing binds. */
  readonly budget: number | undefined;
  readonly modelId: string;
  readonly price: ModelPrice | undefined;
  readonly age: number;
  readonly warnings: Unseen;
  /** The file that has all warnings; undefined where all are printed. */
  readonly warningsIn: string | undefined;
}

export type ResultFacts = Pick<SummaryFacts, "folder" | "run" | "roundLimit" | "budget"> & {
  readonly model: Pick<ChatModel, "id" | "price">;
};

export async function printSummary(session: Session, report: ResultReport, { model, ...facts }: ResultFacts): Promise<void> {
  const { host, screen, json } = session;
  const warnings = screen.unseenWarnings;
  const told = [...warnings].map(([text, times]) => ({ text, times }));
  if (json !== undefined) return json.write(told.length === 0 ? report : { ...report, warnings: told });
  // Where they cannot be kept, all are printed.
  const warningsIn = await keepWarnings(session, warnings, report).catch(() => undefined);
  const known = { modelId: model.id, price: model.price, age: screen.age, warnings, warningsIn };
  const lines = summaryLines(report, { ...resultStyle(session), ...facts, ...known });
  host.stdout.write(`${[...lines, ...differenceLines(report)].join("\n")}\n`);
}

function differenceLines({ fork }: ResultReport): readonly string[] {
  if (fork?.difference === undefined) return [];
  const { act, name, parent, fork: now } = fork.difference;
  const found = requestDifference(parent, now);
  const text = found === undefined ? [] : requestDifferenceText(found, ["parent", "fork"]).split("\n");
  const then = parent === null ? "did not ask" : "asked something else of";
  return ["", `First difference: ${shown(act, 100)} ${then} "${shown(name, 100)}" in the run it was forked from.`, ...text];
}

export function summaryLines(report: ResultReport, facts: SummaryFacts): readonly string[] {
  const { files, by, usage, rounds, delivery, isSpec } = report;
  const { style, folder, age, width } = facts;
  const all: readonly Fact[] = [
    ["Project", `${projectText(report, folder)}${files.length === 0 ? " (no files)" : ` (${plural(files.length, "file")})`}`],
    ["Tests", by !== "company" || isSpec === true || delivery !== undefined ? undefined : testsText(report, style)],
    ...(delivery === undefined ? [] : deliveryRows(delivery, style)),
    ...failureRows(report.failures, style),
    ["Denied", deniedText(report, style)],
    ["Commit", commitText(report)],
    ...changeRows(report),
    ["Cost", costText(report, facts)],
    ["Tokens", `${tokensText(usage)}${usage.estimated ? " (some counted from characters)" : ""}`],
    ["Models", modelsText(report)],
    by === "agent" ? ["Time", elapsed(age)] : ["Rounds", `${rounds} of ${facts.roundLimit}, in ${elapsed(age)}`],
    ["Run", shown(facts.run)],
    ["Fork", forkText(report)],
    ...(isSpec === true ? [["Prove", `troupe prove --in ${shellWord(report.out)}`] as Fact] : lookRows(report, folder)),
    ...nextRows(report),
  ];
  const labels = Math.max(...all.map(([label, text]) => (text === undefined ? 0 : label.length)));
  const lines = labelledLines(all, { style, width, labels: labels + 1, margin: 2 });
  return [...wrapped(headline(report, facts), width), "", ...answerLines(report), ...lines, ...closing(report, facts)];
}

/** The folder was named before the product was: it keeps its name, because a run is resumed in it. */
export function projectText({ name, out }: Pick<ResultReport, "name" | "out">, folder: string): string {
  return name === undefined || basename(out) === name ? shown(folder) : `${shown(name, 60)}, in ${shown(folder)}`;
}

function deniedText({ denied = [] }: ResultReport, style: Style): string | undefined {
  if (denied.length === 0) return undefined;
  const names = [...new Set(denied.map(({ tool }) => shown(tool, 60)))].join(", ");
  return style.warn(`${plural(denied.length, "call")} not made: ${names}`);
}

const NAMED_FAILURES = 5;

export function failureRows(failures: RunResult["failures"], style: Style): readonly Fact[] {
  const named = failures.slice(-NAMED_FAILURES).map(({ act, attempt, code, message }): Fact => {
    const tries = attempt === 1 ? "" : `, after ${plural(attempt, "attempt")}`;
    return ["Failed", style.bad(`${shown(act, 100)}: ${shown(message, 300)} (${shown(code, 60)})${tries}`)];
  });
  const more = failures.length - named.length;
  return more === 0 ? named : [["Failed", style.bad(`${plural(more, "activation")} before these`)], ...named];
}

function commitText({ commit }: ResultReport): string | undefined {
  if (commit === undefined) return undefined;
  const made = commit.id === undefined ? "" : `${commit.id.slice(0, 10)} (${plural(commit.files, "file")})`;
  return [made, shown(commit.note, 300)].filter((part) => part !== "").join("; ");
}

const NAMED_FILES = 8;

function changeRows({ change, out }: ResultReport): readonly Fact[] {
  if (change === undefined) return [];
  const { files, commit, branch, base, place, reason, left } = change;
  const named = files.slice(0, NAMED_FILES).map(({ path, change: how }) => `${how === "changed" ? "" : `${how} `}${shown(path, 100)}`);
  const more = files.length > NAMED_FILES ? [`and ${files.length - NAMED_FILES} more`] : [];
  const where =
    place === "worktree"
      ? `branch ${shown(branch ?? "", 100)}, your files stay as they are: ${shown(reason ?? "", 100)}`
      : reason && shown(reason, 200);
  return [
    ["Changed", files.length === 0 ? "nothing" : [...named, ...more].join(", ")],
    ["Commit", commit && `${commit.slice(0, 10)}${branch === undefined ? "" : ` on ${shown(branch, 100)}`}`],
    ["Where", where],
    ["Left out", left.length === 0 ? undefined : shown(left.join(", "), 300)],
    ["Diff", commit && base && branch && `git -C ${shellWord(out)} diff ${base.slice(0, 10)}..${shellWord(branch)}`],
    ["Take", commit && takeText(change, out)],
  ];
}

function takeText({ place, base = "", branch = "", isMergeable }: NonNullable<ResultReport["change"]>, out: string): string | undefined {
  if (place !== "worktree") return undefined;
  const git = `git -C ${shellWord(out)}`;
  if (isMergeable === true) return `${git} merge ${shellWord(branch)}`;
  const why = "git refuses a merge, because the branch has your uncommitted changes too";
  return `${git} diff --binary ${base.slice(0, 10)} ${shellWord(branch)} | ${git} apply (${why})`;
}

function answerLines({ answer }: ResultReport): readonly string[] {
  if (answer === undefined) return [];
  const lines = answer.trimEnd().split("\n");
  return [...lines.map((line) => shown(line, Infinity)), ""];
}

function headline(
  { status, tests, exitCode, delivery, name, error, files, cost, isSpec }: ResultReport,
  { style, roundLimit, budget = 0 }: SummaryFacts,
): string {
  const kept = files.length === 0 ? "Nothing was written yet." : "What was written is kept.";
  switch (status) {
    case "finished":
      if (isSpec === true) return style.good("The criteria are written. Do the work, or let anybody do it, and prove it.");
      if (tests?.tests === "failed") return style.bad("The project is written, but its tests fail.");
      if (exitCode === 6) return style.bad(unprovenText(delivery, name));
      return style.good(name === undefined ? "Done." : `${shown(name, 60)} is done.`);
    case "rounds":
      return style.warn(
        `Stopped after ${plural(roundLimit, "round")}, before the company was through. ${kept} Give it more with --rounds.`,
      );
    case "budget":
      return style.warn(`${budgetText(cost.known, budget)} ${kept} Raise it with --budget.`);
    case "waiting":
      return style.warn(`A person must answer first. ${kept}`);
    case "moved":
      return style.warn(`${error === undefined ? "Another process continues the run." : shown(error.message)} ${kept}`);
    case "stopped":
      return style.warn(`${error === undefined ? "Stopped." : shown(error.message)} ${kept}`);
    case "failed":
      if (error?.code === "NOT_APPROVED") return style.warn(`Not approved. ${kept}`);
      return style.bad(`Failed. ${kept}`);
  }
}

/** A server that answers more than was asked may bill more than was reserved. */
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
  return `${cost.text}${unknown} at most: ${unsure} is for calls that were cut short and are counted in full`;
}

function modelsText({ byModel, isScripted }: ResultReport): string | undefined {
  const models = Object.entries(byModel);
  if (isScripted || models.length < 2) return undefined;
  return models.map(([id, { cost }]) => `${shown(id, 60)} ${formatCost(cost)}`).join("; ");
}

function forkText({ fork }: ResultReport): string | undefined {
  if (fork === undefined) return undefined;
  const { parent, reused, reusedCalls, paid, saved } = fork;
  const counts = `${plural(reused, "answer")} reused (${reusedCalls} of models), ${plural(paid, "model call")} made, ${formatUsd(saved)} saved`;
  return `of ${shown(parent.runId)} at event ${parent.at}: ${counts}`;
}

function nextRows({ questions, goOn, replies, otherModel, tell, delivery }: ResultReport): readonly Fact[] {
  return [
    ...questionRows(questions),
    ["Go on", goOn && shown(goOn)],
    ["Instead", otherModel && `with another model: ${shown(otherModel)}`],
    ["Replies", replies && `what the model answered: ${shown(replies)}`],
    [delivery?.isDone === true ? "Change" : "Next", tell && shown(tell)],
  ];
}

function lookRows({ files, change, out }: ResultReport, folder: string): readonly Fact[] {
  if (change?.place === "worktree" && change.branch !== undefined && change.commit !== undefined) {
    // An absolute path: git takes a relative one from the project.
    const copy = `${out}-${change.branch.split("/").at(-1) ?? ""}`;
    return [["Try", `git -C ${shellWord(out)} worktree add ${shellWord(copy)} ${shellWord(change.branch)}, and run it there`]];
  }
  const page = ["index.html", "public/index.html", "src/index.html"].find((path) => files.includes(path));
  const readme = files.find((path) => /^readme(\.md|\.txt)?$/i.test(path));
  const hasTests = files.some((path) => /\.test\.[cm]?js$/.test(path));
  return [
    ["Open", page && `${shown(folder)}/${page}`],
    ["Read", readme && `${shown(folder)}/${readme}`],
    ["Test", hasTests ? `cd ${shellWord(folder)} && node --test` : undefined],
  ];
}

function closing({ deadLetters }: ResultReport, { style, warnings, warningsIn }: SummaryFacts): readonly string[] {
  const dead = deadLetters === 0 ? [] : [style.faint(`  ${plural(deadLetters, "message")} reached no role.`)];
  const lines = [...dead, ...warningLines(warnings, warningsIn, style)];
  return lines.length === 0 ? [] : ["", ...lines];
}
