import { formatCost, type MicroUsd, formatUsd } from "../../model/money.ts";
import { nameText, type OpenStep, type Progress, type RoleProgress, type Work } from "./progress.ts";
import type { Style } from "./style.ts";
import { brief, column, elapsed, fitted, shown, widthOf } from "./text.ts";

/** What a drawing needs besides the progress. */
export interface Frame {
  /** Cells of a line. */
  readonly width: number;
  /** Lines there are room for. */
  readonly height: number;
  readonly style: Style;
  /** Milliseconds since the run began. */
  readonly age: number;
  /** Counts redraws, so that something moves while roles work. */
  readonly tick: number;
  /** Whether the terminal has only the oldest characters. */
  readonly isPlain: boolean;
  /** Most rounds; Infinity: they are not told. */
  readonly rounds: number;
  /** Micro-dollars; undefined when nothing binds. */
  readonly budget: number | undefined;
  readonly hasEnded: boolean;
  /** What each role does in the company, by its name. */
  readonly profiles: ReadonlyMap<string, string>;
}

const SPINNER = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const PLAIN_SPINNER = ["|", "/", "-", "\\"];
/** The widest that a role's name may make its column. */
const NAME_CELLS = 24;
const TOKEN_CELLS = 8;
/** Characters of a text that could ever be seen in a row. */
const LONGEST_CELL = 400;
/** Cells that tell enough of what a role does. */
const LEAST_DOING = 14;
/** Characters that make a token, about. */
const TOKEN_CHARACTERS = 4;

/** The lines of a live screen: one for each role, then what the run has cost so far. None is wider than the frame. */
export function progressLines(progress: Progress, frame: Frame): readonly string[] {
  const room = Math.max(1, frame.height - 4);
  const busyFirst =
    progress.roles.length <= room
      ? progress.roles
      : progress.roles.toSorted((a, b) => Number(b.work !== undefined) - Number(a.work !== undefined));
  const shownRoles = busyFirst.slice(0, room);
  const hidden = progress.roles.length - shownRoles.length;
  const more = hidden > 0 ? [frame.style.faint(fitted(`    and ${hidden} more`, frame.width))] : [];
  return ["", ...roleLines(shownRoles, frame), ...more, footer(progress, frame), ...(frame.hasEnded ? [""] : [])];
}

/** Where it is narrow, what a role does matters more than its profile and its tokens. */
function roleLines(roles: readonly RoleProgress[], frame: Frame): readonly string[] {
  const { style, width, profiles } = frame;
  const widest = (texts: readonly string[]): number => Math.min(NAME_CELLS, Math.max(0, ...texts.map(widthOf)));
  const whole = widest(roles.map(({ name }) => nameText(name, profiles)));
  const isNarrow = width < whole + TOKEN_CELLS + LEAST_DOING + 8;
  const names = isNarrow ? Math.min(width, widest(roles.map(({ name }) => shown(name, 60)))) : whole;
  const doing = Math.max(0, width - names - (isNarrow ? 6 : TOKEN_CELLS + 8));
  return roles.map((role) => {
    const tokens = role.tokens === 0 || isNarrow ? "" : `${brief(role.tokens)} tok`;
    const cell: Cell = (text) => (tokens === "" ? fitted(text, doing) : column(text, doing));
    const [glyph, text] =
      role.work === undefined ? restingText(role, cell, frame) : [style.active(spinner(frame)), cell(workText(role.work))];
    const name = column(isNarrow ? shown(role.name, 60) : nameText(role.name, profiles), names);
    if (width < names + 6) return fitted(`  ${name}`, width);
    return `  ${glyph} ${name}  ${text}${tokens === "" ? "" : `  ${style.faint(tokens.padStart(TOKEN_CELLS))}`}`;
  });
}

/** Makes a text as wide as its place. */
type Cell = (text: string) => string;

function restingText(
  { last, isOpen }: RoleProgress,
  cell: Cell,
  { style, isPlain, hasEnded }: Frame,
): readonly [glyph: string, text: string] {
  if (isOpen && hasEnded) return [style.warn(isPlain ? "!" : "■"), style.warn(cell("stopped"))];
  if (last === undefined) return [style.faint(isPlain ? "." : "·"), style.faint(cell("waits"))];
  if (last.kind === "failed") return [style.bad(isPlain ? "x" : "✗"), style.bad(cell(`failed: ${shown(last.message, LONGEST_CELL)}`))];
  return [style.good(isPlain ? "+" : "✓"), style.faint(cell(shown(last.text, LONGEST_CELL)))];
}

function workText({ action, step }: Work): string {
  if (step === undefined) return action === undefined ? "works" : shown(action, 60);
  const doing = stepText(step);
  const saysEnough = action === undefined || doing.startsWith(action) || (step.kind === "model" && step.topic !== undefined);
  return saysEnough ? doing : `${shown(action, 60)}: ${doing}`;
}

/** What a side effect does, in a few words. */
export function stepText({ kind, name, topic, try: attempt, streamed, isRetrying }: OpenStep): string {
  const about = topic === undefined ? "" : shown(topic, 120);
  const again = isRetrying ? `, try ${attempt} failed` : attempt > 1 ? `, try ${attempt}` : "";
  if (kind === "human") return `asks a person${again}`;
  if (kind !== "model") return `${shown(name, 60)}${about === "" ? "" : ` ${about}`}${again}`;
  const said = streamed === 0 || isRetrying ? "" : `, ~${brief(streamed / TOKEN_CHARACTERS)} tok`;
  return `${about === "" ? "asks the model" : about}${again}${said}`;
}

function spinner({ tick, isPlain }: Frame): string {
  const frames = isPlain ? PLAIN_SPINNER : SPINNER;
  return frames[tick % frames.length] ?? "*";
}

function footer(progress: Progress, frame: Frame): string {
  const { style, width, isPlain, hasEnded } = frame;
  const separator = isPlain ? " | " : " · ";
  const cost = formatCost({ known: progress.spent as MicroUsd, unpriced: progress.unpriced });
  const money = frame.budget === undefined ? cost : `${cost} of ${formatUsd(frame.budget)}`;
  const round = Math.min(frame.rounds, progress.rounds + (progress.isMidRound ? 1 : 0));
  const rounds = frame.rounds === Infinity ? [] : [`round ${round} of ${frame.rounds}`];
  const parts = [money, ...rounds, `${brief(progress.tokens)} tokens`, elapsed(frame.age)];
  const all = hasEnded ? parts : [...parts, "Ctrl-C stops and keeps what is there"];
  const fitting = all.filter((_, n) => n === 0 || widthOf(`  ${all.slice(0, n + 1).join(separator)}`) <= width);
  const text = fitted(`  ${fitting.join(separator)}`, width);
  return style.strong(text.slice(0, money.length + 2)) + style.faint(text.slice(money.length + 2));
}
