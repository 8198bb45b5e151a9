import { stripVTControlCharacters as withoutCodes } from "node:util";
import { counted, plural } from "../../inspector/view/run-terms.ts";
import { shownText } from "../../kernel/value-text.ts";
import type { Variables } from "../host.ts";

export { counted, plural, withoutCodes };

const MAX_SHOWN = 2_000;
/** A question is shown in full, also for a long call: a person must see what they agree to. */
export const MAX_QUESTION = 10_000;
/** Cells of a line where the terminal does not say; one without a size says 0. */
const DEFAULT_COLUMNS = 80;

export function columnsOf({ columns = 0 }: { readonly columns?: number | undefined }): number {
  return columns > 0 ? columns : DEFAULT_COLUMNS;
}

/** Text that is safe for the screen: characters that a terminal would obey or hide become `\u{...}`. */
export function shown(text: string, limit: number = MAX_SHOWN): string {
  return shownText(
    text
      .slice(0, 4 * limit)
      .replace(/\s+/g, " ")
      .trim(),
    limit,
  );
}

/** The lines of a text; a line end at its end begins no line. */
export function linesOf(text: string): readonly string[] {
  return text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/);
}

export function shownLine(line: string, limit: number = MAX_QUESTION): string {
  return shownText(line.replaceAll("\t", "    "), limit);
}

/** Fewest characters of a shown id: the time in it, without its random part. */
const MIN_ID = 8;

/** The shortest beginning of an id that no other run has, but no shorter than its time. */
export function shortId(id: string, ids: readonly string[]): string {
  const dash = id.indexOf("-");
  return shortestPrefix(id, ids, Math.max(dash, MIN_ID));
}

export function shortestPrefix(id: string, ids: readonly string[], least: number): string {
  for (let length = least; length < id.length; length++) {
    const short = id.slice(0, length);
    if (!ids.some((other) => other !== id && other.startsWith(short))) return short;
  }
  return id;
}

export function shellWord(word: string): string {
  return /^[\w./~+-]+$/.test(word) ? word : `'${shown(word).replaceAll("'", String.raw`'\''`)}'`;
}

const BYTE_UNITS = ["B", "kB", "MB", "GB", "TB"];

export function bytesText(bytes: number): string {
  let [value, nth] = [bytes, 0];
  while (value >= 999.5 && nth < BYTE_UNITS.length - 1) [value, nth] = [value / 1_000, nth + 1];
  return `${nth > 0 && value < 9.95 ? value.toFixed(1) : Math.round(value)} ${BYTE_UNITS[nth] ?? ""}`;
}

export interface Style {
  readonly strong: (text: string) => string;
  readonly faint: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly warn: (text: string) => string;
  readonly active: (text: string) => string;
}

/** True when color is used: `--no-color` wins, then FORCE_COLOR, NO_COLOR, TERM=dumb, and whether the stream is a terminal. */
export function wantsColor({ isOff, env, isTTY }: { readonly isOff: boolean; readonly env: Variables; readonly isTTY: boolean }): boolean {
  if (isOff) return false;
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  if ((env["NO_COLOR"] ?? "") !== "" || env["TERM"] === "dumb") return false;
  return isTTY;
}

export function styleFor(color: boolean): Style {
  const paint =
    (on: number, off: number) =>
    (text: string): string =>
      color && text !== "" ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  return { strong: paint(1, 22), faint: paint(2, 22), good: paint(32, 39), bad: paint(31, 39), warn: paint(33, 39), active: paint(36, 39) };
}

/** Cells that a text takes on a terminal. East Asian wide characters and emoji take two, combining marks none. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += cellsOf(character);
  return width;
}

/** A word that is too long has a line of its own. Color codes take no cell. @param indent spaces before all lines but the first */
export function wrapped(text: string, width: number, indent: number = 0): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const [part] of text.matchAll(/ *[^ ]+/g)) {
    if (line.trim() !== "" && widthOf(withoutCodes(line + part)) > width) {
      lines.push(line);
      line = " ".repeat(indent) + part.trimStart();
    } else {
      line += part;
    }
  }
  return [...lines, line];
}

export function fitted(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  if (width <= 0) return "";
  let [kept, cells] = ["", 1];
  for (const character of text) {
    cells += cellsOf(character);
    if (cells > width) break;
    kept += character;
  }
  return `${kept.trimEnd()}…`;
}

