import { formatCost, formatUsd, type MicroUsd } from "../../model/money.ts";
import type { Observed, StepStarted } from "../../runtime/record/event.ts";
import { roleNameIn } from "../../runtime/record/role-state.ts";
import { brief, column, elapsed, fitted, shown, type TextStyle, widthOf } from "./text.ts";
import { checksText } from "../delivery.ts";
import { CHECKS, nameText, type OpenStep, type Progress, type RoleProgress, saidText, topicOf } from "./progress.ts";

export interface Frame extends TextStyle {
  readonly height: number;
  /** Milliseconds since the run began. */
  readonly age: number;
  /** Counts redraws, so that something moves while roles work. */
  readonly tick: number;
  /** Infinity: rounds are not shown. */
  readonly rounds: number;
  /** Micro-dollars; undefined when nothing binds. */
  readonly budget: number | undefined;
  readonly hasEnded: boolean;
  readonly profiles: ReadonlyMap<string, string>;
}

const SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
const NAME_CELLS = 24;
const TOKEN_CELLS = 8;
const MAX_CELL = 400;
/** The first sentences of a speech; all of it is shown by `--talk`. */
const LONGEST_SAID = 160;
const MIN_DOING = 14;
const TOKEN_CHARACTERS = 4;
const QUICK: ReadonlySet<string> = new Set([
  "commit",
  "read files",
  "hash files",
  "list files",
  "list changes",
  "find the budget",
  "wants approval",
]);

export function progressLines(progress: Progress, frame: Frame): readonly string[] {
  const { style, width, hasEnded } = frame;
  const room = Math.max(1, frame.height - 4);
  const isBusy = ({ work }: RoleProgress): number => Number(work !== undefined);
  const all = [...progress.roles.values()];
  const idle = hasEnded ? workless(all) : [];
  const present = all.filter((role) => !idle.includes(role));
  const roles = present.length <= room ? present : present.toSorted((a, b) => isBusy(b) - isBusy(a));
  const others = [
    ...(roles.length > room ? [`    and ${roles.length - room} more`] : []),
    ...(idle.length > 0 ? [`  · had no work: ${idle.map(({ name }) => shown(name, 60)).join(", ")}`] : []),
  ].map((line) => style.faint(fitted(line, width)));
  return ["", ...roleLines(roles.slice(0, room), frame), ...others, footer(progress, frame), ...(hasEnded ? [""] : [])];
}

/** The roles that had no work when all work ended; none where one line is no shorter. */
function workless(roles: readonly RoleProgress[]): readonly RoleProgress[] {
  if (roles.some(({ isOpen, work }) => isOpen || work !== undefined)) return [];
  const idle = roles.filter(({ last }) => last === undefined);
  return idle.length < 2 || idle.length === roles.length ? [] : idle;
}

/** On a narrow terminal a role's work matters more than its profile and its tokens. */
function roleLines(roles: readonly RoleProgress[], frame: Frame): readonly string[] {
  const { style, width, profiles } = frame;
  const widest = (texts: readonly string[]): number => Math.min(NAME_CELLS, Math.max(0, ...texts.map(widthOf)));
  const whole = widest(roles.map(({ name }) => nameText(name, profiles)));
  const isNarrow = width < whole + TOKEN_CELLS + MIN_DOING + 8;
  const names = isNarrow ? Math.min(width, widest(roles.map(({ name }) => shown(name, 60)))) : whole;
  const doing = Math.max(0, width - names - (isNarrow ? 6 : TOKEN_CELLS + 8));
  return roles.map((role) => {
    const tokens = role.tokens === 0 || isNarrow ? "" : `${brief(role.tokens)} tok`;
    const [glyph, text, paint] = doingText(role, frame);
    const name = column(isNarrow ? shown(role.name, 60) : nameText(role.name, profiles), names);
    if (width < names + 6) return fitted(`  ${name}`, width);
    const cell = tokens === "" ? fitted(text, doing) : column(text, doing);
    return `  ${glyph} ${name}  ${paint(cell)}${tokens === "" ? "" : `  ${style.faint(tokens.padStart(TOKEN_CELLS))}`}`;
  });
}

function doingText(
  { work, last, isOpen }: RoleProgress,
  { style, hasEnded, tick }: Frame,
): readonly [glyph: string, text: string, paint: (text: string) => string] {
  if (work !== undefined) return [style.active(SPINNER.charAt(tick % SPINNER.length)), workText(work), (text) => text];
  if (isOpen && hasEnded) return [style.warn("■"), "stopped", style.warn];
  if (last === undefined) return [style.faint("·"), "waits", style.faint];
  if (last.kind === "failed") return [style.bad("✗"), `failed: ${shown(last.text, MAX_CELL)}`, style.bad];
  return [style.good("✓"), shown(last.text, MAX_CELL), style.faint];
}

