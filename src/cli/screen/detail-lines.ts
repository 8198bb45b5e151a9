import { formatCost, formatUsd } from "../../model/money.ts";
import type { DeadLetter } from "../../runtime/record/run-state.ts";
import type { RoleDetail, RunDetail } from "../run-detail.ts";
import { sentText } from "./record-lines.ts";
import type { Style } from "./style.ts";
import { LONGEST_QUESTION, column, counted, elapsed, plural, shown, widthOf, wrapped } from "./text.ts";
import { momentText } from "./time-text.ts";

/** Messages, files and dead letters that are listed. */
const LISTED = 40;

/** How a run is shown. */
export interface DetailStyle {
  readonly style: Style;
  /** Cells of a line; Infinity where nothing is broken into lines. */
  readonly width: number;
  /** The project's folder as the user would type it. */
  readonly folder: string | undefined;
  /** How it goes on. */
  readonly goOn: string | undefined;
  /** Answers the questions, in their order. */
  readonly answers: readonly string[];
}

/** A run for a person: what it is, what it cost, who did what, what was said, what waits. */
export function detailLines(run: RunDetail, { style, width, folder, goOn, answers }: DetailStyle): readonly string[] {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ["Run", shown(run.runId, 200)],
    ["Idea", run.about === undefined ? undefined : shown(run.about.idea, 300)],
    ["Status", statusText(run)],
    ["Fork", run.parent === undefined ? undefined : `of ${shown(run.parent.runId, 200)} at event ${run.parent.at}`],
    ["Model", run.about === undefined ? undefined : modelText(run.about)],
    ["Project", folder === undefined ? undefined : `${shown(folder)} (${plural(run.files.length, "file")} written)`],
    [
      "Began",
      `${momentText(run.began)} UTC, ${plural(run.events, "event")} in ${elapsed(run.moved - run.began)}, ${plural(run.rounds, "round")}`,
    ],
    ["Cost", costText(run)],
    ["Tokens", `${counted(run.usage.inputTokens)} in, ${counted(run.usage.outputTokens)} out`],
    ...run.questions.flatMap(({ role, text }, nth): (readonly [string, string | undefined])[] => [
      ["Asks", `${shown(role, 60)}: ${shown(text, LONGEST_QUESTION)}`],
      ["Answer", answers[nth]],
    ]),
    ["Go on", goOn],
  ];
  const told = rows.flatMap(([label, text]) => (text === undefined ? [] : wrapped(`${style.faint(column(label, 8))} ${text}`, width, 9)));
  const trouble =
    run.trouble === undefined ? [] : ["", ...wrapped(style.bad(`Only so much of it can be read: ${shown(run.trouble.message)}`), width)];
  return [...told, ...trouble, ...roleTable(run.roles, style), ...saidLines(run, style), ...deadLines(run.deadLetters, style)];
}

function statusText({ status, error }: RunDetail): string {
  const why = error === undefined ? "" : `: ${shown(error.message, 500)} (${shown(error.code, 60)})`;
  return status === "open" ? "open: it is under way, or its process died" : `${status}${why}`;
}

function modelText({ model, demo }: NonNullable<RunDetail["about"]>): string {
  const from = demo === undefined ? "" : `, from the script of ${shown(demo, 60)}`;
  return `${shown(model.id, 100)}${model.baseURL === undefined ? "" : ` at ${shown(model.baseURL, 200)}`}${from}`;
}

function costText({ about, cost, budget, held, uncertain }: RunDetail): string {
  if (about?.demo !== undefined) return `nothing, for the replies are a script; a model would have cost ${formatCost(cost)}`;
  const parts = [
    `${formatCost(cost)}${budget === undefined ? "" : ` of ${formatUsd(budget)}`}`,
    ...(uncertain === 0 ? [] : [`${formatUsd(uncertain)} of it uncertain: for calls that were in flight when the process died`]),
    ...(held === 0 ? [] : [`${formatUsd(held)} held for calls that have not ended`]),
  ];
  return parts.join("; ");
}

function roleTable(roles: readonly RoleDetail[], style: Style): readonly string[] {
  if (roles.length === 0) return [];
  const cells = roles.map((role) => [
    shown(role.name, 40),
    shown(role.profile === role.name ? "" : role.profile, 40),
    `${counted(role.activations)}${role.isOpen ? " +1 open" : ""}`,
    `${counted(role.calls)}${role.failedTries === 0 ? "" : ` (${counted(role.failedTries)} in vain)`}`,
    role.waiting === 0 ? "" : counted(role.waiting),
  ]);
  const heads = ["ROLE", "PROFILE", "ACTED", "CALLS", "MAIL"];
  const widths = heads.map((head, nth) => Math.max(widthOf(head), ...cells.map((row) => widthOf(row[nth] ?? ""))));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, nth) => column(cell, widths[nth] ?? 0))
      .join("  ")
      .trimEnd();
  return ["", style.faint(line(heads)), ...cells.map(line)];
}

/** With the numbers that a fork names. */
function saidLines({ said }: RunDetail, style: Style): readonly string[] {
  if (said.length === 0) return [];
  const lines = said.slice(-LISTED).map((one) => `${`${one.seq}${one.nth === 0 ? "" : `.${one.nth}`}`.padStart(6)}  ${sentText(one)}`);
  const more = said.length > LISTED ? [style.faint(`        and ${plural(said.length - LISTED, "message")} before`)] : [];
  return ["", style.faint(" EVENT  SAID"), ...more, ...lines];
}

function deadLines(dead: readonly DeadLetter[], style: Style): readonly string[] {
  if (dead.length === 0) return [];
  const lines = dead.slice(0, LISTED).map(({ message, reason }) => {
    const why =
      reason.kind === "failed"
        ? `${shown(reason.role, 60)} failed: ${shown(reason.error.message, 200)}`
        : `nobody is ${shown(reason.address, 60)}`;
    return `  ${shown(message.causeBy, 60)} of ${shown(message.sentFrom, 60)}: ${why}`;
  });
  const more = dead.length > LISTED ? [`  and ${dead.length - LISTED} more`] : [];
  return ["", style.warn(plural(dead.length, "dead letter")), ...lines, ...more];
}