export function column(text: string, width: number): string {
  const cut = fitted(text, width);
  return cut + " ".repeat(Math.max(0, width - widthOf(cut)));
}

const NO_CELL = /^[\p{M}\p{Cf}]$/u;
const TWO_CELLS =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18aff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]$/u;

function cellsOf(character: string): number {
  if (character < "\u0300") return 1;
  return NO_CELL.test(character) ? 0 : TWO_CELLS.test(character) ? 2 : 1;
}

export interface TextStyle {
  readonly style: Style;
  /** Cells of a line; Infinity where nothing is cut or broken. */
  readonly width: number;
}

/** Rows below faint heads, each column as wide as its widest cell. A line is cut at the width. Cells must be safe for a terminal. */
export function tableLines(heads: readonly string[], rows: readonly (readonly string[])[], o: TextStyle): readonly string[] {
  const widths = heads.map((head, nth) => Math.max(widthOf(head), ...rows.map((row) => widthOf(row[nth] ?? ""))));
  const line = (row: readonly string[]): string => {
    const text = row.map((cell, nth) => (nth === row.length - 1 ? cell : column(cell, widths[nth] ?? 0))).join("  ");
    return fitted(text.trimEnd(), o.width);
  };
  return [o.style.faint(line(heads)), ...rows.map(line)];
}

export type Fact = readonly [label: string, text: string | undefined];

/** Fewest cells of a text beside its label; where there are fewer, it goes below. */
const MIN_TEXT = 24;

export function factLines(facts: readonly Fact[], o: TextStyle): readonly string[] {
  return labelledLines(facts, { ...o, labels: 8, margin: 0 });
}

/** Facts below each other. Labels have `labels` cells, after `margin` spaces; on a narrow terminal each text goes below its label. */
export function labelledLines(
  facts: readonly Fact[],
  { style, width, labels, margin }: TextStyle & { readonly labels: number; readonly margin: number },
): readonly string[] {
  const [before, beside] = [" ".repeat(margin), margin + labels + 1];
  const isStacked = width - beside < MIN_TEXT;
  return facts.flatMap(([label, text]) => {
    if (text === undefined) return [];
    if (!isStacked) return wrapped(`${before}${style.faint(column(label, labels))} ${text}`, width, beside);
    const below = wrapped(`${before}  ${text}`, width, margin + 2);
    return label === "" ? below : [`${before}${style.faint(label)}`, ...below];
  });
}

export function tokensText(usage: { readonly inputTokens: number; readonly outputTokens: number; readonly cachedTokens?: number }): string {
  const { inputTokens, outputTokens, cachedTokens = 0 } = usage;
  const cached = cachedTokens === 0 ? "" : ` (${counted(cachedTokens)} from the cache)`;
  return `${counted(inputTokens)} in${cached}, ${counted(outputTokens)} out`;
}

/** A number of tokens in few characters: `950`, `1.2k`, `34k`, `1.2M`. */
export function brief(n: number): string {
  if (n < 1_000) return String(Math.round(n));
  const [value, unit] = n < 999_500 ? [n / 1_000, "k"] : [n / 1_000_000, "M"];
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)}${unit}`;
}

/** `0:42`, `12:05`, `1:02:03`. */
export function elapsed(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const two = (n: number): string => String(n).padStart(2, "0");
  const [h, m, s] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

const TIME_UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
] as const;

export function ageText(ms: number): string {
  const [unit, size] = TIME_UNITS.find(([, one]) => ms >= one) ?? ["", 0];
  return size === 0 ? "now" : `${Math.floor(ms / size)}${unit}`;
}

/** The milliseconds of a duration such as `30d`, `12h`, `90m` or `45s`; undefined for other strings. */
export function durationIn(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,6})([dhms])$/.exec(text.trim()) ?? [];
  const size = TIME_UNITS.find(([name]) => name === unit)?.[1];
  return count === undefined || size === undefined ? undefined : Number(count) * size;
}

export function momentText(ms: number): string {
  return Number.isFinite(ms) && Math.abs(ms) < 8.64e15 ? new Date(ms).toISOString().slice(0, 19).replace("T", " ") : "at no time";
}