function workText({ action, step }: NonNullable<RoleProgress["work"]>): string {
  if (step === undefined) return action === undefined ? "works" : shown(action, 60);
  const doing = stepText(step);
  const isEnough = action === undefined || doing.startsWith(action) || (step.kind === "model" && step.topic !== undefined);
  return isEnough ? doing : `${shown(action, 60)}: ${doing}`;
}

function stepText({ kind, name, topic, try: attempt, streamed, news = "", isRetrying }: OpenStep): string {
  const about = topic === undefined ? "" : shown(topic, 120);
  const again = isRetrying ? `, try ${attempt} failed` : attempt > 1 ? `, try ${attempt}` : "";
  if (kind === "human") return name === "wait" ? "waits" : `asks a person${again}`;
  if (kind !== "model") {
    const progress = news === "" || isRetrying ? "" : `: ${shown(news, 80)}`;
    return `${shown(name, 60)}${about === "" ? "" : ` ${about}`}${again}${progress}`;
  }
  const said = streamed === 0 || isRetrying ? "" : `, ~${brief(streamed / TOKEN_CHARACTERS)} tok`;
  return `${about === "" ? "asks the model" : about}${again}${said}`;
}

function footer(progress: Progress, { style, width, hasEnded, budget, rounds, age }: Frame): string {
  const cost = formatCost({ known: progress.spent as MicroUsd, unpriced: progress.unpriced });
  const money = budget === undefined ? cost : `${cost} of ${formatUsd(budget)}`;
  const round = Math.min(rounds, progress.rounds + (progress.isMidRound ? 1 : 0));
  const parts = [
    money,
    ...(rounds === Infinity ? [] : [`round ${round} of ${rounds}`]),
    `${brief(progress.tokens)} tokens`,
    elapsed(age),
    ...(hasEnded ? [] : ["Ctrl-C stops and keeps what is there"]),
  ];
  const fitting = parts.filter((_, n) => n === 0 || widthOf(`  ${parts.slice(0, n + 1).join(" · ")}`) <= width);
  const text = fitted(`  ${fitting.join(" · ")}`, width);
  return style.strong(text.slice(0, money.length + 2)) + style.faint(text.slice(money.length + 2));
}

export type CheckLine = NonNullable<ReturnType<typeof checksIn>>;

/** The results of checks that end with this event; undefined for other events. @param progress before it */
export function checksIn(progress: Progress, observed: Observed, profiles: ReadonlyMap<string, string>) {
  if (observed.type !== "step.ended" || !observed.ok) return undefined;
  const name = roleNameIn(observed.act);
  const step = progress.roles.get(name)?.work?.step;
  const checks = step?.name === CHECKS && step.key === observed.key ? checksText(observed.value) : undefined;
  const whose = step?.task === undefined ? (progress.hasTasks ? " of the whole" : "") : ` of task ${shown(step.task, 40)}`;
  return checks && { who: nameText(name, profiles), whose, ...checks };
}

/** The line about a change of state where no terminal is drawn on; undefined for others. @param progress after it */
export function plainLine(progress: Progress, observed: Observed, profiles: ReadonlyMap<string, string>): string | undefined {
  const [role, text] = changeIn(progress, observed) ?? [];
  return role === undefined || text === undefined ? undefined : `${nameText(role, profiles)}  ${text}`;
}

function changeIn(progress: Progress, observed: Observed): readonly [role: string, text: string | undefined] | undefined {
  switch (observed.type) {
    case "step.started":
      return [roleNameIn(observed.act), startText(observed)];
    case "step.ended":
      // A try that was cut short, by Ctrl-C for one, has no error and did not fail.
      if (observed.retry !== true || observed.error === undefined) return undefined;
      return [roleNameIn(observed.act), `try ${observed.try} failed (${shown(observed.error.code, 60)})`];
    case "act.ended":
      return observed.said.length === 0
        ? undefined
        : [observed.role, `said ${shown(saidText(observed), LONGEST_SAID)}${costText(progress)}`];
    case "act.failed":
      return [observed.role, `failed${observed.then === "retry" ? ", tries again" : ""}: ${shown(observed.error.message, 300)}`];
    default:
      return undefined;
  }
}

function startText({ kind, name, request, try: attempt }: StepStarted): string | undefined {
  const topic = topicOf(request);
  if (attempt > 1) return undefined;
  if (kind === "model") return topic === undefined ? "asks the model" : shown(topic, 120);
  if (kind === "human") return name === "wait" ? "waits" : "asks a person";
  return topic === undefined && !QUICK.has(name) ? shown(name, 60) : undefined;
}

function costText({ spent, unpriced, tokens }: Progress): string {
  return tokens === 0 ? "" : `; so far ${formatCost({ known: spent as MicroUsd, unpriced })}, ${brief(tokens)} tokens`;
}
